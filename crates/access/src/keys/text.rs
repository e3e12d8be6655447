//! How a key is written: what it is, 128 random bits, and a checksum. A slip of the pen, and a scanner for lost secrets, can
//! tell a key from other text without a database.

use std::fmt;

use onsale_domain::id::{read_base32, write_base32, write_digits};
use sha2::{Digest, Sha256};

use crate::principal::KeyKind;

const HOUSE: &str = "onsale_";
const RANDOM_CHARS: usize = 26;
/// Thirty bits: of a thousand million slips one goes unnoticed here, and then opens nothing either.
const CHECK_CHARS: usize = 6;
/// Characters of the secret that are shown, so that people can tell their keys apart.
const SHOWN_CHARS: usize = 4;

/// A key as its holder has it. It is given out once, and stored nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText(String);

impl KeyText {
    pub(super) fn random(kind: KeyKind, is_test: bool) -> KeyText {
        let mut text = prefix(kind, is_test);
        push(&mut text, &write_base32(rand::random()));
        let check = checksum(&text);
        push(&mut text, &check);
        KeyText(text)
    }

    /// The secret itself: for its holder, and for nobody's log.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is shown of it afterwards.
    pub(super) fn shown(&self, kind: KeyKind, is_test: bool) -> String {
        let end = self.0.len() - CHECK_CHARS;
        format!("{}…{}", prefix(kind, is_test), &self.0[end - SHOWN_CHARS..end])
    }

    pub(super) fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyText(…)")
    }
}

/// Whether text has the form of a key, checksum and all.
pub fn is_key(text: &str) -> bool {
    let Some((head, check)) = text.split_at_checked(text.len().saturating_sub(CHECK_CHARS)) else {
        return false;
    };
    let Some((prefix, random)) = head.split_at_checked(head.len().saturating_sub(RANDOM_CHARS)) else {
        return false;
    };
    is_prefix(prefix) && read_base32(random).is_some() && checksum(head) == check.as_bytes()
}

/// Whether text begins as a key does, and so is a key that is wrong if it is not one.
pub(crate) fn looks_like_key(text: &str) -> bool {
    let kinds = [KeyKind::Secret, KeyKind::Restricted, KeyKind::Publishable];
    kinds.iter().any(|kind| [true, false].iter().any(|is_test| text.starts_with(&prefix(*kind, *is_test))))
}

fn is_prefix(text: &str) -> bool {
    looks_like_key(text) && text.len() == "onsale_live_sk_".len()
}

fn prefix(kind: KeyKind, is_test: bool) -> String {
    let mode = if is_test { "test" } else { "live" };
    let kind = match kind {
        KeyKind::Secret => "sk",
        KeyKind::Restricted => "rk",
        KeyKind::Publishable => "pk",
    };
    format!("{HOUSE}{mode}_{kind}_")
}

fn push(text: &mut String, characters: &[u8]) {
    text.extend(characters.iter().map(|byte| char::from(*byte)));
}

/// The lowest thirty bits of CRC-32 (the polynomial of Ethernet and zip) over all that stands before.
pub(crate) fn checksum(text: &str) -> [u8; CHECK_CHARS] {
    let sum = !text.bytes().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 })
    });
    let mut characters = [0; CHECK_CHARS];
    write_digits(sum.into(), &mut characters);
    characters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_form_alone() {
        for kind in [KeyKind::Secret, KeyKind::Restricted, KeyKind::Publishable] {
            for is_test in [false, true] {
                let key = KeyText::random(kind, is_test);
                assert!(is_key(key.as_str()));
                assert_ne!(key, KeyText::random(kind, is_test));
                let shown = key.shown(kind, is_test);
                assert!(shown.starts_with(&prefix(kind, is_test)) && shown.chars().count() == 20, "{shown}");
                assert!(!format!("{key:?}").contains(&key.as_str()[20..]));
            }
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_noticed() {
        let key = KeyText::random(KeyKind::Secret, false);
        let key = key.as_str();
        let mut tried = 0;
        for place in 0..key.len() {
            for other in
                "0123456789abcdefghjkmnpqrstvwxyzXU_ \0".chars().filter(|one| !key[place..].starts_with(*one))
            {
                let mut wrong = key.to_owned();
                wrong.replace_range(place..=place, &other.to_string());
                assert!(!is_key(&wrong), "{wrong}");
                tried += 1;
            }
            assert!(!is_key(&key[..place]));
        }
        assert!(tried > 1_000);
        let swapped = format!("{}{}{}{}", &key[..20], &key[21..22], &key[20..21], &key[22..]);
        assert!(swapped == key || !is_key(&swapped));
        for wrong in
            [format!("{key}{key}"), format!(" {key}"), key.to_uppercase(), format!("{key}\0"), "ü".repeat(30)]
        {
            assert!(!is_key(&wrong), "{wrong}");
        }
    }

    #[test]
    fn the_checksum_is_the_one_that_scanners_know() {
        let mut expected = [0; CHECK_CHARS];
        write_digits(0xCBF4_3926, &mut expected);
        assert_eq!(checksum("123456789"), expected, "CRC-32's own check value");
    }
}

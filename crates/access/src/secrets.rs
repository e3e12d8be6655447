//! Secrets that people carry: of a session, of a device, and those that work once. The database keeps SHA-256 of them;
//! they carry a checksum, so that a mistyped or cut one is refused without asking the database.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::id::{read_base32, write_base32};
use sha2::{Digest, Sha256};

use crate::keys::checksum;
use crate::random;

/// Characters of 128 bits; the checksum of keys stands behind them.
const BODY_CHARS: usize = 26;
/// A name that no other use of the house key has: no token of one is a token of another.
const ONE_TIME: &[u8] = b"onsale one-time tokens 1";

/// What a secret is for: written in front of it, so that people and scanners know what they have found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// Who is signed in.
    Session,
    /// A device that somebody signed in from before; it opens nothing.
    Device,
    /// From a letter, for one use.
    OneTime,
}

impl SecretKind {
    fn prefix(self) -> &'static str {
        match self {
            SecretKind::Session => "onsale_ses_",
            SecretKind::Device => "onsale_dev_",
            SecretKind::OneTime => "onsale_one_",
        }
    }
}

/// A secret as its holder has it. It is never logged: `Debug` shows its kind alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    kind: SecretKind,
    bits: u128,
}

impl Secret {
    pub(crate) fn random(kind: SecretKind) -> Secret {
        Secret { kind, bits: random::bits() }
    }

    /// Reads what [`Secret::text`] wrote; anything else is `None`.
    pub fn parse(kind: SecretKind, text: &str) -> Option<Secret> {
        let (head, check) = text.split_at_checked(kind.prefix().len() + BODY_CHARS)?;
        let bits = read_base32(head.strip_prefix(kind.prefix())?)?;
        (check.as_bytes() == checksum(head)).then_some(Secret { kind, bits })
    }

    pub fn text(&self) -> String {
        let mut text = self.kind.prefix().to_owned();
        text.extend(write_base32(self.bits).map(char::from));
        let check = checksum(&text);
        text.extend(check.map(char::from));
        text
    }

    /// What is stored in its place.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.text()).into()
    }

    /// The secret that follows this one. Only who has both this one and the salt can make it, so that a rotation whose
    /// answer was lost is answered again with the same token, although the server keeps no token.
    pub(crate) fn next(&self, salt: &[u8]) -> Secret {
        let bits = first_bits(keyed(&self.bits.to_be_bytes()).chain_update(salt));
        Secret { kind: self.kind, bits }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({:?})", self.kind)
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"))
}

fn first_bits(mac: Hmac<Sha256>) -> u128 {
    let bytes = mac.finalize().into_bytes();
    let mut first = [0; 16];
    first.copy_from_slice(&bytes[..16]);
    u128::from_be_bytes(first)
}

/// What a secret from a letter allows, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To make the account that was asked for.
    Registration,
    /// To set a new password.
    Reset,
    /// To put the new address in the old one's place.
    EmailChange,
}

impl Purpose {
    pub const ALL: [Purpose; 3] = [Purpose::Registration, Purpose::Reset, Purpose::EmailChange];

    pub fn as_str(self) -> &'static str {
        match self {
            Purpose::Registration => "registration",
            Purpose::Reset => "reset",
            Purpose::EmailChange => "email_change",
        }
    }

    pub fn parse(text: &str) -> Option<Purpose> {
        Purpose::ALL.into_iter().find(|purpose| purpose.as_str() == text)
    }

    /// A reset opens an account that exists, so it lives short; the others prove an address, and mail may be slow.
    pub fn lifetime_ms(self) -> i64 {
        const HOUR_MS: i64 = 3_600_000;
        match self {
            Purpose::Reset => HOUR_MS,
            Purpose::Registration | Purpose::EmailChange => 24 * HOUR_MS,
        }
    }
}

/// Makes the secrets of letters from the house key and the random id in their row. Whoever sends the letter can make
/// the secret anew after a crash, and a stolen database alone opens nothing.
#[derive(Clone)]
pub struct OneTimeTokens {
    keyed: Hmac<Sha256>,
}

impl OneTimeTokens {
    pub fn new(house_key: &[u8]) -> OneTimeTokens {
        let derived = keyed(house_key).chain_update(ONE_TIME).finalize().into_bytes();
        OneTimeTokens { keyed: keyed(&derived) }
    }

    pub(crate) fn secret(&self, purpose: Purpose, id: u128) -> Secret {
        // The id has a fixed length and comes last, so no two inputs run together.
        let mac = self.keyed.clone().chain_update(purpose.as_str()).chain_update(id.to_be_bytes());
        Secret { kind: SecretKind::OneTime, bits: first_bits(mac) }
    }
}

impl fmt::Debug for OneTimeTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OneTimeTokens")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_reads_back_and_nothing_else_does() {
        let secret = Secret::random(SecretKind::Session);
        let text = secret.text();
        assert_eq!(Secret::parse(SecretKind::Session, &text), Some(secret.clone()));
        assert_ne!(Secret::random(SecretKind::Session), secret);
        let mut cut = (0..text.len()).map(|end| text[..end].to_owned()).collect::<Vec<_>>();
        cut.extend([
            format!("{text}{text}"),
            format!("{text}0"),
            format!("{text}\0"),
            format!("\0{text}"),
            format!(" {text}"),
            text.to_uppercase(),
            text.replace("_ses_", "_dev_"),
            "onsale_ses_é".to_owned(),
        ]);
        for wrong in cut {
            assert_eq!(Secret::parse(SecretKind::Session, &wrong), None, "{wrong:?}");
        }
        assert_eq!(Secret::parse(SecretKind::Device, &text), None);
    }

    #[test]
    fn one_wrong_character_is_found_without_the_database() {
        let text = Secret::random(SecretKind::Session).text();
        let start = SecretKind::Session.prefix().len();
        for at in start..text.len() {
            let other = if &text[at..=at] == "0" { "1" } else { "0" };
            let wrong = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            assert_eq!(Secret::parse(SecretKind::Session, &wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_letters_secret_is_made_again_from_its_row_and_the_house_key() {
        let tokens = OneTimeTokens::new(b"house");
        let secret = tokens.secret(Purpose::Reset, 7);
        assert_eq!(tokens.clone().secret(Purpose::Reset, 7), secret);
        assert_ne!(tokens.secret(Purpose::Reset, 8), secret);
        assert_ne!(tokens.secret(Purpose::EmailChange, 7), secret);
        assert_ne!(OneTimeTokens::new(b"other house").secret(Purpose::Reset, 7), secret);
        assert_eq!(Secret::parse(SecretKind::OneTime, &secret.text()), Some(secret));
    }

    #[test]
    fn the_next_secret_needs_the_last_one_and_the_salt() {
        let secret = Secret::random(SecretKind::Session);
        let next = secret.next(b"salt");
        assert_eq!(secret.next(b"salt"), next);
        assert_ne!(secret.next(b"other"), next);
        assert_ne!(Secret::random(SecretKind::Session).next(b"salt"), next);
    }

    #[test]
    fn a_secret_is_not_shown_by_debug() {
        let secret = Secret::random(SecretKind::Session);
        assert_eq!(format!("{secret:?}"), "Secret(Session)");
    }
}

//! How a buyer token is written: `onsale_bt_` and, in base64 for URLs, what it says and 32 bytes of HMAC-SHA-256 over that.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use onsale_domain::{BuyerId, ListingId, Tenant};
use sha2::Sha256;

use super::{LISTINGS_MAX, Voucher};

pub(crate) const PREFIX: &str = "onsale_bt_";
/// The first byte; another layout gets another.
const VERSION: u8 = 1;
const SEAL_BYTES: usize = 32;
/// A buyer of 128 characters and twenty listings need some 900 bytes.
const CHARS_MAX: usize = 1_600;
const TEST: u8 = 1;
const SOME_LISTINGS: u8 = 2;

pub(super) fn write(voucher: &Voucher, keyed: &Hmac<Sha256>) -> String {
    let mut bytes = vec![VERSION];
    let test = if voucher.is_test { TEST } else { 0 };
    bytes.push(test | if voucher.listings.is_some() { SOME_LISTINGS } else { 0 });
    bytes.extend(voucher.tenant.number().to_be_bytes());
    bytes.extend(voucher.expires_ms.to_be_bytes());
    for text in [&*voucher.key, &*voucher.family, voucher.buyer.as_str()] {
        push_text(&mut bytes, text);
    }
    for listing in voucher.listings.iter().flat_map(|listings| listings.iter()) {
        push_text(&mut bytes, &listing.text());
    }
    let mut mac = keyed.clone();
    mac.update(&bytes);
    bytes.extend(mac.finalize().into_bytes());
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

pub(super) fn read(text: &str, keyed: &Hmac<Sha256>) -> Option<Voucher> {
    let inner = text.strip_prefix(PREFIX).filter(|inner| inner.len() <= CHARS_MAX)?;
    let bytes = URL_SAFE_NO_PAD.decode(inner).ok()?;
    let (said, seal) = bytes.split_at_checked(bytes.len().checked_sub(SEAL_BYTES)?)?;
    let mut mac = keyed.clone();
    mac.update(said);
    // Takes the same time wherever the first difference is.
    mac.verify_slice(seal).ok()?;
    let mut rest = said;
    let [VERSION, flags] = take(&mut rest)? else { return None };
    let tenant = Tenant::new(u32::from_be_bytes(take(&mut rest)?))?;
    let expires_ms = i64::from_be_bytes(take(&mut rest)?);
    let key: Arc<str> = take_text(&mut rest)?.into();
    let family: Arc<str> = take_text(&mut rest)?.into();
    let buyer = BuyerId::parse(take_text(&mut rest)?)?;
    let mut listings = Vec::new();
    while !rest.is_empty() && listings.len() < LISTINGS_MAX {
        listings.push(ListingId::parse(take_text(&mut rest)?)?);
    }
    let listings = (flags & SOME_LISTINGS != 0).then(|| listings.into());
    rest.is_empty().then_some(Voucher {
        tenant,
        buyer,
        key,
        family,
        is_test: flags & TEST != 0,
        expires_ms,
        listings,
    })
}

/// All texts of a token are shorter than 65,536 bytes: ids, and a buyer of 128 characters.
fn push_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u16).to_be_bytes());
    bytes.extend(text.as_bytes());
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*first)
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::from(u16::from_be_bytes(take(rest)?));
    let (text, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use onsale_domain::ListingKind;
    use proptest::prelude::*;

    use super::super::Vouchers;
    use super::*;

    fn listing(number: u64) -> ListingId {
        ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::ALL[0], number }
    }

    fn voucher(buyer: &str, listings: Option<Vec<ListingId>>) -> Voucher {
        Voucher {
            tenant: Tenant::new(7).expect("a tenant"),
            buyer: BuyerId::parse(buyer).expect("a buyer"),
            key: "key_0123456789abcdef".into(),
            family: "fam_0123456789abcdef".into(),
            is_test: true,
            expires_ms: 1_800_000_000_000,
            listings: listings.map(Into::into),
        }
    }

    #[test]
    fn a_token_reads_back_only_under_its_own_house_key() {
        let (ours, theirs) = (Vouchers::new(b"ours"), Vouchers::new(b"theirs"));
        let longest = "\u{1f600}".repeat(128);
        for listings in [None, Some(vec![listing(1)]), Some((0..20).map(listing).collect())] {
            let voucher = voucher(&longest, listings);
            let text = write(&voucher, &ours.keyed);
            assert_eq!(ours.read(&text), Some(voucher));
            assert_eq!(theirs.read(&text), None);
        }
    }

    #[test]
    fn a_token_that_was_touched_anywhere_is_none() {
        let ours = Vouchers::new(b"ours");
        let text = write(&voucher("ann", Some(vec![listing(1)])), &ours.keyed);
        for place in 0..text.len() {
            let mut wrong = text.clone();
            let other = if text[place..].starts_with('B') { "C" } else { "B" };
            wrong.replace_range(place..=place, other);
            assert_eq!(ours.read(&wrong), None, "{place}");
            assert_eq!(ours.read(&text[..place]), None);
        }
        for wrong in [format!("{text}="), format!("{text}A"), format!("{text}{text}"), format!("{text}\0")] {
            assert_eq!(ours.read(&wrong), None);
        }
    }

    proptest! {
        #[test]
        fn bytes_that_the_house_has_sealed_and_cannot_read_are_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let ours = Vouchers::new(b"ours");
            let mut mac = ours.keyed.clone();
            mac.update(&bytes);
            let sealed = [&bytes[..], &mac.finalize().into_bytes()].concat();
            // It may mean something by chance, but nothing panics.
            let _ = ours.read(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(sealed)));
            prop_assert_eq!(ours.read(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))), None);
        }
    }
}

//! Names of things: tenants, listings, holds, orders, buyers, seats. Ids enter as data; nothing here invents one.
//! Text forms: `evt_<tenant>_<26>` for a listing, `hld_<tenant>_<26>_<26>` for what lives inside one, so that
//! every id that a route takes alone contains its listing's id.

use std::fmt;
use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::kinds::each_kind;
use crate::limits::BUYER_CHARS_MAX;

/// A seat's number inside its event; never reused.
pub type SeatIndex = u32;
/// A general-admission area's number inside its event; never reused.
pub type AreaIndex = u16;
/// A SKU's number inside its sale; never reused.
pub type SkuIndex = u16;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Each character's digit; 255 for one that is none.
const DIGITS: [u8; 256] = {
    let mut digits = [255; 256];
    let mut digit = 0;
    while digit < ALPHABET.len() {
        digits[ALPHABET[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
};

/// Writes 128 bits as 26 characters of Crockford's base 32, lower case; sorts like the number.
pub fn write_base32(number: u128) -> [u8; 26] {
    // In words of 60 bits, twelve characters each: a processor has no quick shifts of 128.
    let words = [(number >> 120) as u64, (number >> 60) as u64, number as u64];
    let mut text = [0; 26];
    let (head, rest) = text.split_at_mut(2);
    let (middle, writer) = rest.split_at_mut(12);
    for (part, word) in [head, middle, writer].into_iter().zip(words) {
        let mut left = word;
        for character in part.iter_mut().rev() {
            *character = ALPHABET[(left & 31) as usize];
            left >>= 5;
        }
    }
    text
}

/// Reads what [`write_base32`] wrote; anything else is `None`.
pub fn read_base32(text: &str) -> Option<u128> {
    let text: &[u8; 26] = text.as_bytes().try_into().ok()?;
    if text[0] > b'7' {
        return None;
    }
    let mut wrong = 0;
    let mut word = |part: &[u8]| {
        part.iter().fold(0u64, |number, character| {
            let digit = DIGITS[usize::from(*character)];
            wrong |= digit;
            number << 5 | u64::from(digit & 31)
        })
    };
    let (head, middle, writer) = (word(&text[..2]), word(&text[2..14]), word(&text[14..]));
    (wrong < 32).then_some(u128::from(head) << 120 | u128::from(middle) << 60 | u128::from(writer))
}

/// A tenant: 1–20 lower-case letters, digits or `-`. Kept inline, so that a listing's id is `Copy`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant([u8; 20]);

impl Tenant {
    /// The tenant of a house that has only one.
    pub const DEFAULT: Tenant = Tenant(*b"default\0\0\0\0\0\0\0\0\0\0\0\0\0");

    pub fn parse(text: &str) -> Option<Tenant> {
        let fits = (1..=20).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let mut bytes = [0; 20];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        fits.then_some(Tenant(bytes))
    }

    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|b| *b == 0).unwrap_or(self.0.len());
        std::str::from_utf8(&self.0[..end]).unwrap_or_default()
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! listing_kind {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $State:ty;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
        #[cbor(index_only)]
        pub enum ListingKind {
            $($(#[$doc])* #[n($number)] $Kind,)*
        }

        impl ListingKind {
            pub const ALL: [ListingKind; [$($prefix,)*].len()] = [$(ListingKind::$Kind,)*];

            /// What the ids of such listings begin with.
            pub fn prefix(self) -> &'static str {
                match self {
                    $(ListingKind::$Kind => $prefix,)*
                }
            }

            /// The kind's name as people and programs write it.
            pub fn name(self) -> &'static str {
                match self {
                    $(ListingKind::$Kind => stringify!($name),)*
                }
            }
        }
    };
}

each_kind!(listing_kind);

/// The name of one unit of consistency.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListingId {
    pub tenant: Tenant,
    pub kind: ListingKind,
    pub number: u128,
}

impl ListingId {
    pub fn parse(text: &str) -> Option<ListingId> {
        let (prefix, rest) = text.split_once('_')?;
        let kind = ListingKind::ALL.into_iter().find(|kind| kind.prefix() == prefix)?;
        let (tenant, number) = rest.split_once('_')?;
        Some(ListingId { tenant: Tenant::parse(tenant)?, kind, number: read_base32(number)? })
    }
}

impl fmt::Display for ListingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = write_base32(self.number);
        let number = std::str::from_utf8(&number).unwrap_or_default();
        write!(f, "{}_{}_{number}", self.kind.prefix(), self.tenant.as_str())
    }
}

impl fmt::Debug for ListingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A hold's number inside its event. An offer's hold carries the number of the queue place it came from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoldId(pub u128);

/// A checkout code's number inside its sale. The part of the code that proves possession is made at the edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckoutId(pub u128);

/// The number of one registration, or of one place in the waiting list, inside its listing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub u128);

/// An order's number inside its listing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderId(pub u128);

/// The number of one attempt to pay an order, and the key under which a provider is asked for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaymentId(pub u128);

/// Writes `<prefix>_<tenant>_<listing>_<own>`: the name of something that lives inside a listing.
pub fn write_inside(prefix: &str, listing: &ListingId, number: u128) -> String {
    let (outer, own) = (write_base32(listing.number), write_base32(number));
    let mut text = String::with_capacity(prefix.len() + listing.tenant.as_str().len() + 55);
    text.push_str(prefix);
    text.push('_');
    text.push_str(listing.tenant.as_str());
    text.push('_');
    text.push_str(std::str::from_utf8(&outer).unwrap_or_default());
    text.push('_');
    text.push_str(std::str::from_utf8(&own).unwrap_or_default());
    text
}

/// Reads what [`write_inside`] wrote for things inside an event.
pub fn read_inside(prefix: &str, text: &str) -> Option<(ListingId, u128)> {
    read_inside_of(ListingKind::Event, prefix, text)
}

/// Reads what [`write_inside`] wrote for things inside a listing of this kind.
pub fn read_inside_of(kind: ListingKind, prefix: &str, text: &str) -> Option<(ListingId, u128)> {
    let rest = text.strip_prefix(prefix)?.strip_prefix('_')?;
    let mut parts = rest.split('_');
    let tenant = Tenant::parse(parts.next()?)?;
    let listing = read_base32(parts.next()?)?;
    let number = read_base32(parts.next()?)?;
    let listing = ListingId { tenant, kind, number: listing };
    parts.next().is_none().then_some((listing, number))
}

/// Who buys: `usr_…` (an account) or `ext:<tenant>:<id>` (a merchant's server vouches for it).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuyerId(Arc<str>);

impl BuyerId {
    /// 1–128 characters without control characters.
    pub fn parse(text: &str) -> Option<BuyerId> {
        let fits = !text.is_empty()
            && text.len() <= BUYER_CHARS_MAX * 4
            && text.chars().count() <= BUYER_CHARS_MAX
            && !text.chars().any(char::is_control);
        fits.then(|| BuyerId(text.into()))
    }

    /// A name that was checked when it came in.
    pub(crate) fn known(name: &str) -> BuyerId {
        BuyerId(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! debug_as_hex {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", std::str::from_utf8(&write_base32(self.0)).unwrap_or_default())
            }
        }
        impl<C> Encode<C> for $name {
            fn encode<W: minicbor::encode::Write>(
                &self,
                e: &mut minicbor::Encoder<W>,
                _: &mut C,
            ) -> Result<(), minicbor::encode::Error<W::Error>> {
                e.bytes(&self.0.to_be_bytes())?.ok()
            }
        }
        impl<'b, C> Decode<'b, C> for $name {
            fn decode(d: &mut minicbor::Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
                Ok($name(decode_u128(d)?))
            }
        }
    )*};
}
debug_as_hex!(HoldId, OrderId, CheckoutId, EntryId, PaymentId);

fn decode_u128(d: &mut minicbor::Decoder<'_>) -> Result<u128, minicbor::decode::Error> {
    let bytes = d.bytes()?;
    let bytes = bytes.try_into().map_err(|_| minicbor::decode::Error::message("an id has 16 bytes"))?;
    Ok(u128::from_be_bytes(bytes))
}

impl fmt::Debug for BuyerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<C> Encode<C> for BuyerId {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut minicbor::Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.str(&self.0)?.ok()
    }
}

impl<'b, C> Decode<'b, C> for BuyerId {
    fn decode(d: &mut minicbor::Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        Ok(BuyerId(d.str()?.into()))
    }
}

impl<C> Encode<C> for ListingId {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut minicbor::Encoder<W>,
        c: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(3)?
            .str(self.tenant.as_str())?
            .encode_with(self.kind, c)?
            .bytes(&self.number.to_be_bytes())?
            .ok()
    }
}

impl<'b, C> Decode<'b, C> for ListingId {
    fn decode(d: &mut minicbor::Decoder<'b>, c: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.array()?;
        let tenant =
            Tenant::parse(d.str()?).ok_or_else(|| minicbor::decode::Error::message("not a tenant"))?;
        Ok(ListingId { tenant, kind: d.decode_with(c)?, number: decode_u128(d)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        for number in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef_0011_2233_4455_6677] {
            let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number };
            assert_eq!(ListingId::parse(&listing.to_string()), Some(listing));
            let hold = write_inside("hld", &listing, number ^ 7);
            assert_eq!(read_inside("hld", &hold), Some((listing, number ^ 7)));
            for kind in ListingKind::ALL {
                let listing = ListingId { kind, ..listing };
                assert_eq!(ListingId::parse(&listing.to_string()), Some(listing));
                let inside = write_inside("cod", &listing, number);
                assert_eq!(read_inside_of(kind, "cod", &inside), Some((listing, number)));
            }
        }
    }

    #[test]
    fn a_foreign_id_is_not_read() {
        for text in [
            "",
            "evt",
            "evt_default",
            "evt_default_",
            "evt_Default_00000000000000000000000000",
            "evt_default_80000000000000000000000000",
            "evt_default_0000000000000000000000000u",
            "evt_default_00000000000000000000000000_",
            "xyz_default_00000000000000000000000000",
        ] {
            assert_eq!(ListingId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_buyer_has_no_control_characters_and_a_bounded_name() {
        for (text, fits) in [("usr_1", true), ("", false), ("a\nb", false), ("ext:t:é{}", true)] {
            assert_eq!(BuyerId::parse(text).is_some(), fits, "{text:?}");
        }
        assert!(BuyerId::parse(&"é".repeat(128)).is_some());
        assert!(BuyerId::parse(&"é".repeat(129)).is_none());
    }
}

//! Names of things: tenants, listings, holds, orders, buyers, seats. Ids enter as data; nothing here invents one.
//! Text forms: `evt_` and 16 characters (tenant, number) for a listing; `hld_`, the listing's 16, its kind's letter and
//! 13 own ones for what lives inside one, so that every id that a route takes alone leads to its listing.

use std::fmt;
use std::sync::Arc;

use minicbor::{Decode, Encode};
pub use onsale_compact::base32::{read_base32, read_digits, read_id, write_base32, write_digits, write_id};

use crate::kinds::each_kind;
use crate::limits::BUYER_CHARS_MAX;

/// A seat's number inside its event; never reused.
pub type SeatIndex = u32;
/// A general-admission area's number inside its event; never reused.
pub type AreaIndex = u16;
/// A SKU's number inside its sale; never reused.
pub type SkuIndex = u16;

/// A tenant by its number, below 2^20: four characters of every id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(u32);

const TENANT_BITS: u32 = 20;

impl Tenant {
    /// The tenant of a house that has only one.
    pub const DEFAULT: Tenant = Tenant(0);

    pub fn new(number: u32) -> Option<Tenant> {
        (number < 1 << TENANT_BITS).then_some(Tenant(number))
    }

    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

macro_rules! listing_kind {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
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

            /// The character that stands for the kind in the ids of what lives inside such a listing.
            pub const fn letter(self) -> u8 {
                match self {
                    $(ListingKind::$Kind => $letter,)*
                }
            }
        }
    };
}

each_kind!(listing_kind);

/// The name of one unit of consistency. Its number has 60 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListingId {
    pub tenant: Tenant,
    pub kind: ListingKind,
    pub number: u64,
}

/// A listing's number is below this.
pub const LISTING_NUMBERS: u64 = 1 << 60;

/// Characters of a listing's tenant and number, and of its whole id.
const WHERE_CHARS: usize = 16;
const LISTING_CHARS: usize = 4 + WHERE_CHARS;
/// Of what lives inside a listing: prefix, listing, kind, own number.
const INSIDE_CHARS: usize = LISTING_CHARS + 1 + 13;

impl ListingId {
    pub fn parse(text: &str) -> Option<ListingId> {
        let (prefix, rest) = text.split_once('_')?;
        let kind = ListingKind::ALL.into_iter().find(|kind| kind.prefix() == prefix)?;
        ListingId::read_where(kind, rest.as_bytes())
    }

    /// The id as its `Display` writes it, without the machinery of formatting.
    pub fn text(&self) -> String {
        text_of::<LISTING_CHARS>(|text| {
            write_prefix(self.kind.prefix(), text);
            self.write_where(&mut text[4..]);
        })
    }

    fn write_where(&self, text: &mut [u8]) {
        debug_assert!(self.number < LISTING_NUMBERS);
        write_digits(self.tenant.0.into(), &mut text[..4]);
        write_digits(self.number, &mut text[4..]);
    }

    fn read_where(kind: ListingKind, text: &[u8]) -> Option<ListingId> {
        let text: &[u8; WHERE_CHARS] = text.try_into().ok()?;
        let tenant = Tenant::new(u32::try_from(read_digits(&text[..4])?).ok()?)?;
        Some(ListingId { tenant, kind, number: read_digits(&text[4..])? })
    }
}

impl fmt::Display for ListingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for ListingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text of so many characters of our alphabet, written in one piece.
fn text_of<const CHARS: usize>(write: impl FnOnce(&mut [u8; CHARS])) -> String {
    let mut text = [b'_'; CHARS];
    write(&mut text);
    std::str::from_utf8(&text).unwrap_or_default().to_owned()
}

/// Every prefix has three letters; the underscore is there.
fn write_prefix(prefix: &str, text: &mut [u8]) {
    text[..3].copy_from_slice(prefix.as_bytes());
}

/// A hold's number inside its event. An offer's hold carries the number of the queue place it came from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HoldId(pub u64);

/// A checkout code's number inside its sale. The part of the code that proves possession is made at the edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckoutId(pub u64);

/// The number of one registration, or of one place in the waiting list, inside its listing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub u64);

/// An order's number inside its listing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderId(pub u64);

/// The number of one attempt to pay an order, and the key under which a provider is asked for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaymentId(pub u64);

/// Which payment of which listing: a desk has those of many listings, and their numbers are drawn in each alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub struct PaymentName {
    #[n(0)]
    pub listing: ListingId,
    #[n(1)]
    pub payment: PaymentId,
}

impl PaymentName {
    const PREFIX: &str = "pay";

    pub fn text(&self) -> String {
        write_inside(PaymentName::PREFIX, &self.listing, self.payment.0)
    }

    /// Reads what [`PaymentName::text`] wrote.
    pub fn parse(text: &str) -> Option<PaymentName> {
        let (listing, number) = read_inside(PaymentName::PREFIX, text)?;
        Some(PaymentName { listing, payment: PaymentId(number) })
    }
}

/// Writes the name of something that lives inside a listing: prefix, the listing's tenant and number, the letter of its
/// kind, the own number.
pub fn write_inside(prefix: &str, listing: &ListingId, number: u64) -> String {
    text_of::<INSIDE_CHARS>(|text| {
        write_prefix(prefix, text);
        listing.write_where(&mut text[4..LISTING_CHARS]);
        text[LISTING_CHARS] = listing.kind.letter();
        write_digits(number, &mut text[LISTING_CHARS + 1..]);
    })
}

/// Reads what [`write_inside`] wrote.
pub fn read_inside(prefix: &str, text: &str) -> Option<(ListingId, u64)> {
    let rest = text.strip_prefix(prefix)?.strip_prefix('_')?;
    let (listing, rest) = rest.split_at_checked(WHERE_CHARS)?;
    let (letter, own) = rest.split_at_checked(1)?;
    let kind = ListingKind::ALL.into_iter().find(|kind| [kind.letter()] == *letter.as_bytes())?;
    Some((ListingId::read_where(kind, listing.as_bytes())?, read_id(own)?))
}

/// The same for things inside a listing of this kind.
pub fn read_inside_of(kind: ListingKind, prefix: &str, text: &str) -> Option<(ListingId, u64)> {
    read_inside(prefix, text).filter(|(listing, _)| listing.kind == kind)
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
                f.write_str(std::str::from_utf8(&write_id(self.0)).unwrap_or_default())
            }
        }
        impl<C> Encode<C> for $name {
            fn encode<W: minicbor::encode::Write>(
                &self,
                e: &mut minicbor::Encoder<W>,
                _: &mut C,
            ) -> Result<(), minicbor::encode::Error<W::Error>> {
                e.u64(self.0)?.ok()
            }
        }
        impl<'b, C> Decode<'b, C> for $name {
            fn decode(d: &mut minicbor::Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
                Ok($name(d.u64()?))
            }
        }
    )*};
}
debug_as_hex!(HoldId, OrderId, CheckoutId, EntryId, PaymentId);

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
        e.array(3)?.u32(self.tenant.0)?.encode_with(self.kind, c)?.u64(self.number)?.ok()
    }
}

impl<'b, C> Decode<'b, C> for ListingId {
    fn decode(d: &mut minicbor::Decoder<'b>, c: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.array()?;
        let wrong = minicbor::decode::Error::message;
        let tenant = Tenant::new(d.u32()?).ok_or_else(|| wrong("not a tenant"))?;
        let (kind, number) = (d.decode_with(c)?, d.u64()?);
        (number < LISTING_NUMBERS).then_some(()).ok_or_else(|| wrong("a listing's number has 60 bits"))?;
        Ok(ListingId { tenant, kind, number })
    }
}

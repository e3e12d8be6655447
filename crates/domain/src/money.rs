//! Money: an integer of minor units and an ISO 4217 code. No float ever touches it.

use minicbor::{Decode, Encode};

/// An amount in minor units (cents, yen, fils), at most [`MINOR_MAX`].
pub type Minor = i64;

/// The largest amount we take: 10^12 minor units, so that sums over any listing stay far below 2^63.
pub const MINOR_MAX: Minor = 1_000_000_000_000;

/// An ISO 4217 currency code, three capital letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

impl Currency {
    /// Takes three capital letters; whether the code is in use is the edge's question.
    pub fn parse(text: &str) -> Option<Currency> {
        let bytes: [u8; 3] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(u8::is_ascii_uppercase).then_some(Currency(bytes))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XXX")
    }
}

impl<C> Encode<C> for Currency {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut minicbor::Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.str(self.as_str())?.ok()
    }
}

impl<'b, C> Decode<'b, C> for Currency {
    fn decode(d: &mut minicbor::Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        Currency::parse(d.str()?).ok_or_else(|| minicbor::decode::Error::message("not a currency code"))
    }
}

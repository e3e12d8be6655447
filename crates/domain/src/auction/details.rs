//! What an auction is, apart from its bids: the thing, its seller, its times and its terms.

use minicbor::{Decode, Encode};

use super::increment::Increment;
use super::limits::{
    CAP_MS_DEFAULT, CAP_MS_MAX, DECAY_MAX, EXTENSION_MS_DEFAULT, EXTENSION_MS_MAX, LENGTH_MS_MAX,
    WINDOW_MS_DEFAULT, WINDOW_MS_MAX,
};
use crate::field::Field;
use crate::fields::{check_description, check_name, check_time};
use crate::id::BuyerId;
use crate::money::{Currency, MINOR_MAX, Minor};
use crate::refusal::Refusal;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct AuctionDetails {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub description: String,
    #[n(2)]
    pub seller: BuyerId,
    #[n(3)]
    pub currency: Currency,
    /// Bids count from here on, whether or not anybody was awake.
    #[n(4)]
    pub starts_at: Millis,
    /// The original end; soft close moves another one.
    #[n(5)]
    pub ends_at: Millis,
    #[n(6)]
    pub terms: AuctionTerms,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct AuctionTerms {
    #[n(0)]
    pub start_minor: Minor,
    /// Every amount is a multiple of it.
    #[n(1)]
    pub tick_minor: Minor,
    #[n(2)]
    pub increment: Increment,
    /// Below it nothing is sold. Secret until it is met.
    #[n(3)]
    pub reserve_minor: Option<Minor>,
    #[n(4)]
    pub buy_now: Option<BuyNowTerms>,
    #[n(5)]
    pub soft_close: Option<SoftClose>,
    /// Whether bidders, and not staff alone, may retract.
    #[n(6)]
    pub bidders_may_retract: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct BuyNowTerms {
    #[n(0)]
    pub price_minor: Minor,
    #[n(1)]
    pub policy: BuyNowPolicy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum BuyNowPolicy {
    #[n(0)]
    UntilFirstBid,
    /// Without a reserve: until the first bid.
    #[n(1)]
    UntilReserveMet,
    #[n(2)]
    Always,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct SoftClose {
    #[n(0)]
    pub mode: SoftCloseMode,
    /// A bid with no more than this left moves the end.
    #[n(1)]
    pub window_ms: Millis,
    /// By the number of extensions so far; the last repeats. One entry: always the same.
    #[n(2)]
    pub extensions_ms: Vec<Millis>,
    /// The end never moves further than this past the original one.
    #[n(3)]
    pub cap_ms: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum SoftCloseMode {
    /// The end is at least one extension after the bid.
    #[n(0)]
    Reset,
    /// The end moves by one extension.
    #[n(1)]
    Add,
}

impl Default for SoftClose {
    fn default() -> Self {
        SoftClose {
            mode: SoftCloseMode::Reset,
            window_ms: WINDOW_MS_DEFAULT,
            extensions_ms: vec![EXTENSION_MS_DEFAULT],
            cap_ms: CAP_MS_DEFAULT,
        }
    }
}

impl AuctionDetails {
    /// Refuses details that break a bound, naming the field.
    pub fn check(&self) -> Result<(), Refusal> {
        let invalid = |field: Field, why: &str| Err(Refusal::invalid(field, why));
        check_name(Field::Name, &self.name)?;
        check_description(&self.description)?;
        for (field, time) in [(Field::StartsAt, self.starts_at), (Field::EndsAt, self.ends_at)] {
            check_time(field, time)?;
        }
        if self.ends_at <= self.starts_at {
            return invalid(Field::EndsAt, "after starts_at");
        }
        if self.ends_at - self.starts_at > LENGTH_MS_MAX {
            return invalid(Field::EndsAt, "at most a year after starts_at");
        }
        self.terms.check()
    }

    /// Whether nothing that matters to bidders differs: times and terms.
    pub fn has_terms_of(&self, other: &AuctionDetails) -> bool {
        (self.starts_at, self.ends_at, &self.terms) == (other.starts_at, other.ends_at, &other.terms)
    }
}

impl AuctionTerms {
    fn check(&self) -> Result<(), Refusal> {
        let invalid = |field: Field, why: &str| Err(Refusal::invalid(field, why));
        if !(1..=MINOR_MAX).contains(&self.tick_minor) {
            return invalid(Field::TickMinor, "1 to 1,000,000,000,000 minor units");
        }
        let amounts = [
            (Field::StartMinor, Some(self.start_minor)),
            (Field::ReserveMinor, self.reserve_minor),
            (Field::BuyNowPriceMinor, self.buy_now.map(|terms| terms.price_minor)),
        ];
        for (field, amount) in amounts {
            let fits = |amount| (1..=MINOR_MAX).contains(&amount) && amount % self.tick_minor == 0;
            if !amount.is_none_or(fits) {
                return invalid(field, "1 to 1,000,000,000,000 minor units, a multiple of the tick");
            }
        }
        if self.reserve_minor.is_some_and(|reserve| reserve < self.start_minor) {
            return invalid(Field::ReserveMinor, "not below start_minor");
        }
        let highest = self.reserve_minor.unwrap_or(self.start_minor);
        if self.buy_now.is_some_and(|terms| terms.price_minor <= highest) {
            return invalid(Field::BuyNowPriceMinor, "above start_minor and reserve_minor");
        }
        self.increment.check(self.tick_minor)?;
        self.soft_close.as_ref().map_or(Ok(()), SoftClose::check)
    }

    pub(super) fn is_reserve_met(&self, max: Minor) -> bool {
        self.reserve_minor.is_none_or(|reserve| max >= reserve)
    }
}

impl SoftClose {
    fn check(&self) -> Result<(), Refusal> {
        let invalid = |field: Field, why: &str| Err(Refusal::invalid(field, why));
        if !(1..=WINDOW_MS_MAX).contains(&self.window_ms) {
            return invalid(Field::SoftCloseWindowMs, "1 ms to 1 hour");
        }
        let extensions = &self.extensions_ms;
        let fit = extensions.iter().all(|extension| (1..=EXTENSION_MS_MAX).contains(extension));
        if extensions.is_empty() || extensions.len() > DECAY_MAX || !fit {
            return invalid(Field::SoftCloseExtensionsMs, "1 to 64 extensions of 1 ms to 1 hour");
        }
        if !(0..=CAP_MS_MAX).contains(&self.cap_ms) {
            return invalid(Field::SoftCloseCapMs, "0 to 24 hours");
        }
        Ok(())
    }
}

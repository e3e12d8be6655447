//! By how much a bid must pass the price: one amount, a house's well-known ladder, or one of the seller's own.

use minicbor::{Decode, Encode};

use super::limits::RUNGS_MAX;
use crate::field::{Field, FieldPath};
use crate::money::{MINOR_MAX, Minor};
use crate::refusal::Refusal;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum Increment {
    #[n(0)]
    Fixed(#[n(0)] Minor),
    #[n(1)]
    Ladder(#[n(0)] Vec<LadderStep>),
    #[n(2)]
    Named(#[n(0)] NamedLadder),
}

/// From this price on, this step; both in minor units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct LadderStep {
    #[n(0)]
    pub from_minor: Minor,
    #[n(1)]
    pub step_minor: Minor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum NamedLadder {
    #[n(0)]
    EbayUs,
    #[n(1)]
    TradeMe,
    /// In yen, which have no smaller unit.
    #[n(2)]
    YahooJp,
}

const fn ladder<const N: usize>(pairs: [(Minor, Minor); N]) -> [LadderStep; N] {
    let mut rungs = [LadderStep { from_minor: 0, step_minor: 0 }; N];
    let mut n = 0;
    while n < N {
        rungs[n] = LadderStep { from_minor: pairs[n].0, step_minor: pairs[n].1 };
        n += 1;
    }
    rungs
}

pub const EBAY_US: [LadderStep; 10] = ladder([
    (0, 5),
    (100, 25),
    (500, 50),
    (2_500, 100),
    (10_000, 250),
    (25_000, 500),
    (50_000, 1_000),
    (100_000, 2_500),
    (250_000, 5_000),
    (500_000, 10_000),
]);

pub const TRADE_ME: [LadderStep; 6] =
    ladder([(0, 50), (2_000, 100), (20_000, 500), (100_000, 1_000), (500_000, 5_000), (2_500_000, 10_000)]);

pub const YAHOO_JP: [LadderStep; 5] =
    ladder([(0, 10), (1_000, 100), (5_000, 250), (10_000, 500), (50_000, 1_000)]);

impl NamedLadder {
    pub const ALL: [NamedLadder; 3] = [NamedLadder::EbayUs, NamedLadder::TradeMe, NamedLadder::YahooJp];

    pub fn as_str(self) -> &'static str {
        match self {
            NamedLadder::EbayUs => "ebay_us",
            NamedLadder::TradeMe => "trade_me",
            NamedLadder::YahooJp => "yahoo_jp",
        }
    }

    pub fn rungs(self) -> &'static [LadderStep] {
        match self {
            NamedLadder::EbayUs => &EBAY_US,
            NamedLadder::TradeMe => &TRADE_ME,
            NamedLadder::YahooJp => &YAHOO_JP,
        }
    }
}

impl Increment {
    /// The step that is asked for above `price`.
    pub fn at(&self, price: Minor) -> Minor {
        match self {
            Increment::Fixed(step) => *step,
            Increment::Ladder(rungs) => step_of(rungs, price),
            Increment::Named(named) => step_of(named.rungs(), price),
        }
    }

    /// Every step is a positive number of ticks; a ladder begins at 0 and rises.
    pub fn check(&self, tick: Minor) -> Result<(), Refusal> {
        let rungs = match self {
            Increment::Fixed(step) => return check_step(Field::Increment.into(), *step, tick),
            Increment::Named(named) => named.rungs(),
            Increment::Ladder(rungs) => rungs,
        };
        if rungs.is_empty() || rungs.len() > RUNGS_MAX {
            return Err(Refusal::invalid(Field::Increment, "1 to 64 rungs"));
        }
        if rungs[0].from_minor != 0 {
            return Err(Refusal::invalid(Field::RungFromMinor.at(&[0]), "the first rung begins at 0"));
        }
        for (n, rung) in rungs.iter().enumerate() {
            if n > 0 && rung.from_minor <= rungs[n - 1].from_minor {
                return Err(Refusal::invalid(Field::RungFromMinor.at(&[n]), "above the rung before"));
            }
            check_step(Field::RungStepMinor.at(&[n]), rung.step_minor, tick)?;
        }
        Ok(())
    }
}

fn check_step(field: FieldPath, step: Minor, tick: Minor) -> Result<(), Refusal> {
    if (1..=MINOR_MAX).contains(&step) && step % tick == 0 {
        return Ok(());
    }
    Err(Refusal::invalid(field, "1 to 1,000,000,000,000 minor units, a multiple of the tick"))
}

fn step_of(rungs: &[LadderStep], price: Minor) -> Minor {
    let above = rungs.partition_point(|rung| rung.from_minor <= price);
    rungs[above.saturating_sub(1)].step_minor
}

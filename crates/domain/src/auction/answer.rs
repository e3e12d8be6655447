//! The answer to a bid or a buy-now: made from the facts of the decision alone, so that a replay tells the same.

use super::fact::{AuctionFact, Award};
use super::numbers::BidNumber;
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BidStanding {
    Leading,
    Outbid,
    /// Bought at once; the auction is over.
    Bought,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BidAnswer {
    pub standing: BidStanding,
    pub price_minor: Minor,
    /// What another bid must offer now; nothing if it was bought.
    pub min_next_minor: Option<Minor>,
    pub bid: Option<BidNumber>,
    /// The auction's end, as this bid may have moved it; if it was bought, the end of the time to pay.
    pub until: Millis,
    pub offset: u64,
}

impl BidAnswer {
    /// From the decision's facts with their offsets; the last one tells.
    pub fn of<'a>(facts: impl IntoIterator<Item = (u64, &'a AuctionFact)>) -> Option<BidAnswer> {
        let (offset, fact) = facts.into_iter().last()?;
        if let AuctionFact::BidPlaced { bid, leading, price_minor, min_next_minor, ends_at, .. } = fact {
            return Some(BidAnswer {
                standing: if *leading { BidStanding::Leading } else { BidStanding::Outbid },
                price_minor: *price_minor,
                min_next_minor: Some(*min_next_minor),
                bid: Some(*bid),
                until: *ends_at,
                offset,
            });
        }
        let AuctionFact::AuctionClosed { award: Some(Award { price_minor, until, .. }), .. } = fact else {
            return None;
        };
        Some(BidAnswer {
            standing: BidStanding::Bought,
            price_minor: *price_minor,
            min_next_minor: None,
            bid: None,
            until: *until,
            offset,
        })
    }
}

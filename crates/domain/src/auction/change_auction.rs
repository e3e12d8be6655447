//! Create an auction and change it: words until it closes, times and terms until it starts.

use super::Decision;
use super::command::{ChangeAuction, ChangeTerms};
use super::details::{AuctionDetails, AuctionTerms};
use super::fact::AuctionFact;
use super::state::{Auction, AuctionStatus};
use crate::field::Field;
use crate::refusal::{Code, Refusal};
use crate::time::{Millis, is_over};

pub(super) fn create(details: &AuctionDetails, now: Millis) -> Result<AuctionFact, Refusal> {
    check(details, now)?;
    Ok(AuctionFact::AuctionCreated(Box::new(details.clone())))
}

/// A start in the past opens at once; an end in the past would sell nothing to nobody.
fn check(details: &AuctionDetails, now: Millis) -> Result<(), Refusal> {
    details.check()?;
    if is_over(details.ends_at, now) {
        return Err(Refusal::invalid(Field::EndsAt, "in the future"));
    }
    Ok(())
}

pub(super) fn decide(auction: &Auction, change: &ChangeAuction, now: Millis) -> Result<Decision, Refusal> {
    let words_only = match auction.status_at(now) {
        AuctionStatus::Cancelled => return Err(Refusal::of(Code::AuctionCancelled)),
        AuctionStatus::Closed => return Err(Refusal::of(Code::AuctionOver)),
        AuctionStatus::Scheduled => false,
        AuctionStatus::Open => true,
    };
    let details = auction.changed(change);
    let old = &auction.details;
    let same_terms = details.has_terms_of(old);
    if words_only && !same_terms {
        return Err(Refusal::of(Code::StatusConflict));
    }
    // What soft close has done to a running auction's end is no business of its description.
    if same_terms {
        details.check()?
    } else {
        check(&details, now)?
    }
    Ok(match details == **old {
        true => Decision::Unchanged,
        false => Decision::Fact(AuctionFact::AuctionChanged(Box::new(details))),
    })
}

impl Auction {
    /// What the details come to with a change, whether or not it may be made.
    pub fn changed(&self, change: &ChangeAuction) -> AuctionDetails {
        merged(&self.details, change)
    }
}

fn merged(old: &AuctionDetails, change: &ChangeAuction) -> AuctionDetails {
    AuctionDetails {
        name: change.name.clone().unwrap_or_else(|| old.name.clone()),
        description: change.description.clone().unwrap_or_else(|| old.description.clone()),
        seller: old.seller.clone(),
        currency: old.currency,
        starts_at: change.starts_at.unwrap_or(old.starts_at),
        ends_at: change.ends_at.unwrap_or(old.ends_at),
        terms: merged_terms(&old.terms, &change.terms),
    }
}

fn merged_terms(old: &AuctionTerms, change: &ChangeTerms) -> AuctionTerms {
    AuctionTerms {
        start_minor: change.start_minor.unwrap_or(old.start_minor),
        tick_minor: change.tick_minor.unwrap_or(old.tick_minor),
        increment: change.increment.clone().unwrap_or_else(|| old.increment.clone()),
        reserve_minor: change.reserve_minor.unwrap_or(old.reserve_minor),
        buy_now: change.buy_now.unwrap_or(old.buy_now),
        soft_close: change.soft_close.clone().unwrap_or_else(|| old.soft_close.clone()),
        bidders_may_retract: change.bidders_may_retract.unwrap_or(old.bidders_may_retract),
    }
}

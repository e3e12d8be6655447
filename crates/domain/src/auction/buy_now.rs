//! Buying at once: the price is fixed, and the same fact closes the auction.

use super::command::BuyNow;
use super::fact::{AuctionFact, Award, Closing};
use super::limits::PAY_MS;
use super::place_bid::may_bid;
use super::state::Auction;
use crate::id::BuyerId;
use crate::money::Minor;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

pub(super) fn decide(auction: &Auction, command: &BuyNow, now: Millis) -> Result<AuctionFact, Refusal> {
    may_bid(auction, &command.buyer, command.currency, now)?;
    let price = auction.buy_now_on_offer().ok_or(Refusal::of(Code::BuyNowGone))?;
    Ok(bought(&command.buyer, price, now))
}

/// The close by a purchase.
pub(super) fn bought(buyer: &BuyerId, price: Minor, now: Millis) -> AuctionFact {
    let award = Award { bidder: buyer.clone(), bid: None, price_minor: price, until: now + PAY_MS };
    AuctionFact::AuctionClosed { how: Closing::BoughtNow, award: Some(award) }
}

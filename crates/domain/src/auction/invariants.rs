//! What must be true of an auction after every fact, counted again from scratch. Slow on purpose:
//! tests, the simulation and `onsale verify` ask, the writers never do.

use std::collections::{BTreeMap, BTreeSet};

use super::details::BuyNowPolicy;
use super::fact::Closing;
use super::limits::{BANNED_MAX, BIDS_MAX, SECOND_CHANCES_MAX, WATCHERS_MAX};
use super::people::{BANNED, BIDS, WATCHES};
use super::proxy;
use super::state::{Auction, AuctionEnd, AwardState, Phase};
use crate::id::BuyerId;
use crate::money::Minor;

macro_rules! ensure {
    ($condition:expr, $($why:tt)*) => {
        if !$condition {
            return Err(format!($($why)*));
        }
    };
}

/// The first thing that is not as it must be, in words.
pub fn check(auction: &Auction) -> Result<(), String> {
    check_bids(auction)?;
    check_lead(auction)?;
    check_end(auction)?;
    check_people(auction)?;
    match &auction.phase {
        Phase::Live | Phase::Cancelled { .. } => Ok(()),
        Phase::Closed(closed) => check_closed(auction, closed),
    }
}

fn check_bids(auction: &Auction) -> Result<(), String> {
    ensure!(auction.bids.len() <= BIDS_MAX, "{} bids", auction.bids.len());
    let terms = auction.terms();
    let mut highest: BTreeMap<u16, Minor> = BTreeMap::new();
    let mut last_at = 0;
    for bid in auction.bids.iter() {
        let number = bid.number;
        ensure!(bid.max % terms.tick_minor == 0, "bid {number} is off the tick");
        ensure!(bid.max >= terms.start_minor, "bid {number} is below the start");
        ensure!(bid.at >= last_at, "bid {number} is older than the one before");
        ensure!(bid.at >= auction.details.starts_at, "bid {number} came before the start");
        ensure!(bid.at < auction.ends_at, "bid {number} came after the end");
        last_at = bid.at;
        if bid.retracted {
            continue;
        }
        let before = highest.insert(bid.bidder, bid.max);
        ensure!(before.is_none_or(|before| before < bid.max), "bid {number} is not above its bidder's last");
        let bought = terms.buy_now.filter(|buy| buy.policy == BuyNowPolicy::Always);
        ensure!(bought.is_none_or(|buy| bid.max < buy.price_minor), "bid {number} should have bought");
    }
    Ok(())
}

/// Leader and price are what all bids that stand come to, and the price is no more than it must be.
fn check_lead(auction: &Auction) -> Result<(), String> {
    let (terms, lead) = (auction.terms(), auction.lead);
    let again = proxy::replay(terms, auction.bids.living());
    ensure!(lead == again, "the lead is {lead:?}, replayed {again:?}");
    let name = lead.leader.map(|leader| auction.people.name(leader.bidder, BuyerId::known));
    ensure!(name == auction.leader, "{:?} is shown as leader, it is {name:?}", auction.leader);
    let Some(leader) = lead.leader else {
        ensure!(lead.price == 0, "a price of {} without a bid", lead.price);
        return Ok(());
    };
    ensure!((terms.start_minor..=leader.max).contains(&lead.price), "price {} of {leader:?}", lead.price);
    ensure!(lead.price % terms.tick_minor == 0, "price {} is off the tick", lead.price);
    let met = terms.reserve_minor.filter(|reserve| leader.max >= *reserve);
    ensure!(met.is_none_or(|reserve| lead.price >= reserve), "price {} below a met reserve", lead.price);
    let others = auction.bids.living().filter(|bid| bid.bidder != leader.bidder);
    let highest = others.map(|bid| bid.max).max().unwrap_or(0);
    ensure!(highest <= lead.price, "a maximum of {highest} is above the price {}", lead.price);
    Ok(())
}

fn check_end(auction: &Auction) -> Result<(), String> {
    let original = auction.details.ends_at;
    let cap = auction.terms().soft_close.as_ref().map_or(0, |rule| rule.cap_ms);
    let range = original..=original + cap;
    ensure!(range.contains(&auction.ends_at), "the end {} is not in {range:?}", auction.ends_at);
    let moved = auction.ends_at != original;
    ensure!(moved == (auction.extensions > 0), "{} extensions, end {}", auction.extensions, auction.ends_at);
    Ok(())
}

fn check_people(auction: &Auction) -> Result<(), String> {
    let people = &auction.people;
    let bidders: BTreeSet<u16> = auction.bids.iter().map(|bid| bid.bidder).collect();
    let marked: BTreeSet<u16> = people.with(BIDS).collect();
    ensure!(bidders == marked, "bidders {marked:?}, by their bids {bidders:?}");
    ensure!(bidders.len() == auction.bidders as usize, "{} bidders counted", auction.bidders);
    let (watchers, banned) = (people.with(WATCHES).count(), people.with(BANNED).count());
    ensure!(watchers == auction.watchers as usize, "{watchers} watch, {} counted", auction.watchers);
    ensure!(banned == auction.banned as usize, "{banned} banned, {} counted", auction.banned);
    ensure!(watchers <= WATCHERS_MAX && banned <= BANNED_MAX, "{watchers} watch, {banned} are banned");
    let all: BTreeSet<u16> = people.with(BIDS | WATCHES | BANNED).collect();
    ensure!(all.len() == people.len(), "{} known, {} for something", people.len(), all.len());
    for number in all {
        let is_found = people.name(number, |name| people.find(name) == Some(number));
        ensure!(is_found, "{:?} is not found", people.name(number, str::to_owned));
    }
    let standing = people.with(BANNED).find(|number| auction.bids.living_of(*number).next().is_some());
    let live = matches!(auction.phase, Phase::Live);
    ensure!(!live || standing.is_none(), "a banned bidder's bid stands");
    Ok(())
}

/// At most one award waits, and it is the last; nobody has two; the reserve was met.
fn check_closed(auction: &Auction, closed: &AuctionEnd) -> Result<(), String> {
    let awards = &closed.awards;
    let sold = matches!(closed.how, Closing::Won | Closing::BoughtNow);
    ensure!(sold != awards.is_empty(), "closed as {:?} with {} awards", closed.how, awards.len());
    ensure!(awards.len() <= 1 + SECOND_CHANCES_MAX, "{} awards", awards.len());
    let names: BTreeSet<_> = awards.iter().map(|line| &line.award.bidder).collect();
    ensure!(names.len() == awards.len(), "somebody was given two awards");
    for (nth, line) in awards.iter().enumerate() {
        let over = matches!(line.state, AwardState::Unpaid | AwardState::Declined);
        ensure!(over || nth + 1 == awards.len(), "award {nth} is {:?} and not the last", line.state);
        let price = line.award.price_minor;
        ensure!(auction.terms().is_reserve_met(price), "award {nth} of {price} is below the reserve");
        ensure!(line.award.bidder != auction.details.seller, "the seller was given an award");
        let bid = line.award.bid.and_then(|number| auction.bids.get(number));
        ensure!(bid.is_none_or(|bid| !bid.retracted && bid.max >= price), "award {nth} is above its bid");
    }
    Ok(())
}

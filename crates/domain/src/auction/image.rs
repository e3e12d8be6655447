//! An auction's state as bytes, for snapshots, and back. Canonical by itself: bidders in the order of their first
//! bid, then the others by name, so that the same state gives the same bytes however it came about.

use std::collections::BTreeMap;
use std::sync::Arc;

use minicbor::{Decode, Encode};

use super::details::AuctionDetails;
use super::numbers::{BidNumber, Skip, number_of};
use super::people::{BANNED, BIDS, WATCHES};
use super::proxy::{Lead, Leading};
use super::state::{Auction, AuctionEnd, Phase};
use crate::id::BuyerId;
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct AuctionImage {
    #[n(0)]
    pub details: AuctionDetails,
    #[n(1)]
    pub closed: Option<AuctionEnd>,
    #[n(2)]
    pub cancelled_at: Option<Millis>,
    #[n(3)]
    pub ends_at: Millis,
    #[n(4)]
    pub extensions: u32,
    #[n(5)]
    pub leader: Option<BidNumber>,
    #[n(6)]
    pub price_minor: Minor,
    #[n(7)]
    pub people: Vec<PersonImage>,
    #[n(8)]
    pub bids: Vec<BidImage>,
    /// Where numbers of bids were skipped.
    #[n(9)]
    #[cbor(default)]
    pub skips: Vec<Skip>,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct PersonImage {
    #[n(0)]
    pub name: BuyerId,
    #[n(1)]
    pub watches: bool,
    #[n(2)]
    pub banned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct BidImage {
    /// Which of the people.
    #[n(0)]
    pub bidder: u16,
    #[n(1)]
    pub max_minor: Minor,
    #[n(2)]
    pub at: Millis,
    #[n(3)]
    pub retracted: bool,
}

impl Auction {
    pub fn image(&self) -> AuctionImage {
        let mut order: Vec<u16> = Vec::new();
        let mut places: BTreeMap<u16, u16> = BTreeMap::new();
        let mut bids = Vec::with_capacity(self.bids.len());
        for bid in self.bids.iter() {
            let place = *places.entry(bid.bidder).or_insert_with(|| {
                order.push(bid.bidder);
                order.len() as u16 - 1
            });
            let (max_minor, at, retracted) = (bid.max, bid.at, bid.retracted);
            bids.push(BidImage { bidder: place, max_minor, at, retracted });
        }
        let person = |number: u16| {
            let flags = self.people.flags(number);
            let (watches, banned) = (flags & WATCHES != 0, flags & BANNED != 0);
            PersonImage { name: self.people.name(number, BuyerId::known), watches, banned }
        };
        let mut people: Vec<_> = order.into_iter().map(person).collect();
        let silent = self.people.with(WATCHES | BANNED).filter(|n| self.people.flags(*n) & BIDS == 0);
        let mut silent: Vec<_> = silent.map(person).collect();
        silent.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        people.append(&mut silent);
        let (closed, cancelled_at) = match &self.phase {
            Phase::Live => (None, None),
            Phase::Closed(closed) => (Some((**closed).clone()), None),
            Phase::Cancelled { at } => (None, Some(*at)),
        };
        AuctionImage {
            details: (*self.details).clone(),
            closed,
            cancelled_at,
            ends_at: self.ends_at,
            extensions: self.extensions,
            leader: self.lead.leader.map(|leader| leader.bid),
            price_minor: self.lead.price,
            people,
            bids,
            skips: self.bids.skips().to_vec(),
        }
    }

    pub fn from_image(image: AuctionImage) -> Auction {
        let mut auction = Auction::new(image.details);
        auction.phase = match (image.closed, image.cancelled_at) {
            (Some(closed), _) => Phase::Closed(Arc::new(closed)),
            (None, Some(at)) => Phase::Cancelled { at },
            (None, None) => Phase::Live,
        };
        (auction.ends_at, auction.extensions) = (image.ends_at, image.extensions);
        let bidders = image.bids.iter().map(|bid| usize::from(bid.bidder) + 1).max().unwrap_or(0);
        for (n, person) in image.people.iter().enumerate() {
            // Marked in their order, they get the numbers that the bids use.
            let flags = [(n < bidders, BIDS), (person.watches, WATCHES), (person.banned, BANNED)];
            for (_, flag) in flags.into_iter().filter(|(has, _)| *has) {
                auction.people.mark(person.name.as_str(), flag);
            }
            auction.watchers += u32::from(person.watches);
            auction.banned += u32::from(person.banned);
        }
        auction.bidders = bidders as u32;
        for (n, bid) in image.bids.iter().enumerate() {
            let number = number_of(&image.skips, n as u32 + 1);
            auction.bids.push(number, bid.bidder, bid.max_minor, bid.at);
            if bid.retracted {
                auction.bids.retract(number);
            }
        }
        let leading = image.leader.and_then(|number| auction.bids.get(number));
        let leader = leading.map(|bid| Leading { bid: bid.number, bidder: bid.bidder, max: bid.max });
        auction.lead = Lead { leader, price: image.price_minor };
        auction.leader = leader.map(|leader| auction.people.name(leader.bidder, BuyerId::known));
        auction
    }
}

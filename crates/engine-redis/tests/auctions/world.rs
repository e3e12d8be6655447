//! One small world for a random history: an auction, and people who bid, raise, snipe, retract, are banned and pay.

use onsale_domain::auction::command::{
    BanBidder, BuyNow, CancelAuction, PlaceBid, RefundAward, RetractBid, Retractor, SettleAward,
};
use onsale_domain::auction::{Auction, AuctionCommand, AuctionStatus};
use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::listing::Key;
use onsale_domain::money::{MINOR_MAX, Minor};
use onsale_domain::{BuyerId, Command, Listing, ListingId, ListingKind, Millis, OrderId, Step, Tenant};

use super::terms::{change, currency, details, seller};
use crate::differential::chance::{BUYERS, Chance};
use crate::differential::histories::{Ask, SentCommands, asked_before, takes_its_course};

const DAY: Millis = 86_400_000;

pub(crate) struct World {
    pub chance: Chance,
    pub now: Millis,
    /// A history is about one auction after the other: each is over for good one day.
    pub auction: ListingId,
    pub nowhere: ListingId,
    ids: u64,
    /// How long one speaks of an auction that is over.
    pub patience: u64,
    /// Orders that were placed for an award, if there are orders in this world.
    pub orders: Vec<OrderId>,
    pub asked: SentCommands,
}

takes_its_course!(World, auction);

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let listing = |number| ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Auction, number };
        let number = (seed << 32) % LISTING_NUMBERS;
        World {
            chance: Chance::new(seed),
            now: 1_700_000_000_000,
            auction: listing(number | 1),
            nowhere: listing(number),
            ids: seed << 40,
            patience: 12,
            orders: Vec::new(),
            asked: Vec::new(),
        }
    }

    pub(crate) fn fresh(&mut self) -> u64 {
        self.ids += 1;
        self.ids.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn pass_time(&mut self) {
        self.now += match self.chance.below(400) {
            0..=59 => 20 * self.chance.below(100) as Millis,
            60..=70 => 9_000,
            71..=74 => 45_000,
            75 => 3_700_000,
            76 if self.chance.one_in(4) => DAY,
            77 if self.chance.one_in(8) => 2 * DAY,
            78 => -5_000,
            _ => 0,
        };
    }

    pub(crate) fn ask(&mut self, listing: &Listing) -> Ask {
        // Now and then it is the very instant at which something is over, or the one before.
        if let Some(due) = listing.next_due().filter(|due| (self.now..self.now + 4 * DAY).contains(due))
            && self.chance.one_in(60)
        {
            self.now = (due - self.chance.below(2) as Millis).max(self.now);
        }
        if self.chance.one_in(9)
            && let Some((key, listing, command)) = asked_before(&self.asked, &mut self.chance)
        {
            let fingerprint = key.fingerprint ^ u128::from(self.chance.one_in(2));
            return Ask { listing, command, key: Some(Key { fingerprint, ..key }) };
        }
        if listing.auction().is_some_and(|auction| self.is_over(auction)) && self.chance.one_in(self.patience)
        {
            self.auction.number += 1;
        }
        let to = if self.chance.one_in(40) { self.nowhere } else { self.auction };
        let key = self
            .chance
            .one_in(3)
            .then(|| Key { scope: self.fresh().into(), fingerprint: u128::from(self.chance.next()) << 1 });
        match self.chance.below(200) {
            0 => return Ask { listing: to, command: self.other(), key },
            1..=15 => return Ask { listing: to, command: Command::ExpireDue { limit: 64 }, key: None },
            _ => {}
        }
        let command = self.command(listing);
        // An auction that was never made must not be made elsewhere: the history is about one.
        let to = if let AuctionCommand::CreateAuction(_) = command { self.auction } else { to };
        Ask { listing: to, command: Command::Auction(command), key }
    }

    fn is_over(&self, auction: &Auction) -> bool {
        matches!(auction.status_at(self.now), AuctionStatus::Closed | AuctionStatus::Cancelled)
    }

    fn command(&mut self, listing: &Listing) -> AuctionCommand {
        let now = self.now;
        let Some(auction) = listing.auction().filter(|_| listing.id == self.auction) else {
            if self.chance.one_in(4) {
                return AuctionCommand::PlaceBid(self.bid(None));
            }
            return AuctionCommand::CreateAuction(Box::new(details(&mut self.chance, now)));
        };
        match self.chance.below(100) {
            // What is left to do when it is over.
            0..=29 if self.is_over(auction) => self.after(auction),
            0..=54 => AuctionCommand::PlaceBid(self.bid(Some(auction))),
            55..=57 => {
                let currency =
                    if self.chance.one_in(5) { currency("USD") } else { auction.details().currency };
                AuctionCommand::BuyNow(BuyNow { buyer: self.buyer(), currency })
            }
            58..=69 => AuctionCommand::RetractBid(self.retraction(auction)),
            70..=74 => {
                let reason = self.name("why \"|");
                AuctionCommand::BanBidder(BanBidder { bidder: self.buyer(), reason })
            }
            75..=79 => AuctionCommand::UnbanBidder(self.buyer()),
            80..=83 => AuctionCommand::WatchAuction(self.buyer()),
            84..=86 => AuctionCommand::UnwatchAuction(self.buyer()),
            87..=91 => AuctionCommand::ChangeAuction(Box::new(change(&mut self.chance, now))),
            92 => AuctionCommand::CreateAuction(Box::new(details(&mut self.chance, now))),
            93 if self.chance.one_in(3) => {
                AuctionCommand::CancelAuction(CancelAuction { reason: self.name("broken") })
            }
            _ => self.after(auction),
        }
    }

    /// Who was given an award pays, turns it down, or somebody else tries to.
    fn after(&mut self, auction: &Auction) -> AuctionCommand {
        let closed = auction.view().closed;
        let awards = closed.as_ref().map_or(&[][..], |closed| closed.awards.as_slice());
        if !self.orders.is_empty() && self.chance.one_in(3) {
            return AuctionCommand::RefundAward(self.refund());
        }
        let of_award = self.chance.recent(awards, 3).map(|line| line.award.bidder.clone());
        let bidder = of_award.filter(|_| !self.chance.one_in(5)).unwrap_or_else(|| self.buyer());
        if self.chance.one_in(6) {
            let known = self.orders.last().copied().filter(|_| self.chance.one_in(2));
            let order = known.unwrap_or_else(|| OrderId(self.fresh()));
            return AuctionCommand::SettleAward(SettleAward { bidder, order });
        }
        AuctionCommand::DeclineAward(bidder)
    }

    /// Mostly of an order that was placed, and by any amount.
    fn refund(&mut self) -> RefundAward {
        let known = self.chance.recent(&self.orders, 3).copied().filter(|_| !self.chance.one_in(12));
        let amount_minor = match self.chance.below(6) {
            0 => [0, -1, MINOR_MAX, MINOR_MAX + 1][self.chance.below(4) as usize],
            1..=3 => 1 + self.chance.below(40) as Minor,
            _ => {
                return RefundAward {
                    order: known.unwrap_or(OrderId(7)),
                    amount_minor: None,
                    reason: self.name("why"),
                };
            }
        };
        let order = known.unwrap_or_else(|| OrderId(self.fresh()));
        RefundAward { order, amount_minor: Some(amount_minor), reason: self.name("a | reason %s") }
    }

    pub(crate) fn buyer(&mut self) -> BuyerId {
        let name = BUYERS[self.chance.below(BUYERS.len() as u64) as usize];
        if self.chance.one_in(40) {
            seller()
        } else {
            BuyerId::parse(name).expect("a name that the domain admits")
        }
    }

    /// Mostly a name, now and then one that no command may have.
    fn name(&mut self, name: &str) -> String {
        if self.chance.one_in(20) { String::new() } else { name.to_owned() }
    }

    /// Mostly about what is asked for, ties and self-raises among them; rarely anything at all.
    fn bid(&mut self, auction: Option<&Auction>) -> PlaceBid {
        let (least, tick, code) = auction.map_or((1, 1, currency("EUR")), |auction| {
            let (view, details) = (auction.view(), auction.details());
            (view.min_next_minor, details.terms.tick_minor, details.currency)
        });
        let near = |chance: &mut Chance, steps: u64| least + tick * (chance.below(steps) as Minor - 1);
        let max_minor = match self.chance.below(16) {
            0..=6 => near(&mut self.chance, 6),
            7..=10 => near(&mut self.chance, 40),
            11 => near(&mut self.chance, 400),
            12 => least,
            13 => least + 1 + self.chance.below(3) as Minor,
            14 => [0, 1, -1, MINOR_MAX, MINOR_MAX + 1][self.chance.below(5) as usize],
            // What somebody has bid already: a tie.
            _ => auction.map_or(1, |auction| self.known_maximum(auction)),
        };
        let leader = auction.and_then(|auction| auction.view().leader).filter(|_| self.chance.one_in(6));
        let bidder = leader.unwrap_or_else(|| self.buyer());
        let code = if self.chance.one_in(30) { currency("USD") } else { code };
        PlaceBid { bidder, max_minor, currency: code }
    }

    fn known_maximum(&mut self, auction: &Auction) -> Minor {
        let image = auction.image();
        let bids: Vec<Minor> = image.bids.iter().map(|bid| bid.max_minor).collect();
        let highest = bids.iter().copied().max().unwrap_or(1);
        if self.chance.one_in(4) { self.chance.recent(&bids, 9).copied().unwrap_or(highest) } else { highest }
    }

    fn retraction(&mut self, auction: &Auction) -> RetractBid {
        let image = auction.image();
        let numbers: Vec<u16> = (1..=image.bids.len() as u16).collect();
        let known = self.chance.recent(&numbers, 8).copied();
        let bid = known.filter(|_| !self.chance.one_in(12)).unwrap_or(self.chance.below(3) as u16 * 4_000);
        let owner = usize::from(bid).checked_sub(1).and_then(|n| image.bids.get(n));
        let owner = owner.map(|bid| image.people[usize::from(bid.bidder)].name.clone());
        let by = match self.chance.below(4) {
            0 => Retractor::Staff,
            1..=2 => Retractor::Bidder(owner.unwrap_or_else(|| self.buyer())),
            _ => Retractor::Bidder(self.buyer()),
        };
        RetractBid { bid: bid.into(), by, reason: self.name("a slip") }
    }

    /// A verb that is not for auctions.
    fn other(&mut self) -> Command {
        Command::Sale(onsale_domain::stock::SaleCommand::Close)
    }

    pub(crate) fn learn(&mut self, _step: &Step) {}
}

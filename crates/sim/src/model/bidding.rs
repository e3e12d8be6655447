//! What auctions promise, asserted of every fact: the bids that stand are gone through from the first, each time anew.

use onsale_domain::auction::details::SoftCloseMode;
use onsale_domain::auction::fact::{Award, Closing, PassCause, ReplayResult};
use onsale_domain::auction::{Auction, AuctionDetails, AuctionFact};
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::{BuyerId, Fact, Millis, OrderId};

use super::kept::{PIN_MS, pinned_until};
use super::money::MoneyBook;
use super::promises::{Book, ModelledKind};

/// A winner has two days, each bidder after the winner one.
const PAY_MS: Millis = 48 * 3_600_000;
const CHANCE_MS: Millis = 24 * 3_600_000;

impl ModelledKind for Auction {
    fn goes_on(&self) -> bool {
        self.next_due().is_some()
    }

    fn open_book(first: &AuctionFact) -> Option<Box<dyn Book>> {
        let AuctionFact::AuctionCreated(details) = first else { return None };
        Some(Box::new(BidBook::new((**details).clone())))
    }

    fn move_money(money: &mut MoneyBook, fact: &AuctionFact, now: Millis) {
        money.take_auction(fact, now);
    }
}

impl Book for BidBook {
    fn take(&mut self, fact: &Fact, now: Millis) {
        if let Fact::Auction(fact) = fact {
            self.take_own(fact, now);
        } else if let Fact::Order(fact) = fact {
            self.take_order(fact);
        }
    }

    /// Whether the award that this bidder did not pay in time is nobody else's.
    fn is_left_to(&self, goods: &OrderedGoods, bidder: &BuyerId) -> bool {
        let is_last = || self.awards.last().is_some_and(|last| last.bidder == *bidder);
        matches!(goods, OrderedGoods::Award { .. }) && self.last == Last::Unpaid && is_last()
    }

    fn is_overdue(&self, now: Millis) -> bool {
        let waits = self.last == Last::Waits;
        (!self.over && self.end <= now) || (waits && self.awards.last().is_some_and(|last| last.until <= now))
    }

    fn boxed(&self) -> Box<dyn Book> {
        Box::new(self.clone())
    }
}

#[derive(Clone, Debug)]
struct BidBook {
    details: AuctionDetails,
    bids: Vec<Bid>,
    banned: Vec<BuyerId>,
    end: Millis,
    extensions: usize,
    over: bool,
    awards: Vec<Award>,
    /// What became of the last award, and when it first was to end.
    last: Last,
    first_until: Millis,
    orders: Vec<OrderId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Waits,
    Settled,
    /// It was not paid in time, or turned down, and nobody else has it.
    Unpaid,
    Declined,
}

#[derive(Clone, Debug)]
struct Bid {
    bidder: BuyerId,
    max: i64,
    gone: bool,
}

/// The bid that leads, by its place in the list, and the price.
type Lead = Option<(usize, i64)>;

impl BidBook {
    fn new(details: AuctionDetails) -> BidBook {
        let end = details.ends_at;
        BidBook {
            details,
            bids: Vec::new(),
            banned: Vec::new(),
            end,
            extensions: 0,
            over: false,
            awards: Vec::new(),
            last: Last::Declined,
            first_until: 0,
            orders: Vec::new(),
        }
    }

    fn beyond(&self, amount: i64) -> i64 {
        amount + self.details.terms.increment.at(amount)
    }

    /// Rules 1 to 5 over all bids that stand.
    fn lead(&self) -> Lead {
        let terms = &self.details.terms;
        let mut lead: Lead = None;
        for (n, bid) in self.bids.iter().enumerate().filter(|(_, bid)| !bid.gone) {
            let (leader, price) = match lead {
                None => (n, terms.start_minor),
                Some((old, price)) if self.bids[old].bidder == bid.bidder => (n, price),
                Some((old, price)) if bid.max > self.bids[old].max => {
                    (n, price.max(bid.max.min(self.beyond(self.bids[old].max))))
                }
                Some((old, price)) => (old, price.max(self.bids[old].max.min(self.beyond(bid.max)))),
            };
            let met = terms.reserve_minor.filter(|reserve| self.bids[leader].max >= *reserve);
            lead = Some((leader, price.max(met.unwrap_or(price))));
        }
        lead
    }

    fn reserve_met(&self, lead: Lead) -> bool {
        let reserve = self.details.terms.reserve_minor;
        lead.is_some_and(|(leader, _)| reserve.is_none_or(|reserve| self.bids[leader].max >= reserve))
    }

    fn least(&self, lead: Lead) -> i64 {
        lead.map_or(self.details.terms.start_minor, |(_, price)| self.beyond(price))
    }

    fn runs(&self, now: Millis) {
        assert!(!self.over, "an auction goes on after its end");
        assert!((self.details.starts_at..self.end).contains(&now), "an auction moves outside its hours");
    }

    fn replayed(&self, told: &ReplayResult) {
        let lead = self.lead();
        let leader = lead.map(|(leader, _)| (leader as u32 + 1, &self.bids[leader].bidder));
        assert!(leader == told.leader.as_ref().map(|leader| (leader.bid, &leader.bidder)), "a wrong leader");
        let price = lead.map_or(0, |(_, price)| price);
        assert!((price, self.least(lead)) == (told.price_minor, told.min_next_minor), "a wrong price");
        assert!(self.reserve_met(lead) == told.reserve_met, "a wrong word on the reserve");
    }

    fn end_after(&self, now: Millis) -> Millis {
        let Some(soft) = &self.details.terms.soft_close else { return self.end };
        if self.end - now > soft.window_ms {
            return self.end;
        }
        let extension = soft.extensions_ms[self.extensions.min(soft.extensions_ms.len() - 1)];
        let from = if soft.mode == SoftCloseMode::Add { self.end } else { now };
        self.end.max((from + extension).min(self.details.ends_at + soft.cap_ms))
    }

    fn may_buy(&self, buyer: &BuyerId) {
        assert!(*buyer != self.details.seller, "a seller is the buyer, too");
        assert!(!self.banned.contains(buyer), "a banned one bids");
    }

    fn take_own(&mut self, fact: &AuctionFact, now: Millis) {
        match fact {
            AuctionFact::AuctionCreated(_) => panic!("an auction is created twice"),
            AuctionFact::AuctionChanged(details) => {
                let hours = |details: &AuctionDetails| (details.starts_at, details.ends_at);
                if (hours(details), &details.terms) != (hours(&self.details), &self.details.terms) {
                    assert!(now < self.details.starts_at, "terms change after the start");
                    self.end = details.ends_at;
                }
                self.details = (**details).clone();
            }
            AuctionFact::AuctionCancelled { .. } => {
                assert!(!self.over, "cancelled after its end");
                self.over = true;
            }
            AuctionFact::BidPlaced { .. } => self.take_bid(fact, now),
            AuctionFact::BidRetracted { bid, after, .. } => {
                self.runs(now);
                let gone = &mut self.bids[*bid as usize - 1].gone;
                assert!(!std::mem::replace(gone, true), "a bid is retracted twice");
                self.replayed(after);
            }
            AuctionFact::BidderBanned { bidder, after, .. } => {
                assert!(!self.banned.contains(bidder), "banned twice");
                self.banned.push(bidder.clone());
                let over = self.over;
                let own = self.bids.iter_mut().filter(|bid| !over && !bid.gone && bid.bidder == *bidder);
                let gone = own.map(|bid| bid.gone = true).count();
                assert!(after.is_some() == (gone > 0), "a banned bidder's bids stay");
                after.iter().for_each(|after| self.replayed(after));
            }
            AuctionFact::BidderUnbanned { bidder } => {
                assert!(self.banned.contains(bidder), "nobody was banned");
                self.banned.retain(|one| one != bidder);
            }
            AuctionFact::AuctionClosed { how, award } => self.take_close(*how, award.as_ref(), now),
            AuctionFact::AwardPassed { from, why, to } => self.take_pass(from, *why, to.as_ref(), now),
            AuctionFact::AwardSettled { bidder, price_minor, order } => {
                let last = self.awards.last().expect("an award to settle");
                assert!(
                    (&last.bidder, last.price_minor) == (bidder, *price_minor),
                    "another's award is paid"
                );
                // Late money has it back, but only an order's, and only if nobody else was given it.
                let late = self.last == Last::Unpaid && self.orders.contains(order);
                assert!(late || self.last == Last::Waits, "an award is paid that waits for nobody");
                assert!(late || last.until > now, "an award is paid when it is over");
                self.last = Last::Settled;
            }
            AuctionFact::AwardRefunded { .. } => {
                assert!(self.last == Last::Settled, "an award is paid back that nobody paid");
            }
            AuctionFact::WatchStarted { .. } | AuctionFact::WatchEnded { .. } => {}
        }
    }

    fn take_bid(&mut self, fact: &AuctionFact, now: Millis) {
        let AuctionFact::BidPlaced {
            bid,
            bidder,
            max_minor,
            leading,
            price_minor,
            min_next_minor,
            reserve_met,
            ends_at,
        } = fact
        else {
            panic!("no bid");
        };
        self.runs(now);
        self.may_buy(bidder);
        assert!(*bid as usize == self.bids.len() + 1, "bids are numbered with a gap");
        let before = self.lead();
        assert!(*max_minor >= self.least(before), "a bid below the least is taken");
        let raises = before.is_some_and(|(leader, _)| self.bids[leader].bidder == *bidder);
        self.bids.push(Bid { bidder: bidder.clone(), max: *max_minor, gone: false });
        let lead = self.lead();
        let (leader, price) = lead.expect("a bid leads");
        assert!(*leading == (leader + 1 == *bid as usize), "the wrong bidder is said to lead");
        assert!((price, self.least(lead)) == (*price_minor, *min_next_minor), "a wrong price");
        assert!(self.reserve_met(lead) == *reserve_met, "a wrong word on the reserve");
        let end = if raises { self.end } else { self.end_after(now) };
        assert!(end == *ends_at, "a bid moves the end to {ends_at} instead of {end}");
        self.extensions += usize::from(end != self.end);
        self.end = end;
        let shown = fact.public();
        let AuctionFact::BidPlaced { max_minor: shown, .. } = shown else { panic!("no bid") };
        assert!(shown <= price, "a living maximum is shown");
    }

    fn take_close(&mut self, how: Closing, award: Option<&Award>, now: Millis) {
        if how == Closing::BoughtNow {
            self.runs(now);
            let award = award.expect("somebody bought it");
            self.may_buy(&award.bidder);
            let price = self.details.terms.buy_now.map(|terms| terms.price_minor);
            assert!(price == Some(award.price_minor) && award.bid.is_none(), "bought at a wrong price");
        } else {
            assert!(!self.over, "an auction closes twice");
            assert!(now >= self.end, "an auction closes before its end");
            let lead = self.lead();
            let winner = lead.filter(|_| self.reserve_met(lead));
            let winner = winner.map(|(n, price)| (&self.bids[n].bidder, Some(n as u32 + 1), price));
            let told = award.map(|award| (&award.bidder, award.bid, award.price_minor));
            assert!(winner == told, "{told:?} won instead of {winner:?}");
        }
        assert!(award.is_none_or(|award| award.until == now + PAY_MS), "a wrong time to pay");
        self.over = true;
        self.give(award);
    }

    fn give(&mut self, award: Option<&Award>) {
        if let Some(award) = award {
            (self.last, self.first_until) = (Last::Waits, award.until);
            self.awards.push(award.clone());
        }
    }

    /// A payment that is asked for, or was declined, keeps the award a little longer.
    fn take_order(&mut self, fact: &OrderFact) {
        if let OrderFact::Placed(placed) = fact {
            self.orders.push(placed.order);
        }
        let Some(until) = pinned_until(fact) else { return };
        assert!(self.last == Last::Waits, "somebody pays what waits for nobody");
        assert!(until <= self.first_until + PIN_MS, "an award is kept for ever");
        let last = self.awards.last_mut().expect("an award that waits");
        last.until = last.until.max(until);
    }

    fn take_pass(&mut self, from: &BuyerId, why: PassCause, to: Option<&Award>, now: Millis) {
        assert!(self.last == Last::Waits, "an award is passed on that waits for nobody");
        let last = self.awards.last().expect("an award to pass on");
        assert!(last.bidder == *from, "another's award is passed on");
        self.last = match why {
            PassCause::Unpaid => {
                assert!(last.until <= now, "an award is passed on that may still be paid");
                Last::Unpaid
            }
            PassCause::Declined => {
                assert!(self.awards.len() > 1, "a winning bid is turned down");
                Last::Declined
            }
        };
        let had = |bidder: &BuyerId| self.awards.iter().any(|award| award.bidder == *bidder);
        let reserve = self.details.terms.reserve_minor.unwrap_or(0);
        let mut best: Option<(u32, &Bid)> = None;
        for (n, bid) in self.bids.iter().enumerate() {
            let may =
                !bid.gone && bid.max >= reserve && !had(&bid.bidder) && !self.banned.contains(&bid.bidder);
            if may && self.awards.len() <= 3 && best.is_none_or(|(_, best)| bid.max > best.max) {
                best = Some((n as u32 + 1, bid));
            }
        }
        let next = best.map(|(number, bid)| (&bid.bidder, Some(number), bid.max));
        let told = to.map(|award| (&award.bidder, award.bid, award.price_minor));
        assert!(next == told, "the award goes to {told:?} instead of {next:?}");
        assert!(to.is_none_or(|award| award.until == now + CHANCE_MS), "a wrong time to pay");
        self.give(to);
    }
}

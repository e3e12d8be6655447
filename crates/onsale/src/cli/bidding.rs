//! A second opinion on an auction: who leads, at what price, until when, computed from the bids alone by the plainest
//! reading of the rules. `verify` and `load auction` hold every fact against it; it shares no code with the domain.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub seller: String,
    pub starts_at: i64,
    pub ends_at: i64,
    pub start: i64,
    pub tick: i64,
    /// From this price on, this step.
    pub steps: Vec<(i64, i64)>,
    pub reserve: Option<i64>,
    pub soft: Option<Soft>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Soft {
    pub adds: bool,
    pub window: i64,
    pub extensions: Vec<i64>,
    pub cap: i64,
}

/// What a fact says of an auction, in plain words.
#[derive(Clone, Debug)]
pub enum Line {
    Terms(Terms),
    Bid { number: u64, bidder: String, max: i64, leading: bool, told: Stand, ends_at: i64 },
    Retracted { number: u64, after: After },
    Banned { bidder: String, after: Option<After> },
    Unbanned { bidder: String },
    Cancelled,
    Closed { how: String, award: Option<Award> },
    Passed { from: String, to: Option<Award> },
    Settled { bidder: String, price: i64 },
}

/// Where the bidding stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stand {
    pub price: i64,
    pub min_next: i64,
    pub reserve_met: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    /// The number of the bid that leads.
    pub leader: Option<u64>,
    pub stand: Stand,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Award {
    pub bidder: String,
    pub bid: Option<u64>,
    pub price: i64,
}

#[derive(Clone, Debug)]
struct Bid {
    bidder: String,
    max: i64,
    gone: bool,
}

/// The leading bid's number and maximum, and the price.
#[derive(Clone, Copy, Debug, Default)]
struct Lead {
    bid: Option<(u64, i64)>,
    price: i64,
}

#[derive(Debug, Default)]
pub struct Book {
    terms: Terms,
    bids: Vec<Bid>,
    banned: Vec<String>,
    lead: Lead,
    end: i64,
    extensions: usize,
    cancelled: bool,
    /// Who was given the chance to pay; the last one may still have it.
    awards: Option<Vec<Award>>,
    settled: bool,
}

impl Book {
    pub fn end(&self) -> i64 {
        self.end
    }

    pub fn bids(&self) -> u64 {
        self.bids.len() as u64
    }

    pub fn price(&self) -> Option<i64> {
        self.lead.bid.map(|_| self.lead.price)
    }

    pub fn leader(&self) -> Option<&str> {
        self.lead.bid.map(|(number, _)| self.bids[number as usize - 1].bidder.as_str())
    }

    pub fn is_closed(&self) -> bool {
        self.awards.is_some()
    }

    /// Books one fact; an error says what it should have been.
    pub fn take(&mut self, at: i64, line: Line) -> Result<(), String> {
        match line {
            Line::Terms(terms) => self.take_terms(at, terms),
            Line::Bid { number, bidder, max, leading, told, ends_at } => {
                self.take_bid(at, number, bidder, max, (leading, told, ends_at))
            }
            Line::Retracted { number, after } => {
                self.is_running(at)?;
                let bid = self.bids.get_mut(number as usize - 1).ok_or("no such bid is retracted")?;
                if std::mem::replace(&mut bid.gone, true) {
                    return Err("a bid is retracted twice".into());
                }
                self.replay();
                self.compare(&after)
            }
            Line::Banned { bidder, after } => {
                if self.banned.contains(&bidder) {
                    return Err(format!("{bidder} is banned twice"));
                }
                let live = self.awards.is_none() && !self.cancelled;
                let own = self.bids.iter_mut().filter(|bid| live && !bid.gone && bid.bidder == bidder);
                let gone = own.map(|bid| bid.gone = true).count();
                self.banned.push(bidder);
                if after.is_some() != (gone > 0) {
                    return Err(format!("{gone} bids go with a ban, the fact says otherwise"));
                }
                self.replay();
                after.map_or(Ok(()), |after| self.compare(&after))
            }
            Line::Unbanned { bidder } => {
                let before = self.banned.len();
                self.banned.retain(|other| *other != bidder);
                (self.banned.len() < before).then_some(()).ok_or("nobody was banned".into())
            }
            Line::Cancelled => {
                if self.cancelled || self.awards.is_some() {
                    return Err("cancelled after its end".into());
                }
                self.cancelled = true;
                Ok(())
            }
            Line::Closed { how, award } => self.take_close(at, &how, award),
            Line::Passed { from, to } => self.take_pass(&from, to),
            Line::Settled { bidder, price } => {
                let last = self.awards.as_ref().and_then(|awards| awards.last());
                let right = last.is_some_and(|award| award.bidder == bidder && award.price == price);
                if !right || std::mem::replace(&mut self.settled, true) {
                    return Err(format!("{bidder} pays {price}, which was not asked for"));
                }
                Ok(())
            }
        }
    }

    fn take_terms(&mut self, at: i64, terms: Terms) -> Result<(), String> {
        if self.terms == terms {
            return Ok(());
        }
        if !self.bids.is_empty() || self.end != 0 && at >= self.terms.starts_at {
            return Err("terms change after the start".into());
        }
        self.end = terms.ends_at;
        self.terms = terms;
        Ok(())
    }

    fn is_running(&self, at: i64) -> Result<(), String> {
        if self.cancelled || self.awards.is_some() {
            return Err("it goes on after its end".into());
        }
        if at < self.terms.starts_at || at >= self.end {
            return Err(format!("at {at}, outside {} to {}", self.terms.starts_at, self.end));
        }
        Ok(())
    }

    fn take_bid(
        &mut self,
        at: i64,
        number: u64,
        bidder: String,
        max: i64,
        told: (bool, Stand, i64),
    ) -> Result<(), String> {
        self.is_running(at)?;
        if number != self.bids.len() as u64 + 1 {
            return Err(format!("bid {number} follows bid {}", self.bids.len()));
        }
        if bidder == self.terms.seller || self.banned.contains(&bidder) {
            return Err(format!("{bidder} may not bid"));
        }
        let least = self.stand().min_next;
        if max < least || max % self.terms.tick != 0 {
            return Err(format!("a bid of {max} was taken where {least} is the least"));
        }
        let raises = self.leader() == Some(bidder.as_str());
        if raises && self.lead.bid.is_some_and(|(_, own)| max <= own) {
            return Err("a leader bids without raising".into());
        }
        self.bids.push(Bid { bidder, max, gone: false });
        self.lead = after(&self.terms, self.lead, number, max, raises);
        if !raises {
            self.extend(at);
        }
        let leads = self.lead.bid.is_some_and(|(leader, _)| leader == number);
        let own = (leads, self.stand(), self.end);
        if own != told {
            return Err(format!("bid {number} should have come to {own:?}, the fact says {told:?}"));
        }
        Ok(())
    }

    /// Soft close, in the same fact as the bid.
    fn extend(&mut self, at: i64) {
        let Some(soft) = &self.terms.soft else { return };
        if self.end - at > soft.window {
            return;
        }
        let extension = soft.extensions[self.extensions.min(soft.extensions.len() - 1)];
        let latest = self.terms.ends_at + soft.cap;
        let moved = match soft.adds {
            true => (self.end + extension).min(latest),
            false => self.end.max((at + extension).min(latest)),
        };
        self.extensions += usize::from(moved != self.end);
        self.end = moved;
    }

    /// All that stands, once more from the beginning.
    fn replay(&mut self) {
        let mut lead = Lead::default();
        for (n, bid) in self.bids.iter().enumerate().filter(|(_, bid)| !bid.gone) {
            let leader = lead.bid.map(|(number, _)| self.bids[number as usize - 1].bidder.as_str());
            let raises = leader == Some(bid.bidder.as_str());
            lead = after(&self.terms, lead, n as u64 + 1, bid.max, raises);
        }
        self.lead = lead;
    }

    fn stand(&self) -> Stand {
        let reserve_met = match (self.lead.bid, self.terms.reserve) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some((_, max)), Some(reserve)) => max >= reserve,
        };
        let min_next = match self.lead.bid {
            None => self.terms.start,
            Some(_) => self.lead.price + step(&self.terms, self.lead.price),
        };
        Stand { price: self.lead.price, min_next, reserve_met }
    }

    fn compare(&self, told: &After) -> Result<(), String> {
        let own = After { leader: self.lead.bid.map(|(number, _)| number), stand: self.stand() };
        if own != *told {
            return Err(format!("the bids that remain come to {own:?}, the fact says {told:?}"));
        }
        Ok(())
    }

    fn take_close(&mut self, at: i64, how: &str, award: Option<Award>) -> Result<(), String> {
        if self.cancelled || self.awards.is_some() {
            return Err("it closes twice".into());
        }
        if how == "bought_now" {
            self.is_running(at)?;
            let bought = award.ok_or("bought by nobody")?;
            if bought.bid.is_some()
                || bought.bidder == self.terms.seller
                || self.banned.contains(&bought.bidder)
            {
                return Err(format!("{} may not buy", bought.bidder));
            }
            self.awards = Some(vec![bought]);
            return Ok(());
        }
        if at < self.end {
            return Err(format!("closed at {at}, before its end at {}", self.end));
        }
        let winner = self.lead.bid.filter(|_| self.stand().reserve_met).map(|(number, _)| Award {
            bidder: self.bids[number as usize - 1].bidder.clone(),
            bid: Some(number),
            price: self.lead.price,
        });
        let expected = match (&winner, self.lead.bid) {
            (Some(_), _) => "won",
            (None, Some(_)) => "reserve_not_met",
            (None, None) => "no_bids",
        };
        if winner != award || expected != how {
            return Err(format!("{expected} {winner:?} is the end, the fact says {how} {award:?}"));
        }
        self.awards = Some(award.into_iter().collect());
        Ok(())
    }

    /// The next-highest who had no chance yet, at that bidder's own maximum; three times at most.
    fn take_pass(&mut self, from: &str, to: Option<Award>) -> Result<(), String> {
        let Some(awards) = &mut self.awards else { return Err("an award before the close".into()) };
        if self.settled || awards.last().is_none_or(|last| last.bidder != from) {
            return Err(format!("{from} has nothing to pass on"));
        }
        let mut best: Option<(u64, &Bid)> = None;
        for (n, bid) in self.bids.iter().enumerate().filter(|_| awards.len() <= 3) {
            let had = awards.iter().any(|award| award.bidder == bid.bidder);
            let meets = self.terms.reserve.is_none_or(|reserve| bid.max >= reserve);
            let may = !bid.gone && !had && meets && !self.banned.contains(&bid.bidder);
            if may && best.is_none_or(|(_, best)| bid.max > best.max) {
                best = Some((n as u64 + 1, bid));
            }
        }
        let next =
            best.map(|(number, bid)| Award { bidder: bid.bidder.clone(), bid: Some(number), price: bid.max });
        if next != to {
            return Err(format!("{next:?} is the next, the fact says {to:?}"));
        }
        awards.extend(to);
        Ok(())
    }
}

fn step(terms: &Terms, price: i64) -> i64 {
    let below = terms.steps.iter().rev().find(|(from, _)| *from <= price);
    below.or(terms.steps.first()).map_or(0, |(_, step)| *step)
}

/// Rules 1 to 5: what one more accepted bid makes of the lead.
fn after(terms: &Terms, lead: Lead, number: u64, max: i64, raises: bool) -> Lead {
    let mut next = match lead.bid {
        None => Lead { bid: Some((number, max)), price: terms.start },
        Some(_) if raises => Lead { bid: Some((number, max)), price: lead.price },
        Some((_, leading)) if max > leading => {
            Lead { bid: Some((number, max)), price: max.min(leading + step(terms, leading)) }
        }
        Some((leader, leading)) => {
            Lead { bid: Some((leader, leading)), price: leading.min(max + step(terms, max)) }
        }
    };
    next.price = next.price.max(lead.price);
    if let (Some(reserve), Some((_, leading))) = (terms.reserve, next.bid)
        && leading >= reserve
    {
        next.price = next.price.max(reserve);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        let soft = Soft { adds: false, window: 30, extensions: vec![30, 10], cap: 100 };
        Terms {
            seller: "sam".into(),
            starts_at: 0,
            ends_at: 1_000,
            start: 100,
            tick: 1,
            steps: vec![(0, 5), (100, 25)],
            reserve: Some(500),
            soft: Some(soft),
        }
    }

    /// Bids of `bidder max@time`, each with what it should come to; the book must find the same and nothing else.
    fn play(book: &mut Book, bids: &[(&str, i64, i64, bool, i64, i64)]) -> Result<(), String> {
        for (bidder, max, at, leading, price, ends_at) in bids {
            let reserve_met = *price >= 500;
            let told = Stand { price: *price, min_next: price + 25, reserve_met };
            let number = book.bids() + 1;
            let (bidder, max, leading, ends_at) = ((*bidder).to_owned(), *max, *leading, *ends_at);
            book.take(*at, Line::Bid { number, bidder, max, leading, told, ends_at })?;
        }
        Ok(())
    }

    fn opened() -> Book {
        let mut book = Book::default();
        book.take(0, Line::Terms(terms())).expect("begins");
        book
    }

    #[test]
    fn it_agrees_with_what_is_right() {
        let mut book = opened();
        let told = [
            ("ann", 300, 1, true, 100, 1_000),
            ("bob", 200, 2, false, 225, 1_000),
            ("bob", 300, 3, false, 300, 1_000),
            ("bob", 600, 980, true, 500, 1_010),
            ("ann", 600, 1_005, false, 600, 1_015),
        ];
        play(&mut book, &told).expect("agrees");
        assert_eq!((book.leader(), book.price(), book.end()), (Some("bob"), Some(600), 1_015));
        let award = Some(Award { bidder: "bob".into(), bid: Some(4), price: 600 });
        book.take(1_015, Line::Closed { how: "won".into(), award }).expect("closes");
    }

    #[test]
    fn it_finds_what_is_wrong() {
        for wrong in [
            ("ann", 300, 1, false, 100, 1_000),
            ("ann", 300, 1, true, 101, 1_000),
            ("ann", 300, 1, true, 100, 1_001),
            ("ann", 99, 1, true, 100, 1_000),
            ("sam", 300, 1, true, 100, 1_000),
            ("ann", 300, 1_000, true, 100, 1_030),
        ] {
            assert!(play(&mut opened(), &[wrong]).is_err(), "{wrong:?}");
        }
        let mut book = opened();
        play(&mut book, &[("ann", 300, 1, true, 100, 1_000)]).expect("agrees");
        let won = Some(Award { bidder: "ann".into(), bid: Some(1), price: 100 });
        assert!(book.take(999, Line::Closed { how: "won".into(), award: None }).is_err(), "before its end");
        assert!(
            book.take(1_000, Line::Closed { how: "won".into(), award: won }).is_err(),
            "below the reserve"
        );
        let how = "reserve_not_met".to_owned();
        book.take(1_000, Line::Closed { how, award: None }).expect("closes");
    }

    #[test]
    fn a_retraction_is_replayed() {
        let mut book = opened();
        let bids = [("ann", 300, 1, true, 100, 1_000), ("bob", 400, 2, true, 325, 1_000)];
        play(&mut book, &bids).expect("agrees");
        let stand = Stand { price: 100, min_next: 125, reserve_met: false };
        let after = After { leader: Some(1), stand };
        assert!(book.take(3, Line::Retracted { number: 2, after: after.clone() }).is_ok());
        assert!(book.take(3, Line::Retracted { number: 2, after }).is_err(), "twice");
    }
}

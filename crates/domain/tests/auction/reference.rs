//! The rules of bidding a second time, naively: every bid is kept and everything is worked out from all of them at
//! each question, by the words of the rules. It shares no code with the domain, not even a ladder.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    UntilFirstBid,
    UntilReserveMet,
    Always,
}

#[derive(Clone, Debug)]
pub(crate) struct Soft {
    pub adds: bool,
    pub window: i64,
    pub extensions: Vec<i64>,
    pub cap: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub start: i64,
    pub tick: i64,
    /// Lower bound and step, rising.
    pub steps: Vec<(i64, i64)>,
    pub reserve: Option<i64>,
    pub buy_now: Option<(i64, Offer)>,
    pub soft: Option<Soft>,
    pub bidders_may_retract: bool,
    pub opens: i64,
    pub ends: i64,
}

#[derive(Clone, Copy, Debug)]
struct Bid {
    who: u8,
    max: i64,
    at: i64,
    gone: bool,
    /// Whether it passed or pushed somebody else when it came.
    contested: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Won { who: u8, price: i64 },
    Bought { who: u8, price: i64 },
    ReserveNotMet,
    NoBids,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Leading,
    Outbid,
    Bought,
    Done,
    Unchanged,
    No(&'static str),
}

#[derive(Debug)]
pub(crate) struct Reference {
    pub terms: Terms,
    bids: Vec<Bid>,
    banned: Vec<u8>,
    pub end: Option<End>,
}

pub(crate) const SELLER: u8 = 0;

impl Reference {
    pub(crate) fn new(terms: Terms) -> Reference {
        Reference { terms, bids: Vec::new(), banned: Vec::new(), end: None }
    }

    fn inc(&self, at: i64) -> i64 {
        let mut step = 0;
        for (from, its) in &self.terms.steps {
            if at >= *from {
                step = *its;
            }
        }
        step
    }

    fn standing_bids(&self) -> impl Iterator<Item = &Bid> {
        self.bids.iter().filter(|bid| !bid.gone)
    }

    /// Who has the highest maximum; who was first, if several have.
    pub(crate) fn leader(&self) -> Option<(u8, i64)> {
        leader_of(self.standing_bids())
    }

    /// Whenever two people meet, the price is one step above the lower maximum, at most the higher one; the highest
    /// of these prices holds, at least the start, and the reserve as soon as somebody offers it.
    pub(crate) fn price(&self) -> Option<i64> {
        let (_, top) = self.leader()?;
        let mut price = self.terms.start;
        let mut best: Option<(u8, i64)> = None;
        for bid in self.standing_bids() {
            if let Some((who, max)) = best
                && who != bid.who
            {
                let (low, high) = if bid.max > max { (max, bid.max) } else { (bid.max, max) };
                let met = low + self.inc(low);
                price = price.max(if met > high { high } else { met });
            }
            let ahead = best.is_none_or(|(who, max)| bid.max > max || who == bid.who);
            if ahead {
                best = Some((bid.who, bid.max));
            }
        }
        if let Some(reserve) = self.terms.reserve
            && top >= reserve
        {
            price = price.max(reserve);
        }
        Some(price)
    }

    pub(crate) fn min_next(&self) -> i64 {
        self.price().map_or(self.terms.start, |price| price + self.inc(price))
    }

    pub(crate) fn reserve_met(&self) -> bool {
        self.leader().is_some_and(|(_, max)| self.terms.reserve.is_none_or(|reserve| max >= reserve))
    }

    pub(crate) fn on_offer(&self) -> Option<i64> {
        let (price, until) = self.terms.buy_now?;
        if self.end.is_some() {
            return None;
        }
        let untouched = self.leader().is_none();
        let on = match until {
            Offer::Always => true,
            Offer::UntilFirstBid => untouched,
            Offer::UntilReserveMet if self.terms.reserve.is_none() => untouched,
            Offer::UntilReserveMet => !self.reserve_met(),
        };
        on.then_some(price)
    }

    /// The end, from the original one and every bid that ever counted for it.
    pub(crate) fn ends(&self) -> i64 {
        let mut end = self.terms.ends;
        let Some(soft) = &self.terms.soft else { return end };
        let mut extended = 0;
        for bid in self.bids.iter().filter(|bid| bid.contested) {
            if bid.at < end - soft.window {
                continue;
            }
            let extension = *soft.extensions.get(extended).or(soft.extensions.last()).expect("not empty");
            let latest = self.terms.ends + soft.cap;
            let wanted = if soft.adds { end + extension } else { bid.at + extension };
            let next = if wanted < latest { wanted } else { latest };
            if next > end {
                end = next;
                extended += 1;
            }
        }
        end
    }

    /// Whoever asks first after the end closes it.
    pub(crate) fn wake(&mut self, now: i64) {
        if self.end.is_some() || now < self.ends() {
            return;
        }
        self.end = Some(match (self.leader(), self.price()) {
            (Some((who, _)), Some(price)) if self.reserve_met() => End::Won { who, price },
            (Some(_), _) => End::ReserveNotMet,
            (None, _) => End::NoBids,
        });
    }

    pub(crate) fn bid(&mut self, who: u8, max: i64, right_currency: bool, now: i64) -> Said {
        self.wake(now);
        if self.end.is_some() {
            return Said::No("over");
        }
        if now < self.terms.opens {
            return Said::No("not_started");
        }
        if who == SELLER {
            return Said::No("seller");
        }
        if self.banned.contains(&who) {
            return Said::No("banned");
        }
        if !right_currency {
            return Said::No("currency");
        }
        if max % self.terms.tick != 0 {
            return Said::No("off_tick");
        }
        if let Some(price) = self.on_offer()
            && max >= price
        {
            self.end = Some(End::Bought { who, price });
            return Said::Bought;
        }
        let leader = self.leader();
        if leader.is_some_and(|(leads, top)| leads == who && max <= top) {
            return Said::No("leader_not_raising");
        }
        if max < self.min_next() {
            return Said::No("bid_too_low");
        }
        if self.bids.len() == 10_000 {
            return Said::No("bids_full");
        }
        let raises = leader.is_some_and(|(leads, _)| leads == who);
        let before = (leader.map(|(who, _)| who), self.price());
        self.bids.push(Bid { who, max, at: now, gone: false, contested: false });
        let after = (self.leader().map(|(who, _)| who), self.price());
        let contested = !raises && before != after;
        self.bids.last_mut().expect("just pushed").contested = contested;
        if after.0 == Some(who) { Said::Leading } else { Said::Outbid }
    }

    pub(crate) fn buy(&mut self, who: u8, now: i64) -> Said {
        self.wake(now);
        if self.end.is_some() {
            return Said::No("over");
        }
        if now < self.terms.opens {
            return Said::No("not_started");
        }
        if who == SELLER {
            return Said::No("seller");
        }
        if self.banned.contains(&who) {
            return Said::No("banned");
        }
        let Some(price) = self.on_offer() else { return Said::No("buy_now_gone") };
        self.end = Some(End::Bought { who, price });
        Said::Bought
    }

    /// `by` nobody: staff.
    pub(crate) fn retract(&mut self, number: usize, by: Option<u8>, now: i64) -> Said {
        self.wake(now);
        if self.end.is_some() {
            return Said::No("over");
        }
        if now < self.terms.opens {
            return Said::No("not_started");
        }
        if number == 0 || number > self.bids.len() {
            return Said::No("bid_unknown");
        }
        let bid = self.bids[number - 1];
        if let Some(by) = by {
            if bid.who != by {
                return Said::No("bid_unknown");
            }
            if !self.terms.bidders_may_retract {
                return Said::No("retraction_not_allowed");
            }
            let later = self.bids[number..].iter().any(|other| other.who == by && !other.gone);
            if !bid.gone && later {
                return Said::No("bid_not_latest");
            }
            let late = now > bid.at + 60 * 60 * 1_000 || now > self.ends() - 12 * 60 * 60 * 1_000;
            if !bid.gone && late {
                return Said::No("retraction_late");
            }
        }
        if bid.gone {
            return Said::Unchanged;
        }
        self.bids[number - 1].gone = true;
        Said::Done
    }

    pub(crate) fn ban(&mut self, who: u8, now: i64) -> Said {
        self.wake(now);
        if self.banned.contains(&who) {
            return Said::Unchanged;
        }
        self.banned.push(who);
        if self.end.is_none() {
            self.bids.iter_mut().filter(|bid| bid.who == who).for_each(|bid| bid.gone = true);
        }
        Said::Done
    }

    pub(crate) fn count(&self) -> usize {
        self.bids.len()
    }
}

fn leader_of<'a>(bids: impl Iterator<Item = &'a Bid>) -> Option<(u8, i64)> {
    let mut best: Option<(u8, i64)> = None;
    for bid in bids {
        if best.is_none_or(|(_, max)| bid.max > max) {
            best = Some((bid.who, bid.max));
        }
    }
    best
}

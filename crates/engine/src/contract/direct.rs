//! The plainest engine: the domain behind a lock, with a clock that is set by hand. It never stops: `restart` makes
//! the state anew instead, from the facts and from its image by turns. Durable here means: in this process's memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use futures_core::future::BoxFuture;
use onsale_domain::id::{ListingId, ListingKind, Tenant};
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::{BuyerId, Code, Fact, Listing, Millis, Outcome, Refusal, Step};
use onsale_domain::{Found, Query};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::Harness;
use crate::engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, HeldAt, Position, Request, Tail, View,
};
use crate::moved::{MovedListings, Movements};

#[derive(Debug, Default)]
pub struct Direct {
    clock: AtomicI64,
    restarts: u32,
    shelves: Arc<Mutex<BTreeMap<ListingId, Shelf>>>,
    news: Arc<Notify>,
    movements: Movements,
}

#[derive(Debug)]
struct Shelf {
    listing: Listing,
    steps: Vec<Arc<Step>>,
    records: BTreeMap<u128, Record>,
}

#[derive(Clone, Debug)]
struct Record {
    fingerprint: u128,
    kept_until: Millis,
    step: Arc<Step>,
}

impl Shelf {
    fn new(id: ListingId) -> Shelf {
        Shelf { listing: Listing::new(id, 1), steps: Vec::new(), records: BTreeMap::new() }
    }

    fn position(&self) -> Position {
        Position { epoch: self.listing.epoch, offset: self.listing.offset }
    }

    fn submit(&mut self, request: &Request, clock: Millis) -> Answer {
        let (command, key) = (&request.command, request.key);
        let now = clock.max(self.listing.last_at);
        if let Some(known) = key.and_then(|key| self.records.get(&key.scope).cloned())
            && now < known.kept_until
        {
            let same = key.is_some_and(|key| key.fingerprint == known.fingerprint);
            let refused = || Outcome::Refused(Box::new(Refusal::of(Code::KeyReused)));
            return Answer {
                position: self.position(),
                at: if same { known.step.at } else { now },
                outcome: if same { Outcome::Done } else { refused() },
                replayed: same,
                told: same.then_some(known.step).into(),
            };
        }
        let first = self.listing.offset + 1;
        let mut facts = Vec::new();
        let outcome = self.listing.execute(command, clock, &mut facts);
        let mut step = None;
        if !facts.is_empty() {
            // Only a yes with facts can be told again; everything else is decided anew.
            let key = key.filter(|_| outcome == Outcome::Done);
            let (listing, epoch) = (self.listing.id, self.listing.epoch);
            let made = Arc::new(Step { listing, epoch, first, at: now, key, by: request.by.clone(), facts });
            self.steps.push(made.clone());
            if let Some(key) = key {
                let kept = command.verb().key_ms();
                let record =
                    Record { fingerprint: key.fingerprint, kept_until: now + kept, step: made.clone() };
                self.records.insert(key.scope, record);
            }
            step = Some(made);
        }
        Answer { position: self.position(), at: now, outcome, replayed: false, told: step.into() }
    }

    fn view(&self) -> Option<Arc<View>> {
        View::of(&self.listing).map(Arc::new)
    }

    /// A position of another epoch, or from the future, is not in this log.
    fn check(&self, after: Position) -> Result<(), EngineError> {
        let known = after.offset == 0 || after.epoch == self.listing.epoch;
        (known && after.offset <= self.listing.offset)
            .then_some(())
            .ok_or(EngineError::Reload(self.position()))
    }

    fn steps_after(&self, offset: u64, limit: usize) -> Vec<Arc<Step>> {
        let mut facts = 0;
        let after = self.steps.iter().filter(|step| step.last() > offset);
        let page = after.take_while(|step| {
            let room = facts < limit;
            facts += step.facts.len();
            room
        });
        page.cloned().collect()
    }
}

impl Direct {
    /// The state made again from nothing but the facts.
    fn replay(&self) {
        for shelf in self.shelves.lock().values_mut() {
            let mut listing = Listing::new(shelf.listing.id, shelf.listing.epoch);
            for step in &shelf.steps {
                step.facts.iter().for_each(|fact| listing.apply(fact, step.at));
            }
            shelf.listing = listing;
        }
    }

    /// The state made again from its image, as a snapshot would.
    fn reread(&self) {
        for shelf in self.shelves.lock().values_mut() {
            shelf.listing = Listing::from_image(&shelf.listing.image()).expect("an image reads back");
        }
    }

    /// Every fact of every listing.
    pub fn facts(&self) -> Vec<Fact> {
        let shelves = self.shelves.lock();
        let steps = shelves.values().flat_map(|shelf| &shelf.steps);
        steps.flat_map(|step| step.facts.iter().cloned()).collect()
    }

    fn with<T>(&self, listing: &ListingId, answer: impl FnOnce(&Shelf) -> T) -> Result<T, EngineError> {
        let shelves = self.shelves.lock();
        let shelf =
            shelves.get(listing).filter(|shelf| shelf.listing.exists() && !shelf.listing.is_deleted());
        shelf.map(answer).ok_or(EngineError::UnknownListing)
    }
}

/// Reads the log again whenever there is news.
struct Log {
    shelves: Arc<Mutex<BTreeMap<ListingId, Shelf>>>,
    news: Arc<Notify>,
    listing: ListingId,
    offset: u64,
}

impl Tail for Log {
    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Arc<Step>>, EngineError>> {
        Box::pin(async move {
            loop {
                let news = self.news.notified();
                let steps =
                    self.shelves.lock().get(&self.listing).map(|shelf| shelf.steps_after(self.offset, 64));
                let steps = steps.unwrap_or_default();
                if let Some(last) = steps.last() {
                    self.offset = last.last();
                    return Ok(steps);
                }
                news.await;
            }
        })
    }
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

impl Engine for Direct {
    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        let mut shelves = self.shelves.lock();
        let shelf = shelves.entry(request.listing).or_insert_with(|| Shelf::new(request.listing));
        let answer = shelf.submit(&request, self.now());
        self.news.notify_waiters();
        if answer.step().is_some() {
            self.movements.publish(request.listing, answer.position);
        }
        ready(Ok(answer))
    }

    fn view(&self, listing: &ListingId) -> Option<Arc<View>> {
        self.with(listing, Shelf::view).ok().flatten()
    }

    fn listings(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        let shelves = self.shelves.lock();
        let all = shelves.iter().filter(|(id, _)| id.tenant == tenant && id.kind == kind);
        let all = all.filter(|(id, _)| after.is_none_or(|after| **id > after));
        all.filter_map(|(_, shelf)| shelf.view()).take(limit).collect()
    }

    fn ask(&self, listing: ListingId, query: Query) -> BoxFuture<'static, Result<Found, EngineError>> {
        let found = self.with(&listing, |shelf| shelf.listing.ask(&query, self.now()));
        ready(Ok(found.unwrap_or(Found::Nothing)))
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        let shelves = self.shelves.lock();
        let query = Query::Event(EventQuery::HoldsOf(buyer));
        let of_tenant = shelves.values().filter(|shelf| shelf.listing.id.tenant == tenant);
        let held = of_tenant.filter_map(|shelf| {
            let found = shelf.listing.ask(&query, self.now());
            let Found::Event(EventFound::Holds(holds)) = found else { return None };
            let at = HeldAt { listing: shelf.listing.id, position: shelf.position(), holds };
            (!at.holds.is_empty()).then_some(at)
        });
        ready(Ok(held.collect()))
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        let page = self.with(&listing, |shelf| {
            shelf.check(after)?;
            Ok(FactPage { steps: shelf.steps_after(after.offset, limit), position: shelf.position() })
        });
        ready(page.flatten())
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        let (shelves, news) = (self.shelves.clone(), self.news.clone());
        let known = self.with(&listing, |shelf| shelf.check(after)).flatten();
        ready(known.map(|()| Follower::of(Box::new(Log { shelves, news, listing, offset: after.offset }))))
    }

    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings {
        self.movements.subscribe(kinds)
    }

    fn now(&self) -> Millis {
        self.clock.load(Ordering::Relaxed)
    }

    fn status(&self) -> EngineStatus {
        let shelves = self.shelves.lock();
        let facts = shelves.values().map(|shelf| shelf.listing.offset).sum();
        EngineStatus { listings: shelves.len() as u64, facts, ..EngineStatus::default() }
    }
}

impl Harness for Direct {
    fn engine(&self) -> &dyn Engine {
        self
    }

    fn set_clock(&self, now: Millis) {
        self.clock.store(now, Ordering::Relaxed);
    }

    fn restart(&mut self) {
        self.restarts += 1;
        match self.restarts % 2 {
            0 => self.reread(),
            _ => self.replay(),
        }
    }

    fn check_invariants(&self, listing: &ListingId) -> Result<(), String> {
        self.with(listing, |shelf| shelf.listing.check_invariants()).unwrap_or(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::suite;
    use super::*;

    #[test]
    fn the_domain_keeps_the_contract() {
        suite::run_all(|| Box::new(Direct::default()));
    }

    #[test]
    fn every_kind_of_fact_happens_in_a_table() {
        let mut happened = BTreeSet::new();
        for (table, play) in suite::tables() {
            let mut direct = Direct::default();
            play(table.text, &mut direct, false).expect("the contract is kept");
            happened.extend(direct.facts().iter().map(Fact::kind));
        }
        let missing: Vec<_> = Fact::kinds().filter(|kind| !happened.contains(kind)).collect();
        assert!(missing.is_empty(), "in no table of the contract: {missing:?}");
    }
}

//! An engine in memory, for route tests: the domain's listings behind one lock, with a clock the test may move.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use onsale_domain::listing::Key;
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::{BuyerId, Listing, ListingId, ListingKind, Millis, Outcome, Refusal, Step, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::engine::Tail;
use onsale_engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, FoundAt, HeldAt, MovedListings, Movements,
    Position, Request, View,
};

#[derive(Default)]
pub(crate) struct Memory {
    state: Arc<Mutex<State>>,
    /// Added to the clock.
    pub ahead_ms: AtomicI64,
    pub busy: AtomicBool,
    pub stuck: AtomicBool,
    /// No listing is seen here until one is looked up, as on a server that is a moment behind.
    pub unseen: AtomicBool,
    /// Questions that were put to one listing, and views that were handed out: what a request costs, in numbers.
    pub asked: AtomicUsize,
    pub viewed: AtomicUsize,
    wake: Arc<tokio::sync::Notify>,
    movements: Movements,
}

#[derive(Default)]
struct State {
    listings: BTreeMap<ListingId, (Listing, Vec<Arc<Step>>)>,
    keys: HashMap<u128, (Key, Arc<Step>)>,
}

impl Memory {
    fn decide(&self, request: &Request) -> Answer {
        let now = self.now();
        let mut state = self.state.lock().expect("no panic before");
        let State { listings, keys } = &mut *state;
        let entry = listings.entry(request.listing);
        let (listing, steps) = entry.or_insert_with(|| (Listing::new(request.listing, 1), Vec::new()));
        let position = |listing: &Listing| Position { epoch: listing.epoch, offset: listing.offset };
        if let Some(key) = request.key
            && let Some((known, step)) = keys.get(&key.scope)
        {
            let same = known.fingerprint == key.fingerprint;
            let refusal = Refusal::of(onsale_domain::Code::KeyReused);
            let outcome = if same { Outcome::Done } else { Outcome::Refused(Box::new(refusal)) };
            let step = same.then(|| step.clone());
            let told = step.into();
            return Answer { position: position(listing), at: now, outcome, replayed: same, told };
        }
        let (first, mut facts) = (listing.offset + 1, Vec::new());
        let outcome = listing.execute(&request.command, now, &mut facts);
        let at = now.max(listing.last_at);
        let key = request.key.filter(|_| outcome.refused().is_none());
        let step = (!facts.is_empty()).then(|| {
            Arc::new(Step {
                listing: request.listing,
                epoch: 1,
                first,
                at,
                key,
                facts,
                by: request.by.clone(),
            })
        });
        if let Some(step) = &step {
            steps.push(step.clone());
            if let Some(key) = key {
                keys.insert(key.scope, (key, step.clone()));
            }
        }
        self.wake.notify_waiters();
        if step.is_some() {
            self.movements.publish(request.listing, position(listing));
        }
        Answer { position: position(listing), at, outcome, replayed: false, told: step.into() }
    }

    /// What a restart does to a listing: it is made anew of its facts, and what is no fact is gone.
    pub(crate) fn restart(&self, listing: &ListingId) {
        let mut state = self.state.lock().expect("no panic before");
        let (known, steps) = state.listings.get_mut(listing).expect("a listing of ours");
        *known = Listing::new(*listing, 1);
        for step in steps {
            step.facts.iter().for_each(|fact| known.apply(fact, step.at));
        }
    }
}

fn view_of(listing: &Listing) -> Option<Arc<View>> {
    View::of(listing).map(Arc::new)
}

fn steps_after(state: &Mutex<State>, listing: &ListingId, after: Position) -> Result<FactPage, EngineError> {
    let state = state.lock().expect("no panic before");
    let (found, steps) = state.listings.get(listing).ok_or(EngineError::UnknownListing)?;
    if !found.exists() || found.is_deleted() {
        return Err(EngineError::UnknownListing);
    }
    if after.epoch != 1 || after.offset > found.offset {
        return Err(EngineError::Reload(Position { epoch: 1, offset: found.offset }));
    }
    let steps = steps.iter().filter(|step| step.last() > after.offset).cloned().collect();
    Ok(FactPage { steps, position: Position { epoch: 1, offset: found.offset } })
}

impl Engine for Memory {
    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        if self.busy.load(Ordering::Relaxed) {
            return ready(Err(EngineError::Busy)).boxed();
        }
        if self.stuck.load(Ordering::Relaxed) {
            return std::future::pending().boxed();
        }
        ready(Ok(self.decide(&request))).boxed()
    }

    fn look_up(&self, _: ListingId) -> BoxFuture<'static, Result<(), EngineError>> {
        self.unseen.store(false, Ordering::Relaxed);
        ready(Ok(())).boxed()
    }

    fn view(&self, listing: &ListingId) -> Option<Arc<View>> {
        if self.unseen.load(Ordering::Relaxed) {
            return None;
        }
        self.viewed.fetch_add(1, Ordering::Relaxed);
        let state = self.state.lock().expect("no panic before");
        view_of(&state.listings.get(listing)?.0)
    }

    fn listings(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        let state = self.state.lock().expect("no panic before");
        let of_kind = state.listings.keys().filter(|id| id.tenant == tenant && id.kind == kind);
        let wanted = of_kind.filter(|id| after.is_none_or(|after| **id > after));
        let page: Vec<_> = wanted.filter_map(|id| view_of(&state.listings[id].0)).take(limit).collect();
        self.viewed.fetch_add(page.len(), Ordering::Relaxed);
        page
    }

    fn ask(&self, listing: ListingId, query: Query) -> BoxFuture<'static, Result<Found, EngineError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.stuck.load(Ordering::Relaxed) {
            return std::future::pending().boxed();
        }
        let state = self.state.lock().expect("no panic before");
        let found = state.listings.get(&listing).map(|(listing, _)| listing.ask(&query, self.now()));
        ready(found.ok_or(EngineError::UnknownListing)).boxed()
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        let (state, now) = (self.state.lock().expect("no panic before"), self.now());
        let mut all = Vec::new();
        for (id, (listing, _)) in state.listings.iter().filter(|(id, _)| id.tenant == tenant) {
            if let Found::Event(EventFound::Holds(holds)) =
                listing.ask(&Query::Event(EventQuery::HoldsOf(buyer.clone())), now)
                && !holds.is_empty()
            {
                let position = Position { epoch: listing.epoch, offset: listing.offset };
                all.push(HeldAt { listing: *id, position, holds });
            }
        }
        ready(Ok(all)).boxed()
    }

    fn ask_all(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        query: Query,
    ) -> BoxFuture<'static, Result<Vec<FoundAt>, EngineError>> {
        let (state, now) = (self.state.lock().expect("no panic before"), self.now());
        let of_kind = state.listings.values().map(|(listing, _)| listing);
        let of_kind = of_kind.filter(|listing| listing.id.tenant == tenant && listing.id.kind == kind);
        let all = of_kind.filter_map(|listing| {
            let found = listing.ask(&query, now);
            let position = Position { epoch: listing.epoch, offset: listing.offset };
            (!found.is_nothing()).then_some(FoundAt { listing: listing.id, position, found })
        });
        ready(Ok(all.collect())).boxed()
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        if self.stuck.load(Ordering::Relaxed) {
            return std::future::pending().boxed();
        }
        let page = steps_after(&self.state, &listing, after).map(|mut page| {
            let mut facts = 0;
            page.steps.retain(|step| {
                let wanted = facts < limit;
                facts += step.facts.len();
                wanted
            });
            page
        });
        ready(page).boxed()
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        if let Err(error) = steps_after(&self.state, &listing, after) {
            return ready(Err(error)).boxed();
        }
        let (state, wake) = (self.state.clone(), self.wake.clone());
        ready(Ok(Follower::of(Box::new(Steps { state, wake, listing, seen: after })))).boxed()
    }

    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings {
        self.movements.subscribe(kinds)
    }

    fn now(&self) -> Millis {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.as_millis() as Millis + self.ahead_ms.load(Ordering::Relaxed)
    }

    fn status(&self) -> EngineStatus {
        EngineStatus { disk_full: self.busy.load(Ordering::Relaxed), ..EngineStatus::default() }
    }
}

struct Steps {
    state: Arc<Mutex<State>>,
    wake: Arc<tokio::sync::Notify>,
    listing: ListingId,
    seen: Position,
}

impl Tail for Steps {
    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Arc<Step>>, EngineError>> {
        async move {
            loop {
                let woken = self.wake.notified();
                let page = steps_after(&self.state, &self.listing, self.seen)?;
                if !page.steps.is_empty() {
                    self.seen = page.position;
                    return Ok(page.steps);
                }
                woken.await;
            }
        }
        .boxed()
    }
}

//! The auditor: it says before each decision what the answer must be, and afterwards whether it was; it remembers
//! what any client saw, and demands all of it back after a crash.

pub mod recovered;
pub mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_domain::refusal::{Detail, Refusal};
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::{BuyerId, By, Code, Command, ListingId, Millis, Outcome, Step, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::embedded::shard_of;
use onsale_engine::{Answer, EngineError, HeldAt, Request};

use crate::coverage::Coverage;
use crate::model::Listing;

const HOUR: Millis = 3_600_000;

#[derive(Debug)]
pub struct Auditor {
    pub listings: BTreeMap<ListingId, Listing>,
    pub records: BTreeMap<u128, Record>,
    /// The last offset of each listing that some client knows of.
    pub seen: BTreeMap<ListingId, u64>,
    /// The last offset of each listing that a successful sync covers.
    pub durable: BTreeMap<ListingId, u64>,
    pub coverage: Coverage,
    shards: usize,
    /// When a shard will next look after a listing, at the latest: noted when it was made and after each batch.
    pub timers: BTreeMap<ListingId, Millis>,
    made: u64,
    latest: Millis,
}

/// An idempotency record: where the first answer stands.
#[derive(Clone, Debug)]
pub struct Record {
    fingerprint: u128,
    at: Millis,
    kept: Millis,
    step: Arc<Step>,
}

/// What a client must be told, and which positions it will then have seen.
#[derive(Clone, Debug)]
pub struct ExpectedAnswer {
    pub verb: &'static str,
    pub what: What,
    pub sees: Vec<(ListingId, u64)>,
}

#[derive(Clone, Debug)]
pub enum What {
    Answer { step: Option<Arc<Step>>, outcome: Outcome, offset: u64, at: Millis },
    Replay(Arc<Step>),
    Error(EngineError),
    Found(Found),
    Holds(Vec<(ListingId, u64, Found)>),
}

impl Auditor {
    pub fn new(shards: usize) -> Auditor {
        Auditor {
            listings: BTreeMap::new(),
            records: BTreeMap::new(),
            seen: BTreeMap::new(),
            durable: BTreeMap::new(),
            coverage: Coverage::default(),
            shards,
            timers: BTreeMap::new(),
            made: 0,
            latest: 0,
        }
    }

    /// Whether it is open to the engine if this key is still known: time went past its life and came back.
    pub fn is_doubtful(&self, request: &Request, clock: Millis) -> bool {
        let record = request.key.and_then(|key| self.records.get(&key.scope));
        record.is_some_and(|record| clock - record.at < record.kept && self.latest - record.at >= record.kept)
    }

    /// Decides a request in the model.
    pub fn predict(&mut self, request: &Request, clock: Millis, has_room: bool) -> ExpectedAnswer {
        self.latest = self.latest.max(clock);
        let verb = request.command.verb().name;
        let listing = request.listing;
        if !has_room {
            return ExpectedAnswer { verb, what: What::Error(EngineError::DiskFull), sees: Vec::new() };
        }
        let (offset, last_at) =
            self.listings.get(&listing).map_or((0, 0), |one| (one.now.offset, one.now.last_at));
        let refuse = |code| {
            let outcome = Outcome::Refused(Box::new(Refusal::of(code)));
            let what = What::Answer { step: None, outcome, offset, at: clock.max(last_at) };
            ExpectedAnswer { verb, what, sees: vec![(listing, offset)] }
        };
        if let Some(key) = request.key
            && let Some(record) =
                self.records.get(&key.scope).filter(|record| clock - record.at < record.kept)
        {
            if record.fingerprint != key.fingerprint {
                return refuse(Code::KeyReused);
            }
            let (step, last) = (record.step.clone(), record.step.last());
            return ExpectedAnswer { verb, what: What::Replay(step), sees: vec![(listing, last)] };
        }
        let creates = request.command.creates();
        if offset == 0 && !creates {
            return refuse(Code::ListingUnknown);
        }
        self.decide(request, clock, verb)
    }

    fn decide(&mut self, request: &Request, clock: Millis, verb: &'static str) -> ExpectedAnswer {
        let (id, made) = (request.listing, self.made + 1);
        let listing = self.listings.entry(id).or_insert_with(|| Listing::new(id, made));
        let (facts, outcome) = listing.execute(&request.command, clock);
        let (offset, at) = (listing.now.offset, clock.max(listing.now.last_at));
        if offset == 0 {
            self.listings.remove(&id);
        } else if listing.log.is_empty() {
            self.made = made;
            self.timers.extend(listing.next_due().map(|due| (id, due)));
        }
        // Only a yes of the command's own is remembered under its key.
        let key = request.key.filter(|_| outcome == Outcome::Done);
        let mut step = None;
        if !facts.is_empty() {
            facts.iter().for_each(|fact| self.coverage.fact(fact.kind()));
            let first = offset + 1 - facts.len() as u64;
            let new = Arc::new(Step { listing: id, epoch: 1, first, at, key, facts, by: request.by.clone() });
            self.listings.entry(id).and_modify(|listing| listing.log.push(new.clone()));
            if let Some(key) = key {
                let kept = if request.command.is_sealed() { 24 * HOUR } else { HOUR };
                let record = Record { fingerprint: key.fingerprint, at, kept, step: new.clone() };
                self.records.insert(key.scope, record);
            }
            step = Some(new);
        }
        ExpectedAnswer { verb, what: What::Answer { step, outcome, offset, at }, sees: vec![(id, offset)] }
    }

    pub fn predict_ask(&mut self, listing: ListingId, query: &Query, clock: Millis) -> ExpectedAnswer {
        let known = self.listings.get(&listing);
        let found = known.map_or(Found::Nothing, |known| known.ask(query, clock));
        let sees = known.map(|known| (listing, known.now.offset)).into_iter().collect();
        ExpectedAnswer { verb: "ask", what: What::Found(found), sees }
    }

    pub fn predict_holds(
        &mut self,
        shard: usize,
        tenant: Tenant,
        buyer: &BuyerId,
        clock: Millis,
    ) -> ExpectedAnswer {
        let mut of_shard: Vec<&Listing> = self.of_shard(shard).collect();
        of_shard.sort_by_key(|listing| listing.made);
        let query = Query::Event(EventQuery::HoldsOf(buyer.clone()));
        let (mut holds, mut sees) = (Vec::new(), Vec::new());
        for listing in of_shard.into_iter().filter(|listing| listing.id.tenant == tenant) {
            sees.push((listing.id, listing.now.offset));
            let found = listing.ask(&query, clock);
            if matches!(&found, Found::Event(EventFound::Holds(holds)) if !holds.is_empty()) {
                holds.push((listing.id, listing.now.offset, found));
            }
        }
        ExpectedAnswer { verb: "holds_of", what: What::Holds(holds), sees }
    }

    pub fn of_shard(&self, shard: usize) -> impl Iterator<Item = &Listing> {
        self.listings.values().filter(move |listing| shard_of(&listing.id, self.shards) == shard)
    }

    /// What the shard sweeps at the end of a batch: the listings with the earliest notes, 32 of them at most.
    pub fn sweep(&mut self, shard: usize, clock: Millis) {
        let mut swept = 0;
        while swept < 32 {
            let noted = |one: &Listing| Some((*self.timers.get(&one.id)?, one.made, one.id));
            let first = self.of_shard(shard).filter_map(noted).min();
            let Some((_, _, id)) = first.filter(|(noted, ..)| *noted <= clock) else { break };
            self.timers.remove(&id);
            if self.listings.get(&id).and_then(Listing::next_due).is_some_and(|due| due <= clock) {
                let request = Request {
                    listing: id,
                    command: Command::ExpireDue { limit: 64 },
                    key: None,
                    by: Some(By::Clock),
                };
                self.decide(&request, clock, "sweep");
                swept += 1;
            }
            self.set_timer(id);
        }
    }

    /// After each batch the timers follow what changed.
    pub fn set_timers(&mut self, shard: usize) {
        let ids: Vec<ListingId> = self.of_shard(shard).map(|listing| listing.id).collect();
        ids.into_iter().for_each(|id| self.set_timer(id));
    }

    /// A note is only ever brought forward: one that is too early is found out by the sweep, which notes anew.
    fn set_timer(&mut self, id: ListingId) {
        if let Some(due) = self.listings.get(&id).and_then(Listing::next_due) {
            let noted = self.timers.entry(id).or_insert(due);
            *noted = due.min(*noted);
        }
    }

    /// Compares an answer with what it had to be. `failed`: the engine was poisoned, errors are right.
    pub fn check(
        &mut self,
        expected: &ExpectedAnswer,
        told: &ClientAnswer,
        failed: bool,
    ) -> Result<(), String> {
        let right = match (told, &expected.what) {
            (ClientAnswer::Answer(Err(EngineError::Poisoned(_))), _) if failed => return Ok(()),
            (ClientAnswer::Found(Err(EngineError::Poisoned(_))), _) if failed => return Ok(()),
            (ClientAnswer::Holds(Err(EngineError::Poisoned(_))), _) if failed => return Ok(()),
            (ClientAnswer::Answer(Err(told)), What::Error(expected)) => {
                self.coverage.outcome("any", "disk_full");
                return if told == expected { Ok(()) } else { Err(format!("{told} instead of {expected}")) };
            }
            (ClientAnswer::Answer(Ok(told)), What::Replay(step)) => {
                told.replayed
                    && told.step().map(|told| &**told) == Some(&**step)
                    && told.outcome == Outcome::Done
                    && (told.at, told.position.offset) == (step.at, step.last())
            }
            (ClientAnswer::Answer(Ok(told)), What::Answer { step, outcome, offset, at }) => {
                !told.replayed
                    && told.step().map(|told| &**told) == step.as_deref()
                    && same(&told.outcome, outcome)
                    && (told.position.offset, told.position.epoch, told.at) == (*offset, 1, *at)
            }
            (ClientAnswer::Found(Ok(told)), What::Found(expected)) => told == expected,
            (ClientAnswer::Holds(Ok(told)), What::Holds(expected)) => {
                let told = told.iter().map(|held| {
                    (held.listing, held.position.offset, Found::Event(EventFound::Holds(held.holds.clone())))
                });
                told.eq(expected.iter().cloned())
            }
            _mismatch => false,
        };
        if !right {
            return Err(format!(
                "a wrong answer to {}:\n  told     {told:?}\n  expected {expected:?}",
                expected.verb
            ));
        }
        self.count(expected);
        for (listing, offset) in &expected.sees {
            let durable = self.durable.get(listing).copied().unwrap_or(0);
            if *offset > durable {
                return Err(format!(
                    "answered before the sync: {} saw {listing} at {offset}, synced is {durable}",
                    expected.verb
                ));
            }
            self.see(*listing, *offset);
        }
        Ok(())
    }

    pub fn see(&mut self, listing: ListingId, offset: u64) {
        let seen = self.seen.entry(listing).or_default();
        *seen = (*seen).max(offset);
    }

    fn count(&mut self, expected: &ExpectedAnswer) {
        let outcome = match &expected.what {
            What::Answer { outcome, .. } => match outcome {
                Outcome::Done => "done",
                Outcome::Unchanged => "unchanged",
                Outcome::AlreadyYours(_) => "yours_already",
                Outcome::StillQueued(_) => "still_queued",
                Outcome::AlreadyConfirmed(_) => "already_confirmed",
                Outcome::AlreadyPurchased(_) => "already_purchased",
                Outcome::AlreadyRegistered(_) => "already_registered",
                Outcome::Refused(refusal) => refusal.code.as_str(),
            },
            What::Replay(_) => "replayed",
            What::Found(_) | What::Holds(_) | What::Error(_) => return,
        };
        self.coverage.outcome(expected.verb, outcome);
    }
}

/// What a client heard.
#[derive(Debug)]
pub enum ClientAnswer {
    Answer(Result<Answer, EngineError>),
    Found(Result<Found, EngineError>),
    Holds(Result<Vec<HeldAt>, EngineError>),
}

/// Equal but for the wording of what is wrong with a field.
fn same(one: &Outcome, other: &Outcome) -> bool {
    let (Outcome::Refused(one), Outcome::Refused(other)) = (one, other) else { return one == other };
    let detail = match (&one.detail, &other.detail) {
        (Detail::Field { field, .. }, Detail::Field { field: expected, .. }) => field == expected,
        (one, other) => one == other,
    };
    detail && one.code == other.code && one.in_the_way == other.in_the_way
}

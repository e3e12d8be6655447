//! One shard: it owns its listings outright and decides what is asked of them, batch by batch.
//! A plain value without threads or locks, so that the simulation drives the very code that ships.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;
use onsale_domain::limits::EXPIRE_DUE_MAX;
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::{
    BuyerId, By, Code, Command, Fact, Listing, ListingId, ListingKind, Millis, Outcome, Refusal, Step, Tenant,
};
use onsale_domain::{Found, Query};

use super::commit::Shared;
use super::dedup::{Dedup, Record};
use super::directory::Slot;
use super::entry::{self, StepHead};
use super::work::{Batch, Change, Completion, Decision, Together, Verdict, Work};
use crate::buyers::{BuyerIndex, REST_MS};
use crate::engine::{EngineError, FoundAt, HeldAt, Position, Request, View};
use crate::journal::Room;

/// The epoch of a listing that is made here. The engine never forgets, so it grows only for a listing that was let go
/// and comes back; each step says its own.
pub const FIRST_EPOCH: u64 = 1;
/// Listings whose deadlines are swept in one batch: with 64 deadlines each, well below a millisecond of work.
const SWEEP_LISTINGS_MAX: usize = 32;

/// Words of far memory that are asked for in a row: more than a processor has under way at once.
const FETCHED_MAX: usize = 128;

#[derive(Debug)]
pub struct Shard {
    pub(super) listings: Vec<OwnedListing>,
    by_id: HashMap<ListingId, u32>,
    pub(super) dedup: Dedup,
    /// Listings by a time that is never after their next deadline.
    due: BTreeSet<(Millis, u32)>,
    numbers: Arc<AtomicU32>,
    room: Option<Arc<Room>>,
    shared: Option<Arc<Shared>>,
    sweeps: bool,
    /// Listings changed in the current batch.
    changed: Vec<u32>,
    /// Where questions about one buyer are asked.
    buyers: BuyerIndex<u32>,
    /// The facts of one command after the other; kept for its room.
    facts: Vec<Fact>,
    pub(super) imaging: Option<super::images::Imaging>,
}

/// A listing with what the shard keeps beside it.
#[derive(Debug)]
pub(super) struct OwnedListing {
    pub listing: Listing,
    pub slot: Arc<Slot>,
    /// Its place in the shard's `due`.
    due: Option<Millis>,
    /// The first fact of the current batch; 0 if it did not change in it.
    first_in_batch: u64,
}

impl Shard {
    pub fn new(dedup_bound: usize, numbers: Arc<AtomicU32>) -> Shard {
        Shard {
            listings: Vec::new(),
            by_id: HashMap::new(),
            dedup: Dedup::new(dedup_bound),
            due: BTreeSet::new(),
            numbers,
            room: None,
            shared: None,
            sweeps: true,
            changed: Vec::new(),
            buyers: BuyerIndex::default(),
            facts: Vec::new(),
            imaging: None,
        }
    }

    /// Commands are refused with "disk full" while the journal has no room.
    pub fn watch_room(&mut self, room: Arc<Room>) {
        self.room = Some(room);
    }

    /// Buffers are taken from those that the committer has done with.
    pub fn share_buffers(&mut self, shared: Arc<Shared>) {
        self.shared = Some(shared);
    }

    /// Expires only what commands touch and `ExpireDue` asks for: every fact then has a command to show for it.
    pub fn stop_sweeping(&mut self) {
        self.sweeps = false;
    }

    /// When the next deadline falls, so that the caller knows how long it may sleep.
    pub fn next_due(&self) -> Option<Millis> {
        self.due.first().map(|(due, _)| *due).filter(|_| self.sweeps)
    }

    pub fn is_imaging(&self) -> bool {
        self.imaging.is_some()
    }

    /// Decides all that waits, then sweeps what is due. The batch must be committed before anybody sees it.
    pub fn decide(&mut self, work: &mut Vec<Work>, now: Millis) -> Batch {
        let bytes = self.shared.as_ref().map(|shared| shared.buffers.take()).unwrap_or_default();
        let mut batch = Batch { bytes, ..Batch::default() };
        batch.completions.reserve(work.len());
        self.dedup.forget_old(now);
        self.fetch(work.iter().filter_map(Work::single));
        for work in work.drain(..) {
            match work {
                Work::Submit(request, reply) => {
                    let decided = self.decide_one(&request, now, &mut batch);
                    batch.completions.push(Completion::One(reply, decided));
                }
                Work::SubmitMany(requests, reply) => {
                    self.fetch(requests.iter());
                    let decide = |request| self.decide_one(request, now, &mut batch);
                    let answers = requests.iter().map(decide).collect();
                    let together = Together { requests, answers, bytes: Arc::default() };
                    batch.completions.push(Completion::Many(reply, together));
                }
                Work::Ask(listing, query, reply) => {
                    let found = self.ask(&listing, &query, now);
                    batch.completions.push(Completion::Found(reply, found));
                }
                Work::HoldsOf(tenant, buyer, reply) => {
                    let holds = self.holds_of(tenant, &buyer, now);
                    batch.completions.push(Completion::Holds(reply, holds));
                }
                Work::AskAll(tenant, kind, query, reply) => {
                    let found = self.ask_all(tenant, kind, &query, now);
                    batch.completions.push(Completion::FoundAll(reply, found));
                }
                Work::Snapshot => self.begin_images(),
            }
        }
        self.sweep(now, &mut batch);
        self.finish(&mut batch);
        batch
    }

    /// The records of fresh keys and what listings remember of fresh ids are far away in memory: asked for one after the
    /// other they would be a third of a command's time, asked for together they come at once. Where they are is found
    /// out first: between two reads there must be little else to do, or the processor does not get to the next.
    fn fetch<'a>(&self, requests: impl Iterator<Item = &'a Request>) {
        let mut far: [&u32; FETCHED_MAX] = [&0; FETCHED_MAX];
        let mut last: Option<(ListingId, &Listing)> = None;
        let mut places = requests.enumerate().flat_map(|(before, request)| {
            if last.is_none_or(|(id, _)| id != request.listing) {
                let index = self.by_id.get(&request.listing);
                last = index.map(|index| (request.listing, &self.listings[*index as usize].listing));
            }
            let [unsealed, sealed] = request.key.map_or([None; 2], |key| self.dedup.far(key.scope));
            let [own, other] = last.map_or([None; 2], |(_, listing)| listing.far(&request.command, before));
            [unsealed, sealed, own, other]
        });
        loop {
            let mut count = 0;
            for (place, found) in far.iter_mut().zip(places.by_ref().flatten()) {
                *place = found;
                count += 1;
            }
            if count == 0 {
                return;
            }
            std::hint::black_box(far[..count].iter().fold(0u32, |sum, place| sum.wrapping_add(**place)));
        }
    }

    fn has_room(&self) -> bool {
        self.room.as_ref().is_none_or(|room| room.has_room())
    }

    fn decide_one(
        &mut self,
        request: &Request,
        now: Millis,
        batch: &mut Batch,
    ) -> Result<Decision, EngineError> {
        batch.tally.commands += 1;
        if !self.has_room() {
            return Err(EngineError::DiskFull);
        }
        if let Some(key) = request.key
            && let Some(record) = self.dedup.find(key.scope, now)
        {
            if !record.is_of(key) {
                return Ok(self.refuse(request, Refusal::of(Code::KeyReused), now, batch));
            }
            let slot = self.listings[record.listing() as usize].slot.clone();
            let last = record.first() + u64::from(record.facts()) - 1;
            return Ok(Decision::Replay { slot, first: record.first(), last });
        }
        let index = match self.by_id.get(&request.listing) {
            Some(index) => *index,
            None if request.command.creates() => {
                return Ok(self.create(request, now, batch));
            }
            None => return Ok(self.refuse(request, Refusal::of(Code::ListingUnknown), now, batch)),
        };
        Ok(Decision::Verdict(self.execute(index, request, now, batch)))
    }

    /// A refusal of the engine itself, before any listing was asked.
    fn refuse(&self, request: &Request, refusal: Refusal, now: Millis, batch: &mut Batch) -> Decision {
        batch.tally.refusals += 1;
        let listing = self.by_id.get(&request.listing).map(|index| &self.listings[*index as usize].listing);
        let nowhere = Position { epoch: FIRST_EPOCH, offset: 0 };
        let position = listing.map_or(nowhere, position_of);
        let at = listing.map_or(now, |listing| now.max(listing.last_at));
        let outcome = Outcome::Refused(Box::new(refusal));
        Decision::Verdict(Verdict { position, at, outcome, entry: None })
    }

    fn create(&mut self, request: &Request, now: Millis, batch: &mut Batch) -> Decision {
        let mut listing = Listing::new(request.listing, FIRST_EPOCH);
        let mut facts = Vec::new();
        let outcome = listing.execute(&request.command, now, &mut facts);
        if let Outcome::Refused(refusal) = outcome {
            return self.refuse(request, *refusal, now, batch);
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        entry::write_opened(&mut batch.bytes, number, &request.listing);
        let index = self.adopt(listing, Arc::new(Slot::new(request.listing, number)));
        self.reschedule(index);
        Decision::Verdict(self.record(index, request, outcome, &mut facts, now, batch))
    }

    /// Takes a listing in; also called by recovery, which notes deadlines when all facts are read.
    pub(super) fn adopt(&mut self, listing: Listing, slot: Arc<Slot>) -> u32 {
        let index = self.listings.len() as u32;
        self.by_id.insert(listing.id, index);
        self.listings.push(OwnedListing { listing, slot, due: None, first_in_batch: 0 });
        self.buyers.note(index);
        index
    }

    fn execute(&mut self, index: u32, request: &Request, now: Millis, batch: &mut Batch) -> Verdict {
        let mut facts = std::mem::take(&mut self.facts);
        let listing = &mut self.listings[index as usize].listing;
        let outcome = listing.execute(&request.command, now, &mut facts);
        let verdict = self.record(index, request, outcome, &mut facts, now, batch);
        facts.clear();
        self.facts = facts;
        verdict
    }

    /// Writes a step into the batch, with its idempotency record, and makes the answer.
    fn record(
        &mut self,
        index: u32,
        request: &Request,
        outcome: Outcome,
        facts: &mut Vec<Fact>,
        now: Millis,
        batch: &mut Batch,
    ) -> Verdict {
        let refused = outcome.refused().is_some();
        batch.tally.refusals += u64::from(refused);
        let owned = &mut self.listings[index as usize];
        let position = position_of(&owned.listing);
        let at = now.max(owned.listing.last_at);
        if facts.is_empty() {
            return Verdict { position, at, outcome, entry: None };
        }
        let first = owned.listing.offset + 1 - facts.len() as u64;
        let sealed = request.command.is_sealed();
        // Only a yes with facts of its own can be told again from them; any other is decided anew.
        let key = request.key.filter(|_| outcome == Outcome::Done);
        let (number, epoch) = (owned.slot.number, owned.listing.epoch);
        let by = request.by.as_ref();
        let head = StepHead { number, epoch: epoch as u32, first, at, key, sealed, by };
        let entry = Some(batch.bytes.len() as u32);
        entry::write_step(&mut batch.bytes, head, facts);
        if let Some(key) = key {
            self.dedup.insert(Record::new(key, at, index, first, facts.len() as u32), sealed);
        }
        batch.tally.facts += facts.len() as u64;
        if owned.first_in_batch == 0 {
            owned.first_in_batch = first;
            self.changed.push(index);
        }
        if owned.slot.is_followed() {
            let facts = std::mem::take(facts);
            let step = Step { listing: owned.listing.id, epoch, first, at, key, by: by.cloned(), facts };
            batch.followed.push((owned.slot.clone(), Arc::new(step)));
        }
        Verdict { position, at, outcome, entry }
    }

    fn ask(&self, listing: &ListingId, query: &Query, now: Millis) -> Found {
        let index = self.by_id.get(listing);
        index.map_or(Found::Nothing, |index| self.listings[*index as usize].listing.ask(query, now))
    }

    /// The listings in which a buyer may have something; those of this batch are among them.
    fn listings_of(&mut self, buyer: &BuyerId, now: Millis) -> Vec<u32> {
        let Shard { buyers, listings, changed, .. } = self;
        changed.iter().for_each(|index| buyers.note(*index));
        buyers.listings_of(buyer, |index, name| {
            let listing = &listings[index as usize].listing;
            let rests = now - listing.last_at >= REST_MS;
            if rests {
                listing.each_buyer(name);
            }
            rests
        })
    }

    fn holds_of(&mut self, tenant: Tenant, buyer: &BuyerId, now: Millis) -> Vec<HeldAt> {
        let query = Query::Event(EventQuery::HoldsOf(buyer.clone()));
        let found = self.ask_all(tenant, ListingKind::Event, &query, now).into_iter();
        let held = found.filter_map(|FoundAt { listing, position, found }| {
            let Found::Event(EventFound::Holds(holds)) = found else { return None };
            (!holds.is_empty()).then_some(HeldAt { listing, position, holds })
        });
        held.collect()
    }

    fn ask_all(&mut self, tenant: Tenant, kind: ListingKind, query: &Query, now: Millis) -> Vec<FoundAt> {
        let Some(buyer) = query.about() else { return Vec::new() };
        let asked =
            self.listings_of(buyer, now).into_iter().map(|index| &self.listings[index as usize].listing);
        let of_kind = asked.filter(|listing| listing.id.tenant == tenant && listing.id.kind == kind);
        let found = of_kind.filter_map(|listing| {
            let found = listing.ask(query, now);
            let position = position_of(listing);
            (!found.is_nothing()).then_some(FoundAt { listing: listing.id, position, found })
        });
        found.collect()
    }

    /// Expires what nobody touched, a bounded piece of it; the rest is due again at once.
    fn sweep(&mut self, now: Millis, batch: &mut Batch) {
        let mut swept = 0;
        while let Some(&(due, index)) = self.due.first()
            && due <= now
            && swept < SWEEP_LISTINGS_MAX
            && self.sweeps
            && self.has_room()
        {
            self.due.pop_first();
            let owned = &mut self.listings[index as usize];
            owned.due = None;
            if owned.listing.next_due().is_some_and(|due| due <= now) {
                let (listing, command) = (owned.listing.id, Command::ExpireDue { limit: EXPIRE_DUE_MAX });
                self.execute(
                    index,
                    &Request { listing, command, key: None, by: Some(By::Clock) },
                    now,
                    batch,
                );
                swept += 1;
            }
            self.reschedule(index);
        }
    }

    /// Notes a deadline that is earlier than the one noted. One that went away or moved on is left: the sweep finds
    /// nothing due and notes the true one then, which is much rarer than holds that come and go.
    pub(super) fn reschedule(&mut self, index: u32) {
        let owned = &mut self.listings[index as usize];
        let Some(due) = owned.listing.next_due() else { return };
        if owned.due.is_some_and(|noted| noted <= due) {
            return;
        }
        if let Some(noted) = owned.due.replace(due) {
            self.due.remove(&(noted, index));
        }
        self.due.insert((due, index));
    }

    /// Takes the pictures of what changed, and the next pieces of a snapshot under way.
    fn finish(&mut self, batch: &mut Batch) {
        let changed = std::mem::take(&mut self.changed);
        for index in &changed {
            self.buyers.note(*index);
            self.reschedule(*index);
            let owned = &mut self.listings[*index as usize];
            let first = std::mem::take(&mut owned.first_in_batch);
            let slot = owned.slot.clone();
            let (position, view) = (position_of(&owned.listing), View::of(&owned.listing).map(Arc::new));
            batch.changes.push(Change { slot, first, position, view });
        }
        self.changed = changed;
        self.changed.clear();
        self.add_images(batch);
    }

    /// Every listing, for audits.
    pub fn all_listings(&self) -> impl Iterator<Item = &Listing> {
        self.listings.iter().map(|owned| &owned.listing)
    }
}

pub(super) fn position_of(listing: &Listing) -> Position {
    Position { epoch: listing.epoch, offset: listing.offset }
}

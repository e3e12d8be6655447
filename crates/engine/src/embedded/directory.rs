//! What is public of each listing: its durable view, where its facts stand in the journal, and who follows it.
//! The committer writes here, after the sync; readers never wait for a decision.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use hashbrown::HashMap;
use onsale_domain::{ListingId, ListingKind, Step, Tenant};
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use super::entry::ListingNumber;
use crate::engine::{Position, View};
use crate::journal::FramePosition;

/// Steps kept for those who follow closely; who falls further behind reads the journal.
const RECENT_STEPS_MAX: usize = 1_024;
/// A listing's frames are noted at most once in so many bytes of journal: what a look-up may have to scan.
const INDEX_EVERY_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub struct Slot {
    pub id: ListingId,
    pub number: ListingNumber,
    view: ArcSwapOption<View>,
    /// Where its log ends, once it is deleted.
    deleted: OnceLock<Position>,
    index: Mutex<Vec<IndexPoint>>,
    followers: AtomicUsize,
    recent: Mutex<VecDeque<Arc<Step>>>,
    /// Made for the first follower: nearly half a kilobyte, and most listings never have one.
    durable: OnceLock<watch::Sender<u64>>,
}

/// The first of a listing's facts in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexPoint {
    pub first: u64,
    pub frame: FramePosition,
}

impl Slot {
    pub fn new(id: ListingId, number: ListingNumber) -> Slot {
        Slot {
            id,
            number,
            view: ArcSwapOption::empty(),
            deleted: OnceLock::new(),
            index: Mutex::new(Vec::new()),
            followers: AtomicUsize::new(0),
            recent: Mutex::new(VecDeque::new()),
            durable: OnceLock::new(),
        }
    }

    pub fn view(&self) -> Option<Arc<View>> {
        self.view.load_full()
    }

    /// Where its durable log ends; none before the first fact.
    pub fn position(&self) -> Option<Position> {
        self.deleted.get().copied().or_else(|| self.view.load().as_ref().map(|view| view.position))
    }

    /// Whether its last fact says so: it is shown no more, and its log is whole.
    pub fn is_deleted(&self) -> bool {
        self.deleted.get().is_some()
    }

    /// Without a view it is deleted, and stays so.
    pub fn publish(&self, position: Position, view: Option<Arc<View>>) {
        if view.is_none() {
            self.deleted.get_or_init(|| position);
        }
        self.view.store(view);
        let offset = position.offset;
        if self.is_followed()
            && let Some(durable) = self.durable.get()
        {
            durable.send_replace(offset);
        }
    }

    /// Notes that `frame` has facts of this listing from `first` on.
    pub fn note_frame(&self, first: u64, frame: FramePosition) {
        let mut index = self.index.lock();
        let worth_it = index.last().is_none_or(|last| {
            first > last.first
                && (frame.segment != last.frame.segment || frame.at >= last.frame.at + INDEX_EVERY_BYTES)
        });
        if worth_it {
            if index.is_empty() {
                // Most listings stay in the frames of one moment.
                index.reserve_exact(1);
            }
            index.push(IndexPoint { first, frame });
        }
    }

    pub fn index(&self) -> Vec<IndexPoint> {
        self.index.lock().clone()
    }

    /// Where to start reading for the fact at `offset`.
    pub fn frame_before(&self, offset: u64) -> Option<FramePosition> {
        let index = self.index.lock();
        let after = index.partition_point(|point| point.first <= offset);
        Some(index.get(after.checked_sub(1)?)?.frame)
    }

    pub fn is_followed(&self) -> bool {
        self.followers.load(Ordering::SeqCst) > 0
    }

    /// Keeps a step for close followers. Called in order, before the view is published.
    pub fn keep_recent(&self, step: &Arc<Step>) {
        let mut recent = self.recent.lock();
        if recent.len() == RECENT_STEPS_MAX {
            recent.pop_front();
        }
        recent.push_back(step.clone());
    }

    /// The kept steps after an offset; `None` if the one right after it is not kept.
    pub fn recent_after(&self, offset: u64, limit: usize) -> Option<Vec<Arc<Step>>> {
        let recent = self.recent.lock();
        let durable = self.position()?.offset;
        let start = recent.partition_point(|step| step.first <= offset);
        // Steps of moments when nobody followed are missing: only an unbroken row counts.
        let mut next = offset + 1;
        let unbroken = recent.range(start..).take_while(|step| {
            let fits = step.first == next && step.last() <= durable;
            next = step.last() + 1;
            fits
        });
        let steps: Vec<_> = unbroken.take(limit).cloned().collect();
        (!steps.is_empty()).then_some(steps)
    }

    /// From now on steps are kept for this follower, and it is woken.
    pub fn follow(self: &Arc<Self>) -> Following {
        // Before the count: whoever sees a follower finds the sender. And in one order with the view, so that of a new
        // follower and a new view at least one sees the other.
        let durable = self.durable.get_or_init(|| watch::Sender::new(0)).subscribe();
        self.followers.fetch_add(1, Ordering::SeqCst);
        Following { slot: self.clone(), durable }
    }
}

/// A follower's claim on a slot; the kept steps go when the last one does.
#[derive(Debug)]
pub struct Following {
    pub slot: Arc<Slot>,
    durable: watch::Receiver<u64>,
}

impl Following {
    /// Waits until something became durable since the last call, or the engine stopped for good.
    pub async fn changed(&mut self) {
        // The sender lives in our own slot, so this cannot fail.
        let _ = self.durable.changed().await;
    }

    /// Forgets wake-ups so far; call before looking.
    pub fn mark_seen(&mut self) {
        self.durable.borrow_and_update();
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if self.slot.followers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.slot.recent.lock().clear();
        }
    }
}

/// All listings that exist durably, in order of their id.
#[derive(Debug, Default)]
pub struct Directory {
    slots: RwLock<BTreeMap<ListingId, Arc<Slot>>>,
    /// What the journal's small numbers stand for.
    numbers: RwLock<HashMap<ListingNumber, ListingId>>,
}

impl Directory {
    pub fn get(&self, id: &ListingId) -> Option<Arc<Slot>> {
        self.slots.read().get(id).cloned()
    }

    pub fn insert(&self, slot: Arc<Slot>) {
        self.note_number(slot.number, slot.id);
        self.slots.write().insert(slot.id, slot);
    }

    pub fn note_number(&self, number: ListingNumber, listing: ListingId) {
        self.numbers.write().insert(number, listing);
    }

    pub fn id_of(&self, number: ListingNumber) -> Option<ListingId> {
        self.numbers.read().get(&number).copied()
    }

    pub fn len(&self) -> usize {
        self.slots.read().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn wake_all(&self) {
        for slot in self.slots.read().values() {
            if let Some(durable) = slot.durable.get() {
                durable.send_modify(|_| {});
            }
        }
    }

    pub fn list(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        let first = ListingId { tenant, kind, number: 0 };
        let start = match after {
            Some(after) if after >= first => std::ops::Bound::Excluded(after),
            Some(_) | None => std::ops::Bound::Included(first),
        };
        let slots = self.slots.read();
        let of_kind = slots
            .range((start, std::ops::Bound::Unbounded))
            .take_while(|(id, _)| id.tenant == tenant && id.kind == kind);
        of_kind.filter_map(|(_, slot)| slot.view()).take(limit).collect()
    }
}

//! The embedded engine: decides in memory, one thread per shard, and answers when the facts are on the disk.
//! A yes is durable here once its frame is synced (`fdatasync`) to the journal in the data folder.

pub mod clock;
pub mod commit;
pub mod dedup;
pub mod directory;
pub mod entry;
mod images;
pub mod inbox;
pub mod log;
pub mod read;
pub mod recover;
pub mod shard;
mod threads;
pub mod work;

use std::hash::{BuildHasher, BuildHasherDefault};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_core::future::BoxFuture;
use onsale_domain::{BuyerId, ListingId, ListingKind, Millis, Tenant};
use onsale_domain::{Found, Query};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::disk::{Disk, FolderDisk, FolderError};
use crate::engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, FoundAt, HeldAt, Position, Request, View,
};
use crate::journal;
use crate::log::Log;
use crate::moved::MovedListings;
pub use clock::{Clock, SystemClock};
use commit::Shared;
use inbox::{Inbox, InboxError};
use log::{FrameLog, SharedLog};
use read::Facts;
use recover::{CoreOptions, RecoverError, Report};
use threads::{ThreadOptions, Threads};
use work::{Together, Work};

/// How the engine is laid out; the defaults suit a machine of a few cores.
#[derive(Clone, Debug)]
pub struct Options {
    pub shards: usize,
    /// Commands that may wait in one shard's inbox; one more is answered `busy`.
    pub inbox_bound: usize,
    /// Idempotency records over all shards; about 55 bytes each, and at most 16 million in one shard.
    pub dedup_records_max: usize,
    pub snapshot_every_bytes: u64,
    pub journal: journal::Options,
    pub clock: Arc<dyn Clock>,
    /// Whether deadlines that nobody touches are swept as they fall. The contract's tables ask for each sweep.
    pub sweeps: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            // One writer per two cores: the others serve HTTP and the disk.
            shards: std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2)),
            inbox_bound: 16_384,
            dedup_records_max: 10_000_000,
            // Read back in about a second.
            snapshot_every_bytes: 256 << 20,
            journal: journal::Options::default(),
            clock: Arc::new(SystemClock::default()),
            sweeps: true,
        }
    }
}

/// Batches of answers on their way to the callers' runtime; beyond, the committer hands them over itself.
const ANSWERS_WAITING_MAX: usize = 64;

#[derive(Debug, Error)]
pub enum OpenError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Recover(#[from] RecoverError),
    #[error("the engine's threads could not be started: {0}")]
    Threads(std::io::Error),
}

#[derive(Debug)]
pub struct EmbeddedEngine {
    inboxes: Vec<Arc<Inbox<Work>>>,
    threads: Mutex<Option<Threads>>,
    shared: Arc<Shared>,
    facts: Facts,
    log: SharedLog,
    room: Arc<journal::Room>,
    clock: Arc<dyn Clock>,
    pub report: Report,
}

/// Which shard a listing lives in. The same in every run, though nothing on disk depends on it.
pub fn shard_of(id: &ListingId, shards: usize) -> usize {
    type Fixed = BuildHasherDefault<xxhash_rust::xxh3::Xxh3Default>;
    (Fixed::default().hash_one(id) % shards as u64) as usize
}

impl EmbeddedEngine {
    /// Opens a data folder, alone: a second engine on it is refused. Opened inside a runtime, it wakes its callers
    /// there.
    pub fn open(folder: &Path, options: Options) -> Result<EmbeddedEngine, OpenError> {
        let disk: Arc<dyn Disk> = Arc::new(FolderDisk::open(folder)?);
        EmbeddedEngine::open_on(disk, options)
    }

    pub fn open_on(disk: Arc<dyn Disk>, options: Options) -> Result<EmbeddedEngine, OpenError> {
        let core_options = CoreOptions {
            shards: options.shards.max(1),
            dedup_records_max: options.dedup_records_max,
            journal: options.journal,
        };
        let mut core = recover::open(disk.clone(), core_options, new_generation())?;
        if !options.sweeps {
            core.shards.iter_mut().for_each(shard::Shard::stop_sweeping);
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (pump, mut answered) = mpsc::channel(ANSWERS_WAITING_MAX);
            core.committer.pump_through(pump);
            runtime.spawn(async move {
                while let Some(answered) = answered.recv().await {
                    work::AnswerBatch::complete(answered);
                }
            });
        }
        let report = std::mem::take(&mut core.report);
        let (shared, room) = (core.shared.clone(), core.room.clone());
        let facts = Facts { reader: core.reader.clone(), shared: shared.clone() };
        let log = SharedLog(Arc::new(FrameLog::new(facts.clone())));
        let clock = options.clock.clone();
        let (inbox_bound, snapshot_every_bytes) = (options.inbox_bound, options.snapshot_every_bytes);
        let options = ThreadOptions { inbox_bound, snapshot_every_bytes, clock: clock.clone() };
        let threads = Threads::start(core, disk, &options).map_err(OpenError::Threads)?;
        let inboxes = threads.inboxes.clone();
        let threads = Mutex::new(Some(threads));
        Ok(EmbeddedEngine { inboxes, threads, shared, facts, log, room, clock, report })
    }

    /// Takes no more commands, answers those that wait, writes a last snapshot and ends. May be called twice.
    pub fn close(&self) {
        self.shared.stop();
        if let Some(threads) = self.threads.lock().take() {
            threads.stop();
        }
    }

    /// Several commands in one message, for callers that have them at hand. All must be for one listing's shard.
    pub fn submit_many(
        &self,
        requests: Vec<Request>,
    ) -> impl Future<Output = Vec<Result<Answer, EngineError>>> + use<> {
        let count = requests.len();
        let sent = match requests.first() {
            None => Err(EngineError::UnknownListing),
            Some(first) => {
                let shard = shard_of(&first.listing, self.inboxes.len());
                assert!(
                    requests.iter().all(|request| shard_of(&request.listing, self.inboxes.len()) == shard),
                    "commands submitted together belong to one shard"
                );
                let (reply, answers) = oneshot::channel();
                self.send(shard, Work::SubmitMany(requests, reply)).map(|()| answers)
            }
        };
        let facts = self.facts.clone();
        async move {
            let answers = match sent {
                Ok(answers) => answers.await.map_err(|_| gone(&facts.shared)),
                Err(error) => Err(error),
            };
            match answers {
                Ok(Together { requests, answers, bytes }) => {
                    let asked = requests.iter().map(|request| request.listing);
                    let settle =
                        |(listing, decided): (_, Result<_, _>)| facts.settle(listing, decided?, &bytes);
                    asked.zip(answers).map(settle).collect()
                }
                Err(error) => (0..count).map(|_| Err(error.clone())).collect(),
            }
        }
    }

    fn send(&self, shard: usize, work: Work) -> Result<(), EngineError> {
        if let Some(error) = self.shared.poisoned() {
            return Err(error);
        }
        let weight = work.weight();
        self.inboxes[shard].send(work, weight).map_err(|refused| match refused {
            InboxError::Full(_) => EngineError::Busy,
            InboxError::Closed(_) => EngineError::Stopping,
        })
    }

    /// Sends work with a reply and waits for it.
    fn request<T: Send + 'static>(
        &self,
        shard: usize,
        work: impl FnOnce(work::Reply<T>) -> Work,
    ) -> BoxFuture<'static, Result<T, EngineError>> {
        let (reply, answer) = oneshot::channel();
        let sent = self.send(shard, work(reply));
        let shared = self.shared.clone();
        Box::pin(async move {
            sent?;
            answer.await.map_err(|_| gone(&shared))?
        })
    }
}

/// Why nobody answered: the threads ended.
fn gone(shared: &Shared) -> EngineError {
    shared.poisoned().unwrap_or(EngineError::Stopping)
}

/// A new journal's name: the time and the address space's own randomness make it unlike any other.
fn new_generation() -> u128 {
    let hasher = std::hash::RandomState::new();
    u128::from(hasher.hash_one(1)) << 64 | u128::from(hasher.hash_one(SystemClock::default().now()))
}

impl Drop for EmbeddedEngine {
    fn drop(&mut self) {
        self.close();
    }
}

impl Engine for EmbeddedEngine {
    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        let shard = shard_of(&request.listing, self.inboxes.len());
        let (reply, written) = oneshot::channel();
        let listing = request.listing;
        let sent = self.send(shard, Work::Submit(request, reply));
        let facts = self.facts.clone();
        Box::pin(async move {
            sent?;
            let written = written.await.map_err(|_| gone(&facts.shared))??;
            facts.settle(listing, written.decided, &written.bytes)
        })
    }

    fn view(&self, listing: &ListingId) -> Option<Arc<View>> {
        self.shared.directory.get(listing)?.view()
    }

    fn listings(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        self.shared.directory.list(tenant, kind, after, limit)
    }

    fn ask(&self, listing: ListingId, query: Query) -> BoxFuture<'static, Result<Found, EngineError>> {
        let shard = shard_of(&listing, self.inboxes.len());
        self.request(shard, |reply| Work::Ask(listing, query, reply))
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        let asked: Vec<_> = (0..self.inboxes.len())
            .map(|shard| self.request(shard, |reply| Work::HoldsOf(tenant, buyer.clone(), reply)))
            .collect();
        Box::pin(async move {
            let mut held = Vec::new();
            for one in asked {
                held.extend(one.await?);
            }
            held.sort_by_key(|one| one.listing);
            Ok(held)
        })
    }

    fn ask_all(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        query: Query,
    ) -> BoxFuture<'static, Result<Vec<FoundAt>, EngineError>> {
        let asked: Vec<_> = (0..self.inboxes.len())
            .map(|shard| self.request(shard, |reply| Work::AskAll(tenant, kind, query.clone(), reply)))
            .collect();
        Box::pin(async move {
            let mut found = Vec::new();
            for one in asked {
                found.extend(one.await?);
            }
            found.sort_by_key(|one| one.listing);
            Ok(found)
        })
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        let (facts, slot) = (self.facts.clone(), self.shared.directory.get(&listing));
        Box::pin(async move {
            let slot = slot.filter(|slot| !slot.is_deleted()).ok_or(EngineError::UnknownListing)?;
            check_position(&slot, after)?;
            facts.after(&slot, after.offset, limit)
        })
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        let (facts, slot) = (self.facts.clone(), self.shared.directory.get(&listing));
        Box::pin(async move {
            let slot = slot.filter(|slot| !slot.is_deleted()).ok_or(EngineError::UnknownListing)?;
            check_position(&slot, after)?;
            Ok(Follower::of(Box::new(read::Tail::new(facts, slot.follow(), after.offset))))
        })
    }

    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings {
        self.shared.movements.subscribe(kinds)
    }

    fn log(&self) -> Option<Arc<dyn Log>> {
        Some(Arc::new(self.log.clone()))
    }

    fn now(&self) -> Millis {
        self.clock.now()
    }

    fn status(&self) -> EngineStatus {
        let shared = &self.shared;
        let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let unless_zero = |number: u64| (number > 0).then_some(number);
        EngineStatus {
            poisoned: shared.poisoned().map(|error| error.to_string()),
            disk_full: !self.room.has_room(),
            stopping: shared.is_stopping(),
            store_down: None,
            damaged: Vec::new(),
            listings: shared.directory.len() as u64,
            waiting: self.inboxes.iter().map(|inbox| inbox.weight() as u64).sum(),
            commands: count(&shared.commands),
            refusals: count(&shared.refusals),
            facts: count(&shared.facts),
            frames: count(&shared.frames),
            syncs: count(&shared.frames),
            journal_bytes: count(&shared.journal_bytes),
            dedup_records: count(&shared.dedup_records),
            dedup_window_ms: unless_zero(count(&shared.dedup_window_ms)),
            snapshot_sequence: unless_zero(count(&shared.snapshot_sequence)),
            ..EngineStatus::default()
        }
    }
}

/// A position of another epoch, or from the future, is not in this log.
fn check_position(slot: &directory::Slot, after: Position) -> Result<(), EngineError> {
    let position = slot.position().unwrap_or_default();
    let known = after.offset == 0 || after.epoch == position.epoch;
    (known && after.offset <= position.offset).then_some(()).ok_or(EngineError::Reload(position))
}

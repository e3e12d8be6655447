//! The engine on Redis: several servers share one deployment; a script decides, and every server keeps a replica of
//! each listing, fed by the listing's stream, from which it answers reads.
//! A yes is durable here as far as this deployment of Redis is: `inspect::at_start` says how far that is.

mod across;
mod ask_all;
mod attempts;
mod auctions;
mod bulletin;
mod buyers;
mod clock;
mod counts;
mod damaged;
mod derive;
mod directory;
mod fetch;
mod history;
mod keep;
mod lease;
mod log;
mod place;
mod read;
mod replica;
mod sales;
mod search;
mod submit;
mod sweep;
mod trim;
mod wake;
mod wake_ups;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use onsale_domain::{BuyerId, ListingId, ListingKind, Millis, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, FoundAt, HeldAt, MovedListings, Position,
    Request, SharedStoreCounts, View,
};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use self::across::Across;
use self::attempts::AttemptBuffer;
use self::bulletin::Bulletin;
use self::buyers::Buyers;
use self::clock::Clock;
use self::damaged::DamagedListings;
use self::derive::DerivedKeys;
use self::directory::Directory;
use self::history::History;
use self::lease::{LEASE_MS, Leases};
use self::search::Search;
use self::trim::Trims;
use self::wake_ups::WakeUps;
use crate::caller::CallError;
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::layout::COMPACT_FROM;
use crate::link::Link;

pub(crate) use crate::caller::CallError as Trouble;

pub use self::history::RECORD_BYTES;

#[derive(Clone, Debug)]
pub struct Options {
    /// From so many seats on an event is laid out in bits.
    pub compact_from: usize,
    /// A time set by hand, for tests; without it the time is Redis'.
    pub clock: Option<Arc<AtomicI64>>,
    pub sweep: Sweep,
    /// Whether wake-ups of other servers are listened to; without them the polling finds everything, later.
    pub wakes: bool,
    /// How often listings that changed lately are compared with Redis: what a lost wake-up costs at most.
    pub poll: Duration,
    /// How long facts are kept in a stream: the longest time for which an answer is remembered under its key.
    pub facts_kept_ms: Millis,
    /// How much facts and remembered answers may take on each master; over it the oldest go.
    pub history_max_bytes: u64,
    /// What is younger stays also over the bound.
    pub history_min_ms: Millis,
}

/// What wakes the sweeper; any one of them is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Deadlines of this server's replicas, and the index over listings.
    pub polls: bool,
    /// The end of a listing's marker, told by Redis.
    pub notified: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            compact_from: COMPACT_FROM,
            clock: None,
            sweep: Sweep { polls: true, notified: true },
            wakes: true,
            poll: Duration::from_secs(1),
            facts_kept_ms: onsale_domain::limits::SEALED_KEY_MS,
            history_max_bytes: crate::link::HISTORY_MB << 20,
            history_min_ms: history::YOUNGEST_MS,
        }
    }
}

/// Cheap to clone; its tasks end with the last clone.
#[derive(Clone, Debug)]
pub struct RedisEngine {
    inner: Arc<Inner>,
    _running: Arc<DropGuard>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    deployment: Deployment,
    link: Link,
    prefix: String,
    across: Across,
    options: Options,
    clock: Clock,
    directory: Directory,
    bulletin: Arc<Bulletin>,
    buyers: Buyers,
    wake_ups: WakeUps,
    derived: DerivedKeys,
    leases: Leases,
    attempts: AttemptBuffer,
    damaged: DamagedListings,
    history: History,
    trims: Trims,
    /// The server for keys that may be dropped, if it is another one and was reached.
    cache: OnceLock<Link>,
    counts: Counts,
    search: Search,
    /// When a listing was last missing, in milliseconds since the engine was opened.
    suspected: AtomicI64,
    stop: CancellationToken,
}

#[derive(Debug, Default)]
struct Counts {
    commands: AtomicU64,
    refusals: AtomicU64,
    facts: AtomicU64,
    retries: AtomicU64,
    reloads: AtomicU64,
    wakes: AtomicU64,
    sweeps: AtomicU64,
}

impl RedisEngine {
    /// Joins the deployment, reads every listing, and follows them from then on. Those of a master that is away
    /// are read when it comes back.
    pub async fn open(link: Link, options: Options) -> Result<RedisEngine, EngineError> {
        let deployment = Deployment::join(&link).await?;
        let prefix = link.config().prefix.clone();
        let stop = CancellationToken::new();
        let bulletin = Arc::<Bulletin>::default();
        let inner = Arc::new(Inner {
            across: Across::new(&prefix),
            clock: Clock::new(options.clock.clone()),
            directory: Directory::default(),
            buyers: Buyers::new(&bulletin),
            wake_ups: WakeUps::default(),
            derived: DerivedKeys::default(),
            leases: Leases::default(),
            attempts: AttemptBuffer::default(),
            damaged: DamagedListings::default(),
            history: History::new(&bulletin),
            trims: Trims::new(&bulletin),
            bulletin,
            cache: OnceLock::new(),
            counts: Counts::default(),
            search: Search::default(),
            suspected: AtomicI64::new(i64::MIN / 2),
            stop: stop.clone(),
            deployment,
            link,
            prefix,
            options,
        });
        inner.clock.measure_first(&inner.link).await?;
        inner.find_listings().await?;
        keep::start(&inner);
        Ok(RedisEngine { inner, _running: Arc::new(stop.drop_guard()) })
    }

    pub fn link(&self) -> &Link {
        &self.inner.link
    }

    pub fn deployment(&self) -> &Deployment {
        &self.inner.deployment
    }

    /// A replica as bytes, for comparison with what Redis keeps.
    pub fn image(&self, listing: &ListingId) -> Option<Vec<u8>> {
        Some(self.inner.directory.get(listing)?.with(|picture| picture.listing.canonical_image()))
    }

    /// Trims every stream now, as the sweeper does from time to time.
    pub async fn trim(&self) {
        self.inner.trim_due(Millis::MAX, usize::MAX).await;
    }

    /// Forgets the oldest now if facts and answers take too much, as the engine does from time to time.
    pub async fn keep_history(&self) {
        history::keep(&self.inner).await;
    }

    /// What the engine did since it was opened, by name, for tests and metrics.
    pub fn counts(&self) -> [(&'static str, u64); 4] {
        let counts = &self.inner.counts;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            ("retries", read(&counts.retries)),
            ("reloads", read(&counts.reloads)),
            ("wakes", read(&counts.wakes)),
            ("sweeps", read(&counts.sweeps)),
        ]
    }

    /// Takes no more commands and ends its tasks.
    pub fn close(&self) {
        self.inner.stop.cancel();
    }
}

impl Inner {
    fn keys(&self, listing: &ListingId) -> Keys {
        Keys::new(&self.prefix, listing)
    }

    /// Why some listing cannot be decided about now, if that is so.
    fn store_down(&self) -> Option<String> {
        let map = self.link.map();
        if map.masters.is_empty() || map.uncovered() > 0 {
            return Some(format!("{} slots have no master", map.uncovered()));
        }
        let down = map.masters.iter().find(|node| !node.is_up());
        down.map(|node| format!("no answer from {}", node.name()))
            .or_else(|| (!self.deployment.is_whole()).then(|| "a node is being recovered".to_owned()))
    }
}

impl Engine for RedisEngine {
    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.submit(request).await })
    }

    fn view(&self, listing: &ListingId) -> Option<Arc<View>> {
        self.inner.directory.get(listing)?.view()
    }

    fn listings(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        self.inner.directory.list(tenant, kind, after, limit)
    }

    fn ask(&self, listing: ListingId, query: Query) -> BoxFuture<'static, Result<Found, EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.ask(listing, &query).await })
    }

    fn ask_all(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        query: Query,
    ) -> BoxFuture<'static, Result<Vec<FoundAt>, EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.ask_all(tenant, kind, &query).await })
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.holds_of(tenant, buyer).await })
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.facts_after(listing, after, limit).await })
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.follow(listing, after).await })
    }

    fn lease(&self, listing: ListingId) -> BoxFuture<'static, Result<bool, EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.lease(listing, LEASE_MS).await })
    }

    fn give_back_lease(&self, listing: ListingId) -> BoxFuture<'static, Result<(), EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.lease(listing, 0).await.map(drop) })
    }

    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings {
        self.inner.bulletin.movements.subscribe(kinds)
    }

    fn look_up(&self, listing: ListingId) -> BoxFuture<'static, Result<(), EngineError>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.look_up(listing).await.map(drop) })
    }

    fn is_stale(&self, listing: Option<&ListingId>) -> bool {
        match listing {
            None => self.inner.store_down().is_some(),
            Some(listing) => {
                let keys = self.inner.keys(listing);
                let away = self.inner.link.master_of(keys.meta()).is_none_or(|node| !node.is_up());
                // Who may have forgotten is not asked either, though it may answer.
                away || !self.inner.deployment.is_believed(keys.meta()) || self.inner.damaged.has(listing)
            }
        }
    }

    fn now(&self) -> Millis {
        self.inner.clock.now()
    }

    fn status(&self) -> EngineStatus {
        let (counts, history) = (&self.inner.counts, &self.inner.history);
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        EngineStatus {
            stopping: self.inner.stop.is_cancelled(),
            store_down: self.inner.store_down(),
            damaged: self.inner.damaged.told(),
            listings: self.inner.directory.len() as u64,
            commands: count(&counts.commands),
            refusals: count(&counts.refusals),
            facts: count(&counts.facts),
            dedup_forgotten: count(&history.forgotten),
            dedup_window_ms: Some(count(&history.window_ms)).filter(|age| *age > 0),
            history_bytes: count(&history.bytes),
            history_max_bytes: self.inner.options.history_max_bytes,
            shared_store: Some(SharedStoreCounts {
                retries: count(&counts.retries),
                reloads: count(&counts.reloads),
                wakes: count(&counts.wakes),
                sweeps: count(&counts.sweeps),
            }),
            ..EngineStatus::default()
        }
    }
}

impl From<CallError> for EngineError {
    fn from(error: CallError) -> EngineError {
        match error {
            CallError::Link(error) => error.into(),
            CallError::Malformed(error) => {
                EngineError::Damaged(format!("{error} in what redis keeps; see `onsale doctor`"))
            }
        }
    }
}

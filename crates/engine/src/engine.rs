//! The port: everything the house may ask of an engine, readable alone. Each engine says in one sentence what a
//! durable yes means there; the contract suite in `contract/` runs against all of them.

use std::sync::{Arc, OnceLock};

use futures_core::future::BoxFuture;
use onsale_domain::about::About;
use onsale_domain::id::{ListingId, ListingKind, Tenant};
pub use onsale_domain::listing::BodyView;
use onsale_domain::listing::Key;
use onsale_domain::outcome::HoldState;
use onsale_domain::{BuyerId, By, Command, Fact, Listing, Millis, Outcome, Step};
use onsale_domain::{Found, Query};
use thiserror::Error;

use crate::log::Log;
use crate::moved::MovedListings;

/// What the server, the command line and the simulation see of an engine.
pub trait Engine: Send + Sync + 'static {
    /// Decides one command. The future is ready when everything the answer tells of is durable.
    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>>;

    /// The listing as of its last durable fact, without waiting for anybody. `None`: no such listing.
    fn view(&self, listing: &ListingId) -> Option<Arc<View>>;

    /// Listings of a tenant in order of their id, after `after`.
    fn listings(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>>;

    /// Asks the listing's writer about one buyer's things; sees every earlier answer.
    fn ask(&self, listing: ListingId, query: Query) -> BoxFuture<'static, Result<Found, EngineError>>;

    /// A buyer's living holds over all events of a tenant.
    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>>;

    /// Takes or keeps the lease of a desk: one server at a time looks after its payments, and only what it decides is
    /// written there. It is kept by asking again; an engine of one server has it always.
    fn lease(&self, _listing: ListingId) -> BoxFuture<'static, Result<bool, EngineError>> {
        Box::pin(std::future::ready(Ok(true)))
    }

    /// Lets another server take the lease at once.
    fn give_back_lease(&self, _listing: ListingId) -> BoxFuture<'static, Result<(), EngineError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Asks the listings of a tenant and kind the same about one buyer, in order of their ids; those that know nothing are left
    /// out. A question about nobody is put to one listing (`ask`), and here finds nothing.
    fn ask_all(
        &self,
        _tenant: Tenant,
        _kind: ListingKind,
        _query: Query,
    ) -> BoxFuture<'static, Result<Vec<FoundAt>, EngineError>> {
        let what = "questions to all listings of a kind";
        Box::pin(std::future::ready(Err(EngineError::Unsupported(what))))
    }

    /// Durable facts after an offset, oldest first, at most `limit` of them (at least one whole step).
    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>>;

    /// Every durable step after a position, as it happens.
    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>>;

    /// Which listings of these kinds move from now on; those that exist already are looked at once by whoever asks.
    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings;

    /// Every step of every listing in one order; `None` where the engine keeps no such row.
    fn log(&self) -> Option<Arc<dyn Log>> {
        None
    }

    /// Brings a listing here that another server may have made a moment ago; whoever sees no view asks for this first.
    fn look_up(&self, _listing: ListingId) -> BoxFuture<'static, Result<(), EngineError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Whether reads of a listing, or of any, may be older than what was answered: its store cannot be asked.
    fn is_stale(&self, _listing: Option<&ListingId>) -> bool {
        false
    }

    /// The engine's clock.
    fn now(&self) -> Millis;

    /// How the engine is, for health checks and metrics.
    fn status(&self) -> EngineStatus;
}

/// A command for one listing, under an idempotency key if the caller gave one.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub listing: ListingId,
    pub command: Command,
    pub key: Option<Key>,
    /// Who asks, if not a buyer.
    pub by: Option<By>,
}

/// `(epoch, offset)` names a position of a listing for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub epoch: u64,
    pub offset: u64,
}

/// The answer to a command: what happened and what it came to.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The listing's position right after the command.
    pub position: Position,
    /// The listing's time when it was decided.
    pub at: Millis,
    pub outcome: Outcome,
    /// True if this is the first answer again, found by its idempotency key.
    pub replayed: bool,
    pub told: AnswerStep,
}

impl Answer {
    /// The facts, expiries first; a refused command may have some, too.
    pub fn step(&self) -> Option<&Arc<Step>> {
        self.told.step()
    }

    /// The facts with their offsets, oldest first.
    pub fn facts(&self) -> impl Iterator<Item = (u64, &Fact)> {
        self.step().into_iter().flat_map(|step| step.numbered())
    }
}

/// The step that an answer tells of. An engine may leave it as bytes: read by whoever asks, when somebody does, it
/// costs the one who decides nothing.
#[derive(Clone, Debug, Default)]
pub struct AnswerStep {
    step: OnceLock<Arc<Step>>,
    unread: Option<StepBytes>,
}

/// A step as an engine wrote it, among others.
#[derive(Clone, Debug)]
pub struct StepBytes {
    pub listing: ListingId,
    pub bytes: Arc<Vec<u8>>,
    pub start: u32,
    pub read: fn(ListingId, &[u8]) -> Step,
}

impl AnswerStep {
    pub fn unread(unread: Option<StepBytes>) -> AnswerStep {
        AnswerStep { step: OnceLock::new(), unread }
    }

    pub fn step(&self) -> Option<&Arc<Step>> {
        match &self.unread {
            None => self.step.get(),
            Some(unread) => {
                let read = || (unread.read)(unread.listing, &unread.bytes[unread.start as usize..]);
                Some(self.step.get_or_init(|| Arc::new(read())))
            }
        }
    }
}

impl From<Option<Arc<Step>>> for AnswerStep {
    fn from(step: Option<Arc<Step>>) -> AnswerStep {
        AnswerStep { step: step.map(OnceLock::from).unwrap_or_default(), unread: None }
    }
}

/// A listing as readers see it, at one durable position.
#[derive(Clone, Debug)]
pub struct View {
    pub listing: ListingId,
    pub position: Position,
    /// The time of the last fact.
    pub at: Millis,
    /// The time of the first.
    pub created_at: Millis,
    /// What its merchant says of it, if anything.
    pub about: Option<Arc<About>>,
    pub body: BodyView,
}

impl View {
    /// None of a listing that does not exist, or is deleted.
    pub fn of(listing: &Listing) -> Option<View> {
        Some(View {
            listing: listing.id,
            position: Position { epoch: listing.epoch, offset: listing.offset },
            at: listing.last_at,
            created_at: listing.created_at,
            about: listing.shared_about().cloned(),
            body: listing.view()?,
        })
    }
}

/// One buyer's holds of one event, and the position at which they were read.
#[derive(Clone, Debug)]
pub struct HeldAt {
    pub listing: ListingId,
    pub position: Position,
    pub holds: Vec<HoldState>,
}

/// What one listing knows, and the position at which it was asked.
#[derive(Clone, Debug)]
pub struct FoundAt {
    pub listing: ListingId,
    pub position: Position,
    pub found: Found,
}

#[derive(Clone, Debug, Default)]
pub struct FactPage {
    pub steps: Vec<Arc<Step>>,
    /// The listing's last durable position.
    pub position: Position,
}

/// The machine failed. Lower-case messages; `is_retryable` says whether the same request may work in a moment.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EngineError {
    #[error("the engine's queue is full; try again in a moment")]
    Busy,
    #[error("no such listing")]
    UnknownListing,
    /// With the last position that is in this log at or before the one that was asked for; from there nothing is missed.
    #[error("the position is not in this listing's log; reload, or go on from {}-{}", .0.epoch, .0.offset)]
    Reload(Position),
    #[error("the disk is full; free some space, writing goes on by itself")]
    DiskFull,
    #[error("the engine is stopping")]
    Stopping,
    #[error("the engine is poisoned by a failed write or sync and must be restarted: {0}")]
    Poisoned(String),
    #[error("reading the log failed: {0}")]
    Read(String),
    /// Surely nothing was decided.
    #[error("the store cannot be used now: {0}")]
    Unavailable(String),
    /// The store was asked and did not answer: whoever sends the same under the same key learns what happened.
    #[error("the store did not answer in time, what became of the command is unknown: {0}")]
    Unanswered(String),
    /// The store may have forgotten something; until that is settled nothing is decided and nothing is unknown.
    #[error("the store may have forgotten something and is being recovered; try again in a moment")]
    Recovering,
    /// Somebody must look at it: a foreign key under our prefix, a script that fails.
    #[error("the store holds or does what it should not: {0}")]
    Damaged(String),
    /// Another engine can; a retry does not help.
    #[error("this store cannot do that yet: {0}")]
    Unsupported(&'static str),
}

impl EngineError {
    pub fn is_retryable(&self) -> bool {
        match self {
            EngineError::Busy
            | EngineError::DiskFull
            | EngineError::Stopping
            | EngineError::Unavailable(_)
            | EngineError::Unanswered(_)
            | EngineError::Recovering => true,
            EngineError::UnknownListing
            | EngineError::Reload(_)
            | EngineError::Poisoned(_)
            | EngineError::Read(_)
            | EngineError::Damaged(_)
            | EngineError::Unsupported(_) => false,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineStatus {
    pub poisoned: Option<String>,
    pub disk_full: bool,
    pub stopping: bool,
    /// Why the store that several servers share cannot be used, or a part of it.
    pub store_down: Option<String>,
    /// Listings of such a store that somebody must look at; all others are decided. The first hundred.
    pub damaged: Vec<DamagedListing>,
    pub listings: u64,
    /// Commands waiting for their decision, over all shards.
    pub waiting: u64,
    pub commands: u64,
    pub refusals: u64,
    pub facts: u64,
    pub frames: u64,
    pub syncs: u64,
    pub journal_bytes: u64,
    pub dedup_records: u64,
    /// Idempotency records that were forgotten before their time, to make room.
    pub dedup_forgotten: u64,
    /// How much a shared store's facts and remembered answers take on its fullest node, and how much they may.
    pub history_bytes: u64,
    pub history_max_bytes: u64,
    /// How long the youngest forgotten idempotency record had been kept; `None` while none was forgotten early.
    pub dedup_window_ms: Option<u64>,
    pub snapshot_sequence: Option<u64>,
    /// What it did to keep up with a store that servers share; `None` without one.
    pub shared_store: Option<SharedStoreCounts>,
}

/// What an engine over a shared store did since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedStoreCounts {
    /// Commands sent again because what this server knew was too old to advise them.
    pub retries: u64,
    /// Listings read anew because their facts did not join on.
    pub reloads: u64,
    /// Times that another server's facts were announced to this one.
    pub wakes: u64,
    /// Times that deadlines were looked for and made to happen.
    pub sweeps: u64,
}

/// A listing that cannot be read or decided: where that lies, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedListing {
    pub listing: ListingId,
    pub key: String,
    /// Goes on behind the key's name: `is a string and should be a hash`.
    pub what: String,
}

/// Yields every step of a listing after the position it was made with, each exactly once and in order.
/// It pulls: a slow reader costs its own position and nothing else.
pub struct Follower {
    tail: Box<dyn Tail>,
}

/// What an engine gives to a follower.
pub trait Tail: Send {
    /// The next steps; must lose nothing if the future is dropped before it is ready.
    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Arc<Step>>, EngineError>>;
}

impl Follower {
    pub fn of(tail: Box<dyn Tail>) -> Follower {
        Follower { tail }
    }

    /// Waits for the next steps. `Reload`: the reader is further behind than what is kept for it.
    pub async fn next(&mut self) -> Result<Vec<Arc<Step>>, EngineError> {
        self.tail.next().await
    }
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Follower")
    }
}

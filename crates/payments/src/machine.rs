//! What the worker does next, as a plain state machine: which listing is read, what the desk is told, what the provider
//! is asked, which listing hears of it, when something is tried again. It makes calls by naming them and goes on with
//! their replies; it has no clock, no socket and no task. `worker.rs` drives it in a server, the simulation from a seed.

mod call;
mod look;
mod talk;
mod tasks;

use std::collections::BTreeMap;
use std::time::Duration;

use onsale_domain::desk::{DeskCommand, Task};
use onsale_domain::{ListingId, ListingKind, Millis};
use onsale_engine::EngineError;

use self::look::{Look, TakeSlips};
use self::talk::{Talk, TalkStep, Talks};
use self::tasks::Tasks;

pub use self::call::{Call, CallId, Reply};
pub use self::talk::TALKS_MAX;

/// Kinds of listings that have orders.
pub static KINDS: [ListingKind; 4] =
    [ListingKind::Event, ListingKind::Sale, ListingKind::Registration, ListingKind::Auction];
/// Slips read, and tasks seen to, in one go.
const PAGE: usize = 64;
/// Listings read or told at the same time: each is a step of its own listing and one of the desk, which takes many at
/// once.
const AT_ONCE: usize = 16;

/// How patient the worker is with a provider.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// An ask without an answer by then is made again later.
    pub answer: Duration,
    /// Between two tries; doubled with each, up to the longest.
    pub again_ms: Millis,
    pub again_ms_max: Millis,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { answer: Duration::from_secs(10), again_ms: 1_000, again_ms_max: 60_000 }
    }
}

/// It remembers nothing that matters: one that has forgotten all of it does the same things, just more often.
#[derive(Debug)]
pub struct Machine {
    patience: Patience,
    next_call: CallId,
    /// Calls that the driver has not taken yet.
    calls: Vec<(CallId, Call)>,
    /// What goes on with the reply to a call.
    jobs: BTreeMap<CallId, Job>,
    look: Look,
    talks: Talks,
    round: Option<Round>,
    ended: Option<Result<(), EngineError>>,
    wants_round: bool,
    desk_is_open: bool,
}

/// Everything there is to do once: listings that moved are read, then every open task is seen to.
#[derive(Debug, Default)]
struct Round {
    tasks: Tasks,
    /// What went wrong first.
    trouble: Option<EngineError>,
    /// Nothing more is begun: what goes wrong now goes wrong everywhere.
    stops: bool,
}

#[derive(Debug)]
enum Job {
    ReadListings,
    ReadCursor(ListingId),
    ReadWork(ListingId),
    OpenDesk(Box<TakeSlips>),
    TakeSlips { listing: ListingId, is_full: bool },
    ReadTasks,
    TellListing(Box<Task>),
    NoteDelivered(Box<Task>),
    Talk(Box<Talk>, TalkStep),
}

impl Machine {
    pub fn new(patience: Patience) -> Machine {
        Machine {
            patience,
            next_call: 0,
            calls: Vec::new(),
            jobs: BTreeMap::new(),
            look: Look::default(),
            talks: Talks::default(),
            round: None,
            ended: None,
            wants_round: false,
            desk_is_open: false,
        }
    }

    /// A listing has moved, and may owe something; the next round reads it.
    pub fn listing_moved(&mut self, listing: ListingId) {
        self.look.add(listing);
    }

    /// Begins to do everything there is to do, unless it is being done.
    pub fn begin_round(&mut self, now: Millis) {
        if self.round.is_none() {
            self.wants_round = false;
            self.round = Some(Round::default());
            self.talks.begin_round();
            self.advance(now);
        }
    }

    pub fn is_in_round(&self) -> bool {
        self.round.is_some()
    }

    /// Something was done that may have made more to do.
    pub fn wants_round(&self) -> bool {
        self.wants_round && self.round.is_none()
    }

    /// Half a second or so has passed. A round that waits for a place among the conversations goes on without.
    pub fn tick(&mut self, now: Millis) {
        if self.round.is_some() {
            self.talks.give_up_waiting();
            self.advance(now);
        }
    }

    /// The calls to make now, each with the number under which its reply is awaited.
    pub fn take_calls(&mut self) -> Vec<(CallId, Call)> {
        std::mem::take(&mut self.calls)
    }

    /// How the last round ended, told once.
    pub fn take_ended(&mut self) -> Option<Result<(), EngineError>> {
        self.ended.take()
    }

    /// What went wrong first in a conversation since the last round began.
    pub fn take_talk_trouble(&mut self) -> Option<EngineError> {
        self.talks.take_trouble()
    }

    /// A call was answered; a reply that nobody waits for any more is nothing.
    pub fn take_reply(&mut self, call: CallId, reply: Reply, now: Millis) {
        let Some(job) = self.jobs.remove(&call) else { return };
        match job {
            Job::ReadListings => self.listings_read(&reply.listings()),
            Job::ReadCursor(listing) => self.cursor_read(listing, reply.found()),
            Job::ReadWork(listing) => self.work_read(listing, reply.found()),
            Job::OpenDesk(slips) => self.desk_opened(*slips, reply.decided()),
            Job::TakeSlips { listing, is_full } => self.slips_taken(listing, is_full, reply.decided()),
            Job::ReadTasks => self.tasks_read(reply.found()),
            Job::TellListing(task) => self.listing_told(task, reply.decided()),
            Job::NoteDelivered(task) => self.delivered(&task, reply.decided()),
            Job::Talk(talk, step) => self.go_on_talking(talk, step, reply, now),
        }
        self.advance(now);
    }

    /// Waits for no reply any more. What was asked is asked again under the same key, by the next round.
    pub fn let_go(&mut self) {
        self.calls.clear();
        self.jobs.clear();
        self.look.let_go();
        self.talks.let_go();
        self.round = None;
        self.ended = None;
    }

    /// Another server may look after payments by now: what is begun is let go, and with the lease comes a catch-up.
    pub fn lose_lease(&mut self) {
        self.let_go();
        self.look = Look::default();
        self.talks = Talks::default();
    }

    fn call(&mut self, call: Call, job: Job) {
        self.next_call += 1;
        self.calls.push((self.next_call, call));
        self.jobs.insert(self.next_call, job);
    }

    fn desk(&mut self, command: DeskCommand, job: Job) {
        self.call(Call::Desk(command), job);
    }

    /// Begins whatever may be begun; ends the round when nothing of it is left.
    fn advance(&mut self, now: Millis) {
        let Some(round) = &self.round else { return };
        let is_over = match round.stops {
            true => self.look.is_at_rest() && round.tasks.is_at_rest(),
            false => self.is_looked_through() && self.are_tasks_seen_to(now),
        };
        if is_over && let Some(round) = self.round.take() {
            self.look.end_round();
            // Trouble is not tried again at once, whatever was done beside it.
            self.wants_round &= round.trouble.is_none();
            self.ended = Some(round.trouble.map_or(Ok(()), Err));
        }
    }

    /// Trouble with one listing is its own; trouble that a moment may mend is everybody's, and the round ends.
    fn note_trouble(&mut self, error: EngineError) {
        if let Some(round) = &mut self.round {
            round.stops |= error.is_retryable();
            round.trouble.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests;

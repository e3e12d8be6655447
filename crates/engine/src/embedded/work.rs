//! What travels between callers, shards and the committer: work on the way in, a decided batch on the way out.

use std::sync::Arc;

use onsale_domain::{BuyerId, ListingId, ListingKind, Millis, Outcome, Step, Tenant};
use onsale_domain::{Found, Query};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::directory::Slot;
use super::entry;
use crate::engine::{Answer, AnswerStep, EngineError, FoundAt, HeldAt, Position, Request, StepBytes, View};

pub type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

/// Something for a shard to do.
#[derive(Debug)]
pub enum Work {
    Submit(Request, Reply<WrittenDecision>),
    /// Several commands in one message: one wake-up instead of many.
    SubmitMany(Vec<Request>, oneshot::Sender<Together>),
    Ask(ListingId, Query, Reply<Found>),
    HoldsOf(Tenant, BuyerId, Reply<Vec<HeldAt>>),
    AskAll(Tenant, ListingKind, Query, Reply<Vec<FoundAt>>),
    /// Start handing out images of all listings.
    Snapshot,
}

impl Work {
    /// The command, if it came alone.
    pub fn single(&self) -> Option<&Request> {
        match self {
            Work::Submit(request, _) => Some(request),
            Work::SubmitMany(..) | Work::Ask(..) | Work::HoldsOf(..) | Work::AskAll(..) | Work::Snapshot => {
                None
            }
        }
    }

    /// How many commands it counts for in the bound of the inbox.
    pub fn weight(&self) -> usize {
        match self {
            Work::SubmitMany(requests, _) => requests.len(),
            Work::Submit(..) | Work::Ask(..) | Work::HoldsOf(..) | Work::AskAll(..) | Work::Snapshot => 1,
        }
    }
}

/// A decision: what it came to, or where the first answer's facts stand.
#[derive(Debug)]
pub enum Decision {
    Verdict(Verdict),
    Replay { slot: Arc<Slot>, first: u64, last: u64 },
}

/// What a command came to. Its facts are not here: they stand in the batch's bytes, which everybody shares.
#[derive(Debug)]
pub struct Verdict {
    /// The listing's position right after the command.
    pub position: Position,
    pub at: Millis,
    pub outcome: Outcome,
    /// Where its entry starts in the batch's bytes, if it made facts.
    pub entry: Option<u32>,
}

/// A decision and the bytes in which its facts stand.
#[derive(Debug)]
pub struct WrittenDecision {
    pub decided: Decision,
    pub bytes: Arc<Vec<u8>>,
}

impl Verdict {
    /// The answer for the caller, its facts not yet read.
    pub fn answer(self, listing: ListingId, bytes: &Arc<Vec<u8>>) -> Answer {
        let unread = |start| StepBytes { listing, bytes: bytes.clone(), start, read: entry::step_at };
        Answer {
            position: self.position,
            at: self.at,
            outcome: self.outcome,
            replayed: false,
            told: AnswerStep::unread(self.entry.map(unread)),
        }
    }
}

/// The answers to commands that came together, and the commands: who made them frees them, which costs an allocator
/// much less than when another thread does.
#[derive(Debug)]
pub struct Together {
    pub requests: Vec<Request>,
    pub answers: Vec<Result<Decision, EngineError>>,
    pub bytes: Arc<Vec<u8>>,
}

/// An answer that waits for the sync of all it saw.
#[derive(Debug)]
pub enum Completion {
    One(Reply<WrittenDecision>, Result<Decision, EngineError>),
    Many(oneshot::Sender<Together>, Together),
    Found(Reply<Found>, Found),
    Holds(Reply<Vec<HeldAt>>, Vec<HeldAt>),
    FoundAll(Reply<Vec<FoundAt>>, Vec<FoundAt>),
}

impl Completion {
    /// Hands the answer over, with the bytes of its batch. A caller that went away does not need it.
    pub fn complete(self, bytes: &Arc<Vec<u8>>) {
        match self {
            Completion::One(reply, decided) => {
                let written = decided.map(|decided| WrittenDecision { decided, bytes: bytes.clone() });
                drop(reply.send(written));
            }
            Completion::Many(reply, together) => {
                drop(reply.send(Together { bytes: bytes.clone(), ..together }))
            }
            Completion::Found(reply, found) => drop(reply.send(Ok(found))),
            Completion::Holds(reply, holds) => drop(reply.send(Ok(holds))),
            Completion::FoundAll(reply, found) => drop(reply.send(Ok(found))),
        }
    }

    /// The machine failed before the answer was durable: nobody may see it.
    pub fn fail(self, error: &EngineError) {
        match self {
            Completion::One(reply, _) => drop(reply.send(Err(error.clone()))),
            Completion::Many(reply, mut together) => {
                together.answers.iter_mut().for_each(|answer| *answer = Err(error.clone()));
                drop(reply.send(together));
            }
            Completion::Found(reply, _) => drop(reply.send(Err(error.clone()))),
            Completion::Holds(reply, _) => drop(reply.send(Err(error.clone()))),
            Completion::FoundAll(reply, _) => drop(reply.send(Err(error.clone()))),
        }
    }
}

/// The answers of a batch whose facts are durable, and the bytes they stand in.
#[derive(Debug)]
pub struct AnswerBatch {
    pub completions: Vec<Completion>,
    pub bytes: Arc<Vec<u8>>,
}

impl AnswerBatch {
    pub fn complete(self) {
        let bytes = self.bytes;
        self.completions.into_iter().for_each(|completion| completion.complete(&bytes));
    }
}

/// Buffers on their way back from the committer to the shards, so that each batch need not grow a new one.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Some may still be read by those who got answers in them.
    used: Mutex<Vec<Arc<Vec<u8>>>>,
}

/// Buffers that wait; two are under way with one shard, and slow readers keep some for themselves.
const BUFFERS_KEPT: usize = 8;
/// A buffer that grew beyond this, for somebody's chart, is not kept.
const BUFFER_BYTES_KEPT: usize = 256 << 10;

impl Buffers {
    pub fn take(&self) -> Vec<u8> {
        let mut used = self.used.lock();
        let unread = used.iter().position(|buffer| Arc::strong_count(buffer) == 1);
        let buffer = unread.and_then(|at| Arc::into_inner(used.swap_remove(at)));
        let mut buffer = buffer.unwrap_or_default();
        buffer.clear();
        buffer
    }

    pub fn put(&self, buffer: Arc<Vec<u8>>) {
        let mut used = self.used.lock();
        if buffer.capacity() > BUFFER_BYTES_KEPT {
            return;
        }
        if used.len() == BUFFERS_KEPT {
            // The oldest is the one that its readers have kept longest.
            used.remove(0);
        }
        used.push(buffer);
    }
}

/// What one shard decided in one go. Nothing of it may be seen before its bytes are synced.
#[derive(Debug, Default)]
pub struct Batch {
    /// Journal entries; empty if nothing changed.
    pub bytes: Vec<u8>,
    pub completions: Vec<Completion>,
    pub changes: Vec<Change>,
    /// Steps of listings that somebody follows, in order.
    pub followed: Vec<(Arc<Slot>, Arc<Step>)>,
    /// Parts of a snapshot under way; they hold nothing newer than this batch.
    pub images: Vec<Vec<u8>>,
    /// True in the shard's last batch with images.
    pub images_done: bool,
    pub tally: Tally,
}

/// A listing that changed, with its new view.
#[derive(Debug)]
pub struct Change {
    pub slot: Arc<Slot>,
    /// The first of its facts in this batch.
    pub first: u64,
    pub position: Position,
    /// None: it is deleted.
    pub view: Option<Arc<View>>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub commands: u64,
    pub refusals: u64,
    pub facts: u64,
}

impl Batch {
    /// Nothing was asked, nothing fell due.
    pub fn is_empty(&self) -> bool {
        self.completions.is_empty() && self.bytes.is_empty() && self.images.is_empty() && !self.images_done
    }
}

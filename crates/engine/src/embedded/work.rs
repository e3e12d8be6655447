//! What travels between callers, shards and the committer: work on the way in, a decided batch on the way out.

use std::sync::Arc;

use onsale_domain::seats::{Found, Query};
use onsale_domain::{BuyerId, ListingId, Step, Tenant};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::directory::Slot;
use crate::engine::{Answer, EngineError, HeldAt, Request, View};

pub type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

/// Something for a shard to do.
#[derive(Debug)]
pub enum Work {
    Submit(Request, Reply<Decided>),
    /// Several commands in one message: one wake-up instead of many.
    SubmitMany(Vec<Request>, oneshot::Sender<Together>),
    Ask(ListingId, Query, Reply<Found>),
    HoldsOf(Tenant, BuyerId, Reply<Vec<HeldAt>>),
    /// Start handing out images of all listings.
    Snapshot,
}

impl Work {
    /// How many commands it counts for in the bound of the inbox.
    pub fn weight(&self) -> usize {
        match self {
            Work::SubmitMany(requests, _) => requests.len(),
            Work::Submit(..) | Work::Ask(..) | Work::HoldsOf(..) | Work::Snapshot => 1,
        }
    }
}

/// A decision: the answer itself, or where the first answer's facts stand.
#[derive(Debug)]
pub enum Decided {
    Answer(Answer),
    Replay { slot: Arc<Slot>, first: u64, last: u64 },
}

/// The answers to commands that came together, and the commands: who made them frees them, which costs an allocator
/// much less than when another thread does.
#[derive(Debug)]
pub struct Together {
    pub requests: Vec<Request>,
    pub answers: Vec<Result<Decided, EngineError>>,
}

/// An answer that waits for the sync of all it saw.
#[derive(Debug)]
pub enum Completion {
    One(Reply<Decided>, Result<Decided, EngineError>),
    Many(oneshot::Sender<Together>, Together),
    Found(Reply<Found>, Found),
    Holds(Reply<Vec<HeldAt>>, Vec<HeldAt>),
}

impl Completion {
    /// Hands the answer over. A caller that went away does not need it.
    pub fn complete(self) {
        match self {
            Completion::One(reply, answer) => drop(reply.send(answer)),
            Completion::Many(reply, answers) => drop(reply.send(answers)),
            Completion::Found(reply, found) => drop(reply.send(Ok(found))),
            Completion::Holds(reply, holds) => drop(reply.send(Ok(holds))),
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
        }
    }
}

/// Buffers on their way back from the committer to the shards, so that each batch need not grow a new one.
#[derive(Debug, Default)]
pub struct Buffers {
    spare: Mutex<Vec<Vec<u8>>>,
}

/// Buffers that wait; two are under way with one shard.
const BUFFERS_KEPT: usize = 4;
/// A buffer that grew beyond this, for somebody's chart, is not kept.
const BUFFER_BYTES_KEPT: usize = 256 << 10;

impl Buffers {
    pub fn take(&self) -> Vec<u8> {
        self.spare.lock().pop().unwrap_or_default()
    }

    pub fn put(&self, mut buffer: Vec<u8>) {
        let mut spare = self.spare.lock();
        if buffer.capacity() <= BUFFER_BYTES_KEPT && spare.len() < BUFFERS_KEPT {
            buffer.clear();
            spare.push(buffer);
        }
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
    pub view: Arc<View>,
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

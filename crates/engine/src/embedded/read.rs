//! Reads facts back from the journal, never beyond what is synced. Used by pages of facts, replays and followers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_core::future::BoxFuture;
use onsale_domain::{ListingId, Outcome, Step};

use super::commit::Shared;
use super::directory::{Following, Slot};
use super::entry::{self, Entry};
use super::work::Decision;
use crate::engine::{Answer, EngineError, FactPage, Position};
use crate::journal::Reader;

/// Steps handed to a follower in one go.
const FOLLOW_STEPS_MAX: usize = 256;

#[derive(Clone, Debug)]
pub struct Facts {
    pub reader: Arc<Reader>,
    pub shared: Arc<Shared>,
}

impl Facts {
    /// Steps with facts after `offset`, up to about `limit` facts and at least one step if there is any.
    pub fn after(&self, slot: &Slot, offset: u64, limit: usize) -> Result<FactPage, EngineError> {
        let Some(position) = slot.position() else { return Err(EngineError::UnknownListing) };
        let mut page = FactPage { steps: Vec::new(), position };
        let Some(mut cursor) = slot.frame_before(offset + 1) else { return Ok(page) };
        let synced = self.shared.synced.load(Ordering::Acquire);
        let mut found = 0;
        while found < limit && offset + (found as u64) < position.offset {
            let frame = self.reader.read_frame(cursor, synced).map_err(unreadable)?;
            let Some(frame) = frame else { break };
            for entry in entry::read(&frame.payload) {
                let Entry::Step(step) = entry.map_err(unreadable)? else { continue };
                if step.number != slot.number || step.last() <= offset || found >= limit {
                    continue;
                }
                found += step.facts as usize;
                page.steps.push(Arc::new(step.decode(slot.id).map_err(unreadable)?));
            }
            cursor = frame.next;
        }
        Ok(page)
    }

    /// A decision as its caller sees it.
    pub fn settle(
        &self,
        listing: ListingId,
        decided: Decision,
        bytes: &Arc<Vec<u8>>,
    ) -> Result<Answer, EngineError> {
        match decided {
            Decision::Verdict(verdict) => Ok(verdict.answer(listing, bytes)),
            Decision::Replay { slot, first, last } => self.replay(&slot, first, last),
        }
    }

    /// The first answer again: the step from `first` to `last`.
    pub fn replay(&self, slot: &Slot, first: u64, last: u64) -> Result<Answer, EngineError> {
        let page = self.after(slot, first - 1, 1)?;
        let step = page.steps.into_iter().next().filter(|step| step.first == first && step.last() == last);
        let step = step
            .ok_or_else(|| EngineError::Read(format!("the step at offset {first} is not in the journal")))?;
        let position = Position { epoch: step.epoch, offset: last };
        let at = step.at;
        Ok(Answer { position, at, outcome: Outcome::Done, replayed: true, told: Some(step).into() })
    }

    /// Waits for steps after `offset` and returns them.
    pub async fn next(&self, following: &mut Following, offset: u64) -> Result<Vec<Arc<Step>>, EngineError> {
        loop {
            if let Some(error) = self.shared.poisoned() {
                return Err(error);
            }
            following.mark_seen();
            let durable = following.slot.position().map_or(0, |position| position.offset);
            if durable > offset {
                if let Some(steps) = following.slot.recent_after(offset, FOLLOW_STEPS_MAX) {
                    return Ok(steps);
                }
                let steps = self.after(&following.slot, offset, FOLLOW_STEPS_MAX)?.steps;
                if !steps.is_empty() {
                    return Ok(steps);
                }
            }
            if self.shared.is_stopping() {
                return Err(EngineError::Stopping);
            }
            following.changed().await;
        }
    }
}

/// A follower's place in a listing's log.
#[derive(Debug)]
pub struct Tail {
    facts: Facts,
    following: Following,
    offset: u64,
}

impl Tail {
    pub fn new(facts: Facts, following: Following, offset: u64) -> Tail {
        Tail { facts, following, offset }
    }
}

impl crate::engine::Tail for Tail {
    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Arc<Step>>, EngineError>> {
        Box::pin(async move {
            let steps = self.facts.next(&mut self.following, self.offset).await?;
            self.offset = steps.last().map_or(self.offset, |step| step.last());
            Ok(steps)
        })
    }
}

pub(super) fn unreadable(error: impl std::fmt::Display) -> EngineError {
    EngineError::Read(error.to_string())
}

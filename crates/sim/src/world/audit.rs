//! Listening and reading: answers as they arrive, followers, pages of facts, whole states.

use std::task::{Context, Poll, Waker};

use onsale_domain::ListingId;
use onsale_engine::EngineError;
use onsale_engine::embedded::shard_of;

use super::{Follower, World};
use crate::auditor::ClientAnswer;
use crate::auditor::state::compare;

impl World {
    /// Clients hear what has been sent to them. `all`: also those who listen late.
    pub(super) fn hear(&mut self, all: bool) -> Result<(), String> {
        let Some(facts) = &self.facts else { return Ok(()) };
        let mut heard = Vec::new();
        for (id, call) in &mut self.calls {
            if (all || call.listens_from <= self.step)
                && let Some(told) = call.hear(facts)
            {
                heard.push((*id, told));
            }
        }
        for (id, told) in heard {
            let Some(call) = self.calls.remove(&id) else { continue };
            let errand = self.errands.remove(&id);
            if call.expected.len() != told.len() {
                return Err(format!("an answer nobody decided: {told:?} to {:?}", call.requests));
            }
            for (n, (expected, told)) in call.expected.iter().zip(&told).enumerate() {
                // Where the power has failed, what stands in the journal cannot be told again.
                let unreadable = matches!(told, ClientAnswer::Answer(Err(EngineError::Read(_))));
                if !(unreadable && self.disk.is_down()) {
                    self.auditor.check(expected, told, self.failed)?;
                }
                if let Some(errand) = errand.clone() {
                    self.carry_on(errand, told);
                    continue;
                }
                let broken = matches!(told, ClientAnswer::Answer(Err(_)));
                if broken && self.rng.chance(600) {
                    self.network.send(&mut self.rng, self.step, vec![call.requests[n].clone()]);
                }
            }
        }
        Ok(())
    }

    /// The line broke before the answer came: some ask again with the same key.
    pub(super) fn hang_up(&mut self) {
        // What the payments' worker had begun nobody asks for again: it finds its work at the desk.
        let errands = std::mem::take(&mut self.errands);
        let calls = std::mem::take(&mut self.calls);
        for (_, call) in calls.into_iter().filter(|(id, _)| !errands.contains_key(id)) {
            for request in call.requests {
                if self.rng.chance(500) {
                    self.network.send(&mut self.rng, self.step, vec![request]);
                }
            }
        }
    }

    /// A follower takes its next steps, or a new one starts anywhere in the past.
    pub(super) fn follow(&mut self) -> Result<(), String> {
        let (Some(core), Some(facts)) = (&self.core, &self.facts) else { return Ok(()) };
        if self.followers.len() < 4 || self.rng.chance(50) {
            let ids: Vec<ListingId> = self.auditor.durable.keys().copied().collect();
            let Some(listing) = self.rng.pick(&ids).copied() else { return Ok(()) };
            let offset = self.rng.below(self.auditor.durable[&listing] + 1);
            // Only ends of steps are positions that a reader was ever told.
            let log = &self.auditor.listings[&listing].log;
            let offset = log.iter().map(|step| step.last()).take_while(|last| *last <= offset).last();
            self.followers.push(Follower { listing, offset: offset.unwrap_or(0), following: None });
            if self.followers.len() > 6 {
                self.followers.remove(0);
            }
        }
        let index = self.rng.below(self.followers.len() as u64) as usize;
        let follower = &mut self.followers[index];
        let Some(slot) = core.shared.directory.get(&follower.listing) else {
            return Err(format!("{} was followed and is gone", follower.listing));
        };
        let following = follower.following.get_or_insert_with(|| slot.follow());
        let polled = {
            let mut next = std::pin::pin!(facts.next(following, follower.offset));
            next.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        };
        match polled {
            Poll::Pending => {
                let durable = self.auditor.durable.get(&follower.listing).copied().unwrap_or(0);
                if durable > follower.offset && !self.failed {
                    return Err(format!("a follower of {} waits though there is more", follower.listing));
                }
            }
            Poll::Ready(Err(EngineError::Poisoned(_))) if self.failed => {}
            Poll::Ready(Err(error)) => return Err(format!("a follower was sent away: {error}")),
            Poll::Ready(Ok(steps)) => {
                follower.offset = self.auditor.follow(follower.listing, follower.offset, &steps)?;
                let (listing, offset) = (follower.listing, follower.offset);
                self.auditor.see(listing, offset);
            }
        }
        Ok(())
    }

    /// A page of facts from anywhere in the past.
    pub(super) fn read_page(&mut self) -> Result<(), String> {
        let (Some(core), Some(facts)) = (&self.core, &self.facts) else { return Ok(()) };
        let ids: Vec<ListingId> = self.auditor.durable.keys().copied().collect();
        let Some(id) = self.rng.pick(&ids).copied() else { return Ok(()) };
        let after = self.rng.below(self.auditor.durable[&id] + 1);
        let Some(slot) = core.shared.directory.get(&id) else { return Ok(()) };
        let limit = self.rng.range(1, 50) as usize;
        let page = facts.after(&slot, after, limit).map_err(|error| format!("facts of {id}: {error}"))?;
        let read = self.auditor.follow(id, after, &page.steps)?;
        if read == after && after < self.auditor.durable[&id] {
            return Err(format!("no facts of {id} after {after}, though there are some"));
        }
        self.auditor.see(id, read);
        Ok(())
    }

    /// The live state of one shard, uncommitted decisions included, against the model's.
    pub(super) fn compare_states(&mut self) -> Result<(), String> {
        let Some(core) = self.core.as_ref().filter(|_| !self.failed) else { return Ok(()) };
        let shard = self.rng.below(self.shards as u64) as usize;
        for listing in core.shards[shard].all_listings() {
            let Some(model) = self.auditor.listings.get(&listing.id) else {
                return Err(format!(
                    "{} is in shard {} unknown to all",
                    listing.id,
                    shard_of(&listing.id, self.shards)
                ));
            };
            compare(listing, model, self.clock)?;
        }
        Ok(())
    }
}

//! Driving the engine: decide, commit, hand pieces to the snapshot; the model decides the same, beside it.

use onsale_domain::ListingId;
use onsale_engine::embedded::work::{Batch, Work};
use onsale_engine::snapshot::SnapshotWriter;

use super::{Pending, Snapshot, World};
use crate::auditor::recovered::Ends;
use crate::auditor::state::Picture;

impl World {
    /// Lets one shard decide up to `most` pieces of waiting work.
    pub(super) fn decide(&mut self, shard: usize, most: usize) -> Result<(), String> {
        let Some(core) = &mut self.core else { return Ok(()) };
        if self.failed {
            return Ok(());
        }
        let count = self.inboxes[shard].len().min(most);
        let taken: Vec<(Work, Option<u64>)> = self.inboxes[shard].drain(..count).collect();
        let has_room = core.room.has_room();
        let before: Vec<_> = self.auditor.of_shard(shard).map(|one| (one.id, one.now.offset)).collect();
        let mut work = Vec::with_capacity(taken.len());
        for (item, call) in taken {
            let expected = match &item {
                Work::Submit(request, _) => vec![self.auditor.predict(request, self.clock, has_room)],
                Work::SubmitMany(requests, _) => {
                    let predict = |request| self.auditor.predict(request, self.clock, has_room);
                    requests.iter().map(predict).collect()
                }
                Work::Ask(listing, query, _) => {
                    vec![self.auditor.predict_ask(*listing, query, self.clock)]
                }
                Work::HoldsOf(tenant, buyer, _) => {
                    vec![self.auditor.predict_holds(shard, *tenant, buyer, self.clock)]
                }
                // Nobody asks all listings at once here.
                Work::AskAll(..) | Work::Snapshot => Vec::new(),
            };
            if let Some(call) = call.and_then(|call| self.calls.get_mut(&call)) {
                for (request, expected) in call.requests.iter().zip(&expected) {
                    self.trace
                        .add(format!("{} @{} {request:?} -> {:?}", self.step, self.clock, expected.what));
                }
                call.expected = expected;
            }
            work.push(item);
        }
        let batch = core.shards[shard].decide(&mut work, self.clock);
        if has_room {
            self.auditor.sweep(shard, self.clock);
        }
        self.auditor.set_timers(shard);
        self.take_batch(shard, batch, &before);
        // Nothing may be heard of it yet; whoever listens now would notice.
        if self.rng.chance(300) { self.hear(false) } else { Ok(()) }
    }

    fn take_batch(&mut self, shard: usize, batch: Batch, before: &[(ListingId, u64)]) {
        if batch.is_empty() {
            return;
        }
        let (mut ends, mut pictures) = (Vec::new(), Vec::new());
        for listing in self.auditor.of_shard(shard) {
            let old = before.iter().find(|(id, _)| *id == listing.id).map_or(0, |(_, offset)| *offset);
            if listing.now.offset != old {
                ends.push((listing.id, listing.now.offset));
                pictures.push(Picture::of_model(listing));
            }
        }
        let facts = batch.tally.facts;
        self.trace.add(format!("{} shard {shard} decided {facts} facts, ends {ends:?}", self.step));
        self.pending.push_back(Pending { batch, ends, pictures });
    }

    /// Commits some or all of the decided batches, oldest first.
    pub(super) fn commit(&mut self) -> Result<(), String> {
        let Some(core) = &mut self.core else { return Ok(()) };
        if self.pending.is_empty() {
            return Ok(());
        }
        let count = self.rng.range(1, self.pending.len() as i64) as usize;
        let taken: Vec<Pending> = self.pending.drain(..count).collect();
        let (mut batches, mut told) = (Vec::new(), Vec::new());
        for pending in taken {
            batches.push(pending.batch);
            told.push((pending.ends, pending.pictures));
        }
        let committed = core.committer.commit(&mut batches);
        let text = committed.as_ref().map_or_else(ToString::to_string, |()| "synced".to_owned());
        self.trace.add(format!("{} commit of {count}: {text}", self.step));
        if let Err(error) = committed {
            if !self.faults.may_fail() && !self.failed {
                return Err(format!("a commit failed although nothing was broken: {error}"));
            }
            self.failed = true;
            self.faults.lost.extend(told.into_iter().map(|(ends, _)| ends));
            // Readers look at the worst moment: nothing of the failed batch may be visible.
            self.look_at_views()?;
            self.hear(true)?;
            return if self.disk.is_down() || self.rng.chance(600) {
                self.restart_after_failure()
            } else {
                Ok(())
            };
        }
        for (ends, pictures) in told {
            self.auditor.durable.extend(ends);
            for picture in pictures {
                self.faults.pictures.insert(picture.listing, picture);
            }
        }
        core.committer.prepare();
        let (pieces, done) = core.committer.take_images();
        self.take_pieces(pieces, done);
        self.look_at_views()?;
        if self.rng.chance(700) { self.hear(false) } else { Ok(()) }
    }

    fn take_pieces(&mut self, pieces: Vec<Vec<u8>>, done: usize) {
        let Some(Snapshot { writer, shards_left }) = &mut self.snapshot else { return };
        for piece in pieces {
            let written = writer.as_mut().map(|writer| writer.part(&piece));
            if !matches!(written, Some(Ok(()))) {
                *writer = None;
            }
        }
        *shards_left -= done.min(*shards_left);
        if *shards_left > 0 {
            return;
        }
        let finished = writer.take().map(SnapshotWriter::finish);
        self.snapshot = None;
        let whole = matches!(finished, Some(Ok(())));
        self.trace.add(format!("{} snapshot {}", self.step, if whole { "finished" } else { "given up" }));
        self.auditor.coverage.fault(if whole { "snapshot" } else { "snapshot_given_up" });
    }

    /// Views stand exactly where the last successful sync put them.
    pub fn look_at_views(&mut self) -> Result<(), String> {
        let Some(core) = &self.core else { return Ok(()) };
        for (id, picture) in &self.faults.pictures {
            let slot = core.shared.directory.get(id);
            let Some(shown) = slot.and_then(|slot| Picture::of_slot(&slot)) else {
                return Err(format!("{id} is synced and has no view"));
            };
            if shown != *picture {
                let when = if self.failed { "a view before the sync" } else { "a wrong view" };
                return Err(format!("{when}: {shown:?}\n  expected {picture:?}"));
            }
        }
        let shown: Vec<_> = self.faults.pictures.values().map(|one| (one.listing, one.offset)).collect();
        shown.into_iter().for_each(|(listing, offset)| self.auditor.see(listing, offset));
        Ok(())
    }
}

impl World {
    /// The process is gone: what was sent is heard, what was not is not. Returns what may or may not have survived.
    pub fn stop(&mut self) -> Result<Vec<Ends>, String> {
        self.hear(true)?;
        self.hang_up();
        let mut lost = std::mem::take(&mut self.faults.lost);
        lost.extend(self.pending.drain(..).map(|pending| pending.ends));
        self.inboxes.iter_mut().for_each(std::collections::VecDeque::clear);
        self.followers.iter_mut().for_each(|follower| follower.following = None);
        if let Some(writer) = self.snapshot.take().and_then(|snapshot| snapshot.writer) {
            // A dead process tidies nothing up.
            self.auditor.coverage.fault("died_in_snapshot");
            std::mem::forget(writer);
        }
        (self.core, self.facts, self.worker, self.failed) = (None, None, None, false);
        Ok(lost)
    }
}

//! After a restart: everything seen is there, nothing is invented, what is there is a prefix of what was decided.

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_domain::{ListingId, Millis, Step};
use onsale_engine::embedded::read::Facts;
use onsale_engine::embedded::recover::Core;

use super::state::{Picture, compare};
use super::{Auditor, HOUR, Record};

/// The offsets that one decided batch led to.
pub type Ends = Vec<(ListingId, u64)>;

impl Auditor {
    /// Takes over what the engine recovered, or says what is wrong with it.
    pub fn recovered(
        &mut self,
        core: &Core,
        facts: &Facts,
        undecided: &[Ends],
        clock: Millis,
    ) -> Result<(), String> {
        let mut offsets: BTreeMap<ListingId, u64> = BTreeMap::new();
        for listing in core.shards.iter().flat_map(|shard| shard.all_listings()) {
            if !self.listings.contains_key(&listing.id) {
                return Err(format!("{} was never created, yet it is there after the restart", listing.id));
            }
            offsets.insert(listing.id, listing.offset);
        }
        self.all_seen_is_there(&offsets)?;
        self.is_a_prefix(&offsets, undecided)?;
        for (id, listing) in &mut self.listings {
            let offset = offsets.get(id).copied().unwrap_or(0);
            if !listing.cut(offset) {
                return Err(format!("{id} recovered to offset {offset}, where no step ends"));
            }
        }
        self.listings.retain(|_, listing| listing.now.offset > 0);
        self.durable = offsets;
        self.restore_records();
        self.timers.clear();
        (0..self.shards).for_each(|shard| self.set_timers(shard));
        for listing in core.shards.iter().flat_map(|shard| shard.all_listings()) {
            compare(listing, &self.listings[&listing.id], clock)?;
        }
        let ids: Vec<ListingId> = self.listings.keys().copied().collect();
        for id in ids {
            // The last steps were the ones at risk; the whole log is read at the end of the run.
            let from = self.listings[&id].now.offset.saturating_sub(40);
            self.compare_log(core, facts, id, from)?;
            let shown = core.shared.directory.get(&id).and_then(|slot| Picture::of_slot(&slot));
            if shown != Some(Picture::of_model(&self.listings[&id])) {
                return Err(format!("the view of {id} after the restart is not what was recovered"));
            }
        }
        Ok(())
    }

    fn all_seen_is_there(&self, offsets: &BTreeMap<ListingId, u64>) -> Result<(), String> {
        for (listing, seen) in &self.seen {
            let recovered = offsets.get(listing).copied().unwrap_or(0);
            if recovered < *seen {
                return Err(format!(
                    "lost: a client saw {listing} at {seen}, after the restart it ends at {recovered}"
                ));
            }
        }
        Ok(())
    }

    /// Batches survive whole and in order: there is one from which on all are gone.
    fn is_a_prefix(&self, offsets: &BTreeMap<ListingId, u64>, undecided: &[Ends]) -> Result<(), String> {
        let mut at = self.durable.clone();
        let fits = |at: &BTreeMap<ListingId, u64>| {
            let ids = at.keys().chain(offsets.keys());
            ids.into_iter().all(|id| at.get(id).unwrap_or(&0) == offsets.get(id).unwrap_or(&0))
        };
        let mut found = fits(&at);
        for ends in undecided {
            at.extend(ends.iter().copied());
            found |= fits(&at);
        }
        if found {
            return Ok(());
        }
        Err(format!(
            "what was recovered is no prefix of what was decided: {offsets:?}\n  synced {:?}\n  then {undecided:?}",
            self.durable
        ))
    }

    /// The idempotency records that the remaining logs carry.
    fn restore_records(&mut self) {
        let sealed: BTreeMap<u128, Millis> =
            self.records.iter().map(|(scope, record)| (*scope, record.kept)).collect();
        self.records.clear();
        for step in self.listings.values().flat_map(|listing| &listing.log) {
            let Some(key) = step.key else { continue };
            let kept = sealed.get(&key.scope).copied().unwrap_or(HOUR);
            let record = Record { fingerprint: key.fingerprint, at: step.at, kept, step: step.clone() };
            self.records.insert(key.scope, record);
        }
    }

    /// Reads a listing's facts after an offset from the journal and compares each.
    pub fn compare_log(&self, core: &Core, facts: &Facts, id: ListingId, from: u64) -> Result<(), String> {
        let Some(slot) = core.shared.directory.get(&id) else {
            return Err(format!("{id} is not in the directory"));
        };
        let durable = self.durable.get(&id).copied().unwrap_or(0);
        let mut at = from;
        while at < durable {
            let page =
                facts.after(&slot, at, 256).map_err(|error| format!("facts of {id} after {at}: {error}"))?;
            if page.steps.is_empty() {
                return Err(format!("the journal of {id} ends at {at}, expected {durable}"));
            }
            at = self.follow(id, at, &page.steps)?;
        }
        Ok(())
    }

    /// Checks steps that somebody read after an offset; returns where they end.
    pub fn follow(&self, id: ListingId, after: u64, steps: &[Arc<Step>]) -> Result<u64, String> {
        let log = self.listings.get(&id).map_or(&[][..], |listing| listing.log.as_slice());
        // A reader may start in the middle of a step and then gets all of it.
        let start = log.partition_point(|step| step.last() <= after);
        for (n, step) in steps.iter().enumerate() {
            if log.get(start + n).map(|expected| &**expected) != Some(&**step) {
                return Err(format!("the log of {id} says {step:?}\n  expected {:?}", log.get(start + n)));
            }
        }
        let last = steps.last().map_or(after, |step| step.last());
        let durable = self.durable.get(&id).copied().unwrap_or(0);
        if last > durable {
            return Err(format!(
                "shown before the sync: a reader has {id} up to {last}, synced is {durable}"
            ));
        }
        Ok(last)
    }
}

//! What breaks: power at any write or sync, EIO, a full disk, a killed process, clocks set wrong, a damaged snapshot.
//! And what follows: a restart from the journal, during which things may break again.

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_domain::ListingId;
use onsale_engine::disk::{Disk, Fault};
use onsale_engine::embedded::read::Facts;
use onsale_engine::embedded::recover::{self, CoreOptions};
use onsale_engine::journal::{Options, Preparation};

use crate::auditor::recovered::Ends;
use crate::auditor::state::Picture;
use crate::world::World;

/// Restarts that may fail in a row before we call it a bug.
const ATTEMPTS_MAX: usize = 12;

#[derive(Debug, Default)]
pub struct Faults {
    /// A fault is planned on the disk.
    armed: bool,
    /// The disk is bounded; it is freed at this step.
    full_until: Option<u64>,
    /// Batches whose commit failed: they may have survived or not.
    pub lost: Vec<Ends>,
    /// What the views must show.
    pub pictures: BTreeMap<ListingId, Picture>,
}

impl Faults {
    /// Whether a failed commit can be explained.
    pub fn may_fail(&self) -> bool {
        self.armed || self.full_until.is_some()
    }
}

impl World {
    pub fn break_something(&mut self) -> Result<(), String> {
        if let Some(until) = self.faults.full_until {
            if until <= self.step {
                self.give_space_back();
            }
            return Ok(());
        }
        let soon = self.rng.below(7);
        match self.rng.below(12) {
            0..4 => {
                self.plan("crash_at_write_or_sync", Fault::Crash, soon);
                Ok(())
            }
            4 => {
                self.plan("write_fails", Fault::WriteFails, soon / 2);
                Ok(())
            }
            5..7 => {
                self.plan("sync_fails", Fault::SyncFails, soon / 2);
                Ok(())
            }
            7 => {
                self.auditor.coverage.fault("disk_full");
                let left = self.rng.below(self.segment_bytes / 4);
                self.disk.set_capacity(Some(self.disk.used_bytes() + left));
                // Two segments are set aside: only who goes on for long meets the end of them.
                let long = if self.rng.chance(500) { 6_000 } else { 900 };
                self.faults.full_until = Some(self.step + 200 + self.rng.below(long));
                self.trace.add(format!("{} the disk has {left} bytes left", self.step));
                Ok(())
            }
            8..10 => {
                self.auditor.coverage.fault("power_cut");
                self.restart(true)
            }
            _ => {
                self.auditor.coverage.fault("process_killed");
                self.restart(false)
            }
        }
    }

    fn plan(&mut self, kind: &'static str, fault: Fault, soon: u64) {
        self.auditor.coverage.fault(kind);
        self.trace.add(format!("{} planned: {kind} after {soon}", self.step));
        self.faults.armed = true;
        self.disk.fail_after(soon, fault);
    }

    pub fn give_space_back(&mut self) {
        if self.faults.full_until.take().is_some() {
            self.auditor.coverage.fault("space_back");
            self.disk.set_capacity(None);
            if let Some(core) = &mut self.core {
                core.committer.prepare();
            }
            self.trace.add(format!("{} space is back", self.step));
        }
    }

    /// After a failed commit the engine is poisoned; whoever runs it starts it again.
    pub fn restart_after_failure(&mut self) -> Result<(), String> {
        let power = self.disk.is_down() || self.rng.chance(300);
        self.restart(power)
    }

    /// Ends the process, perhaps with the power, and brings it back.
    pub fn restart(&mut self, power: bool) -> Result<(), String> {
        self.look_at_views()?;
        let lost = self.stop()?;
        if power {
            let seed = self.rng.number();
            self.disk.crash(seed);
        }
        self.disk.clear_faults();
        self.faults.armed = false;
        self.trace.add(format!("{} restart, power cut: {power}", self.step));
        self.auditor.coverage.restarts += 1;
        self.set_clock();
        self.damage_snapshot();
        self.open()?;
        let (Some(core), Some(facts)) = (&self.core, &self.facts) else { return Ok(()) };
        self.auditor.recovered(core, facts, &lost, self.clock)?;
        let offsets = &self.auditor.durable;
        self.trace.add(format!("{} recovered {offsets:?}", self.step));
        let pictures = self.auditor.listings.values().map(|listing| (listing.id, Picture::of_model(listing)));
        self.faults.pictures = pictures.collect();
        self.look_at_views()
    }

    /// The wall's time at a start may be anything; a jump back stays below what keys are kept for.
    fn set_clock(&mut self) {
        match self.rng.below(10) {
            0 => {
                self.auditor.coverage.fault("clock_set_back");
                self.clock -= self.rng.range(1, 1_200_000);
            }
            1 => {
                self.auditor.coverage.fault("clock_set_forward");
                self.clock += self.rng.range(1, 600_000);
            }
            _ => {}
        }
    }

    fn damage_snapshot(&mut self) {
        if !self.rng.chance(120) {
            return;
        }
        let mut names = self.disk.list().unwrap_or_default();
        names.retain(|name| name.starts_with("snapshot"));
        names.sort_unstable();
        let Some(newest) = names.last() else { return };
        let bytes = self.disk.contents(newest).map_or(0, |bytes| bytes.len() as u64);
        if self.disk.flip(newest, self.rng.below(bytes)) {
            self.auditor.coverage.fault("snapshot_damaged");
            self.trace.add(format!("{} damaged {newest}", self.step));
        }
    }

    /// Opens the engine on whatever the disk holds; it may take several attempts.
    pub fn open(&mut self) -> Result<(), String> {
        let journal = Options { segment_bytes: self.segment_bytes, preparation: Preparation::OnRequest };
        let options = CoreOptions { shards: self.shards, dedup_records_max: 1 << 20, journal };
        for _ in 0..ATTEMPTS_MAX {
            let broken = self.rng.chance(100);
            if broken {
                let all = [Fault::Crash, Fault::Crash, Fault::WriteFails, Fault::SyncFails];
                let fault = *self.rng.pick(&all).unwrap_or(&Fault::Crash);
                let soon = self.rng.below(10);
                self.plan("fault_in_recovery", fault, soon);
            }
            let generation = u128::from(self.rng.number());
            match recover::open(Arc::new(self.disk.clone()), options, generation) {
                Ok(mut core) => {
                    self.disk.clear_faults();
                    self.faults.armed = false;
                    core.committer.prepare();
                    if !core.report.passed_over.is_empty() {
                        self.auditor.coverage.fault("snapshot_passed_over");
                    }
                    if core.report.snapshot.is_some() {
                        self.auditor.coverage.fault("recovered_from_snapshot");
                    }
                    let (reader, shared) = (core.reader.clone(), core.shared.clone());
                    self.facts = Some(Facts { reader, shared });
                    self.core = Some(core);
                    self.start_worker();
                    return Ok(());
                }
                Err(error) => {
                    self.trace.add(format!("{} opening failed: {error}", self.step));
                    if !broken && self.faults.full_until.is_none() {
                        return Err(format!("the engine does not open: {error}"));
                    }
                    self.give_space_back();
                    if self.disk.is_down() || self.rng.chance(300) {
                        let seed = self.rng.number();
                        self.disk.crash(seed);
                    }
                    self.disk.clear_faults();
                    self.faults.armed = false;
                }
            }
        }
        Err(format!("the engine did not open in {ATTEMPTS_MAX} attempts"))
    }
}

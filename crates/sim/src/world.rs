//! The loop: one thread, one seed. Time passes, requests arrive, shards decide, the committer syncs, readers read,
//! things break; after each the auditor is asked.

mod audit;
mod bank;
mod engine;
mod payments;

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use onsale_domain::{ListingId, Millis, Tenant};
use onsale_engine::disk::MemoryDisk;
use onsale_engine::embedded::directory::Following;
use onsale_engine::embedded::read::Facts;
use onsale_engine::embedded::recover::Core;
use onsale_engine::embedded::shard_of;
use onsale_engine::embedded::work::{Batch, Work};
use onsale_engine::snapshot::SnapshotWriter;
use tokio::sync::oneshot;

use crate::auditor::Auditor;
use crate::auditor::recovered::Ends;
use crate::auditor::state::Picture;
use crate::client::{Call, Network, Reply};
use crate::coverage::Coverage;
use crate::faults::Faults;
use crate::rng::Rng;
use crate::trace::Trace;
use crate::workload::Workload;

use bank::Bank;
use payments::{Errand, Worker};

/// Batches that may be decided ahead of the disk.
const PENDING_MAX: usize = 3;

#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub seed: u64,
    pub steps: u64,
    pub print: bool,
}

/// A run that held.
#[derive(Debug)]
pub struct Run {
    pub steps: u64,
    pub facts: u64,
    pub hash: u64,
    pub coverage: Coverage,
}

/// A run that did not: where, why, and what came before.
#[derive(Debug)]
pub struct Failure {
    pub step: u64,
    pub why: String,
    pub last: Vec<String>,
}

pub fn run(config: Config) -> Result<Run, Box<Failure>> {
    let mut world = World::new(config);
    let ran = catch_unwind(AssertUnwindSafe(|| world.live(config.steps)));
    let why = match ran {
        Ok(Ok(())) => {
            let facts = world.auditor.durable.values().sum();
            let courses =
                world.auditor.listings.values().filter_map(|one| one.other()).map(|one| one.courses());
            let courses: Vec<_> = courses.collect();
            courses.iter().for_each(|courses| world.auditor.coverage.follow(courses));
            let (hash, coverage) = (world.trace.hash(), world.auditor.coverage);
            return Ok(Run { steps: config.steps, facts, hash, coverage });
        }
        Ok(Err(why)) => why,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without words");
            format!("a panic: {text}")
        }
    };
    Err(Box::new(Failure { step: world.step, why, last: world.trace.last().cloned().collect() }))
}

/// Of every 64 seeds the last eight are about awards and places that are paid: numbers of their own, so that all other
/// seeds stay the histories they were.
pub fn is_keeping(seed: u64) -> bool {
    seed % 64 >= 56
}

#[derive(Debug)]
pub struct World {
    pub rng: Rng,
    pub clock: Millis,
    pub step: u64,
    pub disk: MemoryDisk,
    /// `None` only while it is being restarted.
    pub core: Option<Core>,
    pub facts: Option<Facts>,
    pub auditor: Auditor,
    pub faults: Faults,
    pub trace: Trace,
    pub shards: usize,
    pub segment_bytes: u64,
    workload: Workload,
    network: Network,
    calls: BTreeMap<u64, Call>,
    next_call: u64,
    /// Work that waits, with its call.
    inboxes: Vec<VecDeque<(Work, Option<u64>)>>,
    pending: VecDeque<Pending>,
    followers: Vec<Follower>,
    snapshot: Option<Snapshot>,
    bank: Bank,
    /// `None` only while the process is being restarted.
    worker: Option<Worker>,
    /// What the payments' worker waits for, by its calls.
    errands: BTreeMap<u64, Errand>,
    /// A commit failed: errors are the right answers until the restart.
    failed: bool,
}

/// A batch that is decided and not yet synced.
#[derive(Debug)]
struct Pending {
    batch: Batch,
    ends: Ends,
    pictures: Vec<Picture>,
}

#[derive(Debug)]
struct Follower {
    listing: ListingId,
    offset: u64,
    following: Option<Following>,
}

#[derive(Debug)]
struct Snapshot {
    writer: Option<SnapshotWriter>,
    shards_left: usize,
}

impl World {
    fn new(config: Config) -> World {
        let mut rng = Rng::new(config.seed);
        let shards = rng.range(1, 3) as usize;
        let workload = Workload::new(&mut rng, is_keeping(config.seed));
        World {
            clock: 1_700_000_000_000,
            step: 0,
            disk: MemoryDisk::new(rng.number()),
            core: None,
            facts: None,
            auditor: Auditor::new(shards),
            faults: Faults::default(),
            trace: Trace::new(config.print),
            shards,
            segment_bytes: 32_768 << rng.below(3),
            workload,
            network: Network::default(),
            calls: BTreeMap::new(),
            next_call: 0,
            inboxes: (0..shards).map(|_| VecDeque::new()).collect(),
            pending: VecDeque::new(),
            followers: Vec::new(),
            snapshot: None,
            bank: Bank::default(),
            worker: None,
            errands: BTreeMap::new(),
            failed: false,
            rng,
        }
    }

    /// The process has started, and with it a worker that knows nothing.
    pub fn start_worker(&mut self) {
        let moved = self.core.as_ref().map(|core| core.shared.movements.subscribe(Worker::kinds()));
        self.worker = moved.map(Worker::start);
    }

    fn live(&mut self, steps: u64) -> Result<(), String> {
        self.open()?;
        while self.step < steps {
            self.step += 1;
            self.pass_time();
            for requests in self.network.arrived(self.step) {
                self.arrive(requests);
            }
            self.act()?;
            if self.workload.is_paying() && self.rng.chance(350) {
                self.work_at_the_desk();
            }
            if self.disk.is_down() {
                self.restart(true)?;
            }
        }
        self.settle()
    }

    /// Everything that waits is answered, one more restart, and the whole log is read.
    fn settle(&mut self) -> Result<(), String> {
        if !self.failed {
            self.give_space_back();
            self.disk.clear_faults();
            (0..self.shards).try_for_each(|shard| self.decide(shard, usize::MAX))?;
            self.commit()?;
            self.hear(true)?;
        }
        let power = self.rng.chance(500);
        self.restart(power)?;
        // An engine that had failed on a full disk may have come back on one; the desk cannot be closed there.
        self.give_space_back();
        if self.workload.is_paying() {
            self.close_the_desk()?;
        }
        let ids: Vec<ListingId> = self.auditor.listings.keys().copied().collect();
        let (Some(core), Some(facts)) = (&self.core, &self.facts) else { return Ok(()) };
        ids.into_iter().try_for_each(|id| self.auditor.compare_log(core, facts, id, 0))
    }

    /// A little, a while, or exactly to a deadline and a hair to either side of it.
    fn pass_time(&mut self) {
        let deadlines = || self.auditor.listings.values().filter_map(|listing| listing.next_due());
        self.clock += match self.rng.below(1_000) {
            // Whoever has won has days to pay.
            0..2 if self.workload.is_bidding() && self.rng.chance(800) => {
                self.rng.range(20 * 3_600_000, 50 * 3_600_000)
            }
            // And whoever waits for that has seen many a deadline.
            0..4 if self.workload.is_keeping() => self.days(),
            0..700 => 0,
            700..960 => self.rng.range(1, 300),
            960..985 => self.rng.range(300, 5_000),
            985..997 => match deadlines().filter(|due| *due > self.clock).min() {
                Some(due) if due - self.clock < 700_000 => (due - self.clock + self.rng.range(-1, 1)).max(0),
                Some(_) | None => 1,
            },
            997 => self.rng.range(5_000, 80_000),
            998 if self.rng.chance(300) => self.rng.range(200_000, 900_000),
            _ if self.rng.chance(150) => {
                self.auditor.coverage.fault("clock_forward");
                self.rng.range(1_800_000, 4_000_000)
            }
            _ => 1,
        };
    }

    /// To the next deadline, however far, and a hair to either side of it; or days beyond some of them.
    fn days(&mut self) -> Millis {
        if !self.bank.is_patient(self.clock) {
            return 1;
        }
        let deadlines = self.auditor.listings.values().filter_map(|listing| listing.next_due());
        match deadlines.filter(|due| *due > self.clock).min() {
            Some(due) if self.rng.chance(600) => (due - self.clock + self.rng.range(-1, 1)).max(0),
            Some(_) | None => self.rng.range(10 * 3_600_000, 50 * 3_600_000),
        }
    }

    fn act(&mut self) -> Result<(), String> {
        const WEIGHTS: [u64; 11] = [480, 90, 250, 60, 40, 30, 25, 8, 4, 6, 10];
        match self.rng.weighted(&WEIGHTS) {
            0 => {
                let requests = self.workload.next(&mut self.rng, &self.auditor, self.clock);
                if !requests.is_empty() {
                    self.network.send(&mut self.rng, self.step, requests);
                }
                Ok(())
            }
            1 => {
                self.network.again(&mut self.rng, self.step);
                Ok(())
            }
            2 => {
                let shard = self.rng.below(self.shards as u64) as usize;
                let most = self.rng.range(1, 40) as usize;
                self.decide(shard, most)?;
                if self.pending.len() > PENDING_MAX || self.rng.chance(500) { self.commit() } else { Ok(()) }
            }
            3 => self.commit(),
            4 => {
                self.ask();
                Ok(())
            }
            5 => self.hear(false),
            6 => self.follow(),
            7 => self.read_page(),
            8 => {
                self.begin_snapshot();
                Ok(())
            }
            9 => self.break_something(),
            _ => self.compare_states(),
        }
    }

    fn arrive(&mut self, mut requests: Vec<onsale_engine::Request>) {
        for request in &mut requests {
            // Whether a key of doubtful age is known is the engine's choice, so nobody asks.
            if self.auditor.is_doubtful(request, self.clock) {
                request.key = None;
            }
        }
        let Some(first) = requests.first() else { return };
        let shard = shard_of(&first.listing, self.shards);
        let listens_from = self.step + if self.rng.chance(700) { 0 } else { self.rng.below(50) };
        let (call, work) = Call::submit(requests, listens_from);
        self.post(shard, work, call);
    }

    fn post(&mut self, shard: usize, work: Work, call: Call) {
        self.next_call += 1;
        self.calls.insert(self.next_call, call);
        self.inboxes[shard].push_back((work, Some(self.next_call)));
    }

    fn ask(&mut self) {
        let (requests, expected, listens_from) = (Vec::new(), Vec::new(), self.step);
        if self.rng.chance(250) {
            let (buyer, shard) =
                (self.workload.some_buyer(&mut self.rng), self.rng.below(self.shards as u64));
            let (reply, answer) = oneshot::channel();
            let work = Work::HoldsOf(Tenant::DEFAULT, buyer, reply);
            let call = Call { requests, reply: Reply::Holds(answer), expected, listens_from };
            return self.post(shard as usize, work, call);
        }
        let Some((listing, query)) = self.workload.question(&mut self.rng, &self.auditor) else { return };
        let (reply, answer) = oneshot::channel();
        let call = Call { requests, reply: Reply::Found(answer), expected, listens_from };
        self.post(shard_of(&listing, self.shards), Work::Ask(listing, query, reply), call);
    }

    fn begin_snapshot(&mut self) {
        let Some(core) = self.core.as_ref().filter(|_| self.snapshot.is_none() && !self.failed) else {
            return;
        };
        let (generation, at) = (core.committer.generation(), core.committer.next_position());
        let writer = SnapshotWriter::begin(std::sync::Arc::new(self.disk.clone()), generation, at);
        self.trace.add(format!("{} snapshot begins at {}", self.step, at.sequence));
        self.snapshot = Some(Snapshot { writer: writer.ok(), shards_left: self.shards });
        self.inboxes.iter_mut().for_each(|inbox| inbox.push_back((Work::Snapshot, None)));
    }
}

//! The threads around the plain values: one per shard, one committer, one that writes snapshots.
//! Shards decide the next batch while the committer syncs the last one; a small batch that nothing is waiting before
//! is synced by its shard itself.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::clock::Clock;
use super::commit::{Committer, Shared};
use super::inbox::Inbox;
use super::recover::Core;
use super::shard::Shard;
use super::work::{Batch, Work};
use crate::disk::Disk;
use crate::journal::FramePosition;
use crate::snapshot::SnapshotWriter;

/// How long a shard sleeps at most: a clock that was set forward by hand is noticed within this time.
const SLEEP_MAX: Duration = Duration::from_millis(100);
/// Batches decided but not yet in a frame, for all shards: one is enough to keep the disk busy, and a queue
/// behind it would only add to everybody's wait.
const BATCHES_WAITING_MAX: usize = 1;
/// A batch of so few commands is synced where it was decided. Handing it over would wake one more thread to gain a
/// moment that is shorter than the wake-up, and what arrives meanwhile would be synced in two halves.
const COMMANDS_COMMITTED_HERE_MAX: u64 = 96;
/// Pieces of a snapshot that wait for their file, about a megabyte each; beyond, deciding waits for the disk.
const PARTS_WAITING_MAX: usize = 64;
/// The journal grows by so many times the last snapshot before the next one is made.
const SNAPSHOT_TIMES: u64 = 4;

/// When a shard takes an image, its batch before may wait and the one before that be in the committer's hands:
/// neither is in the index of where facts stand, which is part of the image. So a snapshot that the committer did
/// not begin itself counts from before all three.
const COMMITS_BEHIND_IMAGES: usize = BATCHES_WAITING_MAX + 2;

#[derive(Debug)]
pub(super) struct Threads {
    pub inboxes: Vec<Arc<Inbox<Work>>>,
    handles: Vec<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Clone, Debug)]
pub(super) struct ThreadOptions {
    pub inbox_bound: usize,
    /// A snapshot is made after so many bytes of journal.
    pub snapshot_every_bytes: u64,
    pub clock: Arc<dyn Clock>,
}

/// For the thread that writes snapshots.
enum Part {
    Begin(FramePosition),
    Piece(Vec<u8>),
    Finish,
}

impl Threads {
    pub(super) fn start(
        core: Core,
        disk: Arc<dyn Disk>,
        options: &ThreadOptions,
    ) -> std::io::Result<Threads> {
        let Core { shards, committer, shared, .. } = core;
        let (batches, decided) = sync_channel(BATCHES_WAITING_MAX);
        let (parts, to_write) = sync_channel(PARTS_WAITING_MAX);
        let inboxes: Vec<_> = shards.iter().map(|_| Arc::new(Inbox::new(options.inbox_bound))).collect();
        let mut handles = Vec::new();
        let generation = committer.generation();
        let pace = Pace { every: options.snapshot_every_bytes, inboxes: inboxes.clone(), parts };
        let commits = Mutex::new(Commits::new(committer, pace, shared.clone()));
        let line = Arc::new(CommitLine { commits, waiting: AtomicUsize::new(0) });
        for (number, shard) in shards.into_iter().enumerate() {
            let (inbox, clock) = (inboxes[number].clone(), options.clock.clone());
            let (batches, shared, line) = (batches.clone(), shared.clone(), line.clone());
            let run = move || run_shard(shard, &inbox, &*clock, &Out { batches, line }, &shared);
            handles.push(thread::Builder::new().name(format!("shard-{number}")).spawn(run)?);
        }
        drop(batches);
        let run = move || run_committer(&decided, &line);
        handles.push(thread::Builder::new().name("committer".into()).spawn(run)?);
        let run = {
            let shared = shared.clone();
            move || write_snapshots(&disk, generation, &to_write, &shared)
        };
        handles.push(thread::Builder::new().name("snapshots".into()).spawn(run)?);
        Ok(Threads { inboxes, handles, shared })
    }

    /// Takes no more, answers what waits, and ends; with a last snapshot, so that the next start is quick.
    pub(super) fn stop(self) {
        // One under way will do: a second request would mix the pieces of two.
        let ask = !self.shared.snapshot_under_way.swap(true, Ordering::AcqRel);
        for inbox in &self.inboxes {
            if ask {
                let _ = inbox.send(Work::Snapshot, 0);
            }
            inbox.close();
        }
        for handle in self.handles {
            if handle.join().is_err() {
                let told = "a thread of the engine panicked; the journal is the truth, restart from it";
                // A broken standard error must not keep the other threads from being ended.
                let _ = writeln!(std::io::stderr(), "{told}");
            }
        }
    }
}

fn run_shard(mut shard: Shard, inbox: &Inbox<Work>, clock: &dyn Clock, out: &Out, shared: &Shared) {
    let mut work = Vec::new();
    loop {
        let patience = match shard.next_due() {
            _ if shard.is_imaging() => Duration::ZERO,
            Some(due) => {
                Duration::from_millis((due.saturating_sub(clock.now())).max(0) as u64).min(SLEEP_MAX)
            }
            None => SLEEP_MAX,
        };
        let open = inbox.take(&mut work, Some(patience));
        if !open && !shard.is_imaging() {
            return;
        }
        let batch = shard.decide(&mut work, clock.now());
        shared.dedup_records.store(shard.dedup.len() as u64, Ordering::Relaxed);
        if let Some(window) = shard.dedup.shortest_window_ms {
            shared.dedup_window_ms.store(window.max(1), Ordering::Relaxed);
        }
        if batch.is_empty() {
            shared.buffers.put(Arc::new(batch.bytes));
            continue;
        }
        if !out.send(batch) {
            // The committer is gone: whoever waits hears that the channel broke.
            inbox.close();
            return;
        }
    }
}

/// A shard's way to the disk.
struct Out {
    batches: SyncSender<Batch>,
    line: Arc<CommitLine>,
}

/// Where batches are made durable, by one at a time.
struct CommitLine {
    commits: Mutex<Commits>,
    /// Batches handed to the committer and not yet told; nobody may overtake them.
    waiting: AtomicUsize,
}

impl Out {
    /// Makes a batch durable, now or by and by. `false`: the committer is gone.
    fn send(&self, batch: Batch) -> bool {
        if batch.tally.commands <= COMMANDS_COMMITTED_HERE_MAX
            && let Some(mut commits) = self.line.commits.try_lock()
            && self.line.waiting.load(Ordering::Acquire) == 0
        {
            commits.commit(&mut vec![batch]);
            return true;
        }
        self.line.waiting.fetch_add(1, Ordering::AcqRel);
        self.batches.send(batch).is_ok()
    }
}

fn run_committer(decided: &Receiver<Batch>, line: &CommitLine) {
    let mut batches = Vec::new();
    while let Ok(first) = decided.recv() {
        let mut commits = line.commits.lock();
        batches.push(first);
        batches.extend(decided.try_iter());
        let taken = batches.len();
        commits.commit(&mut batches);
        line.waiting.fetch_sub(taken, Ordering::AcqRel);
    }
}

/// When to make a snapshot, and who gets its pieces.
struct Pace {
    every: u64,
    inboxes: Vec<Arc<Inbox<Work>>>,
    parts: SyncSender<Part>,
}

/// The committer, and the snapshots that are made along its way.
struct Commits {
    committer: Committer,
    pace: Pace,
    shared: Arc<Shared>,
    /// How long the journal was when the last snapshot began.
    last_at: u64,
    shards_left: usize,
    begun: bool,
    before: [FramePosition; COMMITS_BEHIND_IMAGES],
}

impl Commits {
    fn new(committer: Committer, pace: Pace, shared: Arc<Shared>) -> Commits {
        let last_at = shared.journal_bytes.load(Ordering::Relaxed);
        let before = [committer.next_position(); COMMITS_BEHIND_IMAGES];
        Commits { committer, pace, shared, last_at, shards_left: 0, begun: false, before }
    }

    fn commit(&mut self, batches: &mut Vec<Batch>) {
        self.before.rotate_left(1);
        self.before[COMMITS_BEHIND_IMAGES - 1] = self.committer.next_position();
        // After a failure the batches are answered with it; the next ones, too, so that nobody waits for ever.
        let _ = self.committer.commit(batches);
        self.pass_images_on();
        self.begin_snapshot_if_due();
    }

    fn pass_images_on(&mut self) {
        let (images, done) = self.committer.take_images();
        if images.is_empty() && done == 0 {
            return;
        }
        if !self.begun {
            // The last snapshot of a graceful stop is asked of the shards directly, so its first images
            // may be older than commits that were still under way.
            (self.begun, self.shards_left) = (true, self.pace.inboxes.len());
            let _ = self.pace.parts.send(Part::Begin(self.before[0]));
        }
        images.into_iter().for_each(|piece| drop(self.pace.parts.send(Part::Piece(piece))));
        self.shards_left -= done.min(self.shards_left);
        if self.shards_left == 0 {
            self.begun = false;
            self.shared.snapshot_under_way.store(false, Ordering::Release);
            let _ = self.pace.parts.send(Part::Finish);
        }
    }

    fn begin_snapshot_if_due(&mut self) {
        let written = self.shared.journal_bytes.load(Ordering::Relaxed);
        // Writing a snapshot must not cost more than the journal that it shortens.
        let every = self.pace.every.max(SNAPSHOT_TIMES * self.shared.snapshot_bytes.load(Ordering::Relaxed));
        if written - self.last_at < every || self.shared.snapshot_under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        self.last_at = written;
        (self.begun, self.shards_left) = (true, self.pace.inboxes.len());
        let _ = self.pace.parts.send(Part::Begin(self.committer.next_position()));
        // A shard that stops just now sends no pieces, and the snapshot stays unfinished.
        self.pace.inboxes.iter().for_each(|inbox| drop(inbox.send(Work::Snapshot, 0)));
    }
}

fn write_snapshots(disk: &Arc<dyn Disk>, generation: u128, parts: &Receiver<Part>, shared: &Shared) {
    let mut under_way: Option<(SnapshotWriter, u64)> = None;
    let mut bytes = 0;
    while let Ok(part) = parts.recv() {
        match part {
            Part::Begin(at) => {
                bytes = 0;
                under_way = SnapshotWriter::begin(disk.clone(), generation, at)
                    .ok()
                    .map(|writer| (writer, at.sequence));
            }
            Part::Piece(piece) => {
                bytes += piece.len() as u64;
                let written = under_way.as_mut().map(|(writer, _)| writer.part(&piece));
                // A snapshot that cannot be written is given up; the journal has everything.
                if !matches!(written, Some(Ok(()))) {
                    under_way = None;
                }
            }
            Part::Finish => {
                if let Some((writer, sequence)) = under_way.take()
                    && writer.finish().is_ok()
                {
                    shared.snapshot_sequence.store(sequence, Ordering::Relaxed);
                    shared.snapshot_bytes.store(bytes, Ordering::Relaxed);
                }
            }
        }
    }
}

//! The committer: one frame and one sync for all that was decided meanwhile, then, and only then, everybody is told.
//! A plain value like the shard; the threads around both are in `threads.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::watch;

use super::directory::Directory;
use super::work::{AnswerBatch, Batch, Buffers, Completion};
use crate::engine::EngineError;
use crate::journal::{FrameBuffer, FramePosition, JournalError, Writer};
use crate::moved::Movements;

/// A buffer that grew beyond this, for somebody's chart, is not kept: ordinary frames need far less.
const FRAME_BYTES_KEPT: usize = 256 << 10;

#[derive(Debug)]
pub struct Committer {
    writer: Writer,
    frame: FrameBuffer,
    shared: Arc<Shared>,
    /// Snapshot parts whose facts are durable, until somebody takes them.
    images: Vec<Vec<u8>>,
    shards_imaged: usize,
    /// Who hands answers over, if not the committer itself.
    pump: Option<mpsc::Sender<AnswerBatch>>,
}

/// What everybody may know of the committer's work.
#[derive(Debug, Default)]
pub struct Shared {
    pub directory: Directory,
    /// Told of every listing whose view was published.
    pub movements: Movements,
    /// The same as `synced`, for those who wait for the next frame.
    progress: watch::Sender<u64>,
    pub buffers: Buffers,
    /// The last synced frame; readers of the journal never go beyond it.
    pub synced: AtomicU64,
    poisoned: Mutex<Option<String>>,
    is_poisoned: AtomicBool,
    pub commands: AtomicU64,
    pub refusals: AtomicU64,
    pub facts: AtomicU64,
    pub frames: AtomicU64,
    pub journal_bytes: AtomicU64,
    pub dedup_records: AtomicU64,
    pub dedup_window_ms: AtomicU64,
    pub snapshot_sequence: AtomicU64,
    pub snapshot_bytes: AtomicU64,
    pub snapshot_under_way: AtomicBool,
    stopping: AtomicBool,
}

impl Shared {
    pub fn poisoned(&self) -> Option<EngineError> {
        if !self.is_poisoned.load(Ordering::Acquire) {
            return None;
        }
        self.poisoned.lock().clone().map(EngineError::Poisoned)
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Everybody who follows is told to go.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.wake_all();
    }

    /// A place to wait for the next frame.
    pub fn follow_frames(&self) -> watch::Receiver<u64> {
        self.progress.subscribe()
    }

    fn frame_synced(&self, sequence: u64) {
        self.synced.store(sequence, Ordering::Release);
        self.progress.send_replace(sequence);
    }

    /// Whoever follows shall look again, and find the engine stopping or poisoned.
    fn wake_all(&self) {
        self.directory.wake_all();
        self.progress.send_modify(|_| {});
    }

    fn poison(&self, why: String) -> EngineError {
        let mut poisoned = self.poisoned.lock();
        let why = poisoned.get_or_insert(why).clone();
        self.is_poisoned.store(true, Ordering::Release);
        EngineError::Poisoned(why)
    }
}

impl Committer {
    pub fn new(writer: Writer, shared: Arc<Shared>) -> Committer {
        shared.synced.store(writer.synced(), Ordering::Release);
        Committer {
            frame: writer.frame_buffer(),
            writer,
            shared,
            images: Vec::new(),
            shards_imaged: 0,
            pump: None,
        }
    }

    /// Makes the batches durable with one sync and answers everybody in them. On failure nobody hears a yes.
    pub fn commit(&mut self, batches: &mut Vec<Batch>) -> Result<(), EngineError> {
        match self.make_durable(batches) {
            Ok(frame) => {
                for batch in batches.drain(..) {
                    self.tell(batch, frame);
                }
                Ok(())
            }
            Err(error) => {
                for completion in batches.drain(..).flat_map(|batch| batch.completions) {
                    completion.fail(&error);
                }
                self.shared.wake_all();
                Err(error)
            }
        }
    }

    fn make_durable(&mut self, batches: &[Batch]) -> Result<Option<FramePosition>, EngineError> {
        if let Some(error) = self.shared.poisoned() {
            return Err(error);
        }
        self.frame.clear();
        for batch in batches {
            self.frame.payload_mut().extend_from_slice(&batch.bytes);
        }
        // Without facts there is nothing to sync: all that was seen is durable already.
        if self.frame.payload().is_empty() {
            return Ok(None);
        }
        self.write_and_sync().map(Some).map_err(|error| self.shared.poison(error.to_string()))
    }

    fn write_and_sync(&mut self) -> Result<FramePosition, JournalError> {
        let position = self.writer.append_frame(&mut self.frame)?;
        self.writer.sync()?;
        self.shared.frame_synced(position.sequence);
        self.shared.frames.fetch_add(1, Ordering::Relaxed);
        self.shared.journal_bytes.fetch_add(self.frame.payload().len() as u64, Ordering::Relaxed);
        if self.frame.payload().len() > FRAME_BYTES_KEPT {
            self.frame = self.writer.frame_buffer();
        }
        Ok(position)
    }

    fn tell(&mut self, batch: Batch, frame: Option<FramePosition>) {
        for (slot, step) in batch.followed {
            slot.keep_recent(&step);
        }
        for change in batch.changes {
            if let Some(frame) = frame {
                change.slot.note_frame(change.first, frame);
            }
            let is_new = change.slot.position().is_none();
            let (listing, position) = (change.slot.id, change.position);
            change.slot.publish(position, change.view);
            if is_new {
                self.shared.directory.insert(change.slot);
            }
            self.shared.movements.publish(listing, position);
        }
        self.shared.commands.fetch_add(batch.tally.commands, Ordering::Relaxed);
        self.shared.refusals.fetch_add(batch.tally.refusals, Ordering::Relaxed);
        self.shared.facts.fetch_add(batch.tally.facts, Ordering::Relaxed);
        let bytes = Arc::new(batch.bytes);
        self.hand_over(batch.completions, &bytes);
        self.shared.buffers.put(bytes);
        self.images.extend(batch.images);
        self.shards_imaged += usize::from(batch.images_done);
    }

    /// Answers go through this from now on: a task inside the callers' own runtime wakes them at a fraction of what
    /// it costs a stranger.
    pub fn pump_through(&mut self, pump: mpsc::Sender<AnswerBatch>) {
        self.pump = Some(pump);
    }

    fn hand_over(&self, completions: Vec<Completion>, bytes: &Arc<Vec<u8>>) {
        if completions.is_empty() {
            return;
        }
        let answered = AnswerBatch { completions, bytes: bytes.clone() };
        match &self.pump {
            None => answered.complete(),
            Some(pump) => match pump.try_send(answered) {
                Ok(()) => {}
                // The runtime is busy or gone; nobody waits longer for that.
                Err(TrySendError::Full(answered) | TrySendError::Closed(answered)) => answered.complete(),
            },
        }
    }

    /// Snapshot parts that became durable, and how many shards have handed out their last.
    pub fn take_images(&mut self) -> (Vec<Vec<u8>>, usize) {
        (std::mem::take(&mut self.images), std::mem::take(&mut self.shards_imaged))
    }

    /// Fills the next segment now, where no helper thread does it.
    pub fn prepare(&mut self) {
        self.writer.prepare();
    }

    pub fn next_position(&self) -> FramePosition {
        self.writer.next_position()
    }

    pub fn generation(&self) -> u128 {
        self.writer.generation()
    }
}

//! The log of the embedded engine: the frames of the journal, in their order. A frame is read and decoded once for
//! all readers that are near it; one that is far behind reads the disk alone.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_core::future::BoxFuture;
use onsale_domain::Step;
use parking_lot::Mutex;

use super::entry::{self, Entry};
use super::read::{Facts, unreadable};
use crate::engine::EngineError;
use crate::journal::{Frame, FramePosition};
use crate::log::{Cursor, Log, LogPage};

/// Frames kept for readers close behind each other, and the bytes of journal they may stand for.
const FRAMES_KEPT_MAX: usize = 256;
const BYTES_KEPT_MAX: usize = 8 << 20;

#[derive(Debug)]
pub struct FrameLog {
    facts: Facts,
    kept: Mutex<RecentFrames>,
}

#[derive(Debug, Default)]
struct RecentFrames {
    frames: VecDeque<(Arc<DecodedFrame>, usize)>,
    bytes: usize,
}

/// A frame's steps, and where the next one begins.
#[derive(Debug)]
struct DecodedFrame {
    sequence: u64,
    steps: Vec<Arc<Step>>,
    next: FramePosition,
}

impl FrameLog {
    pub fn new(facts: Facts) -> FrameLog {
        FrameLog { facts, kept: Mutex::default() }
    }

    fn page(&self, cursor: Cursor, limit: usize) -> Result<LogPage, EngineError> {
        let synced = self.facts.shared.synced.load(Ordering::Acquire);
        let mut page = LogPage { steps: Vec::new(), next: cursor };
        page.next.frame = cursor.frame.max(FramePosition::FIRST.sequence);
        let mut before: Option<Arc<DecodedFrame>> = None;
        while page.next.frame <= synced && page.steps.len() < limit.max(1) {
            let start = before.as_ref().map(|frame| frame.next);
            let Some(frame) = self.frame(page.next.frame, start, synced)? else { break };
            let read = page.next.steps as usize;
            let room = limit.max(1) - page.steps.len();
            let new = frame.steps.iter().skip(read).take(room).cloned();
            page.steps.extend(new);
            page.next = match read + room < frame.steps.len() {
                true => Cursor { frame: frame.sequence, steps: (read + room) as u32 },
                false => Cursor { frame: frame.sequence + 1, steps: 0 },
            };
            before = Some(frame);
        }
        Ok(page)
    }

    /// `start`: where it is, if the frame before was just read.
    fn frame(
        &self,
        sequence: u64,
        start: Option<FramePosition>,
        synced: u64,
    ) -> Result<Option<Arc<DecodedFrame>>, EngineError> {
        let mut start = start;
        {
            let kept = self.kept.lock();
            let find = |wanted| kept.frames.iter().map(|(frame, _)| frame).find(|one| one.sequence == wanted);
            if let Some(frame) = find(sequence) {
                return Ok(Some(frame.clone()));
            }
            start = start.or_else(|| find(sequence - 1).map(|frame| frame.next));
        }
        let reader = &self.facts.reader;
        let start = match start {
            Some(start) => Some(start),
            None => reader.find(sequence, synced).map_err(unreadable)?,
        };
        let Some(start) = start else { return Ok(None) };
        let Some(frame) = reader.read_frame(start, synced).map_err(unreadable)? else { return Ok(None) };
        let bytes = frame.payload.len();
        let decoded = Arc::new(self.decode(frame)?);
        self.keep(decoded.clone(), bytes);
        Ok(Some(decoded))
    }

    fn decode(&self, frame: Frame) -> Result<DecodedFrame, EngineError> {
        let mut steps = Vec::new();
        for entry in entry::read(&frame.payload) {
            match entry.map_err(unreadable)? {
                // Noted before its first step is read, whoever is first: the committer or this.
                Entry::Opened { number, listing } => self.facts.shared.directory.note_number(number, listing),
                Entry::Step(step) => {
                    let listing = self.facts.shared.directory.id_of(step.number);
                    let listing =
                        listing.ok_or_else(|| unreadable("a step of a listing that was never opened"))?;
                    steps.push(Arc::new(step.decode(listing).map_err(unreadable)?));
                }
            }
        }
        Ok(DecodedFrame { sequence: frame.position.sequence, steps, next: frame.next })
    }

    fn keep(&self, frame: Arc<DecodedFrame>, bytes: usize) {
        let mut kept = self.kept.lock();
        kept.bytes += bytes;
        kept.frames.push_back((frame, bytes));
        while kept.frames.len() > FRAMES_KEPT_MAX || kept.bytes > BYTES_KEPT_MAX {
            let Some((_, bytes)) = kept.frames.pop_front() else { break };
            kept.bytes -= bytes;
        }
    }
}

/// The log as the port hands it out.
#[derive(Clone, Debug)]
pub struct SharedLog(pub Arc<FrameLog>);

impl Log for SharedLog {
    fn after(&self, cursor: Cursor, limit: usize) -> BoxFuture<'static, Result<LogPage, EngineError>> {
        let log = self.0.clone();
        Box::pin(async move { log.page(cursor, limit) })
    }

    fn wait(&self, cursor: Cursor) -> BoxFuture<'static, Result<(), EngineError>> {
        let shared = self.0.facts.shared.clone();
        Box::pin(async move {
            let mut progress = shared.follow_frames();
            loop {
                progress.borrow_and_update();
                if let Some(error) = shared.poisoned() {
                    return Err(error);
                }
                if shared.synced.load(Ordering::Acquire) >= cursor.frame.max(FramePosition::FIRST.sequence) {
                    return Ok(());
                }
                if shared.is_stopping() {
                    return Err(EngineError::Stopping);
                }
                // The sender lives as long as what is shared, so this cannot fail.
                let _ = progress.changed().await;
            }
        })
    }
}

//! The server's end, as its connections learn of it: a look costs one atomic load, and whoever sleeps is woken.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Stage {
    Open = 0,
    /// Finish what is under way, then end.
    Finishing = 1,
    /// End now.
    Cut = 2,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Closing(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    stage: AtomicU8,
    changed: Arc<Notify>,
}

impl Closing {
    pub(super) fn reach(&self, stage: Stage) {
        self.0.stage.store(stage as u8, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }

    fn stage(&self) -> Stage {
        match self.0.stage.load(Ordering::SeqCst) {
            0 => Stage::Open,
            1 => Stage::Finishing,
            _ => Stage::Cut,
        }
    }

    /// For one task: it is woken when a further stage is reached.
    pub(super) fn watch(&self) -> Watch {
        Watch { closing: self.clone(), seen: Stage::Open, woken: None }
    }
}

pub(super) struct Watch {
    closing: Closing,
    seen: Stage,
    /// Polled once for each stage, and not at every look: it locks, and a task's waker stays the same.
    woken: Option<Pin<Box<OwnedNotified>>>,
}

impl Watch {
    /// Ready whenever a stage is reached that was not told before.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Stage> {
        if self.woken.is_none() {
            let woken = self.woken.insert(Box::pin(self.closing.0.changed.clone().notified_owned()));
            let _ = woken.as_mut().poll(cx);
        }
        // After the line above: what is reached from here on wakes us.
        let stage = self.closing.stage();
        if stage == self.seen {
            return Poll::Pending;
        }
        self.seen = stage;
        self.woken = None;
        Poll::Ready(stage)
    }
}

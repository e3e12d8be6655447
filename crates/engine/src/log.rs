//! The log: every step of every listing in one order, with one cursor. Whoever must hear of everything reads this; whoever
//! only needs the newest state takes [`crate::moved`].

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use onsale_domain::Step;

use crate::engine::EngineError;

/// Steps of all listings, each exactly once and only when it is durable.
pub trait Log: Send + Sync {
    /// Steps after the cursor, at most `limit` (at least one if there is any), and the cursor of what comes next.
    fn after(&self, cursor: Cursor, limit: usize) -> BoxFuture<'static, Result<LogPage, EngineError>>;

    /// Ready when there is something after the cursor, or the engine stops.
    fn wait(&self, cursor: Cursor) -> BoxFuture<'static, Result<(), EngineError>>;
}

/// A place in the log. The default is the beginning; a cursor that was told once means the same for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor {
    /// The frame to go on with.
    pub frame: u64,
    /// Steps of this frame that were read already.
    pub steps: u32,
}

impl Cursor {
    /// Reads what `Display` wrote.
    pub fn parse(text: &str) -> Option<Cursor> {
        let (frame, steps) = text.split_once('.')?;
        Some(Cursor { frame: frame.parse().ok()?, steps: steps.parse().ok()? })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.frame, self.steps)
    }
}

/// A piece of the log.
#[derive(Clone, Debug, Default)]
pub struct LogPage {
    pub steps: Vec<Arc<Step>>,
    pub next: Cursor,
}

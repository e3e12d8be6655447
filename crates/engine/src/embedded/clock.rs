//! Time for the engine: the wall's at start, advanced by the monotonic clock, so that it never jumps back.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use onsale_domain::Millis;

pub trait Clock: Send + Sync + std::fmt::Debug + 'static {
    fn now(&self) -> Millis;
}

/// The machine's time.
#[derive(Debug)]
pub struct SystemClock {
    wall_at_start: Millis,
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        SystemClock { wall_at_start: wall.as_millis() as Millis, start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        self.wall_at_start + self.start.elapsed().as_millis() as Millis
    }
}

/// A clock that tests and the simulation set; it may jump either way.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(now: Millis) -> ManualClock {
        ManualClock(AtomicI64::new(now))
    }

    pub fn set(&self, now: Millis) {
        self.0.store(now, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}

//! Reads the feed of changes: four times a second, after own changes at once, and when somebody asks and it is too long ago.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use onsale_sql::SqlError;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::{Denied, Directory};
use crate::{changes, cleaning};

/// Four times within the second in which a change must be known everywhere.
const EVERY: Duration = Duration::from_millis(250);
/// How long what is remembered is believed after a read.
const BELIEVED_MS: i64 = 1_000;
/// How long one read may take: afterwards nothing is believed in any case.
const READ_MAX: Duration = Duration::from_millis(1_000);
/// After a failure nobody tries again for this long, so that a request is refused at once.
const PAUSE_MS: i64 = 250;
/// Between two rounds of cleaning, and of writing back what was used.
const ROUND_MS: i64 = 60_000;

impl Directory {
    /// Whether what is remembered may be believed.
    pub(super) fn is_fresh(&self, now_ms: i64) -> bool {
        now_ms - self.read_ms.load(Ordering::Acquire) < BELIEVED_MS
    }

    /// The same for a request that can wait for a read.
    pub(super) async fn freshen(&self, now_ms: i64) -> Result<(), Denied> {
        if self.is_fresh(now_ms) {
            return Ok(());
        }
        let is_pausing =
            || (0..PAUSE_MS).contains(&now_ms.saturating_sub(self.failed_ms.load(Ordering::Acquire)));
        if is_pausing() {
            return Err(Denied::Unavailable);
        }
        let read = timeout(READ_MAX, async {
            let _turn = self.turn.lock().await;
            // Whoever had the turn before has read it, or could not.
            if self.is_fresh(now_ms) {
                return true;
            }
            !is_pausing() && self.read_feed().await.is_ok()
        });
        match read.await {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(_) => self.failed_ms.store(now_ms, Ordering::Release),
        }
        Err(Denied::Unavailable)
    }

    /// After a change of our own: from here on it holds on this server.
    pub async fn refresh(&self) -> Result<(), SqlError> {
        let _turn = self.turn.lock().await;
        self.read_feed().await
    }

    /// By whoever has the turn.
    async fn read_feed(&self) -> Result<(), SqlError> {
        loop {
            // What is committed from here on is not in the answer.
            let began_ms = (self.clock)();
            let read = changes::read(&self.sql, self.memory.position()).await;
            let changes = read.inspect_err(|_| self.failed_ms.store(began_ms, Ordering::Release))?;
            let is_full = changes.is_full;
            if self.memory.apply(changes) {
                self.forget_all();
            }
            if !is_full {
                self.read_ms.store(began_ms, Ordering::Release);
                return Ok(());
            }
        }
    }

    fn forget_all(&self) {
        self.people.clear();
        self.hosts.clear();
        self.denials.clear();
    }
}

/// Ends with the directory.
pub(super) async fn follow(directory: Weak<Directory>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_away = false;
    let Some(mut round_ms) = directory.upgrade().map(|directory| (directory.clock)()) else { return };
    loop {
        ticks.tick().await;
        let Some(directory) = directory.upgrade() else { return };
        let error = match timeout(READ_MAX, directory.refresh()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("it does not answer".to_owned()),
        };
        match (&error, is_away) {
            (Some(error), false) => {
                tracing::warn!(%error, "changes of access cannot be read: nobody is let in")
            }
            (None, true) => tracing::info!("changes of access are read again"),
            (Some(_), true) | (None, false) => {}
        }
        is_away = error.is_some();
        let now_ms = (directory.clock)();
        if now_ms - round_ms >= ROUND_MS && !is_away {
            round_ms = now_ms;
            tokio::spawn(round(directory));
        }
    }
}

/// Beside the reading, which must not wait for it.
async fn round(directory: Arc<Directory>) {
    if let Err(error) = directory.flush_uses().await {
        tracing::warn!(%error, "when keys and sessions were used last cannot be written");
    }
    if let Err(error) = cleaning::clean(&directory.sql, (directory.clock)()).await {
        tracing::warn!(%error, "what is over cannot be cleaned up");
    }
}

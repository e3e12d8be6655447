//! The engine's own tasks: telling, listening, sweeping, and the polling that makes up for whatever they miss.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;

use super::fetch::AT_ONCE;
use super::replica::Replica;
use super::{Inner, attempts, derive, history, sweep, tell, trim, wake};

/// A listing that changed so lately is compared in every round; all of them every `ALL` rounds.
const LATELY_MS: i64 = 60_000;
const ALL: u64 = 30;
/// The index of listings is read every so many rounds.
const NEW: u64 = 5;
/// Streams are trimmed every so many rounds.
const TRIM: u64 = 600;
/// What facts and answers take is looked at every so many rounds: in that time a busy node takes some megabytes.
const HISTORY: u64 = 10;
/// Between two tries to read what a recovery has kept.
const AGAIN: Duration = Duration::from_millis(50);

pub fn start(inner: &Arc<Inner>) {
    tokio::spawn(tell::run(inner.clone()));
    tokio::spawn(derive::run(inner.clone()));
    tokio::spawn(attempts::run(inner.clone()));
    tokio::spawn(poll(inner.clone()));
    tokio::spawn(recovered(inner.clone()));
    if inner.options.wakes || inner.options.sweep.notified {
        tokio::spawn(wake::run(inner.clone()));
    }
    if inner.options.sweep.polls {
        tokio::spawn(sweep::run(inner.clone()));
    }
}

async fn poll(inner: Arc<Inner>) {
    for round in 1.. {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = tokio::time::sleep(inner.options.poll) => {}
        }
        // Whatever fails here is tried again in the next round; the link says aloud what is wrong.
        let _ = inner.clock.measure(&inner.link).await;
        if round % ALL == 0 {
            inner.compare_all().await;
        } else {
            let lately = inner.clock.passed() - LATELY_MS;
            let is_live = |replica: &Arc<Replica>| {
                replica.is_followed() || replica.touched.load(Ordering::Relaxed) >= lately
            };
            inner.compare(inner.directory.all().into_iter().filter(is_live).collect()).await;
        }
        if inner.overlooked.load(Ordering::Relaxed) {
            let _ = inner.find_listings().await;
        } else if round % NEW == 0 {
            let _ = inner.find_new_listings().await;
        }
        if round % TRIM == 0 {
            trim::all(&inner).await;
        }
        if round % HISTORY == 0 {
            history::keep(&inner).await;
        }
    }
}

/// After each recovery everything is read anew.
async fn recovered(inner: Arc<Inner>) {
    let mut recoveries = inner.deployment.recoveries();
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            changed = recoveries.changed() => if changed.is_err() { return },
        }
        recoveries.borrow_and_update();
        // The node is believed again a moment after its generation is known.
        while !inner.reload_all().await
            && !recoveries.has_changed().unwrap_or(true)
            && !inner.stop.is_cancelled()
        {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

impl Inner {
    pub(super) async fn compare_all(self: &Arc<Self>) {
        self.compare(self.directory.all()).await;
    }

    /// Asks where listings are, and fetches what is missing here.
    async fn compare(self: &Arc<Self>, replicas: Vec<Arc<Replica>>) {
        let compare = |replica: Arc<Replica>| async move {
            match self.position(&replica.id).await {
                Ok(Some(now)) => {
                    replica.found();
                    self.fetch(&replica, now);
                }
                // It is looked into when somebody asks for the listing, or here: its node may have forgotten it.
                Ok(None) => drop(self.missing(&replica)),
                Err(_) => {}
            }
        };
        futures_util::stream::iter(replicas).for_each_concurrent(AT_ONCE, compare).await;
    }
}

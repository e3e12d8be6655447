//! The sweeper: makes due deadlines happen that nobody touches. Every server sweeps; a second sweep of the same
//! deadline finds nothing, so nobody needs a lease. A late sweep delays the message, never what is right.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use onsale_domain::{By, Command, ListingId, Millis};
use onsale_engine::Request;
use redis::FromRedisValue;

use super::Inner;
use super::replica::Replica;

/// How often the replicas' deadlines are looked at.
const TICK: Duration = Duration::from_millis(25);
/// The index over listings is read every so many ticks: it tells of what our replicas have not heard of.
const INDEX: u32 = 20;
const INDEXED_MAX: usize = 64;
/// Listings whose sweeps are begun in one tick; the others wait for the next.
const DUE_MAX: usize = 1_024;
/// A damaged listing has nothing to sweep before it is whole; it is looked at again after so long.
const DAMAGED_AGAIN_MS: Millis = 1_000;
/// Deadlines of one step.
const LIMIT: usize = 64;
/// Redis' clock and ours may differ by a little: what was not due yet is tried again after this.
const AGAIN: Duration = Duration::from_millis(50);

pub(super) async fn run(inner: Arc<Inner>) {
    for tick in 0u32.. {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = tokio::time::sleep(TICK) => {}
        }
        let now = inner.clock.now();
        for listing in inner.bulletin.take_due(now, DUE_MAX) {
            if let Some(replica) = inner.directory.get(&listing) {
                start(&inner, &replica);
            }
        }
        if tick % INDEX == 0 {
            look_into_index(&inner, now).await;
        }
    }
}

/// Redis told that a marker has ended.
pub(super) fn notified(inner: &Arc<Inner>, listing: ListingId) {
    if let Some(replica) = inner.directory.get(&listing) {
        start(inner, &replica);
    }
}

/// Listings that are due by the index though our replicas do not say so: they have missed something.
async fn look_into_index(inner: &Arc<Inner>, now: Millis) {
    let key = inner.across.due();
    let mut command = redis::cmd("ZRANGEBYSCORE");
    command.arg(&key).arg("-inf").arg(now).arg("LIMIT").arg(0).arg(INDEXED_MAX);
    let Ok(told) = inner.link.at(&key, &command).await else { return };
    let ids = Vec::<String>::from_redis_value(told).unwrap_or_default();
    for listing in ids.iter().filter_map(|id| ListingId::parse(id)) {
        let Ok(Some(replica)) = inner.look_up(listing).await else { continue };
        if inner.refresh(&replica).await.is_err() {
            continue;
        }
        if replica.due().is_some_and(|due| due <= now) {
            start(inner, &replica);
        } else {
            // Somebody died before telling that it is done.
            replica.indexed.store(Millis::MIN, Ordering::Relaxed);
            inner.derived.due(&replica);
        }
    }
}

fn start(inner: &Arc<Inner>, replica: &Arc<Replica>) {
    // A damaged one is looked at by the polling; it has nothing to sweep before it is whole.
    if inner.damaged.has(&replica.id) {
        return inner.bulletin.due(replica.id, Some(inner.clock.now() + DAMAGED_AGAIN_MS));
    }
    // The sweep under way says at its end when the next one falls due.
    if replica.sweeping.swap(true, Ordering::AcqRel) {
        return;
    }
    let (inner, replica) = (inner.clone(), replica.clone());
    tokio::spawn(async move {
        sweep(&inner, &replica).await;
        replica.sweeping.store(false, Ordering::Release);
        replica.announce_due();
    });
}

async fn sweep(inner: &Arc<Inner>, replica: &Replica) {
    loop {
        let request = Request {
            listing: replica.id,
            command: Command::ExpireDue { limit: LIMIT as _ },
            key: None,
            by: Some(By::Clock),
        };
        inner.counts.sweeps.fetch_add(1, Ordering::Relaxed);
        let swept = inner.submit(request).await.map(|answer| answer.step().is_some());
        inner.derived.due(replica);
        match swept {
            Ok(true) if replica.due().is_some_and(|due| due <= inner.clock.now()) => {}
            Ok(true) => return,
            Ok(false) => {
                // Another server was faster, and we have not heard of it yet; or it is not due by Redis' own clock.
                let _ = inner.refresh(replica).await;
                return tokio::time::sleep(AGAIN).await;
            }
            Err(_) => return tokio::time::sleep(AGAIN).await,
        }
    }
}

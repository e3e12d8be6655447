//! The engine's own tasks: telling, listening, sweeping, and the polling that makes up for whatever they miss.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use onsale_domain::{ListingId, ListingKind};
use onsale_engine::MovedListings;

use super::fetch::AT_ONCE;
use super::replica::Replica;
use super::{Inner, attempts, derive, history, sweep, wake, wake_ups};
use crate::link::{Node, slot};

/// A listing that changed so lately is compared in every round.
const LATELY_MS: i64 = 60_000;
/// So many of the others are compared in a round, in turn: whatever was missed is found in the end, and a house with
/// many listings does not walk them all for it.
const OTHERS: usize = 64;
/// The index of listings is asked for new ones every so many rounds.
const NEW: u64 = 5;
/// Streams that are trimmed in one round.
const TRIMMED: usize = 64;
/// What facts and answers take is looked at every so many rounds: in that time a busy node takes some megabytes.
const HISTORY: u32 = 10;
/// Between two tries to read what a recovery has kept: a node is believed again a moment after its generation is known.
const AGAIN: Duration = Duration::from_millis(50);
/// The longest of these pauses: how long after the return of a node its listings may still be shown as they were.
const AGAIN_MAX: Duration = Duration::from_secs(2);

pub(super) fn start(inner: &Arc<Inner>) {
    tokio::spawn(wake_ups::run(inner.clone()));
    tokio::spawn(derive::run(inner.clone()));
    tokio::spawn(attempts::run(inner.clone()));
    tokio::spawn(poll(inner.clone()));
    tokio::spawn(keep_history(inner.clone()));
    tokio::spawn(recovered(inner.clone()));
    if inner.options.wakes || inner.options.sweep.notified {
        tokio::spawn(wake::run(inner.clone()));
    }
    if inner.options.sweep.polls {
        tokio::spawn(sweep::run(inner.clone()));
    }
}

async fn poll(inner: Arc<Inner>) {
    let mut watched = WatchList::new(&inner);
    for round in 1.. {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = tokio::time::sleep(inner.options.poll) => {}
        }
        // Whatever fails here is tried again in the next round; the link says aloud what is wrong.
        let _ = inner.clock.measure(&inner.link).await;
        inner.compare(watched.next(&inner)).await;
        inner.look_at_damaged_again().await;
        if !inner.search.is_over() {
            let _ = inner.find_listings().await;
        }
        if round % NEW == 0 {
            let _ = inner.find_new_listings().await;
        }
        inner.trim_due(inner.clock.now(), TRIMMED).await;
    }
}

/// Apart from the polling, which does not wait for a node that has much to forget.
async fn keep_history(inner: Arc<Inner>) {
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = tokio::time::sleep(inner.options.poll.saturating_mul(HISTORY)) => {}
        }
        history::keep(&inner).await;
    }
}

/// Which listings a round compares with Redis.
struct WatchList {
    moved: MovedListings,
    /// When each last moved here, on the engine's own clock.
    lately: BTreeMap<ListingId, i64>,
    /// The last of the others that was compared.
    others: Option<ListingId>,
}

impl WatchList {
    fn new(inner: &Inner) -> WatchList {
        let moved = inner.bulletin.gone_on.subscribe(&ListingKind::ALL);
        // What moved while the engine was opened is compared once, when wake-ups begin to be heard.
        WatchList { moved, lately: BTreeMap::new(), others: None }
    }

    fn next(&mut self, inner: &Inner) -> Vec<Arc<Replica>> {
        let now = inner.clock.passed();
        self.lately.extend(self.moved.take(usize::MAX).into_iter().map(|(listing, _)| (listing, now)));
        self.lately.retain(|_, moved| *moved >= now - LATELY_MS);
        let mut listings = inner.bulletin.followed();
        listings.extend(self.lately.keys());
        let others = inner.directory.after(self.others, OTHERS);
        self.others = others.last().copied();
        listings.extend(others);
        listings.iter().filter_map(|listing| inner.directory.get(listing)).collect()
    }
}

/// After each recovery everything is read anew, once; what could not be read then, because its node is not believed yet
/// or is away, is tried again by itself, at growing distances.
async fn recovered(inner: Arc<Inner>) {
    let mut recoveries = inner.deployment.recoveries();
    let (mut left, mut pause) = (BTreeSet::new(), AGAIN);
    loop {
        let again = async {
            match left.is_empty() {
                true => std::future::pending().await,
                false => tokio::time::sleep(pause).await,
            }
        };
        tokio::select! {
            () = inner.stop.cancelled() => return,
            changed = recoveries.changed() => {
                if changed.is_err() {
                    return;
                }
                recoveries.borrow_and_update();
                (left, pause) = (inner.directory.ids(), AGAIN);
            }
            () = again => {}
        }
        let before = left.len();
        left = inner.reload_each(left).await;
        pause = if left.len() < before { AGAIN } else { (pause * 2).min(AGAIN_MAX) };
    }
}

impl Inner {
    /// All listings whose wake-ups a node tells: some of them may have been missed.
    pub(super) async fn compare_told_by(self: &Arc<Self>, node: &Node) {
        let map = self.link.map();
        let is_told = |replica: &Arc<Replica>| {
            let channel = self.across.channel(&replica.id);
            map.master_of(slot::slot(channel.as_bytes())).is_some_and(|master| master.name() == node.name())
        };
        self.compare(self.directory.all().into_iter().filter(is_told).collect()).await;
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
                Ok(None) => drop(self.missing(&replica).await),
                Err(_) => {}
            }
        };
        futures_util::stream::iter(replicas).for_each_concurrent(AT_ONCE, compare).await;
    }
}

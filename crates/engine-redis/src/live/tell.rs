//! What other servers are told behind a decision: a wake-up with the new position, and the hints across listings.
//! Many decisions of one listing become one message. None of it is needed for anybody to be right.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;
use onsale_domain::{BuyerId, Fact, ListingId, Millis, Step};
use onsale_engine::Position;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::Inner;
use super::replica::Replica;

/// Between two rounds: what happens within it is told together.
const ROUND: Duration = Duration::from_millis(1);
/// Messages under way at the same time.
const AT_ONCE: usize = 64;
/// Hints about buyers that may wait; more of them are left out.
const HINTS_MAX: usize = 4_096;
/// A hint about a buyer is worth nothing when its last hold is over; a day is longer than any hold.
const HINT_MS: Millis = 24 * 3_600_000;

#[derive(Debug, Default)]
pub struct Told {
    pending: Mutex<Pending>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    positions: BTreeMap<ListingId, Position>,
    created: Vec<ListingId>,
    due: BTreeMap<ListingId, Option<Millis>>,
    holds: BTreeMap<(ListingId, BuyerId), Millis>,
}

impl Told {
    /// A listing that was made, or about which no more is known than that it changed.
    pub fn listing(&self, listing: ListingId, at: Position) {
        let mut pending = self.pending.lock();
        pending.created.push(listing);
        pending.positions.insert(listing, at);
        self.news.notify_one();
    }

    pub fn step(&self, replica: &Replica, step: &Step, at: Position) {
        let mut pending = self.pending.lock();
        pending.positions.insert(replica.id, at);
        if step.first == 1 {
            pending.created.push(replica.id);
        }
        for fact in &step.facts {
            if let Fact::HoldPlaced { buyer, until, .. } = fact
                && pending.holds.len() < HINTS_MAX
            {
                pending.holds.insert((replica.id, buyer.clone()), *until);
            }
        }
        note_due(&mut pending, replica);
        self.news.notify_one();
    }

    /// After a sweep: the listing's next deadline, or that it has none.
    pub fn due(&self, replica: &Replica) {
        note_due(&mut self.pending.lock(), replica);
        self.news.notify_one();
    }
}

fn note_due(pending: &mut Pending, replica: &Replica) {
    let due = replica.due();
    let known = replica.indexed.swap(due.unwrap_or(Millis::MAX), Ordering::Relaxed);
    if known != due.unwrap_or(Millis::MAX) {
        pending.due.insert(replica.id, due);
    }
}

/// Tells until the engine stops.
pub async fn run(inner: Arc<Inner>) {
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = inner.told.news.notified() => {}
        }
        let pending = std::mem::take(&mut *inner.told.pending.lock());
        let commands = commands(&inner, pending);
        let send = |(key, command): (String, redis::Cmd)| {
            let inner = &inner;
            async move {
                if let Err(error) = inner.link.at(&key, &command).await {
                    tracing::debug!(%error, "a hint was not told: {error}");
                }
            }
        };
        futures_util::stream::iter(commands).for_each_concurrent(AT_ONCE, send).await;
        tokio::time::sleep(ROUND).await;
    }
}

fn commands(inner: &Inner, pending: Pending) -> Vec<(String, redis::Cmd)> {
    let across = &inner.across;
    let mut commands = Vec::new();
    if !pending.created.is_empty() {
        let ids: Vec<String> = pending.created.iter().map(ListingId::to_string).collect();
        let key = across.listings();
        commands.push((key.clone(), redis::cmd("SADD").arg(key).arg(ids).to_owned()));
    }
    for (listing, at) in pending.positions {
        let channel = across.channel(&listing);
        let message = format!("{listing} {}-{}", at.epoch, at.offset);
        commands.push((channel.clone(), redis::cmd("SPUBLISH").arg(channel).arg(message).to_owned()));
    }
    for (listing, due) in pending.due {
        let (key, id) = (across.due(), listing.to_string());
        let command = match due {
            Some(due) => redis::cmd("ZADD").arg(&key).arg(due.max(0)).arg(id).to_owned(),
            None => redis::cmd("ZREM").arg(&key).arg(id).to_owned(),
        };
        commands.push((key, command));
    }
    for ((listing, buyer), until) in pending.holds {
        let key = across.user_locks(listing.tenant, &buyer);
        let add = redis::cmd("ZADD").arg(&key).arg("GT").arg(until).arg(listing.to_string()).to_owned();
        commands.push((key.clone(), add));
        commands.push((key.clone(), redis::cmd("PEXPIRE").arg(key).arg(HINT_MS).to_owned()));
    }
    commands
}

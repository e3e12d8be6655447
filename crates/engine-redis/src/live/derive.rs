//! Keys that follow from facts: a buyer's holds, bids and last purchase, the sale and the auctions that are on, counts
//! to show, the index of listings and the one of their deadlines.
//! One server at a time writes them, the one with the lease, behind the facts that its replicas took in, whoever
//! decided them. They never decide: losing the lease, the cache or all of them costs a hint.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use onsale_domain::seats::EventFact;
use onsale_domain::{BuyerId, Fact, ListingId, Millis, Step, Tenant};
use parking_lot::Mutex;
use redis::{Cmd, Value};

use super::replica::Replica;
use super::{Inner, auctions, counts, sales};
use crate::index;
use crate::link::Link;

/// Between two rounds: what happens within it is written together.
const ROUND: Duration = Duration::from_millis(20);
/// Commands under way at the same time.
const AT_ONCE: usize = 64;
/// Hints about buyers that may wait for their round; more of them are left out.
const HINTS_MAX: usize = 4_096;
/// A hint about a buyer is worth nothing when its last hold is over; a day is longer than any hold.
const HINT_MS: Millis = 24 * 3_600_000;
/// Who has not renewed the lease for so long has lost it.
const LEASE_MS: u64 = 3_000;
const RENEW: Duration = Duration::from_secs(1);
/// Counts of one listing are written at most once in this time; so many listings in one go.
const COUNT: Duration = Duration::from_secs(1);
const COUNTED_MAX: usize = 512;

#[derive(Debug)]
pub(super) struct DerivedKeys {
    /// How this server signs the lease.
    name: String,
    writes: AtomicBool,
    pending: Mutex<Pending>,
    sales: sales::ShownSales,
}

#[derive(Debug, Default)]
struct Pending {
    listings: BTreeSet<ListingId>,
    changed: BTreeSet<ListingId>,
    due: BTreeMap<ListingId, Option<Millis>>,
    holds: BTreeMap<(ListingId, BuyerId), Millis>,
    bought: BTreeMap<(Tenant, BuyerId), Millis>,
    auctions: auctions::AuctionChanges,
}

impl Default for DerivedKeys {
    fn default() -> Self {
        let name = format!("{:016x}", rand::random::<u64>());
        DerivedKeys {
            name,
            writes: AtomicBool::new(false),
            pending: Mutex::default(),
            sales: sales::ShownSales::default(),
        }
    }
}

impl DerivedKeys {
    /// A replica took a step in.
    pub(super) fn step(&self, replica: &Replica, step: &Step) {
        if !self.writes.load(Ordering::Relaxed) {
            return;
        }
        let mut pending = self.pending.lock();
        for fact in &step.facts {
            if let Fact::Event(EventFact::HoldPlaced { buyer, until, .. }) = fact
                && pending.holds.len() < HINTS_MAX
            {
                pending.holds.insert((replica.id, buyer.clone()), *until);
            }
            if pending.bought.len() < HINTS_MAX
                && let Some(buyer) = sales::buyer_of(replica, fact)
            {
                pending.bought.insert((replica.id.tenant, buyer), step.at);
            }
            pending.auctions.note(replica, fact);
        }
        pending.changed.insert(replica.id);
        note_due(&mut pending, replica);
    }

    /// A replica is new, or was read whole.
    pub(super) fn listing(&self, replica: &Replica) {
        if !self.writes.load(Ordering::Relaxed) {
            return;
        }
        let mut pending = self.pending.lock();
        pending.listings.insert(replica.id);
        pending.changed.insert(replica.id);
        note_due(&mut pending, replica);
    }

    /// After a sweep: the listing's next deadline, or that it has none.
    pub(super) fn due(&self, replica: &Replica) {
        if self.writes.load(Ordering::Relaxed) {
            note_due(&mut self.pending.lock(), replica);
        }
    }
}

fn note_due(pending: &mut Pending, replica: &Replica) {
    let due = replica.due();
    let known = replica.indexed.swap(due.unwrap_or(Millis::MAX), Ordering::Relaxed);
    if known != due.unwrap_or(Millis::MAX) {
        pending.due.insert(replica.id, due);
    }
}

/// Writes until the engine stops, whenever this server has the lease.
pub(super) async fn run(inner: Arc<Inner>) {
    let (mut renewed, mut counted) = (None::<Instant>, Instant::now());
    while !inner.stop.is_cancelled() {
        if renewed.is_none_or(|at| at.elapsed() >= RENEW) {
            renewed = Some(Instant::now());
            inner.open_cache().await;
            inner.renew().await;
        }
        if inner.derived.writes.load(Ordering::Relaxed) {
            let count = counted.elapsed() >= COUNT;
            if count {
                counted = Instant::now();
            }
            inner.write_derived(count).await;
        }
        tokio::select! {
            () = inner.stop.cancelled() => {}
            () = tokio::time::sleep(ROUND) => {}
        }
    }
    inner.give_back().await;
}

impl Inner {
    /// Where keys that may be dropped live: on a server of their own, or beside the truth.
    pub(super) fn cache(&self) -> Option<&Link> {
        match &self.link.config().cache_url {
            Some(_) => self.cache.get(),
            None => Some(&self.link),
        }
    }

    /// A cache that is away at the start is tried again and again; later its link does that.
    async fn open_cache(&self) {
        let Some(config) = self.link.config().of_cache().filter(|_| self.cache.get().is_none()) else {
            return;
        };
        match Link::open(config).await {
            Ok(link) => drop(self.cache.set(link)),
            Err(error) => tracing::debug!(%error, "the cache is not there: {error}"),
        }
    }

    /// Takes the lease if nobody has it. Two servers that both believe in it write the same.
    async fn renew(self: &Arc<Self>) {
        let key = self.across.writer();
        let mut take = redis::cmd("SET");
        take.arg(&key).arg(&self.derived.name).arg("NX").arg("GET").arg("PX").arg(LEASE_MS);
        let has = match self.link.at(&key, &take).await {
            Ok(Value::Nil) => true,
            Ok(Value::BulkString(holder)) if holder == self.derived.name.as_bytes() => {
                let renew = redis::cmd("PEXPIRE").arg(&key).arg(LEASE_MS).to_owned();
                self.link.at(&key, &renew).await.is_ok()
            }
            Ok(_) | Err(_) => false,
        };
        let had = self.derived.writes.swap(has, Ordering::Relaxed);
        if has && !had {
            // What the one before had not written yet is among all there is.
            for replica in self.directory.all() {
                replica.indexed.store(Millis::MIN, Ordering::Relaxed);
                self.derived.listing(&replica);
            }
        } else if !has {
            *self.derived.pending.lock() = Pending::default();
        }
    }

    async fn give_back(&self) {
        let key = self.across.writer();
        if self.derived.writes.swap(false, Ordering::Relaxed) {
            let _ = self.link.at(&key, redis::cmd("DEL").arg(&key)).await;
        }
    }

    async fn write_derived(&self, count: bool) {
        let mut pending = std::mem::take(&mut *self.derived.pending.lock());
        let later = if count { pending.changed.iter().nth(COUNTED_MAX).copied() } else { None };
        let kept = match (count, later) {
            (true, Some(later)) => pending.changed.split_off(&later),
            (true, None) => BTreeSet::new(),
            (false, _) => std::mem::take(&mut pending.changed),
        };
        self.derived.pending.lock().changed.extend(kept);
        let mut counts = Vec::new();
        for replica in pending.changed.iter().filter_map(|listing| self.directory.get(listing)) {
            let key = self.across.stats(&replica.id);
            counts.extend(replica.view().map(|view| counts::commands(&key, &view)).into_iter().flatten());
            counts.extend(auctions::active(self, &replica));
            sales::note(&self.derived.sales, &replica);
        }
        send(&self.link, indexes(self, &pending)).await;
        let Some(cache) = self.cache() else { return };
        counts.extend(hints(self, pending.holds));
        counts.extend(sales::last_purchases(self, pending.bought));
        counts.extend(auctions::active_bids(self, pending.auctions));
        if count {
            counts.extend(sales::active(self, &self.derived.sales));
        }
        if !send(cache, counts).await {
            // Hints are left out; counts are written when the cache is there again.
            self.derived.pending.lock().changed.extend(pending.changed);
        }
    }
}

pub(super) type Commands = Vec<(String, Cmd)>;

/// The indexes stay with the truth: they are small, and sweeping and starting are slower without them.
fn indexes(inner: &Inner, pending: &Pending) -> Commands {
    let mut commands = Vec::new();
    let key = inner.across.listings();
    let add = index::add(&key, pending.listings.iter().copied(), inner.clock.now());
    commands.extend(add.into_iter().map(|command| (key.clone(), command)));
    for (listing, due) in &pending.due {
        let (key, id) = (inner.across.due(), listing.to_string());
        let command = match due {
            Some(due) => redis::cmd("ZADD").arg(&key).arg(*due.max(&0)).arg(id).to_owned(),
            None => redis::cmd("ZREM").arg(&key).arg(id).to_owned(),
        };
        commands.push((key, command));
    }
    commands
}

fn hints(inner: &Inner, holds: BTreeMap<(ListingId, BuyerId), Millis>) -> Commands {
    let mut commands = Vec::new();
    for ((listing, buyer), until) in holds {
        let key = inner.across.user_locks(listing.tenant, &buyer);
        let add = redis::cmd("ZADD").arg(&key).arg("GT").arg(until).arg(listing.to_string()).to_owned();
        commands.push((key.clone(), add));
        commands.push((key.clone(), redis::cmd("PEXPIRE").arg(key).arg(HINT_MS).to_owned()));
    }
    commands
}

/// False: not all of them were written.
async fn send(link: &Link, commands: Commands) -> bool {
    let send = |(key, command): (String, Cmd)| async move { link.at(&key, &command).await.map(drop) };
    let mut sent = futures_util::stream::iter(commands).map(send).buffer_unordered(AT_ONCE);
    let mut all = true;
    while let Some(done) = sent.next().await {
        if let Err(error) = done {
            tracing::debug!(%error, "a hint was not written: {error}");
            all = false;
        }
    }
    all
}

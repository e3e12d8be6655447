//! How much the logs of listings, and the answers that are remembered under keys, may take on each master. Over the bound
//! the oldest answers go together with their facts: who repeats one of them is decided about anew, and who follows from
//! there is told to reload. It is said aloud before it comes to that.

mod cut;
mod fill;
mod sizes;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use onsale_domain::{ListingId, ListingKind, Millis};
use onsale_engine::{MovedListings, Position};
use parking_lot::Mutex;
use redis::{FromRedisValue, Value};

use self::cut::Cut;
use self::fill::Notices;
use self::sizes::{Size, Sizes};
use super::bulletin::Bulletin;
use super::fetch::AT_ONCE;
use super::{Inner, Trouble, log};

/// What a remembered answer takes beside its facts: the name of its key, its value, and its deadline. Every fact is counted
/// with one, though some have none: the bound is kept rather too early. A test compares it with what Redis says.
pub const RECORD_BYTES: u64 = 208;
/// Over the bound so much of it is left: not every new fact is to make an old one go.
const LEFT_PERCENT: u64 = 90;
/// Listings that are measured in one round: two small commands each.
const MEASURED_MAX: usize = 10_000;
/// Streams whose first step is looked at in one round: one small command each.
const LOOKED_MAX: usize = 10_000;
/// Pages of facts that go in one round: two million facts at most, and a node that must give more gives them later.
const PAGES_MAX: usize = 4_096;
/// The youngest that may go: whoever asks again at once, as a time-out makes one do, still gets the first answer.
pub(super) const YOUNGEST_MS: Millis = 60_000;

#[derive(Debug)]
pub(super) struct History {
    moved: MovedListings,
    sizes: Mutex<Sizes>,
    /// How often a slot had gone to another master when listings were last put to theirs.
    changes: AtomicU64,
    /// Of the fullest master.
    pub bytes: AtomicU64,
    /// Answers that were forgotten before their time.
    pub forgotten: AtomicU64,
    /// How old the youngest of them was, in milliseconds; 0: there was none.
    pub window_ms: AtomicU64,
    notices: Mutex<Notices>,
}

impl History {
    /// Before the first replica is made: each announces itself.
    pub(super) fn new(bulletin: &Bulletin) -> History {
        History {
            moved: bulletin.movements.subscribe(&ListingKind::ALL),
            sizes: Mutex::default(),
            changes: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            window_ms: AtomicU64::new(0),
            notices: Mutex::default(),
        }
    }
}

/// Measures what has changed, and forgets the oldest where it is too much.
pub(super) async fn keep(inner: &Arc<Inner>) {
    inner.regroup();
    inner.measure().await;
    let bound = inner.options.history_max_bytes;
    let Some((fullest, bytes)) = inner.history.sizes.lock().fullest() else { return };
    inner.note_fill(&fullest, bytes, bound);
    let masters = inner.history.sizes.lock().masters();
    for (node, bytes) in masters {
        match bytes > bound {
            true => inner.cut(&node, bytes, bound).await,
            false => inner.history.notices.lock().is_loose(&node),
        }
    }
}

impl Inner {
    /// Sums are kept by master: after a slot went to another one they are made again, once.
    fn regroup(&self) {
        let changes = *self.link.changes().borrow();
        if self.history.changes.swap(changes, Ordering::Relaxed) != changes {
            self.history.sizes.lock().regroup(|listing| self.home(listing));
        }
    }

    fn home(&self, listing: &ListingId) -> Option<Arc<str>> {
        Some(self.link.master_of(self.keys(listing).facts())?.name().into())
    }

    /// Measures what has moved since it was measured last.
    async fn measure(&self) {
        let measure = |(listing, position): (ListingId, Position)| async move {
            match (self.home(&listing), self.size(listing).await) {
                (Some(node), Ok((bytes, facts))) => {
                    let size = Size { bytes: bytes + facts * RECORD_BYTES, facts };
                    self.history.sizes.lock().set(listing, &node, size);
                }
                (None, _) => self.history.moved.put_back(listing, position),
                (Some(_), Err(error)) => {
                    tracing::debug!(%listing, %error, "not measured: {error}");
                    self.history.moved.put_back(listing, position);
                }
            }
        };
        let moved = self.history.moved.take(MEASURED_MAX);
        futures_util::stream::iter(moved).for_each_concurrent(AT_ONCE, measure).await;
    }

    /// How many bytes a listing's stream takes, and how many facts are in it.
    async fn size(&self, listing: ListingId) -> Result<(u64, u64), Trouble> {
        let keys = self.keys(&listing);
        let usage = redis::cmd("MEMORY").arg("USAGE").arg(keys.facts()).to_owned();
        let length = redis::cmd("XLEN").arg(keys.facts()).to_owned();
        let number = |value: Value| Option::<u64>::from_redis_value(value).ok().flatten().unwrap_or(0);
        let bytes = number(self.link.at(keys.facts(), &usage).await?);
        Ok((bytes, number(self.link.at(keys.facts(), &length).await?)))
    }

    /// Says once that it is nearly full, and again when there was room in between.
    fn note_fill(&self, node: &str, bytes: u64, bound: u64) {
        self.history.bytes.store(bytes, Ordering::Relaxed);
        if self.history.notices.lock().is_nearly(bytes, bound) {
            tracing::warn!(
                node,
                bytes,
                bound,
                "facts and remembered answers take {bytes} bytes on {node}; over {bound} (redis.history_mb) the \
                 oldest are forgotten, and who repeats such a request is decided about anew"
            );
        }
    }

    /// Takes the oldest steps of a master's listings away until it is below the bound again, or has no more to give.
    async fn cut(&self, node: &Arc<str>, bytes: u64, bound: u64) {
        self.look_at_first_steps(node).await;
        let too_much = bytes - bound / 100 * LEFT_PERCENT;
        let (mut freed, mut answers, mut facts, mut pages) = (0, 0, 0, 0);
        while freed < too_much && pages < PAGES_MAX {
            let batch = self.next_to_cut(node, too_much - freed);
            if batch.is_empty() {
                break;
            }
            pages += batch.len();
            let cut = |(listing, size): (ListingId, Size)| async move {
                let cut = self.cut_of(node, listing).await;
                (cut.facts * size.bytes_each(), cut)
            };
            let cuts: Vec<(u64, Cut)> =
                futures_util::stream::iter(batch).map(cut).buffer_unordered(AT_ONCE).collect().await;
            for (bytes, cut) in cuts {
                freed += bytes;
                (answers, facts) = (answers + cut.answers, facts + cut.facts);
            }
        }
        if facts > 0 {
            self.history.notices.lock().is_loose(node);
            let node = &**node;
            tracing::warn!(
                node,
                answers,
                facts,
                "{node} remembers too much (redis.history_mb): the oldest {facts} facts and {answers} answers were forgotten"
            );
        } else if self.history.notices.lock().is_stuck(node) {
            let node = &**node;
            tracing::warn!(
                node,
                bytes,
                bound,
                "facts and remembered answers take {bytes} bytes on {node}, over {bound} (redis.history_mb), and nothing of \
                 it can be forgotten: all of it is younger than a minute or the newest step of its listing. Raise \
                 redis.history_mb and maxmemory, or add a master"
            );
        }
    }

    /// Finds out which of the streams that nobody has looked at have something to give, and since when.
    async fn look_at_first_steps(&self, node: &Arc<str>) {
        let unlooked = self.history.sizes.lock().take_unlooked(node, LOOKED_MAX);
        let look = |listing: ListingId| async move {
            let first = log::first_step(&self.link, self.keys(&listing).facts()).await;
            let mut sizes = self.history.sizes.lock();
            match first {
                Ok(first) => {
                    let facts = sizes.facts_of(&listing);
                    let first = first.filter(|(_, len)| (*len as u64) < facts);
                    sizes.set_oldest(node, listing, first.map(|(at, _)| at));
                }
                Err(error) => {
                    tracing::debug!(%listing, %error, "{listing} is looked at later: {error}");
                    sizes.look_again(node, listing);
                }
            }
        };
        futures_util::stream::iter(unlooked).for_each_concurrent(AT_ONCE, look).await;
    }

    /// The listings with the oldest steps, as many as may have enough together.
    fn next_to_cut(&self, node: &str, enough: u64) -> Vec<(ListingId, Size)> {
        let before = self.clock.now() - self.options.history_min_ms;
        let (mut batch, mut hoped) = (Vec::new(), 0);
        let mut sizes = self.history.sizes.lock();
        while hoped < enough
            && batch.len() < AT_ONCE
            && let Some((listing, size)) = sizes.take_oldest(node, before)
        {
            hoped += size.facts.min(log::PAGE as u64) * size.bytes_each();
            batch.push((listing, size));
        }
        batch
    }

    async fn cut_of(&self, node: &str, listing: ListingId) -> Cut {
        let before = self.clock.now() - self.options.history_min_ms;
        match self.cut_page(listing, before).await {
            Ok(cut) => {
                let mut sizes = self.history.sizes.lock();
                sizes.took(&listing, cut.facts);
                sizes.set_oldest(node, listing, cut.next);
                drop(sizes);
                if cut.facts > 0 {
                    // What was freed is known when it is measured again, in the next round.
                    self.history.moved.put_back(listing, Position::default());
                }
                cut
            }
            Err(error) => {
                tracing::debug!(%listing, %error, "{listing} is cut later: {error}");
                self.history.sizes.lock().look_again(node, listing);
                Cut::default()
            }
        }
    }
}

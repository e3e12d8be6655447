//! How much the logs of listings, and the answers that are remembered under keys, may take on each master. Over the bound
//! the oldest answers go together with their facts: who repeats one of them is decided about anew, and who follows from
//! there is told to reload. It is said aloud before it comes to that.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use onsale_domain::{ListingId, ListingKind, Millis, Step};
use onsale_engine::{Moved, Position};
use parking_lot::Mutex;
use redis::{FromRedisValue, Value};

use super::bulletin::Bulletin;
use super::fetch::AT_ONCE;
use super::{Inner, Trouble, log};

/// What a remembered answer takes beside its facts: the name of its key, its value, and its deadline. Every fact is counted
/// with one, though some have none: the bound is kept rather too early. A test compares it with what Redis says.
pub const RECORD_BYTES: u64 = 208;
/// From so much of the bound on it is said that answers will be forgotten.
const NEARLY_PERCENT: u64 = 80;
/// Over the bound so much of it is left: not every new fact is to make an old one go.
const LEFT_PERCENT: u64 = 90;
/// Listings that are measured in one round: two small commands each.
const MEASURED_MAX: usize = 10_000;
/// The youngest that may go: whoever asks again at once, as a time-out makes one do, still gets the first answer.
pub(super) const YOUNGEST_MS: Millis = 60_000;

#[derive(Debug)]
pub(super) struct History {
    moved: Moved,
    sizes: Mutex<Sizes>,
    /// Of the fullest master.
    pub bytes: AtomicU64,
    /// Answers that were forgotten before their time.
    pub forgotten: AtomicU64,
    /// How old the youngest of them was, in milliseconds; 0: there was none.
    pub window_ms: AtomicU64,
    fill: Mutex<Fill>,
}

impl History {
    /// Before the first replica is made: each announces itself.
    pub(super) fn new(bulletin: &Bulletin) -> History {
        History {
            moved: bulletin.movements.subscribe(&ListingKind::ALL),
            sizes: Mutex::default(),
            bytes: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            window_ms: AtomicU64::new(0),
            fill: Mutex::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: u64,
    facts: u64,
}

#[derive(Debug, Default)]
struct Sizes {
    of_listing: BTreeMap<ListingId, Size>,
    /// The sum of their bytes.
    all: u64,
}

impl Sizes {
    fn set(&mut self, listing: ListingId, size: Size) {
        // One without facts is gone, or has nothing to give: what it takes is not counted either.
        let (now, before) = match size.facts {
            0 => (0, self.of_listing.remove(&listing)),
            _ => (size.bytes, self.of_listing.insert(listing, size)),
        };
        self.all = self.all + now - before.unwrap_or_default().bytes;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fill {
    #[default]
    Room,
    Nearly,
    Over,
}

impl Fill {
    fn of(bytes: u64, bound: u64) -> Fill {
        match bytes {
            _ if bytes > bound => Fill::Over,
            _ if bytes >= bound / 100 * NEARLY_PERCENT => Fill::Nearly,
            _ => Fill::Room,
        }
    }
}

/// Measures what has changed, and forgets the oldest where it is too much.
pub(super) async fn keep(inner: &Arc<Inner>) {
    inner.measure().await;
    let bound = inner.options.history_max_bytes;
    let all = inner.history.sizes.lock().all;
    if Fill::of(all, bound) == Fill::Room {
        // Then no master has more, either.
        return inner.note_fill("all masters", all, bound);
    }
    let sizes: Vec<(ListingId, Size)> =
        inner.history.sizes.lock().of_listing.iter().map(|(listing, size)| (*listing, *size)).collect();
    let mut masters: BTreeMap<String, Vec<(ListingId, Size)>> = BTreeMap::new();
    for (listing, size) in sizes {
        if let Some(node) = inner.link.master_of(inner.keys(&listing).facts()) {
            masters.entry(node.name().to_owned()).or_default().push((listing, size));
        }
    }
    let sum = |listings: &[(ListingId, Size)]| listings.iter().map(|(_, size)| size.bytes).sum::<u64>();
    let Some((node, fullest)) = masters.iter().max_by_key(|(_, listings)| sum(listings)) else { return };
    inner.note_fill(node, sum(fullest), bound);
    for (node, listings) in &masters {
        let bytes = sum(listings);
        if bytes > bound {
            inner.cut(node, listings, bytes - bound / 100 * LEFT_PERCENT).await;
        }
    }
}

impl Inner {
    /// Measures what has moved since it was measured last.
    async fn measure(&self) {
        let measure = |(listing, position): (ListingId, Position)| async move {
            match self.size(listing).await {
                Ok((bytes, facts)) => {
                    let size = Size { bytes: bytes + facts * RECORD_BYTES, facts };
                    self.history.sizes.lock().set(listing, size);
                }
                Err(error) => {
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
        let fill = Fill::of(bytes, bound);
        let before = std::mem::replace(&mut *self.history.fill.lock(), fill);
        if fill == Fill::Nearly && before == Fill::Room {
            tracing::warn!(
                node,
                bytes,
                bound,
                "facts and remembered answers take {bytes} bytes on {node}; over {bound} (redis.history_mb) the \
                 oldest are forgotten, and who repeats such a request is decided about anew"
            );
        }
    }

    /// Takes the oldest steps of a master's listings away until so many bytes are free.
    async fn cut(&self, node: &str, listings: &[(ListingId, Size)], too_much: u64) {
        let before = self.clock.now() - self.options.history_min_ms;
        let mut oldest = BinaryHeap::new();
        for (listing, size) in listings.iter().filter(|(_, size)| size.facts > 1) {
            let first =
                log::after(&self.link, self.keys(listing).facts(), *listing, Position::default(), 1).await;
            let first = first.ok().and_then(|page| page.steps.first().map(|step| step.at));
            oldest.extend(first.map(|at| Reverse((at, *listing, size.bytes / size.facts))));
        }
        let (mut freed, mut answers, mut facts) = (0, 0, 0);
        while freed < too_much {
            let Some(Reverse((at, listing, bytes_each))) = oldest.pop() else { break };
            if at >= before {
                break;
            }
            match self.cut_page(listing, before).await {
                Ok(cut) => {
                    freed += cut.facts * bytes_each;
                    (answers, facts) = (answers + cut.answers, facts + cut.facts);
                    oldest.extend(cut.next.map(|at| Reverse((at, listing, bytes_each))));
                }
                Err(error) => tracing::debug!(%listing, %error, "{listing} is cut later: {error}"),
            }
            // It is measured again in the next round.
            self.history.moved.put_back(listing, Position::default());
        }
        tracing::warn!(
            node,
            answers,
            facts,
            "{node} remembers too much (redis.history_mb): the oldest {facts} facts and {answers} answers were forgotten"
        );
    }

    /// Takes steps of a listing from before a moment away, and the answers that were remembered with them.
    async fn cut_page(&self, listing: ListingId, before: Millis) -> Result<Cut, Trouble> {
        let keys = self.keys(&listing);
        let page = log::after(&self.link, keys.facts(), listing, Position::default(), log::PAGE).await?;
        // The last one stays: it shows where the stream goes on, or ends.
        let kept = page.steps.len().saturating_sub(1);
        let going = page.steps.iter().take(kept).take_while(|step| step.at < before).count();
        let (gone, left) = page.steps.split_at(going);
        let (Some(youngest), Some(first)) = (gone.last(), left.first()) else { return Ok(Cut::default()) };
        // An answer without its facts could not be told again: it goes first.
        let answers = self.forget_answers(listing, gone).await?;
        let mut trim = redis::cmd("XTRIM");
        trim.arg(keys.facts()).arg("MINID").arg("=").arg(format!("{}-{}", first.epoch, first.first));
        self.link.at(keys.facts(), &trim).await?;
        if answers > 0 {
            let age = u64::try_from(self.clock.now() - youngest.at).unwrap_or(1).max(1);
            self.history.window_ms.store(age, Ordering::Relaxed);
            self.history.forgotten.fetch_add(answers, Ordering::Relaxed);
        }
        let facts = gone.iter().map(|step| step.facts.len() as u64).sum();
        Ok(Cut { facts, answers, next: page.more.then_some(first.at) })
    }

    /// Removes the records of these steps; one that tells of a later step under the same key stays.
    async fn forget_answers(&self, listing: ListingId, steps: &[Arc<Step>]) -> Result<u64, Trouble> {
        let keys = self.keys(&listing);
        let named: Vec<(String, String)> = steps
            .iter()
            .filter_map(|step| Some((keys.idem(step.key?.scope), format!("{}|{}|", step.epoch, step.first))))
            .collect();
        if named.is_empty() {
            return Ok(0);
        }
        let mut read = redis::cmd("MGET");
        read.arg(named.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>());
        let records = Vec::<Option<String>>::from_redis_value(self.link.at(keys.facts(), &read).await?);
        let records = records.map_err(|_| crate::facts::Malformed::of("idem"))?;
        let of_step = |(known, record): (&(String, String), &Option<String>)| {
            record.as_ref().is_some_and(|record| record.starts_with(&known.1)).then(|| known.0.clone())
        };
        let gone: Vec<String> = named.iter().zip(&records).filter_map(of_step).collect();
        if gone.is_empty() {
            return Ok(0);
        }
        let mut remove = redis::cmd("UNLINK");
        remove.arg(&gone);
        self.link.at(keys.facts(), &remove).await?;
        Ok(gone.len() as u64)
    }
}

/// What was taken away, and when the oldest step was that is left, if there are more.
#[derive(Debug, Default)]
struct Cut {
    facts: u64,
    answers: u64,
    next: Option<Millis>,
}

#[cfg(test)]
mod tests {
    use onsale_domain::Tenant;

    use super::*;

    #[test]
    fn the_sum_is_that_of_the_listings_however_often_they_are_measured() {
        let listing = |number| ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Sale, number };
        let mut sizes = Sizes::default();
        for (number, bytes, facts) in
            [(1, 900, 3), (2, 500, 1), (1, 300, 1), (2, 96, 0), (2, 96, 0), (1, 700, 2)]
        {
            sizes.set(listing(number), Size { bytes, facts });
            assert_eq!(sizes.all, sizes.of_listing.values().map(|size| size.bytes).sum::<u64>());
        }
        assert_eq!((sizes.all, sizes.of_listing.len()), (700, 1));
    }

    #[test]
    fn it_is_said_before_anything_is_forgotten() {
        let fills = [0, 799, 800, 1_000, 1_001].map(|bytes| Fill::of(bytes, 1_000));
        assert_eq!(fills, [Fill::Room, Fill::Room, Fill::Nearly, Fill::Nearly, Fill::Over]);
    }
}

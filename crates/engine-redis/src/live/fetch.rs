//! How a replica learns what it has not seen: facts from the stream, or the whole state where the stream does not
//! reach back far enough or goes on under another epoch.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::StreamExt;
use onsale_domain::ListingId;
use onsale_engine::{EngineError, Position};
use redis::{FromRedisValue, Value};

use super::replica::{Replica, StepTaking};
use super::{Inner, Trouble, log};
use crate::caller::ScriptCall;
use crate::damage;
use crate::facts::Malformed;
use crate::layout::Layout;
use crate::link::LinkError;
use crate::picture::Picture;
use crate::scripts::Name;
use crate::state;

/// Listings that are read at the same time.
pub(super) const AT_ONCE: usize = 32;
/// A listing that its node does not know for so long is gone: longer than a failover, and than the moment in which an
/// old master without data comes back and is taken for the new one.
const GONE_MS: i64 = 10_000;
/// A node that lost a thousand listings is recovered once, not a thousand times.
const SUSPECT_AGAIN_MS: i64 = 2_000;

impl Inner {
    pub(super) async fn call(&self, call: &ScriptCall) -> Result<Value, LinkError> {
        self.deployment.call(|scripts| scripts.get(call.name, call.layout), &call.keys, &call.args).await
    }

    /// The listing's whole state in Redis; none if there is no such listing.
    pub(super) async fn read(&self, listing: ListingId) -> Result<Option<Picture>, Trouble> {
        match self.read_state(listing).await {
            Err(trouble) => Err(self.named(listing, trouble).await),
            read => read,
        }
    }

    async fn read_state(&self, listing: ListingId) -> Result<Option<Picture>, Trouble> {
        let keys = self.keys(&listing);
        let call = self.deployment.call(|all| all.get(Name::READ_STATE, Layout::Hash), keys.all(), &[]);
        let value = call.await?;
        Ok(state::read(value)?.map(|state| state.picture(listing)).transpose()?)
    }

    /// The listing's replica, read from Redis if this server has none yet.
    pub(super) async fn look_up(&self, listing: ListingId) -> Result<Option<Arc<Replica>>, EngineError> {
        if let Some(known) = self.directory.get(&listing) {
            return Ok(Some(known));
        }
        let Some(picture) = self.read(listing).await? else {
            self.headless(listing).await?;
            return Ok(None);
        };
        let replica = self.directory.insert(Replica::new(picture, self.bulletin.clone()));
        replica.announce();
        replica.touched.store(self.clock.passed(), Ordering::Relaxed);
        self.derived.listing(&replica);
        Ok(Some(replica))
    }

    /// Where the listing is now; none if its node does not know it.
    pub(super) async fn position(&self, listing: &ListingId) -> Result<Option<Position>, Trouble> {
        match self.read_position(listing).await {
            Err(trouble) => Err(self.named(*listing, trouble).await),
            read => read,
        }
    }

    async fn read_position(&self, listing: &ListingId) -> Result<Option<Position>, Trouble> {
        let keys = self.keys(listing);
        let told = self.link.at(keys.head(), redis::cmd("HGET").arg(keys.head()).arg("head")).await?;
        if told == Value::Nil {
            return Ok(None);
        }
        let line = String::from_redis_value(told).unwrap_or_default();
        let mut parts = line.split('|').skip(1).map(str::parse);
        match (parts.next(), parts.next()) {
            (Some(Ok(epoch)), Some(Ok(offset))) => Ok(Some(Position { epoch, offset })),
            _ => Err(Malformed::of("head").into()),
        }
    }

    /// Brings a replica to where its listing is at this moment, or further.
    pub(super) async fn refresh(&self, replica: &Replica) -> Result<(), EngineError> {
        match self.position(&replica.id).await? {
            Some(now) => Ok(self.catch_up(replica, now).await?),
            None => Err(self.missing(replica).await.into()),
        }
    }

    /// We know the listing and its node does not. If other keys of it are there, it is damaged: no node forgets a part of
    /// a step.
    pub(super) async fn missing(&self, replica: &Replica) -> Trouble {
        match self.headless(replica.id).await {
            Err(trouble) => trouble,
            Ok(()) => self.forgotten(replica).into(),
        }
    }

    /// Its node may have forgotten it, and is recovered. If it stays away, it is gone; until then nobody is told that it
    /// never was.
    fn forgotten(&self, replica: &Replica) -> LinkError {
        let now = self.clock.passed();
        let listing = replica.id;
        match replica.missing_for(now) {
            Some(ms) if ms > GONE_MS => {
                self.directory.remove(&listing);
                tracing::error!(%listing, "redis has lost {listing}, and there are no records to bring it back from");
                return LinkError::Recovering;
            }
            // Once is enough, however often somebody asks.
            Some(ms) if ms > 0 => return LinkError::Recovering,
            Some(_) | None => {}
        }
        let last = self.suspected.load(Ordering::Relaxed);
        let soon = now - last < SUSPECT_AGAIN_MS;
        if soon || self.suspected.compare_exchange(last, now, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return LinkError::Recovering;
        }
        self.deployment.suspect(self.keys(&listing).meta())
    }

    /// Brings a replica to `target`, by facts if that is possible.
    pub(super) async fn catch_up(&self, replica: &Replica, target: Position) -> Result<(), Trouble> {
        if replica.position() >= target {
            return Ok(());
        }
        let _one_at_a_time = replica.reading.lock().await;
        let keys = self.keys(&replica.id);
        while replica.position() < target {
            let at = replica.position();
            let page = log::after(&self.link, keys.facts(), replica.id, at, log::PAGE).await?;
            let fits = page.steps.iter().all(|step| {
                let taken = replica.take(step);
                self.derived.step(replica, step);
                taken == StepTaking::Applied || taken == StepTaking::Known
            });
            if !fits || page.steps.is_empty() {
                // Trimmed, or another epoch began, or the page is from before the target.
                self.reload(replica).await?;
                break;
            }
        }
        replica.touched.store(self.clock.passed(), Ordering::Relaxed);
        Ok(())
    }

    async fn reload(&self, replica: &Replica) -> Result<(), Trouble> {
        self.counts.reloads.fetch_add(1, Ordering::Relaxed);
        match self.read(replica.id).await? {
            Some(picture) => {
                replica.replace(picture);
                self.derived.listing(replica);
                Ok(())
            }
            None => Err(self.missing(replica).await),
        }
    }

    /// Fetches what was told of, behind whoever told of it.
    pub(super) fn fetch(self: &Arc<Self>, replica: &Arc<Replica>, target: Position) {
        if !replica.want(target) {
            return;
        }
        let (inner, replica) = (self.clone(), replica.clone());
        tokio::spawn(async move {
            loop {
                let wanted = replica.wanted();
                if let Err(error) = inner.catch_up(&replica, wanted).await {
                    let listing = replica.id;
                    tracing::debug!(%listing, %error, "following {listing} waits: {error}");
                    return replica.give_up();
                }
                if replica.fetched(wanted) {
                    return;
                }
            }
        });
    }

    /// After a recovery listings go on under other epochs, from what their nodes have kept. Says which could not be read.
    pub(super) async fn reload_each(self: &Arc<Self>, listings: BTreeSet<ListingId>) -> BTreeSet<ListingId> {
        self.each(listings, |listing| async move {
            let Some(replica) = self.directory.get(&listing) else { return Reading::Done };
            match self.read(listing).await {
                Ok(Some(picture)) => replica.replace(picture),
                // Its node was just recovered: that is no reason to do it again.
                Ok(None) => drop(replica.missing_for(self.clock.passed())),
                // It is told of, and looked at again, by itself.
                Err(_) if self.damaged.has(&listing) => {}
                Err(error) => {
                    tracing::debug!(%listing, %error, "{listing} will be read again: {error}");
                    return Reading::Later;
                }
            }
            Reading::Done
        })
        .await
    }

    /// Reads listings, some at the same time, and says which are left. One whose node is away or not believed costs a
    /// look at what we know of the node, and no command.
    pub(super) async fn each<R: Future<Output = Reading>>(
        &self,
        listings: BTreeSet<ListingId>,
        read: impl Fn(ListingId) -> R,
    ) -> BTreeSet<ListingId> {
        let (asked, mut left): (BTreeSet<_>, BTreeSet<_>) =
            listings.into_iter().partition(|listing| self.can_ask(listing));
        let read = |listing: ListingId| {
            let reading = read(listing);
            async move { (listing, reading.await) }
        };
        let mut read = futures_util::stream::iter(asked).map(read).buffer_unordered(AT_ONCE);
        while let Some((listing, done)) = read.next().await {
            if done == Reading::Later {
                left.insert(listing);
            }
        }
        left
    }

    fn can_ask(&self, listing: &ListingId) -> bool {
        let keys = self.keys(listing);
        let is_up = self.link.master_of(keys.meta()).is_some_and(|node| node.is_up());
        is_up && self.deployment.is_believed(keys.meta())
    }

    /// Every listing there is: those of the index, and those that a scan finds beside it. What is on a node that is
    /// away is looked for again when it may be back.
    pub(super) async fn find_listings(self: &Arc<Self>) -> Result<(), EngineError> {
        let mut whole = true;
        let indexed = here(hint(self.indexed_listings().await), &mut whole)?.unwrap_or_default();
        let mut found = indexed.clone();
        for master in &self.link.map().masters {
            found.extend(here(damage::scan(&self.link, master).await, &mut whole)?.unwrap_or_default());
        }
        let missing: Vec<String> = found.difference(&indexed).map(ListingId::to_string).collect();
        if !missing.is_empty() {
            let key = self.across.listings();
            let added = self.link.at(&key, redis::cmd("SADD").arg(&key).arg(missing)).await.map(drop);
            here(hint(added), &mut whole)?;
        }
        whole &= self.link.map().uncovered() == 0;
        whole &= self.look_up_all(found).await?;
        self.overlooked.store(!whole, Ordering::Relaxed);
        Ok(())
    }

    /// Those of the index that we do not know yet. What we know and the index does not is put there: whoever writes it
    /// may not have heard of it.
    pub(super) async fn find_new_listings(self: &Arc<Self>) -> Result<(), EngineError> {
        let count = self.indexed_count().await?;
        let seen = (count, self.directory.len());
        if *self.index_seen.lock() == seen {
            return Ok(());
        }
        let mut found = self.indexed_listings().await?;
        let unheard = self.directory.all().into_iter().map(|replica| replica.id);
        let unheard: Vec<String> =
            unheard.filter(|id| !found.contains(id)).map(|id| id.to_string()).collect();
        if !unheard.is_empty() {
            let key = self.across.listings();
            self.link.at(&key, redis::cmd("SADD").arg(&key).arg(unheard)).await?;
        }
        found.retain(|listing| self.directory.get(listing).is_none());
        if self.look_up_all(found).await? {
            *self.index_seen.lock() = (self.indexed_count().await?, self.directory.len());
        }
        Ok(())
    }

    /// True: all of them could be read.
    async fn look_up_all(self: &Arc<Self>, listings: BTreeSet<ListingId>) -> Result<bool, EngineError> {
        let read = listings.into_iter().map(|listing| async move { self.look_up(listing).await.map(drop) });
        let mut read = futures_util::stream::iter(read).buffer_unordered(AT_ONCE);
        let mut whole = true;
        while let Some(done) = read.next().await {
            match done {
                Ok(()) => {}
                // One that is damaged is told of, and stops nobody else.
                Err(EngineError::Damaged(_)) => {}
                // Its node is away or being recovered.
                Err(_) => whole = false,
            }
        }
        Ok(whole)
    }

    /// How many listings the index has: as long as that and our own number stay the same, nobody reads all of it.
    async fn indexed_count(&self) -> Result<usize, LinkError> {
        let key = self.across.listings();
        let told = self.link.at(&key, redis::cmd("SCARD").arg(&key)).await?;
        Ok(usize::from_redis_value(told).unwrap_or_default())
    }

    async fn indexed_listings(&self) -> Result<BTreeSet<ListingId>, LinkError> {
        let key = self.across.listings();
        let told = self.link.at(&key, redis::cmd("SMEMBERS").arg(&key)).await?;
        let ids = Vec::<String>::from_redis_value(told).unwrap_or_default();
        Ok(ids.iter().filter_map(|id| ListingId::parse(id)).collect())
    }
}

/// The index only helps: with a foreign key in its place a scan finds everything.
fn hint<T: Default>(told: Result<T, LinkError>) -> Result<T, LinkError> {
    match told {
        Err(LinkError::WrongType { why }) => {
            tracing::warn!(why, "the index of listings is another program's key, and is done without: {why}");
            Ok(T::default())
        }
        told => told,
    }
}

/// What a node told; nothing if it is away, and then this is not the whole.
fn here<T>(told: Result<T, LinkError>, whole: &mut bool) -> Result<Option<T>, EngineError> {
    match told {
        Ok(told) => Ok(Some(told)),
        Err(error) if error.is_retryable() => {
            *whole = false;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a listing is seen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Done,
    /// Its node is away, or being recovered.
    Later,
}

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
use crate::kinds;
use crate::layout::Layout;
use crate::link::LinkError;
use crate::picture::Picture;
use crate::scripts::Name;
use crate::state::{self, Head};

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
        let Head { epoch, offset, .. } = Head::read(&line, kinds::head(listing.kind))?;
        Ok(Some(Position { epoch, offset }))
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
}

/// Whether a listing is seen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Done,
    /// Its node is away, or being recovered.
    Later,
}

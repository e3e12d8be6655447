//! Reads, all from replicas: what must see every earlier answer first asks Redis where the listing is.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use onsale_domain::query::AttemptsQuery;
use onsale_domain::seats::{EventFound, EventQuery};
use onsale_domain::{BuyerId, ListingId, ListingKind, Step, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::engine::Tail;
use onsale_engine::{EngineError, FactPage, Follower, HeldAt, Position};
use redis::FromRedisValue;
use tokio::sync::watch;

use super::Inner;
use super::fetch::AT_ONCE;
use super::replica::{Following, Replica};

/// A question waits so long for the replica to be where the listing was when it was asked; then it is answered from
/// what is known, and the answer is marked as stale if Redis is away.
const FRESH: Duration = Duration::from_millis(100);
/// Steps handed to a follower in one go.
const FOLLOW_STEPS_MAX: usize = 256;
/// Listings that changed so lately are asked about when a buyer's holds are looked for: another server's hint may not
/// have arrived yet.
const LATELY_MS: i64 = 10_000;
const LATELY_MAX: usize = 64;

impl Inner {
    pub(super) async fn freshen(&self, replica: &Replica) -> Result<(), EngineError> {
        match tokio::time::timeout(FRESH, self.refresh(replica)).await {
            // A node that may have forgotten something has nothing to tell about anybody.
            Ok(Err(EngineError::Recovering)) => Err(EngineError::Recovering),
            Ok(Err(EngineError::Damaged(why))) => Err(EngineError::Damaged(why)),
            Ok(Ok(()) | Err(_)) | Err(_) => Ok(()),
        }
    }

    pub(super) async fn ask(&self, listing: ListingId, query: &Query) -> Result<Found, EngineError> {
        if let Query::Attempts(AttemptsQuery { from, limit }) = query {
            // Nobody's state: a script that refuses writes nothing.
            return Ok(Found::Attempts(Box::new(self.attempts(listing, *from, *limit).await?)));
        }
        let Some(replica) = self.look_up(listing).await? else { return Ok(Found::Nothing) };
        self.freshen(&replica).await?;
        Ok(replica.with(|picture| picture.listing.ask(query, self.clock.now())))
    }

    pub(super) async fn holds_of(&self, tenant: Tenant, buyer: BuyerId) -> Result<Vec<HeldAt>, EngineError> {
        let (query, now) = (Query::Event(EventQuery::HoldsOf(buyer.clone())), self.clock.now());
        let held = |replica: &Replica| {
            replica.with(|picture| {
                let Found::Event(EventFound::Holds(holds)) = picture.listing.ask(&query, now) else {
                    return None;
                };
                let (epoch, offset) = (picture.listing.epoch, picture.listing.offset);
                let held = HeldAt { listing: replica.id, position: Position { epoch, offset }, holds };
                (!held.holds.is_empty()).then_some(held)
            })
        };
        let hinted = self.hinted(tenant, &buyer).await.unwrap_or_default();
        let lately = self.clock.passed() - LATELY_MS;
        let mut rest = LATELY_MAX;
        let events = self.replicas_of((tenant, ListingKind::Event), &buyer, &hinted).into_iter();
        let asked: Vec<Arc<Replica>> = events
            .filter(|replica| {
                let recent = rest > 0 && replica.touched.load(Ordering::Relaxed) >= lately;
                rest -= usize::from(recent);
                recent || hinted.contains(&replica.id) || held(replica).is_some()
            })
            .collect();
        let fresh = asked.clone().into_iter().map(|replica| async move { self.freshen(&replica).await });
        let mut fresh = futures_util::stream::iter(fresh).buffer_unordered(AT_ONCE);
        while let Some(done) = fresh.next().await {
            done?;
        }
        Ok(asked.iter().filter_map(|replica| held(replica)).collect())
    }

    /// Where other servers say that the buyer holds something.
    async fn hinted(&self, tenant: Tenant, buyer: &BuyerId) -> Result<BTreeSet<ListingId>, EngineError> {
        let key = self.across.user_locks(tenant, buyer);
        let mut command = redis::cmd("ZRANGEBYSCORE");
        command.arg(&key).arg(self.clock.now()).arg("+inf");
        // Without its cache a server knows what its replicas have heard.
        let Some(cache) = self.cache() else { return Ok(BTreeSet::new()) };
        let told = tokio::time::timeout(FRESH, cache.at(&key, &command)).await;
        let told = told.map_err(|_| EngineError::Unavailable("no hint in time".to_owned()))??;
        let ids = Vec::<String>::from_redis_value(told).unwrap_or_default();
        let listings: BTreeSet<ListingId> = ids.iter().filter_map(|id| ListingId::parse(id)).collect();
        for listing in &listings {
            // One that was made a moment ago on another server.
            let _ = self.look_up(*listing).await;
        }
        Ok(listings)
    }

    async fn look_up_living(&self, listing: ListingId) -> Result<Arc<Replica>, EngineError> {
        let found = self.look_up(listing).await?.filter(|replica| !replica.is_deleted());
        found.ok_or(EngineError::UnknownListing)
    }

    pub(super) async fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> Result<FactPage, EngineError> {
        let replica = self.look_up_living(listing).await?;
        self.freshen(&replica).await?;
        let position = self.check(&replica, after).await?;
        let mut page = FactPage { steps: Vec::new(), position };
        let mut found = 0;
        let mut at = after;
        while found < limit && at.offset < position.offset {
            let read = self.page(listing, at, limit - found).await?;
            for step in read.steps {
                if found >= limit || step.last() > position.offset {
                    return Ok(page);
                }
                found += step.facts.len();
                at = Position { epoch: step.epoch, offset: step.last() };
                page.steps.push(step);
            }
            if !read.more {
                break;
            }
        }
        Ok(page)
    }

    pub(super) async fn follow(
        self: &Arc<Self>,
        listing: ListingId,
        after: Position,
    ) -> Result<Follower, EngineError> {
        let replica = self.look_up_living(listing).await?;
        self.freshen(&replica).await?;
        let epoch = self.check(&replica, after).await?.epoch;
        let moved = replica.subscribe();
        let following = replica.follow();
        Ok(Follower::of(Box::new(Steps { inner: self.clone(), following, moved, epoch, at: after })))
    }
}

/// A follower: kept steps if it is close behind, else the stream, and never more than the replica has seen.
struct Steps {
    inner: Arc<Inner>,
    following: Following,
    moved: watch::Receiver<Position>,
    /// The epoch under which the position was found in the log.
    epoch: u64,
    at: Position,
}

impl Steps {
    async fn ready(&mut self) -> Result<Vec<Arc<Step>>, EngineError> {
        let replica = &self.following.replica;
        loop {
            let now = *self.moved.borrow_and_update();
            if now.epoch != self.epoch || now.offset < self.at.offset {
                // The log goes on under another epoch; what this reader has seen may have been lost.
                self.epoch = self.inner.check(replica, self.at).await?.epoch;
            }
            if now.offset > self.at.offset {
                if let Some(steps) = replica.recent_after(self.at.offset, FOLLOW_STEPS_MAX) {
                    return Ok(steps);
                }
                let page = self.inner.page(replica.id, self.at, FOLLOW_STEPS_MAX).await?;
                let seen = page.steps.into_iter().take_while(|step| step.last() <= now.offset);
                let steps: Vec<_> = seen.collect();
                // The replica is ahead of the stream: it was cut behind our back.
                return if steps.is_empty() { Err(EngineError::Reload(now)) } else { Ok(steps) };
            }
            tokio::select! {
                () = self.inner.stop.cancelled() => return Err(EngineError::Stopping),
                // The sender lives in our own replica.
                _ = self.moved.changed() => {}
            }
        }
    }
}

impl Tail for Steps {
    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Arc<Step>>, EngineError>> {
        Box::pin(async move {
            let steps = self.ready().await?;
            if let Some(last) = steps.last() {
                self.at = Position { epoch: last.epoch, offset: last.last() };
            }
            Ok(steps)
        })
    }
}

//! One engine for many tables: each of them speaks of the same few listings and keys, and gets listings and keys of its own.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use onsale_domain::listing::Key;
use onsale_domain::{BuyerId, Found, ListingId, ListingKind, Millis, Query, Tenant};
use onsale_engine::contract::Harness;
use onsale_engine::embedded::EmbeddedEngine;
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, HeldAt, MovedListings, Position, Request,
    View,
};

/// No table has as many listings.
const LISTINGS_PER_TABLE: u64 = 1_000;

pub(crate) struct Renumbered {
    pub engine: Arc<EmbeddedEngine>,
    pub clock: Arc<ManualClock>,
    pub table: u64,
}

impl Renumbered {
    fn own(&self, listing: ListingId) -> ListingId {
        ListingId { number: listing.number + self.table * LISTINGS_PER_TABLE, ..listing }
    }
}

impl Engine for Renumbered {
    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        let listing = self.own(request.listing);
        let key = request.key.map(|key| Key { scope: key.scope ^ u128::from(self.table), ..key });
        self.engine.submit(Request { listing, key, ..request })
    }

    fn view(&self, listing: &ListingId) -> Option<Arc<View>> {
        self.engine.view(&self.own(*listing))
    }

    fn listings(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        self.engine.listings(tenant, kind, after, limit)
    }

    fn ask(&self, listing: ListingId, query: Query) -> BoxFuture<'static, Result<Found, EngineError>> {
        self.engine.ask(self.own(listing), query)
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        self.engine.holds_of(tenant, buyer)
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        self.engine.facts_after(self.own(listing), after, limit)
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        self.engine.follow(self.own(listing), after)
    }

    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings {
        self.engine.moved(kinds)
    }

    fn now(&self) -> Millis {
        self.engine.now()
    }

    fn status(&self) -> EngineStatus {
        self.engine.status()
    }
}

impl Harness for Renumbered {
    fn engine(&self) -> &dyn Engine {
        self
    }

    fn set_clock(&self, now: Millis) {
        self.clock.set(now);
    }

    /// What is written once is not read back in between.
    fn restart(&mut self) {}
}

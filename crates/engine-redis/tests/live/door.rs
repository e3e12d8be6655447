//! The port entered from a thread without a runtime, as the contract does it: futures are polled inside the engine's.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::future::BoxFuture;
use onsale_domain::{BuyerId, ListingId, ListingKind, Millis, Step, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::engine::Tail;
use onsale_engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, HeldAt, MovedListings, Position, Request,
    View,
};
use onsale_engine_redis::RedisEngine;
use tokio::runtime::Handle;

#[derive(Clone)]
pub(crate) struct Door {
    pub engine: RedisEngine,
    pub handle: Handle,
}

struct Inside<'a, T> {
    handle: Handle,
    future: BoxFuture<'a, T>,
}

impl<T> Future for Inside<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let handle = self.handle.clone();
        let _inside = handle.enter();
        self.future.as_mut().poll(context)
    }
}

impl Door {
    fn inside<'a, T: 'a>(&self, future: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
        Box::pin(Inside { handle: self.handle.clone(), future })
    }
}

struct Steps {
    handle: Handle,
    follower: Follower,
}

impl Tail for Steps {
    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Arc<Step>>, EngineError>> {
        let handle = self.handle.clone();
        Box::pin(Inside { handle, future: Box::pin(self.follower.next()) })
    }
}

impl Engine for Door {
    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        self.inside(self.engine.submit(request))
    }

    fn view(&self, listing: &ListingId) -> Option<Arc<View>> {
        self.engine.view(listing)
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
        self.inside(self.engine.ask(listing, query))
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        self.inside(self.engine.holds_of(tenant, buyer))
    }

    fn lease(&self, listing: ListingId) -> BoxFuture<'static, Result<bool, EngineError>> {
        self.inside(self.engine.lease(listing))
    }

    fn give_back_lease(&self, listing: ListingId) -> BoxFuture<'static, Result<(), EngineError>> {
        self.inside(self.engine.give_back_lease(listing))
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        self.inside(self.engine.facts_after(listing, after, limit))
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        let (handle, follow) = (self.handle.clone(), self.engine.follow(listing, after));
        let followed = async move {
            let follower = follow.await?;
            Ok(Follower::of(Box::new(Steps { handle, follower })))
        };
        self.inside(Box::pin(followed))
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

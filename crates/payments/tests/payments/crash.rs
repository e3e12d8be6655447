//! Dying at a chosen point: the n-th call to the engine or the provider is never made, or made and never heard of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures_util::future::{BoxFuture, FutureExt, ready};
use http::HeaderMap;
use onsale_domain::desk::Webhook;
use onsale_domain::{BuyerId, ListingId, ListingKind, Millis, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, HeldAt, MovedListings, Position, Request,
    View,
};
use onsale_payments::provider::{Charge, GiveBack, LookUp, Provider, WebhookError};
use onsale_payments::{ProviderAnswer, ProviderError};

use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The call is never made.
    Before,
    /// The call is made, and nobody hears the answer.
    After,
}

/// The one moment at which everything ends; shared by the engine and the provider.
pub(crate) struct Fate {
    left: AtomicU32,
    mode: Mode,
    dead: AtomicBool,
    leads: AtomicBool,
}

impl Fate {
    pub(crate) fn new(calls: u32, mode: Mode) -> Arc<Fate> {
        let (dead, leads) = (AtomicBool::new(false), AtomicBool::new(true));
        Arc::new(Fate { left: AtomicU32::new(calls), mode, dead, leads })
    }

    /// Gives the lease, or takes it away.
    pub(crate) fn lead(&self, leads: bool) {
        self.leads.store(leads, Ordering::SeqCst);
    }

    pub(crate) fn came(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// Whether the call is made, and whether its answer is heard.
    fn call(&self) -> (bool, bool) {
        if self.came() {
            return (false, false);
        }
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() {
            return (true, true);
        }
        self.dead.store(true, Ordering::SeqCst);
        (self.mode == Mode::After, false)
    }
}

/// Runs a scenario with a death after every number of calls, in both ways, and goes on after each.
pub(crate) fn at_every_point(name: &str, begin: impl Fn(&mut World), check: impl Fn(&World)) {
    at_every_point_and_then(name, begin, |_| {}, check);
}

/// The same, with something that happens in the world once all is up again.
pub(crate) fn at_every_point_and_then(
    name: &str,
    begin: impl Fn(&mut World),
    then: impl Fn(&mut World),
    check: impl Fn(&World),
) {
    for mode in [Mode::Before, Mode::After] {
        let mut points = 0;
        loop {
            let mut world = World::new();
            begin(&mut world);
            let crashed = world.run_until_crash(points, mode);
            world.reboot(u64::from(points));
            then(&mut world);
            world.until_quiet();
            world.check();
            check(&world);
            if !crashed {
                break;
            }
            points += 1;
        }
        assert!(points >= 8, "{name}: only {points} points to die at");
    }
}

pub(crate) struct Mortal<T: ?Sized> {
    pub fate: Arc<Fate>,
    pub inner: Arc<T>,
}

impl<T: ?Sized> Mortal<T> {
    fn call<O: Send + 'static, E: Send + 'static>(
        &self,
        make: impl FnOnce(&T) -> BoxFuture<'static, Result<O, E>>,
        end: E,
    ) -> BoxFuture<'static, Result<O, E>> {
        match self.fate.call() {
            (true, true) => make(&self.inner),
            (true, false) => {
                let made = make(&self.inner);
                async move {
                    let _ = made.await;
                    Err(end)
                }
                .boxed()
            }
            (false, _) => ready(Err(end)).boxed(),
        }
    }
}

impl Engine for Mortal<dyn Engine> {
    fn lease(&self, _listing: ListingId) -> BoxFuture<'static, Result<bool, EngineError>> {
        ready(Ok(self.fate.leads.load(Ordering::SeqCst))).boxed()
    }

    fn submit(&self, request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        self.call(|engine| engine.submit(request), EngineError::Stopping)
    }

    fn view(&self, listing: &ListingId) -> Option<Arc<View>> {
        self.inner.view(listing)
    }

    fn listings(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        self.inner.listings(tenant, kind, after, limit)
    }

    fn ask(&self, listing: ListingId, query: Query) -> BoxFuture<'static, Result<Found, EngineError>> {
        self.call(|engine| engine.ask(listing, query), EngineError::Stopping)
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        self.inner.holds_of(tenant, buyer)
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        self.inner.facts_after(listing, after, limit)
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        self.inner.follow(listing, after)
    }

    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings {
        self.inner.moved(kinds)
    }

    fn now(&self) -> Millis {
        self.inner.now()
    }

    fn status(&self) -> EngineStatus {
        self.inner.status()
    }
}

fn gone() -> ProviderError {
    ProviderError("the process is dead".to_owned())
}

impl Provider for Mortal<dyn Provider> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn charge(&self, ask: Charge) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>> {
        self.call(|provider| provider.charge(ask), gone())
    }

    fn refund(&self, ask: GiveBack) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>> {
        self.call(|provider| provider.refund(ask), gone())
    }

    fn look_up(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>> {
        self.call(|provider| provider.look_up(ask), gone())
    }

    fn call_off(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>> {
        self.call(|provider| provider.call_off(ask), gone())
    }

    fn read_webhook(&self, headers: &HeaderMap, body: &[u8], now: Millis) -> Result<Webhook, WebhookError> {
        self.inner.read_webhook(headers, body, now)
    }

    /// A server that dies with a webhook in hand has lost it.
    fn pushed(&self, now: Millis) -> Vec<Webhook> {
        self.inner.pushed(now)
    }
}

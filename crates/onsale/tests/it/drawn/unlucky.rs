//! An engine that is told numbers which are taken: it puts the one that was granted last in the place of the one that the
//! edge has drawn. What comes of that, the engine inside decides.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use onsale_domain::auction::AuctionCommand;
use onsale_domain::order::OrderCommand;
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::seats::EventCommand;
use onsale_domain::series::SeriesCommand;
use onsale_domain::stock::SaleCommand;
use onsale_domain::venue::VenueCommand;
use onsale_domain::{BuyerId, Command, Found, ListingId, ListingKind, Millis, Query, Tenant};
use onsale_engine::{
    Answer, Engine, EngineError, EngineStatus, FactPage, Follower, FoundAt, HeldAt, Log, MovedListings,
    Position, Request, View,
};

pub(crate) struct Unlucky<E> {
    engine: E,
    /// How many numbers more are drawn badly.
    bad: AtomicU32,
    /// By what the number is of, and where.
    granted: Arc<Granted>,
    made: Arc<Made>,
}

type Granted = Mutex<BTreeMap<(ListingId, &'static str), u64>>;

/// The listing of each kind that was made last.
type Made = Mutex<BTreeMap<ListingKind, ListingId>>;

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E> Unlucky<E> {
    pub(crate) fn new(engine: E) -> Unlucky<E> {
        Unlucky { engine, bad: AtomicU32::new(0), granted: Arc::default(), made: Arc::default() }
    }

    pub(crate) fn draw_badly(&self, times: u32) {
        self.bad.store(times, Ordering::SeqCst);
    }

    /// Whether this draw is to be a bad one.
    fn is_bad(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.bad.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }

    pub(crate) fn bad_draws_left(&self) -> u32 {
        self.bad.load(Ordering::SeqCst)
    }
}

/// What a command makes, and the number that the edge has drawn for it.
fn drawn(command: &mut Command) -> Option<(&'static str, &mut u64)> {
    if let Command::Event(EventCommand::PlaceHold(place)) = command {
        Some(("hold", &mut place.hold.0))
    } else if let Command::Event(EventCommand::JoinQueue(join)) = command {
        Some(("hold", &mut join.place.0))
    } else if let Command::Event(EventCommand::ConfirmHold(confirm)) = command {
        Some(("order", &mut confirm.order.0))
    } else if let Command::Sale(SaleCommand::Checkout(checkout)) = command {
        Some(("checkout", &mut checkout.checkout.0))
    } else if let Command::Sale(SaleCommand::Purchase(purchase)) = command {
        Some(("order", &mut purchase.order.0))
    } else if let Command::Registration(RegistrationCommand::Register(register)) = command {
        Some(("entry", &mut register.entry.0))
    } else if let Command::Registration(RegistrationCommand::Confirm(confirm)) = command {
        Some(("order", &mut confirm.order.0))
    } else if let Command::Order(OrderCommand::Place(place)) = command {
        Some(("order", &mut place.order.0))
    } else if let Command::Order(OrderCommand::Pay(pay)) = command {
        Some(("payment", &mut pay.payment.0))
    } else {
        None
    }
}

fn makes_listing(command: &Command) -> bool {
    matches!(
        command,
        Command::Venue(VenueCommand::CreateVenue(_))
            | Command::Event(EventCommand::CreateEvent(_))
            | Command::Sale(SaleCommand::Create(_))
            | Command::Series(SeriesCommand::Create(_))
            | Command::Registration(RegistrationCommand::Create(_))
            | Command::Auction(AuctionCommand::CreateAuction(_))
    )
}

impl<E: Engine> Engine for Unlucky<E> {
    fn submit(&self, mut request: Request) -> BoxFuture<'static, Result<Answer, EngineError>> {
        let makes_listing = makes_listing(&request.command);
        // Under a key nothing is drawn.
        if makes_listing && request.key.is_none() {
            let taken = lock(&self.made).get(&request.listing.kind).copied();
            if let Some(taken) = taken
                && self.is_bad()
            {
                request.listing = taken;
            }
        }
        let listing = request.listing;
        let made = drawn(&mut request.command).map(|(what, number)| {
            let taken = lock(&self.granted).get(&(listing, what)).copied();
            if let Some(taken) = taken
                && self.is_bad()
            {
                *number = taken;
            }
            (what, *number)
        });
        let (decided, granted) = (self.engine.submit(request), self.granted.clone());
        let listings = self.made.clone();
        Box::pin(async move {
            let answer = decided.await?;
            if makes_listing && answer.outcome.refused().is_none() {
                lock(&listings).insert(listing.kind, listing);
            }
            if let Some((what, number)) = made
                && answer.outcome.refused().is_none()
            {
                lock(&granted).insert((listing, what), number);
            }
            Ok(answer)
        })
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
        self.engine.ask(listing, query)
    }

    fn holds_of(
        &self,
        tenant: Tenant,
        buyer: BuyerId,
    ) -> BoxFuture<'static, Result<Vec<HeldAt>, EngineError>> {
        self.engine.holds_of(tenant, buyer)
    }

    fn lease(&self, listing: ListingId) -> BoxFuture<'static, Result<bool, EngineError>> {
        self.engine.lease(listing)
    }

    fn give_back_lease(&self, listing: ListingId) -> BoxFuture<'static, Result<(), EngineError>> {
        self.engine.give_back_lease(listing)
    }

    fn ask_all(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        query: Query,
    ) -> BoxFuture<'static, Result<Vec<FoundAt>, EngineError>> {
        self.engine.ask_all(tenant, kind, query)
    }

    fn facts_after(
        &self,
        listing: ListingId,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'static, Result<FactPage, EngineError>> {
        self.engine.facts_after(listing, after, limit)
    }

    fn follow(
        &self,
        listing: ListingId,
        after: Position,
    ) -> BoxFuture<'static, Result<Follower, EngineError>> {
        self.engine.follow(listing, after)
    }

    fn moved(&self, kinds: &'static [ListingKind]) -> MovedListings {
        self.engine.moved(kinds)
    }

    fn log(&self) -> Option<Arc<dyn Log>> {
        self.engine.log()
    }

    fn look_up(&self, listing: ListingId) -> BoxFuture<'static, Result<(), EngineError>> {
        self.engine.look_up(listing)
    }

    fn is_stale(&self, listing: Option<&ListingId>) -> bool {
        self.engine.is_stale(listing)
    }

    fn now(&self) -> Millis {
        self.engine.now()
    }

    fn status(&self) -> EngineStatus {
        self.engine.status()
    }
}

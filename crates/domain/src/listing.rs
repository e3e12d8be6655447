//! One listing: its position, its time and the state of its kind. `execute` is the only way a command becomes facts,
//! `apply` the only way a fact changes the state; recovery and live decisions share it.

use std::sync::Arc;

mod image;

pub use image::Parts;

use crate::attempts::Attempts;
use crate::auction::{Auction, AuctionCommand, AuctionView};
use crate::command::Command;
use crate::desk::{Desk, DeskCommand, DeskFact, DeskView};
use crate::fact::Fact;
use crate::id::{ListingId, ListingKind};
use crate::order::Orders;
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::registration::{Registration, RegistrationCommand, RegistrationView};
use crate::seats::{Found, Query, Seats, SeatsView};
use crate::series::{Series, SeriesCommand};
use crate::stock::{Sale, SaleCommand, SaleView};
use crate::time::Millis;
use crate::venue::Venue;

/// Offsets share a fence with the epoch: `epoch · 2^40 + offset`, below 2^53 while the epoch is below 8192.
pub const FENCE_EPOCH_SHIFT: u32 = 40;

#[derive(Clone, Debug)]
pub struct Listing {
    pub id: ListingId,
    pub epoch: u64,
    /// The number of the last fact; 0 before the first.
    pub offset: u64,
    /// The time of the last fact; the listing's time never runs backwards past it.
    pub last_at: Millis,
    pub body: Body,
    /// The orders that pay for what is here; none before the first.
    pub(crate) orders: Option<Box<Orders>>,
    /// Refused attempts, since this copy of the listing was made: no part of its state.
    attempts: Option<Box<Attempts>>,
}

#[derive(Clone, Debug)]
pub enum Body {
    /// Nothing has happened yet: the listing does not exist for anybody.
    Nothing,
    Venue(Arc<Venue>),
    Event(Box<Seats>),
    Sale(Box<Sale>),
    Series(Arc<Series>),
    Registration(Box<Registration>),
    Auction(Box<Auction>),
    Desk(Box<Desk>),
}

/// What readers see of a listing: immutable, and taken without asking the writer.
#[derive(Clone, Debug)]
pub enum BodyView {
    Venue(Arc<Venue>),
    Event(SeatsView),
    Sale(SaleView),
    Series(Arc<Series>),
    Registration(RegistrationView),
    Auction(AuctionView),
    Desk(DeskView),
}

/// The facts of one decision, as they stand in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub listing: ListingId,
    pub epoch: u64,
    /// The offset of the first fact.
    pub first: u64,
    pub at: Millis,
    /// Under which idempotency key the decision was asked for; only if it was a yes.
    pub key: Option<Key>,
    pub facts: Vec<Fact>,
}

/// An idempotency key as the log knows it: hashes made at the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Tenant, principal, listing, verb and the caller's key, hashed.
    pub scope: u128,
    /// The decoded command, hashed: the first 128 bits of its SHA-256.
    pub fingerprint: u128,
}

impl Step {
    pub fn last(&self) -> u64 {
        self.first + self.facts.len() as u64 - 1
    }

    /// Facts with their offsets.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, &Fact)> {
        self.facts.iter().enumerate().map(|(n, fact)| (self.first + n as u64, fact))
    }

    /// The fencing token of a hold granted by the fact at `offset`.
    pub fn fence(&self, offset: u64) -> u64 {
        fence(self.epoch, offset)
    }
}

pub fn fence(epoch: u64, offset: u64) -> u64 {
    epoch << FENCE_EPOCH_SHIFT | offset
}

/// The epoch and the offset of the fact that granted a fence.
pub fn split_fence(fence: u64) -> (u64, u64) {
    (fence >> FENCE_EPOCH_SHIFT, fence & ((1 << FENCE_EPOCH_SHIFT) - 1))
}

impl Listing {
    pub fn new(id: ListingId, epoch: u64) -> Listing {
        Listing { id, epoch, offset: 0, last_at: 0, body: Body::Nothing, orders: None, attempts: None }
    }

    pub fn exists(&self) -> bool {
        self.offset > 0
    }

    /// Decides a command at the clock's time, applies what follows and appends the facts to `facts`.
    pub fn execute(&mut self, command: &Command, clock: Millis, facts: &mut Vec<Fact>) -> Outcome {
        let now = clock.max(self.last_at);
        let before = facts.len();
        let answer = self.decide_and_apply(command, now, facts);
        if self.orders.is_some() {
            crate::order::owe(self, before, now, facts);
        }
        match answer {
            Ok(outcome) => outcome,
            Err(refusal) => {
                if let Some(buyer) = command.attempt_by().filter(|_| self.exists()) {
                    let attempts = self.attempts.get_or_insert_default();
                    attempts.note(now, buyer, command.verb(), &refusal);
                }
                Outcome::Refused(Box::new(refusal))
            }
        }
    }

    /// Far memory that a command will need when so many others came before it; only for what comes thousands of times a
    /// second. See [`Recall::far`](crate::recall::Recall::far).
    pub fn far(&self, command: &Command, before: usize) -> [Option<&u32>; 2] {
        match &self.body {
            Body::Event(seats) => seats.far(command, before),
            Body::Sale(sale) => sale.far(command, before),
            Body::Nothing
            | Body::Venue(_)
            | Body::Series(_)
            | Body::Registration(_)
            | Body::Auction(_)
            | Body::Desk(_) => [None; 2],
        }
    }

    /// Attempts that were refused, if there were any.
    pub fn attempts(&self) -> Option<&Attempts> {
        self.attempts.as_deref()
    }

    fn decide_and_apply(
        &mut self,
        command: &Command,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<Outcome, Refusal> {
        match (&mut self.body, command) {
            (Body::Nothing, Command::CreateVenue(create)) if self.id.kind == ListingKind::Venue => {
                let created = Venue::create(&create.name, &create.place, &create.layout)?;
                self.apply_all(created, now, facts);
                Ok(Outcome::Done)
            }
            (Body::Nothing, Command::CreateEvent(create)) if self.id.kind == ListingKind::Event => {
                let created = Seats::create(create)?;
                self.apply_all(created, now, facts);
                Ok(Outcome::Done)
            }
            (Body::Nothing, Command::Sale(SaleCommand::Create(create)))
                if self.id.kind == ListingKind::Sale =>
            {
                let created = Sale::create(create, now)?;
                self.apply_all(created.into_iter().map(Fact::Sale), now, facts);
                Ok(Outcome::Done)
            }
            (Body::Nothing, Command::Series(SeriesCommand::Create(create)))
                if self.id.kind == ListingKind::Series =>
            {
                let created = Series::create(create)?;
                self.apply_all(created.into_iter().map(Fact::Series), now, facts);
                Ok(Outcome::Done)
            }
            (Body::Nothing, Command::Registration(RegistrationCommand::Create(create)))
                if self.id.kind == ListingKind::Registration =>
            {
                let created = Registration::create(create, now)?;
                self.apply_all(created.into_iter().map(Fact::Registration), now, facts);
                Ok(Outcome::Done)
            }
            (Body::Nothing, Command::Auction(AuctionCommand::CreateAuction(details)))
                if self.id.kind == ListingKind::Auction =>
            {
                let created = Auction::create(details, now)?;
                self.apply_all([Fact::Auction(created)], now, facts);
                Ok(Outcome::Done)
            }
            (Body::Nothing, Command::Desk(DeskCommand::Open)) if self.id.kind == ListingKind::Desk => {
                self.apply_all([Fact::Desk(DeskFact::Opened)], now, facts);
                Ok(Outcome::Done)
            }
            (Body::Nothing, _) => Err(Refusal::of(Code::ListingUnknown)),
            (_, command) if command.creates() => Err(Refusal::of(Code::ListingExists)),
            (Body::Venue(venue), _) => {
                let fact = venue.decide(command)?;
                self.apply_all([fact], now, facts);
                Ok(Outcome::Done)
            }
            (
                Body::Event(_) | Body::Sale(_) | Body::Registration(_) | Body::Auction(_),
                Command::Order(command),
            ) => crate::order::execute(self, command, now, facts),
            (Body::Auction(_), Command::Auction(AuctionCommand::RefundAward(command))) => {
                crate::order::refund_award(self, command, now, facts)
            }
            (Body::Event(_), _) => {
                crate::order::guard(self, command, now)?;
                crate::seats::execute(self, command, now, facts)
            }
            (
                Body::Sale(_) | Body::Series(_) | Body::Registration(_) | Body::Auction(_) | Body::Desk(_),
                _,
            ) => {
                crate::order::guard(self, command, now)?;
                self.nested(command, now, facts)
            }
        }
    }

    /// Kinds whose commands and facts are nested apply their own facts; here they are only counted.
    pub(crate) fn nested(
        &mut self,
        command: &Command,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<Outcome, Refusal> {
        let (before, fence) = (facts.len(), fence(self.epoch, self.offset));
        let answer = match (&mut self.body, command) {
            (Body::Sale(sale), Command::Sale(command)) => sale.execute(command, now, fence, facts),
            (Body::Sale(sale), Command::ExpireDue { limit }) => {
                Ok(sale.expire_due(*limit, now, fence, facts))
            }
            (Body::Series(series), Command::Series(command)) => {
                Arc::make_mut(series).execute(command, now, facts)
            }
            (Body::Series(_), Command::ExpireDue { .. }) => Ok(Outcome::Unchanged),
            (Body::Registration(registration), Command::Registration(command)) => {
                registration.execute(command, now, fence, facts)
            }
            (Body::Registration(registration), Command::ExpireDue { limit }) => {
                Ok(registration.expire_due(*limit, now, fence, facts))
            }
            (Body::Auction(auction), Command::Auction(command)) => {
                auction.execute(command, now, &mut |fact| facts.push(Fact::Auction(fact)))
            }
            // Whatever is due in an auction is one thing or two: no limit could cut it.
            (Body::Auction(auction), Command::ExpireDue { .. }) => {
                auction.execute(&AuctionCommand::CloseDue, now, &mut |fact| facts.push(Fact::Auction(fact)))
            }
            (Body::Desk(desk), Command::Desk(command)) => desk.execute(command, now, fence, facts),
            (Body::Desk(_), Command::ExpireDue { .. }) => Ok(Outcome::Unchanged),
            (
                Body::Nothing
                | Body::Venue(_)
                | Body::Event(_)
                | Body::Sale(_)
                | Body::Series(_)
                | Body::Registration(_)
                | Body::Auction(_)
                | Body::Desk(_),
                _,
            ) => Err(Refusal::of(Code::WrongKind)),
        };
        self.count(before, now, facts);
        answer
    }

    /// Numbers facts that the body has applied itself, and tells the orders of them.
    pub(crate) fn count(&mut self, before: usize, now: Millis, facts: &[Fact]) {
        if facts.len() > before {
            self.offset += (facts.len() - before) as u64;
            self.last_at = now;
        }
        if let Some(orders) = &mut self.orders {
            facts[before..].iter().for_each(|fact| orders.follow(fact, now));
        }
    }

    pub(crate) fn apply_all(
        &mut self,
        all: impl IntoIterator<Item = Fact>,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) {
        for fact in all {
            self.apply(&fact, now);
            facts.push(fact);
        }
    }

    /// Takes the next fact into the state.
    pub fn apply(&mut self, fact: &Fact, at: Millis) {
        self.offset += 1;
        self.last_at = at;
        let fence = fence(self.epoch, self.offset);
        if let Fact::Order(fact) = fact {
            return self.apply_order(fact, fence, at);
        }
        if let Some(orders) = &mut self.orders {
            orders.follow(fact, at);
        }
        match (&mut self.body, fact) {
            (Body::Nothing, Fact::VenueCreated(created)) => {
                let (name, place) = (created.name.clone(), created.place.clone());
                self.body = Body::Venue(Arc::new(Venue { name, place, layouts: Vec::new() }));
            }
            (Body::Nothing, Fact::EventCreated(details)) => {
                self.body = Body::Event(Box::new(Seats::new((**details).clone())));
            }
            (Body::Nothing, _) => self.begin(fact),
            (Body::Venue(venue), _) => Arc::make_mut(venue).apply(fact),
            (Body::Event(seats), _) => seats.apply(fact, fence, at),
            (Body::Sale(sale), Fact::Sale(fact)) => sale.apply(fact, fence, at),
            (Body::Series(series), Fact::Series(fact)) => Arc::make_mut(series).apply(fact, at),
            (Body::Registration(registration), Fact::Registration(fact)) => {
                registration.apply(fact, fence, at);
            }
            (Body::Auction(auction), Fact::Auction(fact)) => auction.apply(fact, at),
            (Body::Desk(desk), Fact::Desk(fact)) => desk.apply(fact, fence, at),
            (
                Body::Sale(_) | Body::Series(_) | Body::Registration(_) | Body::Auction(_) | Body::Desk(_),
                _,
            ) => {
                panic!("fact {} cannot happen to {}", fact.kind(), self.id)
            }
        }
    }

    /// The first fact of a listing whose facts are nested.
    fn begin(&mut self, fact: &Fact) {
        let body = if let Fact::Sale(fact) = fact {
            Sale::begin(fact).map(|sale| Body::Sale(Box::new(sale)))
        } else if let Fact::Series(fact) = fact {
            Series::begin(self.id, fact).map(|series| Body::Series(Arc::new(series)))
        } else if let Fact::Registration(fact) = fact {
            Registration::begin(fact).map(|registration| Body::Registration(Box::new(registration)))
        } else if let Fact::Auction(fact) = fact {
            Auction::created_by(fact).map(|auction| Body::Auction(Box::new(auction)))
        } else if let Fact::Desk(DeskFact::Opened) = fact {
            Some(Body::Desk(Box::default()))
        } else {
            None
        };
        match body {
            Some(body) => self.body = body,
            None => panic!("fact {} of {} comes before the listing's first", fact.kind(), self.id),
        }
    }

    /// When something falls due that no command has touched.
    pub fn next_due(&self) -> Option<Millis> {
        match &self.body {
            Body::Nothing | Body::Venue(_) | Body::Series(_) | Body::Desk(_) => None,
            Body::Event(seats) => seats.next_due(),
            Body::Sale(sale) => sale.next_due(),
            Body::Registration(registration) => registration.next_due(),
            Body::Auction(auction) => auction.next_due(),
        }
    }

    pub fn view(&self) -> Option<BodyView> {
        match &self.body {
            Body::Nothing => None,
            Body::Venue(venue) => Some(BodyView::Venue(venue.clone())),
            Body::Event(seats) => Some(BodyView::Event(seats.view())),
            Body::Sale(sale) => Some(BodyView::Sale(sale.view())),
            Body::Series(series) => Some(BodyView::Series(series.clone())),
            Body::Registration(registration) => Some(BodyView::Registration(registration.view())),
            Body::Auction(auction) => Some(BodyView::Auction(auction.view())),
            Body::Desk(desk) => Some(BodyView::Desk(desk.view())),
        }
    }

    /// Answers a question about one buyer's things; changes nothing.
    pub fn ask(&self, query: &Query, clock: Millis) -> Found {
        let now = clock.max(self.last_at);
        if let Query::Orders(query) = query {
            return Found::Orders(self.ask_orders(query));
        }
        match (&self.body, query) {
            (Body::Nothing, _) => Found::Nothing,
            (_, Query::Attempts { from, limit }) => {
                let attempts = self.attempts.as_deref().map(|attempts| attempts.found(*from, *limit));
                Found::Attempts(Box::new(attempts.unwrap_or_default()))
            }
            (Body::Event(seats), query) => seats.ask(query, now),
            (Body::Sale(sale), Query::Sale(query)) => Found::Sale(sale.ask(query, now)),
            (Body::Registration(registration), Query::Registration(query)) => {
                Found::Registration(registration.ask(query, now))
            }
            (Body::Auction(auction), Query::Auction(query)) => Found::Auction(auction.ask(query)),
            (Body::Desk(desk), Query::Desk(query)) => Found::Desk(desk.ask(query)),
            (
                Body::Venue(_)
                | Body::Sale(_)
                | Body::Series(_)
                | Body::Registration(_)
                | Body::Auction(_)
                | Body::Desk(_),
                _,
            ) => Found::Nothing,
        }
    }

    /// Counts everything again and says what does not add up; for tests and `onsale verify`.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.check_orders()?;
        match &self.body {
            Body::Nothing | Body::Venue(_) | Body::Series(_) => Ok(()),
            Body::Event(seats) => crate::seats::check_invariants(seats),
            Body::Sale(sale) => crate::stock::check_invariants(sale),
            Body::Registration(registration) => crate::registration::check_invariants(registration),
            Body::Auction(auction) => crate::auction::check_invariants(auction),
            Body::Desk(desk) => desk.check_invariants(),
        }
    }

    pub fn seats(&self) -> Option<&Seats> {
        match &self.body {
            Body::Event(seats) => Some(seats),
            Body::Nothing
            | Body::Venue(_)
            | Body::Sale(_)
            | Body::Series(_)
            | Body::Registration(_)
            | Body::Auction(_)
            | Body::Desk(_) => None,
        }
    }

    pub fn sale(&self) -> Option<&Sale> {
        match &self.body {
            Body::Sale(sale) => Some(sale),
            Body::Nothing
            | Body::Venue(_)
            | Body::Event(_)
            | Body::Series(_)
            | Body::Registration(_)
            | Body::Auction(_)
            | Body::Desk(_) => None,
        }
    }

    pub fn series(&self) -> Option<&Series> {
        match &self.body {
            Body::Series(series) => Some(series),
            Body::Nothing
            | Body::Venue(_)
            | Body::Event(_)
            | Body::Sale(_)
            | Body::Registration(_)
            | Body::Auction(_)
            | Body::Desk(_) => None,
        }
    }

    pub fn auction(&self) -> Option<&Auction> {
        let Body::Auction(auction) = &self.body else { return None };
        Some(auction)
    }

    pub fn registration(&self) -> Option<&Registration> {
        match &self.body {
            Body::Registration(registration) => Some(registration),
            Body::Nothing
            | Body::Venue(_)
            | Body::Event(_)
            | Body::Sale(_)
            | Body::Series(_)
            | Body::Auction(_)
            | Body::Desk(_) => None,
        }
    }
}

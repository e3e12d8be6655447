//! One listing: its position, its time and the state of its kind. `execute` is the only way a command becomes facts,
//! `apply` the only way a fact changes the state; recovery and live decisions share it.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::attempts::Attempts;
use crate::command::Command;
use crate::fact::Fact;
use crate::id::{ListingId, ListingKind};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::registration::image::RegistrationImage;
use crate::registration::{Registration, RegistrationCommand, RegistrationView};
use crate::seats::image::SeatsImage;
use crate::seats::{Found, Query, Seats, SeatsView};
use crate::series::image::SeriesImage;
use crate::series::{Series, SeriesCommand};
use crate::stock::image::SaleImage;
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
}

#[derive(Encode, Decode)]
struct Image {
    #[n(0)]
    id: ListingId,
    #[n(1)]
    epoch: u64,
    #[n(2)]
    offset: u64,
    #[n(3)]
    last_at: Millis,
    #[n(4)]
    body: BodyImage,
}

#[derive(Encode, Decode)]
enum BodyImage {
    #[n(0)]
    Nothing,
    #[n(1)]
    Venue(#[n(0)] Box<Venue>),
    #[n(2)]
    Event(#[n(0)] Box<SeatsImage>),
    #[n(3)]
    Sale(#[n(0)] Box<SaleImage>),
    #[n(4)]
    Series(#[n(0)] Box<SeriesImage>),
    #[n(5)]
    Registration(#[n(0)] Box<RegistrationImage>),
}

/// The state of a listing's kind; see [`Listing::of_parts`].
#[derive(Clone, Debug)]
pub enum Parts {
    Venue(Venue),
    Event(Box<SeatsImage>),
    Sale(Box<SaleImage>),
    Series(Box<SeriesImage>),
    Registration(Box<RegistrationImage>),
}

/// What readers see of a listing: immutable, and taken without asking the writer.
#[derive(Clone, Debug)]
pub enum BodyView {
    Venue(Arc<Venue>),
    Event(SeatsView),
    Sale(SaleView),
    Series(Arc<Series>),
    Registration(RegistrationView),
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
        Listing { id, epoch, offset: 0, last_at: 0, body: Body::Nothing, attempts: None }
    }

    pub fn exists(&self) -> bool {
        self.offset > 0
    }

    /// Decides a command at the clock's time, applies what follows and appends the facts to `facts`.
    pub fn execute(&mut self, command: &Command, clock: Millis, facts: &mut Vec<Fact>) -> Outcome {
        let now = clock.max(self.last_at);
        match self.decide_and_apply(command, now, facts) {
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
            (Body::Nothing, _) => Err(Refusal::of(Code::ListingUnknown)),
            (_, command) if command.creates() => Err(Refusal::of(Code::ListingExists)),
            (Body::Venue(venue), _) => {
                let fact = venue.decide(command)?;
                self.apply_all([fact], now, facts);
                Ok(Outcome::Done)
            }
            (Body::Event(_), _) => crate::seats::execute(self, command, now, facts),
            (Body::Sale(_) | Body::Series(_) | Body::Registration(_), _) => self.nested(command, now, facts),
        }
    }

    /// Kinds whose commands and facts are nested apply their own facts; here they are only counted.
    fn nested(&mut self, command: &Command, now: Millis, facts: &mut Vec<Fact>) -> Result<Outcome, Refusal> {
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
            (
                Body::Nothing
                | Body::Venue(_)
                | Body::Event(_)
                | Body::Sale(_)
                | Body::Series(_)
                | Body::Registration(_),
                _,
            ) => Err(Refusal::of(Code::WrongKind)),
        };
        if facts.len() > before {
            self.offset += (facts.len() - before) as u64;
            self.last_at = now;
        }
        answer
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
            (Body::Sale(_) | Body::Series(_) | Body::Registration(_), _) => {
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
            Body::Nothing | Body::Venue(_) | Body::Series(_) => None,
            Body::Event(seats) => seats.next_due(),
            Body::Sale(sale) => sale.next_due(),
            Body::Registration(registration) => registration.next_due(),
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
        }
    }

    /// Answers a question about one buyer's things; changes nothing.
    pub fn ask(&self, query: &Query, clock: Millis) -> Found {
        let now = clock.max(self.last_at);
        match (&self.body, query) {
            (Body::Event(seats), query) => seats.ask(query, now),
            (Body::Sale(sale), Query::Sale(query)) => Found::Sale(sale.ask(query, now)),
            (Body::Registration(registration), Query::Registration(query)) => {
                Found::Registration(registration.ask(query, now))
            }
            (Body::Nothing | Body::Venue(_) | Body::Sale(_) | Body::Series(_) | Body::Registration(_), _) => {
                Found::Nothing
            }
        }
    }

    /// Counts everything again and says what does not add up; for tests and `onsale verify`.
    pub fn check_invariants(&self) -> Result<(), String> {
        match &self.body {
            Body::Nothing | Body::Venue(_) | Body::Series(_) => Ok(()),
            Body::Event(seats) => crate::seats::check_invariants(seats),
            Body::Sale(sale) => crate::stock::check_invariants(sale),
            Body::Registration(registration) => crate::registration::check_invariants(registration),
        }
    }

    /// The state as bytes, for a snapshot.
    pub fn image(&self) -> Vec<u8> {
        self.image_with(false)
    }

    /// The same bytes for the same state, however it came about: a restart shuffles what has no order.
    pub fn canonical_image(&self) -> Vec<u8> {
        self.image_with(true)
    }

    fn image_with(&self, sorted: bool) -> Vec<u8> {
        fn arranged<T>(mut image: T, sort: Option<fn(&mut T)>) -> Box<T> {
            if let Some(sort) = sort {
                sort(&mut image);
            }
            Box::new(image)
        }
        let body = match &self.body {
            Body::Nothing => BodyImage::Nothing,
            Body::Venue(venue) => BodyImage::Venue(Box::new((**venue).clone())),
            Body::Event(seats) => {
                BodyImage::Event(arranged(seats.image(), sorted.then_some(SeatsImage::sort)))
            }
            Body::Sale(sale) => BodyImage::Sale(arranged(sale.image(), sorted.then_some(SaleImage::sort))),
            Body::Series(series) => BodyImage::Series(Box::new(series.image())),
            Body::Registration(registration) => {
                let sort = sorted.then_some(RegistrationImage::sort as fn(&mut RegistrationImage));
                BodyImage::Registration(arranged(registration.image(), sort))
            }
        };
        let (id, epoch, offset, last_at) = (self.id, self.epoch, self.offset, self.last_at);
        match minicbor::to_vec(Image { id, epoch, offset, last_at, body }) {
            Ok(bytes) => bytes,
            Err(error) => panic!("writing into memory cannot fail: {error}"),
        }
    }

    pub fn from_image(bytes: &[u8]) -> Result<Listing, minicbor::decode::Error> {
        let Image { id, epoch, offset, last_at, body } = minicbor::decode(bytes)?;
        let body = match body {
            BodyImage::Nothing => Body::Nothing,
            BodyImage::Venue(venue) => Body::Venue(Arc::from(venue)),
            BodyImage::Event(image) => Body::Event(Box::new(Seats::from_image(*image))),
            BodyImage::Sale(image) => Body::Sale(Box::new(Sale::from_image(*image))),
            BodyImage::Series(image) => Body::Series(Arc::new(Series::from_image(id, *image))),
            BodyImage::Registration(image) => Body::Registration(Box::new(Registration::from_image(*image))),
        };
        Ok(Listing { id, epoch, offset, last_at, body, attempts: None })
    }

    /// A listing put together from its parts, for engines that keep them elsewhere.
    pub fn of_parts(id: ListingId, epoch: u64, offset: u64, last_at: Millis, parts: Parts) -> Listing {
        let body = match parts {
            Parts::Venue(venue) => Body::Venue(Arc::new(venue)),
            Parts::Event(image) => Body::Event(Box::new(Seats::from_image(*image))),
            Parts::Sale(image) => Body::Sale(Box::new(Sale::from_image(*image))),
            Parts::Series(image) => Body::Series(Arc::new(Series::from_image(id, *image))),
            Parts::Registration(image) => Body::Registration(Box::new(Registration::from_image(*image))),
        };
        Listing { id, epoch, offset, last_at, body, attempts: None }
    }

    pub fn seats(&self) -> Option<&Seats> {
        match &self.body {
            Body::Event(seats) => Some(seats),
            Body::Nothing | Body::Venue(_) | Body::Sale(_) | Body::Series(_) | Body::Registration(_) => None,
        }
    }

    pub fn sale(&self) -> Option<&Sale> {
        match &self.body {
            Body::Sale(sale) => Some(sale),
            Body::Nothing | Body::Venue(_) | Body::Event(_) | Body::Series(_) | Body::Registration(_) => None,
        }
    }

    pub fn series(&self) -> Option<&Series> {
        match &self.body {
            Body::Series(series) => Some(series),
            Body::Nothing | Body::Venue(_) | Body::Event(_) | Body::Sale(_) | Body::Registration(_) => None,
        }
    }

    pub fn registration(&self) -> Option<&Registration> {
        match &self.body {
            Body::Registration(registration) => Some(registration),
            Body::Nothing | Body::Venue(_) | Body::Event(_) | Body::Sale(_) | Body::Series(_) => None,
        }
    }
}

//! One listing: its position, its time and the state of its kind. `execute` is the only way a command becomes facts,
//! `apply` the only way a fact changes the state; recovery and live decisions share it.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::command::Command;
use crate::fact::Fact;
use crate::id::{ListingId, ListingKind};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::seats::image::SeatsImage;
use crate::seats::{Found, Query, Seats, SeatsView};
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
}

#[derive(Clone, Debug)]
pub enum Body {
    /// Nothing has happened yet: the listing does not exist for anybody.
    Nothing,
    Venue(Arc<Venue>),
    Event(Box<Seats>),
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
}

/// The state of a listing's kind; see [`Listing::of_parts`].
#[derive(Clone, Debug)]
pub enum Parts {
    Venue(Venue),
    Event(Box<SeatsImage>),
}

/// What readers see of a listing: immutable, and taken without asking the writer.
#[derive(Clone, Debug)]
pub enum BodyView {
    Venue(Arc<Venue>),
    Event(SeatsView),
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
        Listing { id, epoch, offset: 0, last_at: 0, body: Body::Nothing }
    }

    pub fn exists(&self) -> bool {
        self.offset > 0
    }

    /// Decides a command at the clock's time, applies what follows and appends the facts to `facts`.
    pub fn execute(&mut self, command: &Command, clock: Millis, facts: &mut Vec<Fact>) -> Outcome {
        let now = clock.max(self.last_at);
        match self.decide_and_apply(command, now, facts) {
            Ok(outcome) => outcome,
            Err(refusal) => Outcome::Refused(Box::new(refusal)),
        }
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
            (Body::Nothing, _) => Err(Refusal::of(Code::ListingUnknown)),
            (_, Command::CreateVenue(_) | Command::CreateEvent(_)) => Err(Refusal::of(Code::ListingExists)),
            (Body::Venue(venue), _) => {
                let fact = venue.decide(command)?;
                self.apply_all([fact], now, facts);
                Ok(Outcome::Done)
            }
            (Body::Event(_), _) => crate::seats::execute(self, command, now, facts),
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
        match (&mut self.body, fact) {
            (Body::Nothing, Fact::VenueCreated(created)) => {
                let (name, place) = (created.name.clone(), created.place.clone());
                self.body = Body::Venue(Arc::new(Venue { name, place, layouts: Vec::new() }));
            }
            (Body::Nothing, Fact::EventCreated(details)) => {
                self.body = Body::Event(Box::new(Seats::new((**details).clone())));
            }
            (Body::Nothing, _) => {
                panic!("fact {} of {} comes before the listing's first", fact.kind(), self.id)
            }
            (Body::Venue(venue), _) => Arc::make_mut(venue).apply(fact),
            (Body::Event(seats), _) => seats.apply(fact, fence, at),
        }
    }

    /// When something falls due that no command has touched.
    pub fn next_due(&self) -> Option<Millis> {
        match &self.body {
            Body::Nothing | Body::Venue(_) => None,
            Body::Event(seats) => seats.next_due(),
        }
    }

    pub fn view(&self) -> Option<BodyView> {
        match &self.body {
            Body::Nothing => None,
            Body::Venue(venue) => Some(BodyView::Venue(venue.clone())),
            Body::Event(seats) => Some(BodyView::Event(seats.view())),
        }
    }

    /// Answers a question about one buyer's things; changes nothing.
    pub fn ask(&self, query: &Query, clock: Millis) -> Found {
        match &self.body {
            Body::Nothing | Body::Venue(_) => Found::Nothing,
            Body::Event(seats) => seats.ask(query, clock.max(self.last_at)),
        }
    }

    /// Counts everything again and says what does not add up; for tests and `onsale verify`.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.seats().map_or(Ok(()), crate::seats::check_invariants)
    }

    /// The state as bytes, for a snapshot.
    pub fn image(&self) -> Vec<u8> {
        self.image_with(|_| {})
    }

    /// The same bytes for the same state, however it came about: a restart shuffles what has no order.
    pub fn canonical_image(&self) -> Vec<u8> {
        self.image_with(SeatsImage::sort)
    }

    fn image_with(&self, arrange: impl Fn(&mut SeatsImage)) -> Vec<u8> {
        let body = match &self.body {
            Body::Nothing => BodyImage::Nothing,
            Body::Venue(venue) => BodyImage::Venue(Box::new((**venue).clone())),
            Body::Event(seats) => {
                let mut image = seats.image();
                arrange(&mut image);
                BodyImage::Event(Box::new(image))
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
        };
        Ok(Listing { id, epoch, offset, last_at, body })
    }

    /// A listing put together from its parts, for engines that keep them elsewhere.
    pub fn of_parts(id: ListingId, epoch: u64, offset: u64, last_at: Millis, parts: Parts) -> Listing {
        let body = match parts {
            Parts::Venue(venue) => Body::Venue(Arc::new(venue)),
            Parts::Event(image) => Body::Event(Box::new(Seats::from_image(*image))),
        };
        Listing { id, epoch, offset, last_at, body }
    }

    pub fn seats(&self) -> Option<&Seats> {
        match &self.body {
            Body::Event(seats) => Some(seats),
            Body::Nothing | Body::Venue(_) => None,
        }
    }
}

//! Reads a journal's frames into listings and into the ledger, and notes everything that does not fit.

#[cfg(test)]
mod late;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use onsale_domain::event::EventStatus;
use onsale_domain::listing::Body;
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::venue::VenueFact;
use onsale_domain::{Fact, Listing, ListingId, ListingKind, OrderId};
use onsale_engine::embedded::entry::{self, Entry, ListingNumber, StepEntry};
use onsale_engine::embedded::shard::EPOCH;
use onsale_engine::journal::FramePosition;

use super::money::{Money, Sums};
use super::{auctions, registrations, stock};
use crate::cli::bidding::Book;
use crate::cli::entry_book::{self, EntryBook};
use crate::cli::ledger::{Ledger, Line, Totals};
use crate::cli::stock_book::{self, StockBook};

/// Told in full; the rest is only counted.
const PROBLEMS_TOLD: usize = 20;

/// Everything known from the frames so far.
#[derive(Default)]
pub struct Replay {
    pub steps: u64,
    pub facts: u64,
    pub by_kind: BTreeMap<&'static str, u64>,
    pub problems: Problems,
    keys: HashSet<u128>,
    listings: HashMap<ListingNumber, Kept>,
    /// What snapshots say of a listing at an offset.
    expected: HashMap<(ListingNumber, u64), Vec<Image>>,
    /// By snapshot: listings compared and found equal.
    pub equal: HashMap<usize, u64>,
}

/// A snapshot's number and the canonical image it has.
type Image = (usize, Vec<u8>);

struct Kept {
    listing: Listing,
    ledger: Ledger<u32, u16>,
    /// The same for an auction.
    book: Book,
    money: Money,
    stock: StockBook<u16>,
    entries: EntryBook,
    /// The ledger starts with the first fact; after a snapshot it has nothing to go by.
    booked: bool,
    broken: bool,
}

#[derive(Debug, Default)]
pub struct Problems {
    pub told: Vec<String>,
    pub count: u64,
}

impl Problems {
    pub fn add(&mut self, problem: String) {
        self.count += 1;
        if self.told.len() < PROBLEMS_TOLD {
            self.told.push(problem);
        }
    }
}

impl Replay {
    /// Takes what a snapshot says, to be compared when the journal comes to the same offset.
    pub fn expect(&mut self, snapshot: usize, number: ListingNumber, listing: &Listing) {
        let images = self.expected.entry((number, listing.offset)).or_default();
        images.push((snapshot, listing.canonical_image()));
        self.equal.entry(snapshot).or_default();
    }

    /// Starts from a snapshot's listing where the journal's beginning is gone.
    pub fn start_from(&mut self, number: ListingNumber, listing: Listing) {
        self.listings.insert(number, Kept::new(listing, false));
    }

    pub fn frame(&mut self, position: FramePosition, payload: &[u8]) {
        for entry in entry::read(payload) {
            match entry {
                Err(error) => self.problems.add(format!("frame {}: {error}", position.sequence)),
                Ok(Entry::Opened { number, listing }) => {
                    let kept = Kept::new(Listing::new(listing, EPOCH), true);
                    self.listings.entry(number).or_insert(kept);
                }
                Ok(Entry::Step(step)) => self.step(position.sequence, &step),
            }
        }
    }

    fn step(&mut self, frame: u64, step: &StepEntry<'_>) {
        self.steps += 1;
        if let Some(key) = step.key {
            self.keys.insert(key.scope);
        }
        let Some(kept) = self.listings.get_mut(&step.number) else {
            let number = step.number;
            return self
                .problems
                .add(format!("frame {frame} names listing {number}, which was never opened"));
        };
        if kept.broken || step.last() <= kept.listing.offset {
            return;
        }
        let expected = kept.listing.offset + 1;
        if step.first != expected {
            let (listing, first) = (kept.listing.id, step.first);
            kept.broken = true;
            return self
                .problems
                .add(format!("frame {frame} has fact {first} of {listing} where {expected} should follow"));
        }
        if step.at < kept.listing.last_at {
            let listing = kept.listing.id;
            self.problems.add(format!("frame {frame}: the time of {listing} runs backwards"));
        }
        for fact in step.decode_facts() {
            let told = match fact {
                Err(error) => Err(error.to_string()),
                Ok(fact) => {
                    self.facts += 1;
                    *self.by_kind.entry(fact.kind()).or_default() += 1;
                    kept.take(&fact, step.at)
                }
            };
            if let Err(why) = told {
                kept.broken = true;
                let (listing, offset) = (kept.listing.id, kept.listing.offset);
                self.problems.add(format!("fact {offset} of {listing}, in frame {frame}: {why}"));
                return;
            }
        }
        if let Err(why) = kept.money.check() {
            self.problems.add(format!("{} after frame {frame}: {why}", kept.listing.id));
        }
        self.compare(step.number);
    }

    fn compare(&mut self, number: ListingNumber) {
        if self.expected.is_empty() {
            return;
        }
        let Some(kept) = self.listings.get(&number) else { return };
        let Some(images) = self.expected.remove(&(number, kept.listing.offset)) else { return };
        let own = kept.listing.canonical_image();
        for (snapshot, image) in images {
            if image == own {
                *self.equal.entry(snapshot).or_default() += 1;
            }
        }
    }

    /// What must be true at the end, whatever the way there.
    pub fn finish(&mut self) {
        for kept in self.listings.values().filter(|kept| !kept.broken) {
            if let Err(why) = kept.agrees() {
                self.problems.add(format!("{} at its end: {why}", kept.listing.id));
            }
        }
    }

    pub fn keys(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Money of every listing's orders, by currency.
    pub fn money(&self) -> impl Iterator<Item = (&str, Sums)> {
        self.listings.values().filter(|kept| kept.booked).flat_map(|kept| kept.money.sums())
    }

    /// Accepted bids of all auctions, as far as they were read from their first fact.
    pub fn bids(&self) -> u64 {
        self.listings.values().map(|kept| kept.book.bids()).sum()
    }

    /// The books of all registrations, as far as they were read from their first fact.
    pub fn registrations(&self) -> impl Iterator<Item = entry_book::Totals> {
        let is_one = |kept: &&Kept| kept.booked && kept.listing.id.kind == ListingKind::Registration;
        self.listings.values().filter(is_one).map(|kept| kept.entries.totals())
    }

    pub fn listings(&self) -> impl Iterator<Item = (ListingId, Option<Totals>, Option<stock_book::Totals>)> {
        let totals = |kept: &Kept| kept.booked.then(|| kept.ledger.totals());
        let stock = |kept: &Kept| kept.booked.then(|| kept.stock.totals());
        self.listings.values().map(move |kept| (kept.listing.id, totals(kept), stock(kept)))
    }
}

impl Kept {
    fn new(listing: Listing, booked: bool) -> Kept {
        let (ledger, money, book) = (Ledger::default(), Money::default(), Book::default());
        let (stock, entries) = (StockBook::default(), EntryBook::default());
        Kept { listing, ledger, stock, entries, money, book, booked, broken: false }
    }

    fn take(&mut self, fact: &Fact, at: i64) -> Result<(), String> {
        // The listing asserts what cannot be; here that is a finding, not the end.
        let listing = AssertUnwindSafe(&mut self.listing);
        catch_unwind(move || {
            let listing = listing;
            listing.0.apply(fact, at);
        })
        .map_err(|_| format!("{} does not fit what happened before it", fact.kind()))?;
        if !self.booked {
            return Ok(());
        }
        self.money.take(fact)?;
        if let Fact::Auction(fact) = fact {
            return auctions::line(fact).map_or(Ok(()), |line| self.book.take(at, line));
        }
        if let Fact::Event(EventFact::ChartAdopted(_)) = fact {
            return self.ledger.take(self.chart());
        }
        if let Fact::Sale(fact) = fact {
            let entries = stock::entries(fact, self.stock.levels().count());
            return entries.into_iter().try_for_each(|entry| self.stock.take(at, entry));
        }
        if let Fact::Registration(fact) = fact {
            return registrations::entry(fact, at).map_or(Ok(()), |entry| self.entries.take(at, entry));
        }
        if let Fact::Order(
            OrderFact::PaymentAsked { order, until, .. }
            | OrderFact::PaymentDeclined { order, until: Some(until), .. },
        ) = fact
        {
            return self.pinned(*order, *until, at);
        }
        if let Fact::Order(OrderFact::SeatsTakenBack { order }) = fact {
            return self.taken_back(*order);
        }
        line(fact).map_or(Ok(()), |line| self.ledger.take(line))
    }

    /// A payment that is asked for, or was declined, gives the code or the place of its order more time.
    fn pinned(&mut self, order: OrderId, until: i64, at: i64) -> Result<(), String> {
        let placed = self.money.placed(order).ok_or_else(|| format!("order {order:?} was never placed"))?;
        match &placed.goods {
            OrderedGoods::Hold { .. } | OrderedGoods::Award { .. } => Ok(()),
            OrderedGoods::Entry { entry, .. } => {
                self.entries.take(at, entry_book::Entry::Until { entry: entry.0, until })
            }
            OrderedGoods::Checkout { checkout, .. } => {
                self.stock.take(at, stock_book::Entry::Until { code: checkout.0, until })
            }
        }
    }

    /// Late money: held and sold in the same moment, as the order was placed.
    fn taken_back(&mut self, order: OrderId) -> Result<(), String> {
        let placed = self.money.placed(order).ok_or_else(|| format!("order {order:?} was never placed"))?;
        let OrderedGoods::Hold { seats, areas, .. } = &placed.goods else {
            return Err(format!("order {order:?} has no seats to take back"));
        };
        let held = Line::Placed {
            hold: order.0,
            seats: seats.iter().map(|line| line.seat).collect(),
            areas: areas.iter().map(|line| (line.area, u64::from(line.count))).collect(),
        };
        self.ledger.take(held)?;
        self.ledger.take(Line::Confirmed { hold: order.0, order: order.0 })
    }

    /// The chart in the listing's own numbers for seats and areas.
    fn chart(&self) -> Line<u32, u16> {
        let Some(seats) = self.listing.event() else {
            return Line::Chart { seats: Vec::new(), areas: Vec::new() };
        };
        let chart = seats.chart();
        let living = chart.all_seats().filter(|(_, seat)| !seat.retired).map(|(index, _)| index);
        let areas = chart.areas.iter().enumerate().filter(|(_, area)| !area.retired);
        let areas = areas.map(|(index, area)| (index as u16, u64::from(area.capacity)));
        Line::Chart { seats: living.collect(), areas: areas.collect() }
    }

    /// The listing counts for itself; the ledger counted from the facts: both must say the same.
    fn agrees(&self) -> Result<(), String> {
        self.listing.check_invariants()?;
        if let Body::Sale(sale) = &self.listing.body
            && self.booked
        {
            stock::agrees(sale, &self.stock)?;
        }
        if let Body::Registration(registration) = &self.listing.body
            && self.booked
        {
            registrations::agrees(registration, &self.entries)?;
        }
        if self.booked {
            auctions::agrees(&self.listing, &self.book)?;
        }
        let Some(seats) = self.listing.event().filter(|_| self.booked) else { return Ok(()) };
        for seat in self.ledger.seats() {
            let (shown, booked) = (seats.seat_status(*seat).as_str(), self.ledger.status(seat));
            if booked != Some(shown) {
                let name = seats.chart().seat_id(*seat);
                return Err(format!(
                    "seat {name} is {shown}, but the facts say {}",
                    booked.unwrap_or("none")
                ));
            }
        }
        Ok(())
    }
}

fn areas(lines: &[AreaCount]) -> Vec<(u16, u64)> {
    lines.iter().map(|line| (line.area, u64::from(line.count))).collect()
}

/// A fact in the ledger's words; `None` for what moves no place.
fn line(fact: &Fact) -> Option<Line<u32, u16>> {
    Some(match fact {
        Fact::Event(EventFact::HoldPlaced { hold, seats, areas, .. }) => Line::Placed {
            hold: hold.0,
            seats: seats.iter().map(|line| line.seat).collect(),
            areas: areas.iter().map(|line| (line.area, u64::from(line.count))).collect(),
        },
        Fact::Event(EventFact::SeatsDropped { hold, seats, areas: lines }) => {
            Line::Dropped { hold: hold.0, seats: seats.clone(), areas: areas(lines) }
        }
        Fact::Event(EventFact::HoldReleased { hold, .. })
        | Fact::Event(EventFact::HoldExpired { hold })
        | Fact::Event(EventFact::HoldOverridden { hold, to: None, .. }) => Line::Ended { hold: hold.0 },
        Fact::Event(EventFact::HoldConfirmed { hold, order }) => {
            Line::Confirmed { hold: hold.0, order: order.0 }
        }
        Fact::Event(EventFact::OrderRefunded { order, seats, areas: lines, .. }) => {
            Line::Refunded { order: order.0, seats: seats.clone(), areas: areas(lines) }
        }
        Fact::Event(EventFact::SeatsBlocked { seats, areas: lines, .. }) => {
            Line::Blocked { seats: seats.clone(), areas: areas(lines) }
        }
        Fact::Event(EventFact::SeatsUnblocked { seats, areas: lines }) => {
            Line::Unblocked { seats: seats.clone(), areas: areas(lines) }
        }
        Fact::Event(EventFact::QueueJoined { place, seat, .. }) => {
            Line::Queued { place: place.0, seat: *seat }
        }
        Fact::Event(EventFact::QueueLeft { place })
        | Fact::Event(EventFact::PlaceExpired { place })
        | Fact::Event(EventFact::PlaceLost { place }) => Line::Unqueued { place: place.0 },
        Fact::Event(EventFact::SeatOffered { place, .. }) => Line::Offered { place: place.0 },
        Fact::Event(EventFact::StatusChanged {
            status:
                EventStatus::Closed | EventStatus::Postponed | EventStatus::Completed | EventStatus::Cancelled,
            ..
        }) => Line::QueuesDissolved,
        Fact::Event(EventFact::StatusChanged { .. })
        | Fact::Venue(VenueFact::VenueCreated(_))
        | Fact::Venue(VenueFact::LayoutPublished(_))
        | Fact::Event(EventFact::EventCreated(_))
        | Fact::Event(EventFact::EventChanged(_))
        | Fact::Event(EventFact::ChartAdopted(_))
        | Fact::Event(EventFact::HoldExtended { .. })
        | Fact::Event(EventFact::HoldOverridden { to: Some(_), .. })
        | Fact::Event(EventFact::PlaceRenewed { .. })
        | Fact::Sale(_)
        | Fact::Series(_)
        | Fact::Registration(_)
        | Fact::Auction(_)
        | Fact::Order(_)
        | Fact::Desk(_) => return None,
    })
}

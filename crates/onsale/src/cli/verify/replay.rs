//! Reads a journal's frames into listings and into the ledger, and notes everything that does not fit.

#[cfg(test)]
mod late;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use onsale_domain::{Fact, Listing, ListingKind};
use onsale_engine::embedded::entry::{self, Entry, ListingNumber, StepEntry};
use onsale_engine::embedded::shard::FIRST_EPOCH;
use onsale_engine::journal::FramePosition;

use super::books::Books;
use super::money::Sums;
use crate::cli::ledger::Totals;
use crate::cli::{entry_book, stock_book};

/// Told in full; the rest is only counted.
const PROBLEMS_TOLD: usize = 20;

/// Everything known from the frames so far.
#[derive(Default)]
pub(super) struct Replay {
    pub steps: u64,
    pub facts: u64,
    pub by_kind: BTreeMap<&'static str, u64>,
    pub problems: Problems,
    keys: HashSet<u128>,
    listings: HashMap<ListingNumber, ReplayedListing>,
    /// What snapshots say of a listing at an offset.
    expected: HashMap<(ListingNumber, u64), Vec<Image>>,
    /// By snapshot: listings compared and found equal.
    pub equal: HashMap<usize, u64>,
}

/// A snapshot's number and the canonical image it has.
type Image = (usize, Vec<u8>);

struct ReplayedListing {
    listing: Listing,
    books: Books,
    /// The books start with the first fact; after a snapshot they have nothing to go by.
    booked: bool,
    broken: bool,
}

#[derive(Debug, Default)]
pub(super) struct Problems {
    pub told: Vec<String>,
    pub count: u64,
}

impl Problems {
    pub(super) fn add(&mut self, problem: String) {
        self.count += 1;
        if self.told.len() < PROBLEMS_TOLD {
            self.told.push(problem);
        }
    }
}

impl Replay {
    /// Takes what a snapshot says, to be compared when the journal comes to the same offset.
    pub(super) fn expect(&mut self, snapshot: usize, number: ListingNumber, listing: &Listing) {
        let images = self.expected.entry((number, listing.offset)).or_default();
        images.push((snapshot, listing.canonical_image()));
        self.equal.entry(snapshot).or_default();
    }

    /// Starts from a snapshot's listing where the journal's beginning is gone.
    pub(super) fn start_from(&mut self, number: ListingNumber, listing: Listing) {
        self.listings.insert(number, ReplayedListing::new(listing, false));
    }

    pub(super) fn frame(&mut self, position: FramePosition, payload: &[u8]) {
        for entry in entry::read(payload) {
            match entry {
                Err(error) => self.problems.add(format!("frame {}: {error}", position.sequence)),
                Ok(Entry::Opened { number, listing }) => {
                    let kept = ReplayedListing::new(Listing::new(listing, FIRST_EPOCH), true);
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
        kept.listing.epoch = u64::from(step.epoch);
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
        if let Err(why) = kept.books.money.check() {
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
    pub(super) fn finish(&mut self) {
        for kept in self.listings.values().filter(|kept| !kept.broken) {
            if let Err(why) = kept.agrees() {
                self.problems.add(format!("{} at its end: {why}", kept.listing.id));
            }
        }
    }

    /// How many listings of a kind there are.
    pub(super) fn count(&self, kind: ListingKind) -> u64 {
        self.listings.values().filter(|kept| kept.listing.id.kind == kind).count() as u64
    }

    pub(super) fn keys(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Money of every listing's orders, by currency.
    pub(super) fn money(&self) -> impl Iterator<Item = (&str, Sums)> {
        self.listings.values().filter(|kept| kept.booked).flat_map(|kept| kept.books.money.sums())
    }

    /// Accepted bids of all auctions, as far as they were read from their first fact.
    pub(super) fn bids(&self) -> u64 {
        self.listings.values().map(|kept| kept.books.bids.bids()).sum()
    }

    /// The books of all registrations, as far as they were read from their first fact.
    pub(super) fn registrations(&self) -> impl Iterator<Item = entry_book::Totals> {
        let is_one =
            |kept: &&ReplayedListing| kept.booked && kept.listing.id.kind == ListingKind::Registration;
        self.listings.values().filter(is_one).map(|kept| kept.books.entries.totals())
    }

    /// Totals of each listing that was read from its first fact.
    pub(super) fn totals(&self) -> impl Iterator<Item = (Totals, stock_book::Totals)> {
        let booked = self.listings.values().filter(|kept| kept.booked);
        booked.map(|kept| (kept.books.ledger.totals(), kept.books.stock.totals()))
    }
}

impl ReplayedListing {
    fn new(listing: Listing, booked: bool) -> ReplayedListing {
        ReplayedListing { listing, books: Books::default(), booked, broken: false }
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
        self.books.take(&self.listing, fact, at)
    }

    /// The listing counts for itself; the books counted from the facts: both must say the same.
    fn agrees(&self) -> Result<(), String> {
        self.listing.check_invariants()?;
        if self.booked { self.books.agree_with(&self.listing) } else { Ok(()) }
    }
}

//! What registrations promise: who has a place, for whom one is kept until when, who waits, and what was paid.

use std::collections::BTreeMap;

use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::registration::details::RegistrationStatus;
use onsale_domain::registration::fact::EntryCancelCause;
use onsale_domain::registration::{Registration, RegistrationFact};
use onsale_domain::{BuyerId, EntryId, Fact, Millis, OrderId};

use super::{Book, ModelledKind};
use crate::model::kept::{PIN_MS, pinned_until};
use crate::model::money::MoneyBook;

impl ModelledKind for Registration {
    fn goes_on(&self) -> bool {
        matches!(self.status(), RegistrationStatus::Scheduled | RegistrationStatus::Open)
    }

    fn open_book(first: &RegistrationFact) -> Option<Box<dyn Book>> {
        let RegistrationFact::Created(created) = first else { return None };
        Some(Box::new(EntryBook::new(created.capacity)))
    }

    fn move_money(money: &mut MoneyBook, fact: &RegistrationFact, now: Millis) {
        money.take_registration(fact, now);
    }
}

#[derive(Clone, Debug, Default)]
struct EntryBook {
    capacity: u32,
    status: Option<RegistrationStatus>,
    /// Those who wait, first come first.
    waiting: Vec<EntryId>,
    offered: BTreeMap<EntryId, KeptPlace>,
    /// Places that are taken, and what each cost.
    confirmed: BTreeMap<EntryId, i64>,
    buyers: BTreeMap<EntryId, BuyerId>,
    /// Who did not pay in time.
    lapsed: BTreeMap<EntryId, BuyerId>,
    orders: BTreeMap<OrderId, EntryId>,
    /// A place that late money has taken back; the next fact says that it is paid.
    taken_back: Option<EntryId>,
}

/// A place kept for somebody.
#[derive(Clone, Copy, Debug)]
struct KeptPlace {
    until: Millis,
    first_until: Millis,
    price_minor: i64,
}

impl EntryBook {
    fn new(capacity: u32) -> EntryBook {
        EntryBook { capacity, ..EntryBook::default() }
    }

    fn begin(&mut self, entry: EntryId, buyer: &BuyerId) {
        assert!(!self.buyers.values().any(|known| known == buyer), "one buyer has two entries");
        assert!(self.buyers.insert(entry, buyer.clone()).is_none(), "an entry begins twice");
    }

    fn enter(&mut self, entry: EntryId, buyer: &BuyerId) {
        self.begin(entry, buyer);
        let open = self.status == Some(RegistrationStatus::Open);
        assert!(open, "an entry outside the registration's hours");
    }

    fn is_of(&self, entry: EntryId, buyer: &BuyerId) {
        assert!(self.buyers.get(&entry) == Some(buyer), "a fact names another buyer than the entry's");
    }

    fn first_in_line(&mut self, entry: EntryId) {
        let first = (!self.waiting.is_empty()).then(|| self.waiting.remove(0));
        assert!(first == Some(entry), "the waiting list is served out of turn");
    }

    fn keep(&mut self, entry: EntryId, until: Millis, price_minor: i64) {
        let kept = KeptPlace { until, first_until: until, price_minor };
        assert!(self.offered.insert(entry, kept).is_none(), "a place is kept twice");
    }

    /// Registrations go on until their start: whoever comes late may still have a place, if there is room.
    fn goes_on(&self) -> bool {
        matches!(self.status, Some(RegistrationStatus::Open | RegistrationStatus::Closed))
    }

    fn take_back(&mut self, entry: EntryId, buyer: &BuyerId) {
        assert!(self.lapsed.get(&entry) == Some(buyer), "an offer that is over when it begins");
        assert!(self.goes_on(), "a place is taken back outside the registration's hours");
        self.begin(entry, buyer);
        self.taken_back = Some(entry);
    }

    fn leave(&mut self, entry: EntryId) -> BuyerId {
        self.waiting.retain(|one| *one != entry);
        self.offered.remove(&entry);
        self.confirmed.remove(&entry);
        self.buyers.remove(&entry).expect("an entry that has not ended")
    }

    fn cancel(&mut self, entry: EntryId, why: EntryCancelCause, amount_minor: i64) {
        let paid = self.confirmed.get(&entry).copied().unwrap_or(0);
        // Nobody can take the place after the cut-off, so whoever gives it back then has paid for it.
        let kept = why == EntryCancelCause::Buyer && self.status == Some(RegistrationStatus::Closed);
        let right = if kept { 0 } else { paid };
        assert!(amount_minor == right, "{amount_minor} is given back for a place of {right}");
        self.leave(entry);
    }

    fn confirm(&mut self, entry: EntryId, order: OrderId, now: Millis) {
        let late = self.taken_back.take().is_some();
        let kept = self.offered.remove(&entry).expect("a place that is kept for somebody");
        assert!(late || kept.until > now, "a place is paid when it is over");
        assert!(!late || self.orders.get(&order) == Some(&entry), "a place is taken back without an order");
        self.confirmed.insert(entry, kept.price_minor);
    }

    fn take_own(&mut self, fact: &RegistrationFact, now: Millis) {
        if let Some(entry) = self.taken_back {
            let paid = matches!(fact, RegistrationFact::Confirmed { entry: paid, .. } if *paid == entry);
            assert!(paid, "a place is taken back and not paid");
        }
        let takes_a_place = match fact {
            RegistrationFact::Created(_) => panic!("a registration is created twice"),
            RegistrationFact::Changed(_) => false,
            RegistrationFact::StatusChanged { status, .. } => {
                self.status = Some(*status);
                false
            }
            RegistrationFact::CapacityChanged { capacity } => {
                self.capacity = *capacity;
                false
            }
            RegistrationFact::Registered { entry, buyer } => {
                self.enter(*entry, buyer);
                assert!(self.waiting.is_empty(), "somebody barged in before the waiting list");
                self.confirmed.insert(*entry, 0).is_none()
            }
            RegistrationFact::Reserved { entry, buyer, until, price_minor } => {
                match *until > now {
                    true => self.enter(*entry, buyer),
                    false => self.take_back(*entry, buyer),
                }
                assert!(self.waiting.is_empty(), "somebody barged in before the waiting list");
                self.keep(*entry, *until, *price_minor);
                true
            }
            RegistrationFact::Waitlisted { entry, buyer, ahead } => {
                self.enter(*entry, buyer);
                assert!(*ahead as usize == self.waiting.len(), "{ahead} are ahead of {}", self.waiting.len());
                self.waiting.push(*entry);
                false
            }
            RegistrationFact::Promoted { entry, buyer } => {
                self.is_of(*entry, buyer);
                self.first_in_line(*entry);
                self.confirmed.insert(*entry, 0).is_none()
            }
            RegistrationFact::Offered { entry, buyer, until, price_minor } => {
                self.is_of(*entry, buyer);
                self.first_in_line(*entry);
                self.keep(*entry, *until, *price_minor);
                true
            }
            RegistrationFact::OfferLapsed { entry, buyer } => {
                self.is_of(*entry, buyer);
                let over = self.offered.get(entry).is_some_and(|kept| kept.until <= now);
                assert!(over, "an offer lapsed too early");
                let buyer = self.leave(*entry);
                self.lapsed.insert(*entry, buyer);
                false
            }
            RegistrationFact::Confirmed { entry, order } => {
                self.confirm(*entry, *order, now);
                false
            }
            RegistrationFact::EntryCancelled { entry, buyer, why, amount_minor } => {
                self.is_of(*entry, buyer);
                self.cancel(*entry, *why, *amount_minor);
                false
            }
        };
        let taken = self.taken();
        assert!(!takes_a_place || taken <= self.capacity as usize, "{taken} places of {}", self.capacity);
    }

    fn taken(&self) -> usize {
        self.offered.len() + self.confirmed.len()
    }

    /// A payment that is asked for, or was declined, keeps the place a little longer.
    fn take_order(&mut self, fact: &OrderFact) {
        if let OrderFact::Placed(placed) = fact {
            let OrderedGoods::Entry { entry, .. } = &placed.goods else {
                panic!("no place of a registration")
            };
            assert!(self.offered.contains_key(entry), "an order for a place that is not kept");
            self.orders.insert(placed.order, *entry);
        }
        let Some(until) = pinned_until(fact) else { return };
        let kept = self.offered.get_mut(&self.orders[&fact.order()]).expect("a place that is kept");
        assert!(until <= kept.first_until + PIN_MS, "a place is kept for ever");
        kept.until = kept.until.max(until);
    }
}

impl Book for EntryBook {
    fn take(&mut self, fact: &Fact, now: Millis) {
        if let Fact::Registration(fact) = fact {
            self.take_own(fact, now);
        } else if let Fact::Order(fact) = fact {
            self.take_order(fact);
        }
    }

    fn check(&self) {
        assert!(self.taken_back.is_none(), "a place is taken back and not paid");
    }

    /// Whether there is still room for one who did not pay in time, and nobody waits for it.
    fn is_left_to(&self, goods: &OrderedGoods, buyer: &BuyerId) -> bool {
        let OrderedGoods::Entry { entry, .. } = goods else { return false };
        let has_one = self.buyers.contains_key(entry) || self.buyers.values().any(|one| one == buyer);
        self.goes_on() && !has_one && self.waiting.is_empty() && self.taken() < self.capacity as usize
    }

    fn is_overdue(&self, now: Millis) -> bool {
        let room = self.taken() < self.capacity as usize;
        let promotes = self.status == Some(RegistrationStatus::Open) && room && !self.waiting.is_empty();
        let cancelled = self.status == Some(RegistrationStatus::Cancelled) && !self.buyers.is_empty();
        promotes || cancelled || self.offered.values().any(|kept| kept.until <= now)
    }

    fn boxed(&self) -> Box<dyn Book> {
        Box::new(self.clone())
    }
}

//! Paid events: what a hold's end means for its order, and which seats are whose.

use std::collections::BTreeMap;

use onsale_domain::event::EventStatus;
use onsale_domain::order::fact::{OrderPlaced, OrderedGoods};
use onsale_domain::seats::fact::ReleaseCause;
use onsale_domain::seats::{EventFact, Seats};
use onsale_domain::{HoldId, Millis, OrderId};

use super::MoneyBook;
use crate::model::promises::ModelledKind;

impl ModelledKind for Seats {
    fn goes_on(&self) -> bool {
        self.status() == EventStatus::OnSale
    }

    fn move_money(money: &mut MoneyBook, fact: &EventFact, now: Millis) {
        money.seats.take(fact);
        money.take_event(fact, now);
    }
}

impl MoneyBook {
    fn take_event(&mut self, fact: &EventFact, now: Millis) {
        if let EventFact::HoldGrown { hold, .. } = fact {
            assert!(!self.is_taken(hold.0), "a hold grows although an order has it");
        }
        if let EventFact::HoldExpired { hold, .. } = fact {
            self.lapse(hold.0, now);
        } else if let EventFact::HoldReleased { hold, why } = fact {
            self.end(hold.0, *why == ReleaseCause::Buyer);
        } else if let EventFact::HoldOverridden { hold, .. } = fact {
            self.end(hold.0, false);
        } else if let EventFact::HoldExtended { hold, .. } | EventFact::SeatsDropped { hold, .. } = fact {
            assert!(!self.is_paying(hold.0), "a hold changes while it is paid");
        } else if let EventFact::HoldConfirmed { hold, order } = fact {
            self.sell(hold.0, *order);
        } else if let EventFact::OrderRefunded { order, seats, areas, amount_minor, .. } = fact {
            let places = areas.iter().map(|line| line.count).sum::<u32>();
            self.bring_back(*order, seats.len() as u32 + places, *amount_minor);
        }
    }
}

/// Which seats of a paid event are whose.
#[derive(Clone, Debug, Default)]
pub(super) struct SeatBook {
    held: BTreeMap<HoldId, Vec<u32>>,
    sold: BTreeMap<OrderId, Vec<u32>>,
    waiting: BTreeMap<HoldId, u32>,
}

impl SeatBook {
    fn is_free(&self, seat: u32) -> bool {
        !self.held.values().chain(self.sold.values()).any(|seats| seats.contains(&seat))
    }

    fn hold(&mut self, hold: HoldId, seats: Vec<u32>) {
        assert!(seats.iter().all(|seat| self.is_free(*seat)), "a seat has two owners");
        assert!(self.held.insert(hold, seats).is_none(), "a hold begins twice");
    }

    pub(super) fn take_back(&mut self, placed: &OrderPlaced) {
        let OrderedGoods::Hold { seats, .. } = &placed.goods else { panic!("seats of a sale") };
        let seats: Vec<u32> = seats.iter().map(|line| line.seat).collect();
        assert!(seats.iter().all(|seat| self.is_free(*seat)), "late money buys a seat that another has");
        self.sold.insert(placed.order, seats);
    }

    fn take(&mut self, fact: &EventFact) {
        if let EventFact::HoldPlaced { hold, seats, .. } = fact {
            self.hold(*hold, seats.iter().map(|line| line.seat).collect());
        } else if let EventFact::QueueJoined { place, seat, .. } = fact {
            self.waiting.insert(*place, *seat);
        } else if let EventFact::SeatOffered { place, seat, .. } = fact {
            assert_eq!(
                self.waiting.remove(place),
                Some(*seat),
                "offered to somebody who waits for that seat"
            );
            self.hold(*place, vec![*seat]);
        } else if let EventFact::HoldGrown { hold, seats, .. } = fact {
            assert!(seats.iter().all(|line| self.is_free(line.seat)), "a hold grows by a seat of another");
            let held = self.held.get_mut(hold).expect("a hold that lives");
            held.extend(seats.iter().map(|line| line.seat));
        } else if let EventFact::SeatsDropped { hold, seats, .. } = fact {
            let held = self.held.get_mut(hold).expect("a hold that lives");
            held.retain(|seat| !seats.contains(seat));
        } else if let EventFact::HoldReleased { hold, .. }
        | EventFact::HoldExpired { hold, .. }
        | EventFact::HoldOverridden { hold, to: None, .. } = fact
        {
            assert!(self.held.remove(hold).is_some(), "a hold ends twice");
        } else if let EventFact::HoldConfirmed { hold, order } = fact {
            let seats = self.held.remove(hold).expect("a hold that lives");
            assert!(self.sold.insert(*order, seats).is_none(), "an order is sold twice");
        } else if let EventFact::OrderRefunded { order, seats, .. } = fact {
            let sold = self.sold.get_mut(order).expect("an order that was made");
            let before = sold.len();
            sold.retain(|seat| !seats.contains(seat));
            assert!(before - sold.len() == seats.len(), "a seat comes back that the order has not");
        }
    }
}

//! What a table calls things: `h1` for the first hold granted, `q1` for the first place, `o1` for the first order.

use onsale_domain::Query;
use onsale_domain::seats::{EventFact, EventQuery};
use onsale_domain::{BuyerId, Fact, HoldId, OrderId};

/// Ids that nobody was given start here.
const UNKNOWN: u64 = 1 << 63;

#[derive(Default)]
pub(super) struct Names {
    things: Vec<NamedHold>,
    orders: Vec<OrderId>,
    holds: u32,
    places: u32,
    attempts: u64,
}

pub(super) struct NamedHold {
    pub name: String,
    pub id: HoldId,
    pub buyer: BuyerId,
    /// The seat of a queue place.
    pub seat: Option<u32>,
    /// Every fence it was granted under, the latest last; none while it is a place.
    pub fences: Vec<u64>,
}

impl Names {
    /// A fresh id, as the edge would make one for every request.
    pub(super) fn fresh(&mut self) -> HoldId {
        self.attempts += 1;
        HoldId(self.attempts)
    }

    pub(super) fn fresh_order(&mut self) -> OrderId {
        self.attempts += 1;
        OrderId(self.attempts)
    }

    pub(super) fn hold(&self, name: &str) -> HoldId {
        let number = name.bytes().fold(7u64, |sum, byte| (sum * 31 + u64::from(byte)) % UNKNOWN);
        self.named(name).map_or(HoldId(UNKNOWN + number), |known| known.id)
    }

    pub(super) fn named(&self, name: &str) -> Option<&NamedHold> {
        self.things.iter().rev().find(|known| known.name == name)
    }

    pub(super) fn by_id(&self, id: HoldId) -> Option<&NamedHold> {
        self.things.iter().rev().find(|known| known.id == id)
    }

    pub(super) fn order(&self, name: &str) -> OrderId {
        let number: Option<usize> = name.strip_prefix('o').and_then(|number| number.parse().ok());
        number.and_then(|number| self.orders.get(number - 1).copied()).unwrap_or(OrderId(UNKNOWN))
    }

    pub(super) fn order_name(&self, id: OrderId) -> String {
        let number = self.orders.iter().position(|known| *known == id);
        number.map_or_else(|| "o?".to_owned(), |number| format!("o{}", number + 1))
    }

    pub(super) fn learn(&mut self, fact: &Fact, fence: u64) {
        if let Fact::Event(EventFact::HoldPlaced { hold, buyer, .. }) = fact {
            if self.by_id(*hold).is_some_and(|known| known.fences.last() == Some(&fence)) {
                return;
            }
            self.holds += 1;
            let (name, buyer) = (format!("h{}", self.holds), buyer.clone());
            self.things.push(NamedHold { name, id: *hold, buyer, seat: None, fences: vec![fence] });
        }
        if let Fact::Event(EventFact::QueueJoined { place, seat, buyer, .. }) = fact
            && self.by_id(*place).is_none()
        {
            self.places += 1;
            let (name, buyer) = (format!("q{}", self.places), buyer.clone());
            self.things.push(NamedHold { name, id: *place, buyer, seat: Some(*seat), fences: Vec::new() });
        }
        if let Fact::Event(EventFact::HoldOverridden { hold, to: Some(to), .. }) = fact {
            self.granted(*hold, Some(&to.buyer), fence);
        } else if let Fact::Event(fact) = fact
            && let Some(hold) = fact.raises_fence_of()
        {
            self.granted(hold, None, fence);
        }
        if let Fact::Event(EventFact::HoldConfirmed { order, .. }) = fact
            && !self.orders.contains(order)
        {
            self.orders.push(*order);
        }
    }

    fn granted(&mut self, id: HoldId, buyer: Option<&BuyerId>, fence: u64) {
        if let Some(known) = self.things.iter_mut().rev().find(|known| known.id == id)
            && !known.fences.contains(&fence)
        {
            known.fences.push(fence);
            if let Some(buyer) = buyer {
                known.buyer = buyer.clone();
            }
        }
    }

    /// Every question that can be asked about what a table has seen.
    pub(super) fn queries(&self) -> Vec<Query> {
        let mut queries: Vec<Query> =
            self.things.iter().map(|known| Query::Event(EventQuery::Hold(known.id))).collect();
        let mut buyers: Vec<&BuyerId> = self.things.iter().map(|known| &known.buyer).collect();
        buyers.sort_unstable();
        buyers.dedup();
        queries.extend(buyers.into_iter().map(|buyer| Query::Event(EventQuery::HoldsOf(buyer.clone()))));
        queries.extend(self.things.iter().filter_map(|known| {
            Some(Query::Event(EventQuery::Place { seat: known.seat?, buyer: known.buyer.clone() }))
        }));
        queries.extend(self.orders.iter().map(|order| Query::Event(EventQuery::Order(*order))));
        queries
    }
}

//! What orders promise, asserted of every fact and of every step: counted from the facts alone, by lists and sums. The seats
//! of paid events, awards and places have a file each.

mod auctions;
mod kept;
mod seats;

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::desk::{DeskFact, PaymentStanding};
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::OrderPlaced;
use onsale_domain::stock::SaleFact;
use onsale_domain::stock::fact::CancelCause;
use onsale_domain::{BuyerId, EntryId, Millis, OrderId, PaymentId, PaymentName};

pub use kept::{AWARD_COURSES, Courses, PLACE_COURSES};
use seats::SeatBook;

/// For so long the desk knows an event that it has seen.
const WEEK_MS: Millis = 7 * 24 * 3_600_000;

#[derive(Clone, Debug, Default)]
pub(super) struct MoneyBook {
    orders: BTreeMap<OrderId, OrderMoney>,
    /// Which order has taken a hold or a code that lives.
    taken: BTreeMap<u64, OrderId>,
    /// Which order has bought a place.
    places: BTreeMap<EntryId, OrderId>,
    seats: SeatBook,
    pub desk: DeskBook,
    touched: BTreeSet<OrderId>,
    /// Money that came in this step for what had lapsed.
    late: Vec<(OrderId, PaymentId)>,
}

#[derive(Clone, Debug)]
struct OrderMoney {
    placed: OrderPlaced,
    /// Until when a payment that is under way has pinned the goods, and which.
    paying: Option<(PaymentId, Millis)>,
    /// The goods lapsed: late money may have them back.
    lapsed: bool,
    sold: bool,
    settled: bool,
    returned_units: u32,
    returned_minor: i64,
    payments: BTreeMap<PaymentId, Came>,
}

#[derive(Clone, Debug, Default)]
struct Came {
    captured: Option<i64>,
    owed: Vec<i64>,
    paid: BTreeSet<u16>,
}

/// Money of all orders: what came, what was owed back, what of that was paid, and what confirmed orders are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoneyTotals {
    pub captured: i64,
    pub owed: i64,
    pub paid_back: i64,
    pub worth: i64,
}

impl OrderMoney {
    fn total_minor(&self) -> i64 {
        self.placed.goods_minor + self.placed.fee_minor
    }

    /// What the house may keep: the price of what was bought here, without what came back. The last thing takes the fees along.
    fn worth_minor(&self) -> i64 {
        let left = self.sold && self.returned_units < self.placed.goods.units();
        if left && !self.settled { self.total_minor() - self.returned_minor } else { 0 }
    }
}

impl MoneyBook {
    /// At the end of a step no coin is anywhere but with its goods or on its way back.
    pub(super) fn check(&mut self) {
        for id in std::mem::take(&mut self.touched) {
            let Some(order) = self.orders.get(&id) else { continue };
            let kept: i64 = order
                .payments
                .values()
                .map(|came| came.captured.unwrap_or(0) - came.owed.iter().sum::<i64>())
                .sum();
            let worth = order.worth_minor();
            assert!(kept == worth, "{kept} is kept for goods of {worth} in {id:?}");
            for (payment, came) in &order.payments {
                let owed: i64 = came.owed.iter().sum();
                assert!(owed <= came.captured.unwrap_or(0), "{payment:?} gives back more than it took");
            }
        }
    }

    pub(super) fn moved(&self) -> MoneyTotals {
        let mut moved = MoneyTotals::default();
        for came in self.orders.values().flat_map(|order| order.payments.values()) {
            moved.captured += came.captured.unwrap_or(0);
            moved.owed += came.owed.iter().sum::<i64>();
            moved.paid_back +=
                came.paid.iter().map(|refund| came.owed[usize::from(*refund) - 1]).sum::<i64>();
        }
        moved.worth = self.orders.values().map(OrderMoney::worth_minor).sum();
        moved
    }

    fn is_taken(&self, goods: u64) -> bool {
        self.taken.contains_key(&goods)
    }

    fn is_paying(&self, goods: u64) -> bool {
        self.taken.get(&goods).is_some_and(|order| self.orders[order].paying.is_some())
    }

    fn order(&mut self, id: OrderId) -> &mut OrderMoney {
        self.touched.insert(id);
        self.orders.get_mut(&id).unwrap_or_else(|| panic!("{id:?} was never placed"))
    }

    fn payment(&mut self, id: OrderId, payment: PaymentId) -> &mut Came {
        let known = self.order(id).payments.get_mut(&payment);
        known.unwrap_or_else(|| panic!("{payment:?} was never asked for"))
    }

    /// Panics if an order's fact breaks a promise.
    pub(super) fn take_own(&mut self, fact: &OrderFact) {
        match fact {
            OrderFact::Placed(placed) => self.place(placed),
            OrderFact::PaymentAsked { order: id, payment, amount_minor, until, .. } => {
                let order = self.order(*id);
                assert!(order.paying.replace((*payment, *until)).is_none(), "two payments at once");
                assert!(!order.sold && !order.lapsed, "money is asked for what is sold or gone");
                let total = order.total_minor();
                assert!(*amount_minor == total, "{amount_minor} is asked for {total}");
                assert!(order.payments.insert(*payment, Came::default()).is_none(), "asked for twice");
            }
            OrderFact::PaymentCaptured { order, payment, amount_minor, .. } => {
                let before = self.payment(*order, *payment).captured.replace(*amount_minor);
                assert!(before.is_none(), "{payment:?} is captured twice");
                if self.order(*order).lapsed {
                    self.late.push((*order, *payment));
                }
                self.is_heard(*order, *payment);
            }
            OrderFact::PaymentDeclined { order, payment, .. } => {
                self.payment(*order, *payment);
                self.is_heard(*order, *payment);
            }
            OrderFact::Settled { order } => self.order(*order).settled = true,
            OrderFact::Cancelled { order: id } => {
                let order = self.order(*id);
                assert!(order.paying.is_none() && !order.sold, "an order is cancelled while it is paid");
                let goods = order.placed.goods.number();
                self.taken.remove(&goods);
            }
            OrderFact::SeatsTakenBack { order: id } => {
                let order = self.order(*id);
                assert!(order.lapsed && !order.sold, "late money buys what had not lapsed");
                order.sold = true;
                let placed = order.placed.clone();
                self.seats.take_back(&placed);
            }
            OrderFact::RefundOwed { order, payment, refund, amount_minor, .. } => {
                let came = self.payment(*order, *payment);
                came.owed.push(*amount_minor);
                assert!(*amount_minor > 0 && came.owed.len() == usize::from(*refund), "a refund out of turn");
            }
            OrderFact::RefundPaid { order, payment, refund } => {
                let came = self.payment(*order, *payment);
                assert!((1..=came.owed.len()).contains(&usize::from(*refund)), "paid and never owed");
                assert!(came.paid.insert(*refund), "a refund is paid twice");
            }
        }
    }

    fn place(&mut self, placed: &OrderPlaced) {
        let goods = placed.goods.number();
        assert!(placed.goods.total_minor() == placed.goods_minor, "an order has another price");
        assert!(self.taken.insert(goods, placed.order).is_none(), "two orders have the same goods");
        let paid = OrderMoney {
            placed: placed.clone(),
            paying: None,
            lapsed: false,
            sold: false,
            settled: false,
            returned_units: 0,
            returned_minor: 0,
            payments: BTreeMap::new(),
        };
        assert!(self.orders.insert(placed.order, paid).is_none(), "an order is placed twice");
    }

    /// An order waits for its latest payment alone.
    fn is_heard(&mut self, order: OrderId, payment: PaymentId) {
        let order = self.order(order);
        order.paying = order.paying.filter(|(awaited, _)| *awaited != payment);
    }

    fn lapse(&mut self, goods: u64, now: Millis) {
        let Some(id) = self.taken.remove(&goods) else { return };
        let order = self.order(id);
        if let Some((_, until)) = order.paying.take() {
            assert!(until <= now, "goods lapse while they are paid: {now} is before {until}");
        }
        order.lapsed = true;
    }

    fn end(&mut self, goods: u64, by_buyer: bool) {
        assert!(!(by_buyer && self.is_paying(goods)), "goods are given back while they are paid");
        if let Some(id) = self.taken.remove(&goods) {
            self.order(id).paying = None;
        }
    }

    fn sell(&mut self, goods: u64, id: OrderId) {
        let by = self.taken.remove(&goods);
        // Bought without an order: nothing of it is in this book.
        if !self.orders.contains_key(&id) {
            assert!(by.is_none(), "an order's goods are sold without it");
            return;
        }
        assert!(by == Some(id), "{id:?} buys what {by:?} has");
        let order = self.order(id);
        assert!(!std::mem::replace(&mut order.sold, true), "{id:?} is sold twice");
        order.paying = None;
    }

    fn bring_back(&mut self, id: OrderId, units: u32, amount_minor: i64) {
        if self.orders.contains_key(&id) {
            let order = self.order(id);
            order.returned_units += units;
            order.returned_minor += amount_minor;
            assert!(order.sold && order.returned_units <= order.placed.goods.units(), "more comes back");
        }
    }

    pub(super) fn take_sale(&mut self, fact: &SaleFact, now: Millis) {
        if let SaleFact::CheckoutExpired { checkout } = fact {
            self.lapse(checkout.0, now);
        } else if let SaleFact::CheckoutCancelled { checkout, why } = fact {
            self.end(checkout.0, *why == CancelCause::Buyer);
        } else if let SaleFact::Purchased { checkout, order } = fact {
            self.sell(checkout.0, *order);
        } else if let SaleFact::TakenBack { order, .. } = fact {
            if self.orders.contains_key(order) {
                let order = self.order(*order);
                assert!(order.lapsed && !order.sold, "late money buys what had not lapsed");
                order.sold = true;
            }
        } else if let SaleFact::Refunded { order, lines, amount_minor, .. } = fact {
            self.bring_back(*order, lines.iter().map(|line| line.count).sum(), *amount_minor);
        }
    }
}

/// What the desk has heard of each payment and refund.
#[derive(Clone, Debug, Default)]
pub(super) struct DeskBook {
    heard: BTreeMap<(PaymentName, u16), PaymentStanding>,
    events: BTreeMap<(String, String), Millis>,
}

impl DeskBook {
    pub(super) fn take(&mut self, fact: &DeskFact, now: Millis) {
        match fact {
            DeskFact::Opened => {}
            DeskFact::WorkTaken { listing, slips, .. } => {
                for slip in slips {
                    let payment = PaymentName { listing: *listing, payment: slip.payment };
                    let before = self.heard.insert((payment, slip.refund), PaymentStanding::Asked);
                    assert!(before.is_none(), "a slip is taken twice");
                }
            }
            DeskFact::Answered { payment, refund, standing, .. } => {
                let known = self.heard.get_mut(&(*payment, *refund)).expect("a slip that was taken");
                let done = matches!(known, PaymentStanding::Done { .. });
                assert!(!done, "something is heard after the money moved");
                // A refund that failed is asked for again.
                let again = *refund > 0 && matches!(standing, PaymentStanding::Failed { .. });
                *known = if again { PaymentStanding::Asked } else { standing.clone() };
            }
            DeskFact::WebhookReceived(webhook) => {
                let event = (webhook.provider.clone(), webhook.event.clone());
                let before = self.events.insert(event, now);
                assert!(before.is_none_or(|at| at + WEEK_MS <= now), "an event is stored twice");
                if let (Some(payment), Some(standing)) = (webhook.payment, &webhook.standing)
                    && let Some(known) = self.heard.get_mut(&(payment, webhook.refund))
                    && standing.rank() > known.rank()
                    && webhook.refund == 0
                {
                    *known = standing.clone();
                }
            }
            DeskFact::Delivered { payment, refund } => {
                let known = self.heard.get(&(*payment, *refund)).expect("a slip that was taken");
                let moved = matches!(known, PaymentStanding::Done { .. } | PaymentStanding::Failed { .. });
                assert!(moved, "a listing is told of what nobody knows");
            }
        }
    }
}

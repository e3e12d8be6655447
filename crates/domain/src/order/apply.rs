//! Takes facts into the book: an order's own, and those of the goods it has taken. Anything that does not fit is our bug.

use super::fact::{OrderFact, OrderedGoods};
use super::goods::GoodsChange;
use super::state::{Order, OrderStatus, Orders, Payment, Refund, Slip};
use crate::fact::Fact;
use crate::id::{OrderId, PaymentId};
use crate::limits::ENDED_MS;
use crate::time::Millis;

impl Orders {
    pub(crate) fn apply(&mut self, fact: &OrderFact, fence: u64, at: Millis) {
        self.forget(at);
        match fact {
            OrderFact::Placed(placed) => self.insert(Order::new(placed, fence, at)),
            OrderFact::PaymentAsked { order, payment, amount_minor, until, method } => {
                let index = self.known(*order);
                self.work.insert(fence, Slip { order: index, payment: *payment, refund: 0 });
                self.by_payment.insert(*payment, index);
                let order = &mut self.orders[index];
                order.status = OrderStatus::Paying;
                order.payments.push(Payment {
                    id: *payment,
                    fence,
                    amount_minor: *amount_minor,
                    until: *until,
                    captured_minor: None,
                    declined: None,
                    refunds: Vec::new(),
                    reference: None,
                    method: method.clone(),
                });
            }
            OrderFact::PaymentCaptured { order, payment, amount_minor, reference } => {
                let index = self.known(*order);
                self.orders[index].came = Some(*payment);
                let payment = self.payment_mut(index, *payment);
                payment.captured_minor = Some(*amount_minor);
                payment.reference = Some(reference.clone());
                let asked = payment.fence;
                self.work.remove(&asked);
            }
            OrderFact::PaymentDeclined { order, payment, reason, .. } => {
                let index = self.known(*order);
                if self.orders[index].awaits(*payment) {
                    self.orders[index].status = OrderStatus::Pending;
                }
                let payment = self.payment_mut(index, *payment);
                payment.declined = Some(reason.clone());
                let asked = payment.fence;
                self.work.remove(&asked);
            }
            OrderFact::Settled { order } => {
                let index = self.known(*order);
                self.orders[index].settled = true;
            }
            OrderFact::Cancelled { order } => {
                let index = self.known(*order);
                self.end(index, OrderStatus::Cancelled, at);
            }
            OrderFact::SeatsTakenBack { order } => self.confirm(*order, at),
            OrderFact::RefundOwed { order, payment, amount_minor, why, refund } => {
                let index = self.known(*order);
                self.work.insert(fence, Slip { order: index, payment: *payment, refund: *refund });
                let refunds = &mut self.payment_mut(index, *payment).refunds;
                refunds.push(Refund { fence, amount_minor: *amount_minor, why: *why, paid: false });
            }
            OrderFact::RefundPaid { order, payment, refund } => {
                let index = self.known(*order);
                let refund = &mut self.payment_mut(index, *payment).refunds[usize::from(*refund) - 1];
                refund.paid = true;
                let owed = refund.fence;
                self.work.remove(&owed);
            }
        }
    }

    /// What a fact of the goods means for the order that has taken them.
    pub(crate) fn follow(&mut self, fact: &Fact, at: Millis) {
        match fact.goods_change() {
            Some(GoodsChange::Gone { goods, status }) => self.goods_gone(goods, status, at),
            Some(GoodsChange::Sold { order }) => self.confirm(order, at),
            Some(GoodsChange::Returned { order, units, amount_minor }) => {
                self.returned(order, units, amount_minor, at);
            }
            Some(GoodsChange::EntryGivenUp { entry, amount_minor }) => {
                self.goods_gone(entry.0, OrderStatus::Cancelled, at);
                // After the cut-off a place stays paid.
                if let Some(order) = self.of_entry(entry).filter(|_| amount_minor > 0) {
                    self.returned(order.id, 1, amount_minor, at);
                }
            }
            None => {}
        }
    }

    /// Which goods a fact pins, or gives some time again, and until when.
    pub(crate) fn pinned_by(&self, fact: &OrderFact) -> Option<(&OrderedGoods, Millis)> {
        let until = if let OrderFact::PaymentAsked { until, .. } = fact {
            *until
        } else if let OrderFact::PaymentDeclined { until, .. } = fact {
            (*until)?
        } else {
            return None;
        };
        self.find(fact.order()).map(|order| (&order.goods, until))
    }

    pub(super) fn insert(&mut self, order: Order) {
        let (id, fence, goods, lives) = (order.id, order.fence, order.goods.number(), order.status.lives());
        let buyer = order.buyer.clone();
        let payments: Vec<PaymentId> = order.payments.iter().map(|payment| payment.id).collect();
        let index = self.orders.insert(order);
        self.by_payment.extend(payments.into_iter().map(|payment| (payment, index)));
        self.by_id.insert(id, index);
        self.by_buyer.entry(buyer).or_default().insert((fence, index));
        if lives {
            self.by_goods.insert(goods, index);
        }
    }

    fn known(&self, id: OrderId) -> u32 {
        *self.by_id.get(&id).expect("a fact names an order of the book")
    }

    fn payment_mut(&mut self, index: u32, id: PaymentId) -> &mut Payment {
        let mut payments = self.orders[index].payments.iter_mut();
        payments.find(|payment| payment.id == id).expect("a fact names a payment that was asked for")
    }

    fn goods_gone(&mut self, number: u64, status: OrderStatus, at: Millis) {
        if let Some(index) = self.by_goods.get(&number).copied() {
            self.end(index, status, at);
        }
    }

    fn end(&mut self, index: u32, status: OrderStatus, at: Millis) {
        let order = &mut self.orders[index];
        (order.status, order.closed_at) = (status, Some(at));
        let goods = order.goods.number();
        self.by_goods.remove(&goods);
        self.file_let_go(index);
        self.fade(index);
    }

    /// A confirmation that no order of the book asked for is a direct one.
    fn confirm(&mut self, id: OrderId, at: Millis) {
        let Some(index) = self.by_id.get(&id).copied() else { return };
        let order = &mut self.orders[index];
        (order.status, order.closed_at) = (OrderStatus::Confirmed, Some(at));
        order.paid_by = if order.settled { None } else { order.came };
        let goods = order.goods.number();
        self.by_goods.remove(&goods);
        self.file_bought(index);
    }

    /// What was bought is found by its number: a place for whoever cancels it, all else for whoever asks what became of it.
    pub(super) fn file_bought(&mut self, index: u32) {
        let order = &self.orders[index];
        if let OrderStatus::Confirmed | OrderStatus::Refunded = order.status {
            self.by_bought.insert(order.goods.number(), index);
            if let OrderedGoods::Entry { entry, .. } = &order.goods {
                self.by_entry.insert(*entry, index);
            }
        }
    }

    /// What was let go is found by its number as well: whoever looks at it is told what had taken it.
    pub(super) fn file_let_go(&mut self, index: u32) {
        let order = &self.orders[index];
        if let OrderStatus::Expired | OrderStatus::Cancelled = order.status {
            self.by_let_go.insert(order.goods.number(), index);
        }
    }

    fn returned(&mut self, id: OrderId, units: u32, amount_minor: i64, at: Millis) {
        let Some(index) = self.by_id.get(&id).copied() else { return };
        let order = &mut self.orders[index];
        order.returned_units += units;
        order.returned_minor += amount_minor;
        if order.returned_units == order.goods.units() {
            (order.status, order.closed_at) = (OrderStatus::Refunded, Some(at));
        }
    }

    /// An order that is over is forgotten after a while, unless money was ever asked for: it may come, however late.
    pub(super) fn fade(&mut self, index: u32) {
        let order = &self.orders[index];
        let over = matches!(order.status, OrderStatus::Expired | OrderStatus::Cancelled);
        if over
            && order.payments.is_empty()
            && let Some(at) = order.closed_at
        {
            self.fading.insert((at, order.fence, index));
        }
    }

    /// The time of a fact decides what is forgotten, so that every copy of the book forgets the same.
    fn forget(&mut self, now: Millis) {
        while let Some((at, fence, index)) = self.fading.first().copied()
            && at + ENDED_MS <= now
        {
            self.fading.remove(&(at, fence, index));
            let order = self.orders.remove(index);
            self.by_id.remove(&order.id);
            let goods = order.goods.number();
            if self.by_let_go.get(&goods) == Some(&index) {
                self.by_let_go.remove(&goods);
            }
            if let Some(of_buyer) = self.by_buyer.get_mut(&order.buyer) {
                of_buyer.remove(&(fence, index));
                if of_buyer.is_empty() {
                    self.by_buyer.remove(&order.buyer);
                }
            }
        }
    }
}

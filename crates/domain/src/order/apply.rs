//! Takes facts into the book: an order's own, and those of the goods it has taken. Anything that does not fit is our bug.

use super::fact::{Goods, OrderFact};
use super::state::{Order, OrderStatus, Orders, Payment, Refund, Slip};
use crate::auction::AuctionFact;
use crate::auction::fact::PassCause;
use crate::fact::Fact;
use crate::id::{OrderId, PaymentId};
use crate::limits::ENDED_MS;
use crate::registration::RegistrationFact;
use crate::stock::SaleFact;
use crate::time::Millis;

impl Orders {
    pub(crate) fn apply(&mut self, fact: &OrderFact, fence: u64, at: Millis) {
        self.forget(at);
        match fact {
            OrderFact::Placed(placed) => self.insert(Order::new(placed, fence, at)),
            OrderFact::PaymentAsked { order, payment, amount_minor, until, method } => {
                let index = self.known(*order);
                self.work.insert(fence, Slip { order: index, payment: *payment, refund: 0 });
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
        if let Fact::Sale(fact) = fact {
            self.follow_sale(fact, at);
        } else if let Fact::Auction(fact) = fact {
            self.follow_auction(fact, at);
        } else if let Fact::Registration(fact) = fact {
            self.follow_registration(fact, at);
        } else if let Fact::HoldExpired { hold } = fact {
            self.goods_gone(hold.0, OrderStatus::Expired, at);
        } else if let Fact::HoldReleased { hold, .. } | Fact::HoldOverridden { hold, .. } = fact {
            self.goods_gone(hold.0, OrderStatus::Cancelled, at);
        } else if let Fact::HoldConfirmed { order, .. } = fact {
            self.confirm(*order, at);
        } else if let Fact::OrderRefunded { order, seats, areas, amount_minor, .. } = fact {
            let units = seats.len() as u32 + areas.iter().map(|away| away.count).sum::<u32>();
            self.returned(*order, units, *amount_minor, at);
        }
    }

    fn follow_sale(&mut self, fact: &SaleFact, at: Millis) {
        match fact {
            SaleFact::CheckoutExpired { checkout } => {
                self.goods_gone(checkout.0, OrderStatus::Expired, at);
            }
            SaleFact::CheckoutCancelled { checkout, .. } | SaleFact::CheckoutReturned { checkout, .. } => {
                self.goods_gone(checkout.0, OrderStatus::Cancelled, at);
            }
            SaleFact::Purchased { order, .. } | SaleFact::TakenBack { order, .. } => {
                self.confirm(*order, at);
            }
            SaleFact::Refunded { order, lines, amount_minor, .. } => {
                let units = lines.iter().map(|line| line.count).sum();
                self.returned(*order, units, *amount_minor, at);
            }
            SaleFact::Created(_)
            | SaleFact::Changed(_)
            | SaleFact::StatusChanged { .. }
            | SaleFact::SkuAdded(_)
            | SaleFact::StockAdded { .. }
            | SaleFact::StockWithdrawn { .. }
            | SaleFact::PriceChanged { .. }
            | SaleFact::CheckedOut { .. }
            | SaleFact::CheckoutOrdered { .. } => {}
        }
    }

    /// Only one award waits at a time, so it is this one's order that ends.
    fn follow_auction(&mut self, fact: &AuctionFact, at: Millis) {
        match fact {
            AuctionFact::AwardPassed { why, .. } => {
                let status = match why {
                    PassCause::Unpaid => OrderStatus::Expired,
                    PassCause::Declined => OrderStatus::Cancelled,
                };
                self.goods_gone(0, status, at);
            }
            AuctionFact::AwardSettled { order, .. } => self.confirm(*order, at),
            AuctionFact::AwardRefunded { order, amount_minor, left_minor, .. } => {
                self.returned(*order, u32::from(*left_minor == 0), *amount_minor, at);
            }
            AuctionFact::AuctionCreated(_)
            | AuctionFact::AuctionChanged(_)
            | AuctionFact::AuctionCancelled { .. }
            | AuctionFact::BidPlaced { .. }
            | AuctionFact::BidRetracted { .. }
            | AuctionFact::BidderBanned { .. }
            | AuctionFact::BidderUnbanned { .. }
            | AuctionFact::AuctionClosed { .. }
            | AuctionFact::WatchStarted { .. }
            | AuctionFact::WatchEnded { .. } => {}
        }
    }

    fn follow_registration(&mut self, fact: &RegistrationFact, at: Millis) {
        match fact {
            RegistrationFact::OfferLapsed { entry } => self.goods_gone(entry.0, OrderStatus::Expired, at),
            RegistrationFact::Confirmed { order, .. } => self.confirm(*order, at),
            RegistrationFact::EntryCancelled { entry, amount_minor, .. } => {
                self.goods_gone(entry.0, OrderStatus::Cancelled, at);
                // After the cut-off a place stays paid.
                if let Some(order) = self.of_entry(*entry).filter(|_| *amount_minor > 0) {
                    self.returned(order.id, 1, *amount_minor, at);
                }
            }
            RegistrationFact::Created(_)
            | RegistrationFact::Changed(_)
            | RegistrationFact::StatusChanged { .. }
            | RegistrationFact::CapacityChanged { .. }
            | RegistrationFact::Registered { .. }
            | RegistrationFact::Reserved { .. }
            | RegistrationFact::Waitlisted { .. }
            | RegistrationFact::Promoted { .. }
            | RegistrationFact::Offered { .. } => {}
        }
    }

    /// Which goods a fact pins, or gives some time again, and until when.
    pub(crate) fn pinned_by(&self, fact: &OrderFact) -> Option<(&Goods, Millis)> {
        let until = match fact {
            OrderFact::PaymentAsked { until, .. } => *until,
            OrderFact::PaymentDeclined { until, .. } => (*until)?,
            OrderFact::Placed(_)
            | OrderFact::PaymentCaptured { .. }
            | OrderFact::Settled { .. }
            | OrderFact::Cancelled { .. }
            | OrderFact::SeatsTakenBack { .. }
            | OrderFact::RefundOwed { .. }
            | OrderFact::RefundPaid { .. } => return None,
        };
        self.find(fact.order()).map(|order| (&order.goods, until))
    }

    pub(super) fn insert(&mut self, order: Order) {
        let (id, fence, goods, lives) = (order.id, order.fence, order.goods.number(), order.status.lives());
        let buyer = order.buyer.clone();
        let index = self.orders.insert(order);
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

    fn goods_gone(&mut self, number: u128, status: OrderStatus, at: Millis) {
        if let Some(index) = self.by_goods.get(&number).copied() {
            self.end(index, status, at);
        }
    }

    fn end(&mut self, index: u32, status: OrderStatus, at: Millis) {
        let order = &mut self.orders[index];
        (order.status, order.closed_at) = (status, Some(at));
        let goods = order.goods.number();
        self.by_goods.remove(&goods);
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
        self.file_entry(index);
    }

    /// A place that was bought is found by its entry, for whoever cancels it.
    pub(super) fn file_entry(&mut self, index: u32) {
        let order = &self.orders[index];
        if let (OrderStatus::Confirmed | OrderStatus::Refunded, Goods::Entry { entry, .. }) =
            (order.status, &order.goods)
        {
            self.by_entry.insert(*entry, index);
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
            if let Some(of_buyer) = self.by_buyer.get_mut(&order.buyer) {
                of_buyer.remove(&(fence, index));
                if of_buyer.is_empty() {
                    self.by_buyer.remove(&order.buyer);
                }
            }
        }
    }
}

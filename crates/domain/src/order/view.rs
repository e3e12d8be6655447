//! Questions about orders, and what the desk has to see to.

use super::fact::{OrderedGoods, RefundCause};
use super::state::{Order, OrderStatus, Orders, Payment};
use crate::id::{BuyerId, OrderId, PaymentId};
use crate::money::{Currency, Minor};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq)]
pub enum OrdersQuery {
    Order(OrderId),
    /// The order that has taken the goods of this number, or has bought them; else the latest that had taken them and is over.
    OfGoods(u64),
    /// Every order of the listing, one that bought without the book too, in the order of the facts that made them, from behind a
    /// fence on, at most so many.
    All {
        after: u64,
        status: Option<OrderStatus>,
        limit: usize,
    },
    /// The buyer's orders, the latest first, at most so many.
    OrdersOf {
        buyer: BuyerId,
        limit: usize,
    },
    /// Payments and refunds that were asked for after this fence and are not settled, oldest first.
    WorkAfter {
        fence: u64,
        limit: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum OrdersFound {
    Nothing,
    Order(Box<BookedOrder>),
    Orders(Vec<BookedOrder>),
    /// Each with the fence of the fact that made it.
    All(Vec<(u64, BookedOrder)>),
    Work(Vec<Work>),
}

impl OrdersFound {
    /// Whether the listing knows nothing of what was asked for.
    pub fn is_nothing(&self) -> bool {
        match self {
            OrdersFound::Nothing => true,
            OrdersFound::Order(_) => false,
            OrdersFound::Orders(orders) => orders.is_empty(),
            OrdersFound::All(orders) => orders.is_empty(),
            OrdersFound::Work(work) => work.is_empty(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct BookedOrder {
    pub order: OrderId,
    pub buyer: BuyerId,
    pub placed_at: Millis,
    pub status: OrderStatus,
    pub goods: OrderedGoods,
    pub goods_minor: Minor,
    pub fee_minor: Minor,
    pub currency: Currency,
    /// When its hold or code is over, while it has one.
    pub until: Option<Millis>,
    /// When it was confirmed, or was over.
    pub closed_at: Option<Millis>,
    pub settled: bool,
    pub returned_minor: Minor,
    pub payments: Vec<BookedPayment>,
}

impl BookedOrder {
    /// One that bought these goods without the book: what was paid for them was taken elsewhere.
    pub(crate) fn direct(
        (order, buyer): (OrderId, BuyerId),
        at: Millis,
        goods: OrderedGoods,
        currency: Currency,
        (status, returned_minor): (OrderStatus, Minor),
    ) -> BookedOrder {
        BookedOrder {
            order,
            buyer,
            placed_at: at,
            status,
            goods_minor: goods.total_minor(),
            goods,
            fee_minor: 0,
            currency,
            until: None,
            closed_at: Some(at),
            settled: true,
            returned_minor,
            payments: Vec::new(),
        }
    }

    pub fn total_minor(&self) -> Minor {
        self.goods_minor + self.fee_minor
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct BookedPayment {
    pub payment: PaymentId,
    pub amount_minor: Minor,
    pub until: Millis,
    pub captured_minor: Option<Minor>,
    pub declined: Option<String>,
    pub refunds: Vec<BookedRefund>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BookedRefund {
    pub amount_minor: Minor,
    pub why: RefundCause,
    pub paid: bool,
}

/// A payment to ask for, or a refund to pay: a slip for the desk.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Of the fact that asked for it.
    pub fence: u64,
    pub order: OrderId,
    pub payment: PaymentId,
    /// 0: the payment itself; else its n-th refund.
    pub refund: u16,
    pub amount_minor: Minor,
    pub currency: Currency,
    /// When the goods are let go; a refund is always in time.
    pub until: Option<Millis>,
    /// The provider's own name of the payment, for a refund.
    pub reference: Option<String>,
    pub method: Option<String>,
}

impl Orders {
    /// `until` knows when an order's goods are over.
    pub(crate) fn ask(
        &self,
        query: &OrdersQuery,
        until: impl Fn(&OrderedGoods) -> Option<Millis>,
    ) -> OrdersFound {
        let booked =
            |order: &Order| booked(order, order.status.lives().then(|| until(&order.goods)).flatten());
        match query {
            OrdersQuery::Order(id) => match self.find(*id) {
                Some(order) => OrdersFound::Order(Box::new(booked(order))),
                None => OrdersFound::Nothing,
            },
            OrdersQuery::OfGoods(number) => {
                match self.of_goods(*number).or_else(|| self.of_bought(*number)) {
                    Some(order) => OrdersFound::Order(Box::new(booked(order))),
                    None => OrdersFound::Nothing,
                }
            }
            OrdersQuery::All { after, status, limit } => {
                let wanted = |order: &&Order| {
                    order.fence > *after && status.is_none_or(|status| order.status == status)
                };
                let mut found: Vec<&Order> = self.orders.values().filter(wanted).collect();
                found.sort_unstable_by_key(|order| order.fence);
                let page = found.into_iter().take(*limit);
                OrdersFound::All(page.map(|order| (order.fence, booked(order))).collect())
            }
            OrdersQuery::OrdersOf { buyer, limit } => {
                let all = self.by_buyer.get(buyer).into_iter().flatten().rev();
                OrdersFound::Orders(all.take(*limit).map(|(_, index)| booked(&self.orders[*index])).collect())
            }
            OrdersQuery::WorkAfter { fence, limit } => {
                let after = self.work.range(fence + 1..).take(*limit);
                OrdersFound::Work(
                    after
                        .filter_map(|(fence, slip)| {
                            let order = &self.orders[slip.order];
                            let payment = order.payment(slip.payment)?;
                            let refund =
                                usize::from(slip.refund).checked_sub(1).map(|place| &payment.refunds[place]);
                            Some(Work {
                                fence: *fence,
                                order: order.id,
                                payment: payment.id,
                                refund: slip.refund,
                                amount_minor: refund
                                    .map_or(payment.amount_minor, |refund| refund.amount_minor),
                                currency: order.currency,
                                until: refund.is_none().then_some(payment.until),
                                reference: refund.and(payment.reference.clone()),
                                method: payment.method.clone(),
                            })
                        })
                        .collect(),
                )
            }
        }
    }
}

impl Orders {
    pub(crate) fn ask_let_go(&self, number: u64) -> OrdersFound {
        let order = self.of_let_go(number);
        order.map_or(OrdersFound::Nothing, |order| OrdersFound::Order(Box::new(booked(order, None))))
    }
}

fn booked(order: &Order, until: Option<Millis>) -> BookedOrder {
    BookedOrder {
        order: order.id,
        buyer: order.buyer.clone(),
        placed_at: order.placed_at,
        status: order.status,
        goods: order.goods.clone(),
        goods_minor: order.goods_minor,
        fee_minor: order.fee_minor,
        currency: order.currency,
        until,
        closed_at: order.closed_at,
        settled: order.settled,
        returned_minor: order.returned_minor,
        payments: order.payments.iter().map(booked_payment).collect(),
    }
}

fn booked_payment(payment: &Payment) -> BookedPayment {
    let refunds = payment.refunds.iter();
    BookedPayment {
        payment: payment.id,
        amount_minor: payment.amount_minor,
        until: payment.until,
        captured_minor: payment.captured_minor,
        declined: payment.declined.clone(),
        refunds: refunds
            .map(|refund| BookedRefund {
                amount_minor: refund.amount_minor,
                why: refund.why,
                paid: refund.paid,
            })
            .collect(),
    }
}

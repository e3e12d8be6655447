//! The book of a listing's orders. Only `apply` changes it; what a hold's or a code's own facts mean for an order is
//! read off them there.

use std::collections::{BTreeMap, BTreeSet};

use minicbor::{Decode, Encode};
use onsale_compact::map::Map;
use onsale_compact::slab::Slab;

use super::command::{EntryKey, GoodsKey};
use super::fact::{OrderPlaced, OrderedGoods, RefundCause};
use super::goods::OrderSummary;
use crate::id::{BuyerId, EntryId, OrderId, PaymentId};
use crate::money::{Currency, Minor};
use crate::seats::command::HoldKey;
use crate::stock::command::CheckoutKey;
use crate::time::Millis;

#[derive(Clone, Debug, Default)]
pub struct Orders {
    pub(super) orders: Slab<Order>,
    pub(super) by_id: Map<OrderId, u32>,
    /// Pending and paying orders, by the number of their hold or code.
    pub(super) by_goods: Map<u64, u32>,
    /// Confirmed orders, by the number of what they bought.
    pub(super) by_bought: Map<u64, u32>,
    /// Every payment that was ever asked for, with its order: its number is what a desk and a provider know it by.
    pub(super) by_payment: Map<PaymentId, u32>,
    /// Orders that are over unpaid, by the number of what they had taken: the latest of each.
    pub(super) by_let_go: Map<u64, u32>,
    /// Orders that bought a place of a registration, by the entry.
    pub(super) by_entry: Map<EntryId, u32>,
    /// A buyer's orders, by the fences of the facts that placed them.
    pub(super) by_buyer: BTreeMap<BuyerId, BTreeSet<(u64, u32)>>,
    /// What the desk has to see to, by the fences of the facts that asked for it.
    pub(super) work: BTreeMap<u64, Slip>,
    /// Orders that are over and in which no money is, by the time of their end: they are forgotten.
    pub(super) fading: BTreeSet<(Millis, u64, u32)>,
}

#[derive(Clone, Debug)]
pub struct Order {
    pub id: OrderId,
    pub fence: u64,
    pub placed_at: Millis,
    pub buyer: BuyerId,
    pub goods: OrderedGoods,
    pub goods_minor: Minor,
    pub fee_minor: Minor,
    pub currency: Currency,
    pub status: OrderStatus,
    /// Charged elsewhere.
    pub settled: bool,
    /// When it was confirmed, or was over.
    pub closed_at: Option<Millis>,
    pub returned_units: u32,
    pub returned_minor: Minor,
    pub payments: Vec<Payment>,
    /// Which payment's money the confirmed goods were bought with.
    pub paid_by: Option<PaymentId>,
    /// The latest money that came: what a confirmation in the same step is paid with.
    pub came: Option<PaymentId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum OrderStatus {
    #[n(0)]
    Pending,
    #[n(1)]
    Paying,
    #[n(2)]
    Confirmed,
    #[n(3)]
    Expired,
    #[n(4)]
    Cancelled,
    /// Nothing is left of it.
    #[n(5)]
    Refunded,
}

impl OrderStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            OrderStatus::Pending => "pending",
            OrderStatus::Paying => "paying",
            OrderStatus::Confirmed => "confirmed",
            OrderStatus::Expired => "expired",
            OrderStatus::Cancelled => "cancelled",
            OrderStatus::Refunded => "refunded",
        }
    }

    /// Its hold or code is its own.
    pub(super) fn lives(self) -> bool {
        matches!(self, OrderStatus::Pending | OrderStatus::Paying)
    }
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Payment {
    #[n(0)]
    pub id: PaymentId,
    /// Of the fact that asked for it.
    #[n(1)]
    pub fence: u64,
    #[n(2)]
    pub amount_minor: Minor,
    #[n(3)]
    pub until: Millis,
    #[n(4)]
    pub captured_minor: Option<Minor>,
    #[n(5)]
    pub declined: Option<String>,
    #[n(6)]
    pub refunds: Vec<Refund>,
    /// The provider's own name of it, since it was captured.
    #[n(7)]
    pub reference: Option<String>,
    #[n(8)]
    pub method: Option<String>,
}

impl Payment {
    /// Nobody knows yet what became of it.
    pub fn is_open(&self) -> bool {
        self.captured_minor.is_none() && self.declined.is_none()
    }

    pub fn refunded_minor(&self) -> Minor {
        self.refunds.iter().map(|refund| refund.amount_minor).sum()
    }
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Refund {
    #[n(0)]
    pub fence: u64,
    #[n(1)]
    pub amount_minor: Minor,
    #[n(2)]
    pub why: RefundCause,
    #[n(3)]
    pub paid: bool,
}

/// Something for the desk: a payment, or the n-th refund of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slip {
    pub order: u32,
    pub payment: PaymentId,
    /// 0: the payment itself.
    pub refund: u16,
}

/// Where the money of a listing's orders is. `captured = refunded + kept` always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Money {
    pub captured_minor: Minor,
    /// Owed back, whether or not it was paid already.
    pub refunded_minor: Minor,
    pub paid_back_minor: Minor,
    /// What confirmed orders keep: their totals without what was returned.
    pub kept_minor: Minor,
    /// The same of orders that were charged elsewhere: no money of ours.
    pub settled_minor: Minor,
}

impl Order {
    pub fn new(placed: &OrderPlaced, fence: u64, at: Millis) -> Order {
        Order {
            id: placed.order,
            fence,
            placed_at: at,
            buyer: placed.buyer.clone(),
            goods: placed.goods.clone(),
            goods_minor: placed.goods_minor,
            fee_minor: placed.fee_minor,
            currency: placed.currency,
            status: OrderStatus::Pending,
            settled: false,
            closed_at: None,
            returned_units: 0,
            returned_minor: 0,
            payments: Vec::new(),
            paid_by: None,
            came: None,
        }
    }

    pub fn total_minor(&self) -> Minor {
        self.goods_minor + self.fee_minor
    }

    /// What a confirmed order keeps of its price. The last thing returned takes the fees along.
    pub fn kept_minor(&self) -> Minor {
        if self.status == OrderStatus::Confirmed { self.total_minor() - self.returned_minor } else { 0 }
    }

    /// Of a payment, all that no confirmed order keeps is owed back.
    pub fn owed_minor(&self, payment: &Payment) -> Minor {
        let kept = if self.paid_by == Some(payment.id) { self.kept_minor() } else { 0 };
        payment.captured_minor.unwrap_or(0) - payment.refunded_minor() - kept
    }

    /// The order as its goods see it.
    pub(super) fn as_ordered(&self) -> OrderSummary<'_> {
        OrderSummary { order: self.id, buyer: &self.buyer, goods: &self.goods }
    }

    /// The goods as their buyer would name them; who has taken a hold needs no fence to let it expire.
    pub fn goods_key(&self) -> GoodsKey {
        let buyer = self.buyer.clone();
        match &self.goods {
            OrderedGoods::Hold { hold, .. } => GoodsKey::Hold(HoldKey { hold: *hold, fence: 0, buyer }),
            OrderedGoods::Checkout { checkout, .. } => {
                GoodsKey::Checkout(CheckoutKey { checkout: *checkout, buyer })
            }
            OrderedGoods::Award { .. } => GoodsKey::Award(buyer),
            OrderedGoods::Entry { entry, .. } => GoodsKey::Entry(EntryKey { entry: *entry, buyer }),
        }
    }

    pub fn payment(&self, id: PaymentId) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == id)
    }

    /// The payment that a paying order waits for: its latest.
    pub fn awaits(&self, id: PaymentId) -> bool {
        self.status == OrderStatus::Paying && self.payments.last().is_some_and(|payment| payment.id == id)
    }
}

impl Orders {
    pub(crate) fn find(&self, id: OrderId) -> Option<&Order> {
        self.by_id.get(&id).map(|index| &self.orders[*index])
    }

    /// Whether a payment of any order here has this number.
    pub(super) fn knows_payment(&self, payment: PaymentId) -> bool {
        self.by_payment.contains_key(&payment)
    }

    /// The order that has taken this hold or code.
    pub(crate) fn of_goods(&self, number: u64) -> Option<&Order> {
        self.by_goods.get(&number).map(|index| &self.orders[*index])
    }

    /// The order that has bought this hold, code or place.
    pub(crate) fn of_bought(&self, number: u64) -> Option<&Order> {
        self.by_bought.get(&number).map(|index| &self.orders[*index])
    }

    /// The latest order that had taken this hold, code or place, and is over.
    pub(crate) fn of_let_go(&self, number: u64) -> Option<&Order> {
        self.by_let_go.get(&number).map(|index| &self.orders[*index])
    }

    /// Everybody who ever ordered something here.
    pub(crate) fn buyers(&self) -> impl Iterator<Item = &BuyerId> {
        self.by_buyer.keys()
    }

    /// The order that bought this place.
    pub(crate) fn of_entry(&self, entry: EntryId) -> Option<&Order> {
        self.by_entry.get(&entry).map(|index| &self.orders[*index])
    }

    /// When an award or a place first was to end: whoever ordered it before may have moved that by paying.
    pub(super) fn first_until(&self, buyer: &BuyerId, goods: &OrderedGoods) -> Option<Millis> {
        let all = self.by_buyer.get(buyer).into_iter().flatten().map(|(_, index)| &self.orders[*index]);
        let mut paid = all.filter(|order| !order.payments.is_empty());
        paid.find_map(|known| match &known.goods {
            OrderedGoods::Award { until, .. } => {
                matches!(goods, OrderedGoods::Award { .. }).then_some(*until)
            }
            OrderedGoods::Entry { entry: known, until, .. } => {
                matches!(goods, OrderedGoods::Entry { entry, .. } if entry == known).then_some(*until)
            }
            OrderedGoods::Hold { .. } | OrderedGoods::Checkout { .. } => None,
        })
    }

    pub fn knows(&self, id: OrderId) -> bool {
        self.by_id.contains_key(&id)
    }

    pub fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    pub fn money(&self) -> Money {
        let mut money = Money::default();
        for order in self.orders.values() {
            for payment in &order.payments {
                money.captured_minor += payment.captured_minor.unwrap_or(0);
                money.refunded_minor += payment.refunded_minor();
                let paid = payment.refunds.iter().filter(|refund| refund.paid);
                money.paid_back_minor += paid.map(|refund| refund.amount_minor).sum::<Minor>();
            }
            match order.settled {
                true => money.settled_minor += order.kept_minor(),
                false => money.kept_minor += order.kept_minor(),
            }
        }
        money
    }
}

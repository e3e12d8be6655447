//! What happened to an order. Numbers of variants and fields are the journal's format: they are only ever added.

use minicbor::{Decode, Encode};

use crate::id::{BuyerId, CheckoutId, EntryId, HoldId, OrderId, PaymentId};
use crate::money::{Currency, Minor};
use crate::seats::fact::{AreaLine, SeatLine};
use crate::stock::fact::SkuLine;
use crate::time::Millis;
use crate::verb::fact_names;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum OrderFact {
    /// The goods are the order's: nothing can be taken out of them any more, nobody else can order them.
    #[n(0)]
    Placed(#[n(0)] Box<OrderPlaced>),
    /// The goods are pinned until a new deadline.
    #[n(1)]
    PaymentAsked {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        payment: PaymentId,
        #[n(2)]
        amount_minor: Minor,
        #[n(3)]
        until: Millis,
        /// What the provider shall take the money from, in its own words.
        #[n(4)]
        method: Option<String>,
    },
    #[n(2)]
    PaymentCaptured {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        payment: PaymentId,
        #[n(2)]
        amount_minor: Minor,
        /// The provider's own name of the payment: whoever pays it back, however much later, must say it.
        #[n(3)]
        reference: String,
    },
    /// `until`: the goods' new deadline, if the order waited for this very payment.
    #[n(3)]
    PaymentDeclined {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        payment: PaymentId,
        #[n(2)]
        reason: String,
        #[n(3)]
        until: Option<Millis>,
    },
    /// Charged elsewhere: the house neither took the money nor gives it back.
    #[n(4)]
    Settled {
        #[n(0)]
        order: OrderId,
    },
    /// The goods are their buyer's again, for as long as they are kept.
    #[n(5)]
    Cancelled {
        #[n(0)]
        order: OrderId,
    },
    /// Late money: the seats of a hold that was over are sold after all.
    #[n(6)]
    SeatsTakenBack {
        #[n(0)]
        order: OrderId,
    },
    #[n(7)]
    RefundOwed {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        payment: PaymentId,
        /// The payment's n-th refund, from 1.
        #[n(2)]
        refund: u16,
        #[n(3)]
        amount_minor: Minor,
        #[n(4)]
        why: RefundCause,
    },
    #[n(8)]
    RefundPaid {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        payment: PaymentId,
        #[n(2)]
        refund: u16,
    },
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct OrderPlaced {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub buyer: BuyerId,
    #[n(2)]
    pub goods: OrderedGoods,
    #[n(3)]
    pub goods_minor: Minor,
    #[n(4)]
    pub fee_minor: Minor,
    #[n(5)]
    pub currency: Currency,
}

/// What an order pays, with the prices of its hour: late money must know them when hold or code are long forgotten.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum OrderedGoods {
    #[n(0)]
    Hold {
        #[n(0)]
        hold: HoldId,
        #[n(1)]
        seats: Vec<SeatLine>,
        #[n(2)]
        areas: Vec<AreaLine>,
        /// From when the longest time to pay is counted.
        #[n(3)]
        placed_at: Millis,
    },
    #[n(1)]
    Checkout {
        #[n(0)]
        checkout: CheckoutId,
        #[n(1)]
        lines: Vec<SkuLine>,
        #[n(2)]
        placed_at: Millis,
    },
    /// What an auction came to, for its winner or for whoever has the next chance.
    #[n(2)]
    Award {
        #[n(0)]
        price_minor: Minor,
        /// When the award ends if nobody pays.
        #[n(1)]
        until: Millis,
    },
    /// A place of a registration.
    #[n(3)]
    Entry {
        #[n(0)]
        entry: EntryId,
        #[n(1)]
        price_minor: Minor,
        /// When the place is no longer kept if nobody pays.
        #[n(2)]
        until: Millis,
    },
}

impl OrderedGoods {
    /// The hold's, the code's or the entry's number: unique among what is on sale in one listing. Of awards only one
    /// waits at a time.
    pub fn number(&self) -> u64 {
        match self {
            OrderedGoods::Hold { hold, .. } => hold.0,
            OrderedGoods::Checkout { checkout, .. } => checkout.0,
            OrderedGoods::Award { .. } => 0,
            OrderedGoods::Entry { entry, .. } => entry.0,
        }
    }

    pub fn units(&self) -> u32 {
        match self {
            OrderedGoods::Hold { seats, areas, .. } => {
                seats.len() as u32 + areas.iter().map(|line| line.count).sum::<u32>()
            }
            OrderedGoods::Checkout { lines, .. } => lines.iter().map(|line| line.count).sum(),
            OrderedGoods::Award { .. } | OrderedGoods::Entry { .. } => 1,
        }
    }

    pub fn total_minor(&self) -> Minor {
        match self {
            OrderedGoods::Hold { seats, areas, .. } => {
                let seats: Minor = seats.iter().map(|line| line.price_minor).sum();
                seats + areas.iter().map(|line| line.price_minor * Minor::from(line.count)).sum::<Minor>()
            }
            OrderedGoods::Checkout { lines, .. } => lines.iter().map(|line| line.total_minor()).sum(),
            OrderedGoods::Award { price_minor, .. } | OrderedGoods::Entry { price_minor, .. } => *price_minor,
        }
    }

    /// From when the longest time to pay is counted: a hold or a code is pinned so long after it was placed, an award
    /// or a place, which is kept for days, so long after its own end.
    pub fn placed_at(&self) -> Millis {
        match self {
            OrderedGoods::Hold { placed_at, .. } | OrderedGoods::Checkout { placed_at, .. } => *placed_at,
            OrderedGoods::Award { until, .. } | OrderedGoods::Entry { until, .. } => *until,
        }
    }
}

impl OrderedGoods {
    /// Of an award or a place: when it first was to end.
    pub(super) fn set_until(&mut self, first: Millis) {
        match self {
            OrderedGoods::Hold { .. } | OrderedGoods::Checkout { .. } => {}
            OrderedGoods::Award { until, .. } | OrderedGoods::Entry { until, .. } => *until = first,
        }
    }
}

/// Why money goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum RefundCause {
    /// OrderedGoods were returned, or their listing was cancelled.
    #[n(0)]
    Returned,
    /// The money came when the goods were gone, or the order was cancelled.
    #[n(1)]
    Late,
    /// Another payment had paid the order.
    #[n(2)]
    Twice,
    /// It was not the amount that was asked for.
    #[n(3)]
    Amount,
}

impl RefundCause {
    pub fn as_str(self) -> &'static str {
        match self {
            RefundCause::Returned => "returned",
            RefundCause::Late => "late",
            RefundCause::Twice => "twice",
            RefundCause::Amount => "amount",
        }
    }
}

impl OrderFact {
    pub fn order(&self) -> OrderId {
        match self {
            OrderFact::Placed(placed) => placed.order,
            OrderFact::PaymentAsked { order, .. }
            | OrderFact::PaymentCaptured { order, .. }
            | OrderFact::PaymentDeclined { order, .. }
            | OrderFact::Settled { order }
            | OrderFact::Cancelled { order }
            | OrderFact::SeatsTakenBack { order }
            | OrderFact::RefundOwed { order, .. }
            | OrderFact::RefundPaid { order, .. } => *order,
        }
    }
}

fact_names! {
    OrderFact {
        Placed = "order_placed",
        PaymentAsked = "payment_asked",
        PaymentCaptured = "payment_captured",
        PaymentDeclined = "payment_declined",
        Settled = "order_settled",
        Cancelled = "order_cancelled",
        SeatsTakenBack = "seats_taken_back",
        RefundOwed = "refund_owed",
        RefundPaid = "refund_paid",
    }
}

//! What happened to a sale. Numbers of variants and fields are the journal's format: they are only ever added.

use minicbor::{Decode, Encode};

use super::details::{SaleDetails, SaleStatus, Sku};
use crate::id::{BuyerId, CheckoutId, OrderId, SkuIndex};
use crate::money::Minor;
use crate::time::Millis;
use crate::verb::fact_names;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum SaleFact {
    #[n(0)]
    Created(#[n(0)] Box<SaleCreated>),
    #[n(1)]
    Changed(#[n(0)] Box<SaleDetails>),
    #[n(2)]
    StatusChanged {
        #[n(0)]
        status: SaleStatus,
        /// True if the sale's window brought it about, not staff.
        #[n(1)]
        by_schedule: bool,
    },
    #[n(3)]
    SkuAdded(#[n(0)] Box<Sku>),
    #[n(4)]
    StockAdded {
        #[n(0)]
        sku: SkuIndex,
        #[n(1)]
        count: u32,
    },
    #[n(5)]
    StockWithdrawn {
        #[n(0)]
        sku: SkuIndex,
        #[n(1)]
        count: u32,
    },
    /// For checkouts from now on; a code keeps its price.
    #[n(6)]
    PriceChanged {
        #[n(0)]
        sku: SkuIndex,
        #[n(1)]
        price_minor: Minor,
    },
    #[n(7)]
    CheckedOut {
        #[n(0)]
        checkout: CheckoutId,
        #[n(1)]
        buyer: BuyerId,
        /// Summed: each SKU once, in the order asked.
        #[n(2)]
        lines: Vec<SkuLine>,
        #[n(3)]
        until: Millis,
    },
    #[n(8)]
    CheckoutCancelled {
        #[n(0)]
        checkout: CheckoutId,
        #[n(1)]
        why: CancelCause,
    },
    #[n(9)]
    CheckoutExpired {
        #[n(0)]
        checkout: CheckoutId,
    },
    /// An order has taken the code, and pins it until a new deadline.
    #[n(10)]
    CheckoutOrdered {
        #[n(0)]
        checkout: CheckoutId,
        #[n(1)]
        order: OrderId,
        #[n(2)]
        until: Millis,
    },
    /// The order gave the code back.
    #[n(11)]
    CheckoutReturned {
        #[n(0)]
        checkout: CheckoutId,
        #[n(1)]
        until: Millis,
    },
    /// The code is used up: what it reserved is sold.
    #[n(12)]
    Purchased {
        #[n(0)]
        checkout: CheckoutId,
        #[n(1)]
        order: OrderId,
    },
    /// Late money: the lines of a code that was over are sold after all.
    #[n(13)]
    TakenBack {
        #[n(0)]
        checkout: CheckoutId,
        #[n(1)]
        order: OrderId,
        #[n(2)]
        buyer: BuyerId,
        #[n(3)]
        lines: Vec<SkuLine>,
    },
    #[n(14)]
    Refunded {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        lines: Vec<SkuCount>,
        #[n(2)]
        amount_minor: Minor,
        /// False: the units are written off, and the stock shrinks by them.
        #[n(3)]
        restock: bool,
        #[n(4)]
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct SaleCreated {
    #[n(0)]
    pub details: SaleDetails,
    #[n(1)]
    pub skus: Vec<Sku>,
}

/// Units of a SKU and the price fixed for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SkuLine {
    #[n(0)]
    pub sku: SkuIndex,
    #[n(1)]
    pub count: u32,
    #[n(2)]
    pub price_minor: Minor,
}

impl SkuLine {
    pub fn total_minor(self) -> Minor {
        self.price_minor * Minor::from(self.count)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SkuCount {
    #[n(0)]
    pub sku: SkuIndex,
    #[n(1)]
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum CancelCause {
    #[n(0)]
    Buyer,
    #[n(1)]
    SaleCancelled,
}

fact_names! {
    SaleFact {
        Created = "sale_created",
        Changed = "sale_changed",
        StatusChanged = "sale_status_changed",
        SkuAdded = "sku_added",
        StockAdded = "stock_added",
        StockWithdrawn = "stock_withdrawn",
        PriceChanged = "price_changed",
        CheckedOut = "checked_out",
        CheckoutCancelled = "checkout_cancelled",
        CheckoutExpired = "checkout_expired",
        CheckoutOrdered = "checkout_ordered",
        CheckoutReturned = "checkout_returned",
        Purchased = "purchased",
        TakenBack = "purchase_taken_back",
        Refunded = "purchase_refunded",
    }
}

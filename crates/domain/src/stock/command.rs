//! What somebody asks of one sale. Who may ask was settled at the edge; a code's secret part never gets here.

use super::details::{SaleDetails, Sku};
use super::fact::{SkuCount, SkuLine};
use crate::id::{BuyerId, CheckoutId, OrderId, SkuIndex};
use crate::money::Minor;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq)]
pub enum SaleCommand {
    Create(Box<CreateSale>),
    Change(Box<ChangeSale>),
    AddSku(Box<Sku>),
    AddStock(SkuCount),
    /// Takes units off the sale that nobody has.
    WithdrawStock(SkuCount),
    ChangePrice {
        sku: SkuIndex,
        price_minor: Minor,
    },
    /// Ends the sale before its time.
    Close,
    /// Takes everything back and refunds every purchase.
    Cancel,
    Checkout(Checkout),
    CancelCheckout(CheckoutKey),
    OrderCheckout(OrderCheckout),
    ReturnCheckout(ReturnCheckout),
    Purchase(Purchase),
    TakeBack(TakeBack),
    Refund(RefundPurchase),
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateSale {
    pub details: SaleDetails,
    pub skus: Vec<Sku>,
}

/// Only what is given changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeSale {
    pub name: Option<String>,
    pub description: Option<String>,
    pub starts_at: Option<Millis>,
    pub ends_at: Option<Millis>,
    pub buyer_limit: Option<u32>,
    pub checkout_ms: Option<Millis>,
}

/// Reserves units of one or several SKUs, all or nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkout {
    pub checkout: CheckoutId,
    pub buyer: BuyerId,
    /// As the buyer listed them: a SKU may come twice.
    pub lines: Vec<SkuCount>,
    /// The code's life; the sale's own rule if absent.
    pub checkout_ms: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CheckoutKey {
    pub checkout: CheckoutId,
    pub buyer: BuyerId,
}

/// An order takes the code, to be paid: only the order's end gives it back.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderCheckout {
    pub key: CheckoutKey,
    pub order: OrderId,
    /// Until when the provider wants to know.
    pub pay_until: Millis,
}

/// The payment failed or the order was cancelled: the code is the buyer's again.
#[derive(Clone, Debug, PartialEq)]
pub struct ReturnCheckout {
    pub checkout: CheckoutId,
    pub order: OrderId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Purchase {
    pub key: CheckoutKey,
    pub order: OrderId,
    /// Whether somebody who may say so says that it is paid: the payment's fact, or a key with scope `settle`.
    pub settled: bool,
}

/// Money came after its code was over: all lines are bought again at their old price, or none.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeBack {
    pub key: CheckoutKey,
    pub order: OrderId,
    pub lines: Vec<SkuLine>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RefundPurchase {
    pub order: OrderId,
    /// Nothing named: all that is left of the order.
    pub lines: Vec<SkuCount>,
    /// Whether the units can be sold again; otherwise they are written off.
    pub restock: bool,
    pub reason: String,
}

impl SaleCommand {
    /// Whether a yes to this may never be lost, whatever store forgets.
    pub fn is_sealed(&self) -> bool {
        match self {
            SaleCommand::Create(_)
            | SaleCommand::Change(_)
            | SaleCommand::AddSku(_)
            | SaleCommand::AddStock(_)
            | SaleCommand::WithdrawStock(_)
            | SaleCommand::ChangePrice { .. }
            | SaleCommand::Close
            | SaleCommand::Cancel
            | SaleCommand::OrderCheckout(_)
            | SaleCommand::ReturnCheckout(_)
            | SaleCommand::Purchase(_)
            | SaleCommand::TakeBack(_)
            | SaleCommand::Refund(_) => true,
            SaleCommand::Checkout(_) | SaleCommand::CancelCheckout(_) => false,
        }
    }

    /// The buyer whose attempt this is, if it is one: what the list of refused attempts names.
    pub fn attempt_by(&self) -> Option<&BuyerId> {
        match self {
            SaleCommand::Checkout(command) => Some(&command.buyer),
            SaleCommand::Purchase(command) => Some(&command.key.buyer),
            SaleCommand::CancelCheckout(_)
            | SaleCommand::OrderCheckout(_)
            | SaleCommand::ReturnCheckout(_)
            | SaleCommand::TakeBack(_)
            | SaleCommand::Create(_)
            | SaleCommand::Change(_)
            | SaleCommand::AddSku(_)
            | SaleCommand::AddStock(_)
            | SaleCommand::WithdrawStock(_)
            | SaleCommand::ChangePrice { .. }
            | SaleCommand::Close
            | SaleCommand::Cancel
            | SaleCommand::Refund(_) => None,
        }
    }

    /// All names, in the order of the commands.
    pub const VERBS: [&str; 15] = [
        "create_sale",
        "change_sale",
        "add_sku",
        "add_stock",
        "withdraw_stock",
        "change_price",
        "close_sale",
        "cancel_sale",
        "checkout",
        "cancel_checkout",
        "order_checkout",
        "return_checkout",
        "purchase",
        "take_back_purchase",
        "refund_purchase",
    ];

    pub fn verb(&self) -> &'static str {
        SaleCommand::VERBS[match self {
            SaleCommand::Create(_) => 0,
            SaleCommand::Change(_) => 1,
            SaleCommand::AddSku(_) => 2,
            SaleCommand::AddStock(_) => 3,
            SaleCommand::WithdrawStock(_) => 4,
            SaleCommand::ChangePrice { .. } => 5,
            SaleCommand::Close => 6,
            SaleCommand::Cancel => 7,
            SaleCommand::Checkout(_) => 8,
            SaleCommand::CancelCheckout(_) => 9,
            SaleCommand::OrderCheckout(_) => 10,
            SaleCommand::ReturnCheckout(_) => 11,
            SaleCommand::Purchase(_) => 12,
            SaleCommand::TakeBack(_) => 13,
            SaleCommand::Refund(_) => 14,
        }]
    }
}

//! What somebody asks of one sale. Who may ask was settled at the edge; a code's secret part never gets here.

use super::details::{SaleDetails, Sku};
use super::fact::{SkuCount, SkuLine};
use crate::id::{BuyerId, CheckoutId, OrderId, SkuIndex};
use crate::money::Minor;
use crate::time::Millis;
use crate::verb::commands;

commands! {
    pub enum SaleCommand {
        Create(Box<CreateSale>) = creates "create_sale",
        Change(Box<ChangeSale>) = sealed "change_sale",
        AddSku(Box<Sku>) = sealed "add_sku",
        AddStock(SkuCount) = sealed "add_stock",
        /// Takes units off the sale that nobody has.
        WithdrawStock(SkuCount) = sealed "withdraw_stock",
        ChangePrice {
            sku: SkuIndex,
            price_minor: Minor,
        } = sealed "change_price",
        /// Ends the sale before its time.
        Close = sealed "close_sale",
        /// Takes everything back and refunds every purchase.
        Cancel = sealed "cancel_sale",
        Checkout(Checkout) = unsealed "checkout",
        CancelCheckout(CheckoutKey) = unsealed "cancel_checkout",
        OrderCheckout(OrderCheckout) = sealed "order_checkout",
        ReturnCheckout(ReturnCheckout) = sealed "return_checkout",
        Purchase(Purchase) = sealed "purchase",
        TakeBack(TakeBack) = sealed "take_back_purchase",
        Refund(RefundPurchase) = sealed "refund_purchase",
    }
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

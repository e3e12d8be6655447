//! What somebody asks of one order. The buyer's right to the goods was proved at the edge; results come from the desk.

use super::fees::Fees;
use crate::id::{BuyerId, EntryId, OrderId, PaymentId};
use crate::money::Minor;
use crate::seats::command::HoldKey;
use crate::stock::command::CheckoutKey;
use crate::time::Millis;
use crate::verb::commands;

commands! {
    pub enum OrderCommand {
        Place(PlaceOrder) = sealed "place_order",
        Pay(PayOrder) = sealed "pay_order",
        Cancel(OrderKey) = sealed "cancel_order",
        NotePayment(NotePayment) = sealed "note_payment",
        NoteRefund(NoteRefund) = sealed "note_refund",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlaceOrder {
    pub order: OrderId,
    pub goods: GoodsKey,
    pub fees: Fees,
}

/// What shall be paid: something that its buyer has for a while.
#[derive(Clone, Debug, PartialEq)]
pub enum GoodsKey {
    Hold(HoldKey),
    Checkout(CheckoutKey),
    /// What this bidder may have of an auction: a win, or a second chance.
    Award(BuyerId),
    /// A place of a registration that is kept for its buyer.
    Entry(EntryKey),
}

#[derive(Clone, Debug, PartialEq)]
pub struct EntryKey {
    pub entry: EntryId,
    pub buyer: BuyerId,
}

impl GoodsKey {
    pub fn buyer(&self) -> &BuyerId {
        match self {
            GoodsKey::Hold(key) => &key.buyer,
            GoodsKey::Checkout(key) => &key.buyer,
            GoodsKey::Award(bidder) => bidder,
            GoodsKey::Entry(key) => &key.buyer,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    pub order: OrderId,
    pub buyer: BuyerId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PayOrder {
    pub key: OrderKey,
    /// The attempt's id, should there be anything to pay; later the provider's idempotency key.
    pub payment: PaymentId,
    /// Until when the provider answers.
    pub pay_until: Millis,
    /// What the provider shall take the money from, in its own words; no secret.
    pub method: Option<String>,
    /// Somebody who may say so says that the money was taken elsewhere.
    pub settled: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NotePayment {
    pub order: OrderId,
    pub payment: PaymentId,
    pub result: PaymentResult,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PaymentResult {
    /// With the provider's own name of the payment.
    Captured {
        amount_minor: Minor,
        reference: String,
    },
    Declined {
        reason: String,
    },
}

/// The provider has paid a refund back.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteRefund {
    pub order: OrderId,
    pub payment: PaymentId,
    pub refund: u16,
}

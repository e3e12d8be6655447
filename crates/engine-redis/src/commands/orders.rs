//! Commands of orders as arguments: the same scripts for holds and for codes, each over its listing's own fragments.

use onsale_domain::order::OrderCommand;
use onsale_domain::order::command::{GoodsKey, OrderKey, PaymentResult, PlaceOrder};
use onsale_domain::{Code, ListingKind, Refusal, order};

use super::{Args, Call, refused};
use crate::facts;
use crate::picture::Picture;
use crate::scripts::{Name, SaleVerb};

pub(super) fn prepare(picture: &Picture, command: &OrderCommand) -> Call {
    if let Err(refusal) = order::check(command) {
        return refused(refusal, "");
    }
    let mut args = Args::default();
    let (of_event, of_sale) = match command {
        OrderCommand::Place(command) => {
            if !place(&mut args, picture.listing.id.kind, command) {
                return refused(Refusal::of(Code::WrongKind), "");
            }
            (Name::PlaceOrder, SaleVerb::PlaceOrder)
        }
        OrderCommand::Pay(command) => {
            args.order(&command.key);
            args.bytes(facts::id(command.payment.0));
            args.push(command.pay_until);
            args.bytes(if command.settled { "1" } else { "0" });
            args.bytes(facts::orders::said(command.method.as_deref()));
            (Name::PayOrder, SaleVerb::PayOrder)
        }
        OrderCommand::Cancel(key) => {
            args.order(key);
            (Name::CancelOrder, SaleVerb::CancelOrder)
        }
        OrderCommand::NotePayment(command) => {
            args.bytes(facts::id(command.order.0));
            args.bytes(facts::id(command.payment.0));
            let (how, what, reference) = match &command.result {
                PaymentResult::Captured { amount_minor, reference } => {
                    ("captured", amount_minor.to_string(), reference.as_str())
                }
                PaymentResult::Declined { reason } => ("declined", reason.clone(), ""),
            };
            args.bytes(how);
            args.bytes(what);
            args.bytes(reference);
            (Name::NotePayment, SaleVerb::NotePayment)
        }
        OrderCommand::NoteRefund(command) => {
            args.bytes(facts::id(command.order.0));
            args.bytes(facts::id(command.payment.0));
            args.push(command.refund);
            (Name::NoteRefund, SaleVerb::NoteRefund)
        }
    };
    let name = if picture.listing.id.kind == ListingKind::Sale { Name::Sale(of_sale) } else { of_event };
    args.call(name, picture)
}

/// False if such goods are not on sale in this kind of listing.
fn place(args: &mut Args, kind: ListingKind, command: &PlaceOrder) -> bool {
    args.bytes(facts::id(command.order.0));
    let (goods, fence, of) = match &command.goods {
        GoodsKey::Hold(key) => (key.hold.0, key.fence.to_string(), ListingKind::Event),
        GoodsKey::Checkout(key) => (key.checkout.0, String::new(), ListingKind::Sale),
        // No script takes these yet: see `unsupported_orders`.
        GoodsKey::Award(_) | GoodsKey::Entry(_) => return false,
    };
    args.bytes(facts::id(goods));
    args.bytes(command.goods.buyer().as_str());
    args.bytes(fence);
    args.push(command.fees.per_order_minor);
    args.push(command.fees.per_unit_minor);
    args.push(command.fees.share);
    kind == of
}

impl Args {
    fn order(&mut self, key: &OrderKey) {
        self.bytes(facts::id(key.order.0));
        self.bytes(key.buyer.as_str());
    }
}

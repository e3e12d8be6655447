//! Commands of orders as arguments: the same scripts for all goods, each over its listing's own fragments.

use onsale_domain::order::OrderCommand;
use onsale_domain::order::command::{GoodsKey, OrderKey, PaymentResult, PlaceOrder};
use onsale_domain::{Code, Refusal, order};

use super::{Args, ScriptArgs, refused};
use crate::facts;
use crate::picture::Picture;

/// `goods` are those on sale in this listing, as the book names them.
pub(crate) fn prepare(picture: &Picture, command: &OrderCommand, goods: &str) -> ScriptArgs {
    if let Err(refusal) = order::check(command) {
        return refused(refusal, "");
    }
    let mut args = Args::default();
    match command {
        OrderCommand::Place(command) => {
            if !place(&mut args, goods, command) {
                return refused(Refusal::of(Code::WrongKind), "");
            }
        }
        OrderCommand::Pay(command) => {
            args.order(&command.key);
            args.bytes(facts::id(command.payment.0));
            args.push(command.pay_until);
            args.bytes(if command.settled { "1" } else { "0" });
            args.bytes(facts::orders::said(command.method.as_deref()));
        }
        OrderCommand::Cancel(key) => args.order(key),
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
        }
        OrderCommand::NoteRefund(command) => {
            args.bytes(facts::id(command.order.0));
            args.bytes(facts::id(command.payment.0));
            args.push(command.refund);
        }
    }
    args.script(command.verb().name, picture)
}

/// False if such goods are not on sale in this kind of listing.
fn place(args: &mut Args, sold_here: &str, command: &PlaceOrder) -> bool {
    args.bytes(facts::id(command.order.0));
    let (goods, fence, of) = match &command.goods {
        GoodsKey::Hold(key) => (key.hold.0, key.fence.to_string(), "hold"),
        GoodsKey::Checkout(key) => (key.checkout.0, String::new(), "checkout"),
        // Only one award waits at a time.
        GoodsKey::Award(_) => (0, String::new(), "award"),
        GoodsKey::Entry(key) => (key.entry.0, String::new(), "entry"),
    };
    args.bytes(facts::id(goods));
    args.bytes(command.goods.buyer().as_str());
    args.bytes(fence);
    args.push(command.fees.per_order_minor);
    args.push(command.fees.per_unit_minor);
    args.push(command.fees.share);
    sold_here == of
}

impl Args {
    fn order(&mut self, key: &OrderKey) {
        self.bytes(facts::id(key.order.0));
        self.bytes(key.buyer.as_str());
    }
}

//! Commands of orders as arguments: the same scripts for all goods, each over its listing's own fragments.

use onsale_domain::order::OrderCommand;
use onsale_domain::order::command::{GoodsKey, OrderKey, PaymentResult, PlaceOrder};
use onsale_domain::{Code, ListingKind, Refusal, order};

use super::{Args, Call, refused};
use crate::facts;
use crate::picture::Picture;
use crate::scripts::{AuctionVerb, Name, RegistrationVerb, SaleVerb};

/// A verb has the same name in each kind of listing.
macro_rules! scripts {
    ($verb:ident) => {
        (Name::$verb, SaleVerb::$verb, AuctionVerb::$verb, RegistrationVerb::$verb)
    };
}

pub(super) fn prepare(picture: &Picture, command: &OrderCommand) -> Call {
    if let Err(refusal) = order::check(command) {
        return refused(refusal, "");
    }
    let mut args = Args::default();
    let kind = picture.listing.id.kind;
    match command {
        OrderCommand::Place(command) => {
            if !place(&mut args, kind, command) {
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
    match script(kind, command) {
        Some(name) => args.call(name, picture),
        None => refused(Refusal::of(Code::WrongKind), ""),
    }
}

/// The verb's script over the fragments of a kind of listing; none where nothing is ordered.
fn script(kind: ListingKind, command: &OrderCommand) -> Option<Name> {
    let (of_event, of_sale, of_auction, of_registration) = match command {
        OrderCommand::Place(_) => scripts!(PlaceOrder),
        OrderCommand::Pay(_) => scripts!(PayOrder),
        OrderCommand::Cancel(_) => scripts!(CancelOrder),
        OrderCommand::NotePayment(_) => scripts!(NotePayment),
        OrderCommand::NoteRefund(_) => scripts!(NoteRefund),
    };
    match kind {
        ListingKind::Event => Some(of_event),
        ListingKind::Sale => Some(Name::Sale(of_sale)),
        ListingKind::Auction => Some(Name::Auction(of_auction)),
        ListingKind::Registration => Some(Name::Registration(of_registration)),
        ListingKind::Venue | ListingKind::Series | ListingKind::Desk => None,
    }
}

/// False if such goods are not on sale in this kind of listing.
fn place(args: &mut Args, kind: ListingKind, command: &PlaceOrder) -> bool {
    args.bytes(facts::id(command.order.0));
    let (goods, fence, of) = match &command.goods {
        GoodsKey::Hold(key) => (key.hold.0, key.fence.to_string(), ListingKind::Event),
        GoodsKey::Checkout(key) => (key.checkout.0, String::new(), ListingKind::Sale),
        // Only one award waits at a time.
        GoodsKey::Award(_) => (0, String::new(), ListingKind::Auction),
        GoodsKey::Entry(key) => (key.entry.0, String::new(), ListingKind::Registration),
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

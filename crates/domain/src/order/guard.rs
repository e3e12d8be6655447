//! What an order has taken is nobody else's to change: asked before a command of the goods is decided.

use super::place_order::taken;
use super::state::{Order, OrderStatus, Orders};
use crate::Command;
use crate::auction::{self, AuctionCommand};
use crate::command::HoldKey;
use crate::id::{EntryId, OrderId};
use crate::listing::{Body, Listing};
use crate::refusal::{Code, Detail, Refusal};
use crate::registration::{self, RegistrationCommand};
use crate::seats::{self, Seats};
use crate::stock::command::CheckoutKey;
use crate::stock::{self, Sale, SaleCommand};
use crate::time::{Millis, is_over};

pub(crate) fn guard(listing: &Listing, command: &Command, now: Millis) -> Result<(), Refusal> {
    let Some(orders) = listing.orders.as_deref() else { return Ok(()) };
    if let Body::Event(seats) = &listing.body {
        return guard_hold(orders, seats, command, now)
            .map_err(|refusal| wrong(seats::check(command), refusal));
    }
    if let (Body::Sale(sale), Command::Sale(command)) = (&listing.body, command) {
        return guard_code(orders, sale, command, now)
            .map_err(|refusal| wrong(stock::check(command), refusal));
    }
    if let (Body::Auction(_), Command::Auction(command)) = (&listing.body, command) {
        let order = orders.of_goods(0).filter(|order| listing.is_kept(order, now));
        return guard_award(orders, order, command)
            .map_err(|refusal| wrong(auction::check(command), refusal));
    }
    if let (Body::Registration(registration), Command::Registration(command)) = (&listing.body, command) {
        // What an order has bought under this id would be taken for the new entry.
        if let RegistrationCommand::Register(command) = command
            && orders.of_entry(command.entry).is_some()
            && !registration.has_entry(command.entry)
        {
            return Err(Refusal::of(Code::IdTaken));
        }
        let of_goods = |entry: EntryId| orders.of_goods(entry.0).filter(|order| listing.is_kept(order, now));
        return guard_entry(orders, of_goods, command)
            .map_err(|refusal| wrong(registration::check(command), refusal));
    }
    Ok(())
}

/// What no state could make sense of is told so, whoever has taken the goods.
fn wrong(checked: Result<(), Refusal>, refusal: Refusal) -> Refusal {
    checked.err().unwrap_or(refusal)
}

impl Listing {
    /// Whether an order's goods are not over, whoever has noticed.
    fn is_kept(&self, order: &Order, now: Millis) -> bool {
        self.goods_until(&order.goods).is_some_and(|until| !is_over(until, now))
    }
}

/// What an order has taken is settled by the order alone, and not turned down while it is paid.
fn guard_award(orders: &Orders, order: Option<&Order>, command: &AuctionCommand) -> Result<(), Refusal> {
    if let AuctionCommand::SettleAward(command) = command {
        return match order.filter(|order| order.buyer == command.bidder) {
            Some(order) => Err(taken(order.id)),
            None => new_id(orders, command.order),
        };
    }
    if let AuctionCommand::DeclineAward(bidder) = command {
        return is_not_paying(order.filter(|order| order.buyer == *bidder));
    }
    Ok(())
}

/// The same for a place. Staff may take it away while it is paid: the money then goes back.
fn guard_entry<'a>(
    orders: &Orders,
    of_goods: impl Fn(EntryId) -> Option<&'a Order>,
    command: &RegistrationCommand,
) -> Result<(), Refusal> {
    if let RegistrationCommand::Confirm(command) = command {
        return match of_goods(command.entry).filter(|order| order.buyer == command.buyer) {
            Some(order) => Err(taken(order.id)),
            // Told again, a confirmation that an order brought about is the same answer.
            None => match orders.of_entry(command.entry).is_some() {
                true => Ok(()),
                false => new_id(orders, command.order),
            },
        };
    }
    if let RegistrationCommand::CancelEntry(command) = command
        && let Some(buyer) = &command.buyer
    {
        return is_not_paying(of_goods(command.entry).filter(|order| order.buyer == *buyer));
    }
    Ok(())
}

fn is_not_paying(order: Option<&Order>) -> Result<(), Refusal> {
    match order.filter(|order| order.status == OrderStatus::Paying) {
        Some(order) => Err(Refusal { detail: Detail::Order(order.id), ..Refusal::of(Code::OrderPaying) }),
        None => Ok(()),
    }
}

/// Neither extended nor released while it is paid; nothing taken out of it and not bought without its order at all.
fn guard_hold(orders: &Orders, seats: &Seats, command: &Command, now: Millis) -> Result<(), Refusal> {
    if let Command::ExtendHold(crate::command::ExtendHold { key, .. }) | Command::ReleaseHold(key) = command {
        return not_paying(orders, seats, key, now);
    }
    if let Command::DropSeats(command) = command {
        not_paying(orders, seats, &command.key, now)?;
        return not_taken(orders, seats, &command.key, now);
    }
    if let Command::ConfirmHold(command) = command {
        not_paying(orders, seats, &command.key, now)?;
        not_taken(orders, seats, &command.key, now)?;
        if seats.opens(&command.key, now) {
            return new_id(orders, command.order);
        }
    }
    Ok(())
}

fn not_paying(orders: &Orders, seats: &Seats, key: &HoldKey, now: Millis) -> Result<(), Refusal> {
    match orders.of_goods(key.hold.0) {
        Some(order) if order.status == OrderStatus::Paying && seats.opens(key, now) => {
            Err(Refusal { detail: Detail::Order(order.id), ..Refusal::of(Code::HoldPaying) })
        }
        Some(_) | None => Ok(()),
    }
}

fn not_taken(orders: &Orders, seats: &Seats, key: &HoldKey, now: Millis) -> Result<(), Refusal> {
    match orders.of_goods(key.hold.0) {
        Some(order) if seats.opens(key, now) => Err(taken(order.id)),
        Some(_) | None => Ok(()),
    }
}

fn new_id(orders: &Orders, order: OrderId) -> Result<(), Refusal> {
    match orders.knows(order) {
        true => Err(Refusal { detail: Detail::Order(order), ..Refusal::of(Code::IdTaken) }),
        false => Ok(()),
    }
}

/// A code in an order is bought, returned and taken back by the order alone.
fn guard_code(orders: &Orders, sale: &Sale, command: &SaleCommand, now: Millis) -> Result<(), Refusal> {
    let (checkout, key, order): (_, Option<&CheckoutKey>, _) = match command {
        SaleCommand::Purchase(command) => (command.key.checkout, Some(&command.key), command.order),
        SaleCommand::OrderCheckout(command) => (command.key.checkout, Some(&command.key), command.order),
        SaleCommand::ReturnCheckout(command) => (command.checkout, None, command.order),
        SaleCommand::TakeBack(command) => (command.key.checkout, None, command.order),
        SaleCommand::Create(_)
        | SaleCommand::Change(_)
        | SaleCommand::AddSku(_)
        | SaleCommand::AddStock(_)
        | SaleCommand::WithdrawStock(_)
        | SaleCommand::ChangePrice { .. }
        | SaleCommand::Close
        | SaleCommand::Cancel
        | SaleCommand::Checkout(_)
        | SaleCommand::CancelCheckout(_)
        | SaleCommand::Refund(_) => return Ok(()),
    };
    if key.is_some_and(|key| !sale.opens(key, now)) {
        return Ok(());
    }
    if orders.of_goods(checkout.0).is_some() {
        return Err(Refusal::of(Code::CheckoutOrdered));
    }
    new_id(orders, order)
}

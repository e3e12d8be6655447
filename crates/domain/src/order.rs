//! Orders: how money turns what a buyer holds into what they own. The book lies beside a listing's goods and is decided in
//! the same log; one file per verb in `order/`. Who is asked for the money is the desk's affair ([`crate::desk`]).

mod apply;
mod beside;
mod cancel_order;
pub mod command;
pub mod fact;
pub mod fees;
pub(crate) mod goods;
pub(crate) mod guard;
pub mod image;
mod invariants;
mod note_payment;
mod pay_order;
mod place_order;
mod refund;
mod state;
mod view;

pub use command::OrderCommand;
pub use fact::OrderFact;
pub use fees::Fees;
pub use goods::{Goods, GoodsChange, OrderSummary, TakeBackOutcome};
pub(crate) use guard::guard;
pub use invariants::check as check_invariants;
pub(crate) use refund::owe;
pub use state::{Money, Order, OrderStatus, Orders};
pub use view::{BookedOrder, BookedPayment, BookedRefund, OrdersFound, OrdersQuery, Work};

use crate::fact::Fact;
use crate::field::Field;
use crate::listing::Listing;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::time::Millis;

/// Decides one command about an order of this listing and applies what follows.
pub(crate) fn execute(
    listing: &mut Listing,
    command: &OrderCommand,
    now: Millis,
    facts: &mut Vec<Fact>,
) -> Result<Outcome, Refusal> {
    check(command)?;
    match command {
        OrderCommand::Place(command) => place_order::execute(listing, command, now, facts),
        OrderCommand::Pay(command) => pay_order::execute(listing, command, now, facts),
        OrderCommand::Cancel(command) => cancel_order::execute(listing, command, now, facts),
        OrderCommand::NotePayment(command) => note_payment::execute(listing, command, now, facts),
        OrderCommand::NoteRefund(command) => note_payment::refund_paid(listing, command, now, facts),
    }
}

/// Refuses what no state of an order could make sense of: such a command records nothing at all.
pub fn check(command: &OrderCommand) -> Result<(), Refusal> {
    match command {
        OrderCommand::Place(command) => command.fees.check(),
        OrderCommand::Pay(command) => {
            crate::desk::check_reference(command.method.as_deref().unwrap_or_default())?;
            crate::fields::check_time(Field::PayUntil, command.pay_until)
        }
        OrderCommand::NotePayment(command) => note_payment::check(command),
        OrderCommand::Cancel(_) | OrderCommand::NoteRefund(_) => Ok(()),
    }
}

//! The stock of one sale: who has reserved and bought how many of which SKU. One file per verb in `stock/`;
//! `execute` runs a command as expiry of what it touches, then the verb's own fact.

mod apply;
mod cancel_checkout;
mod change_sale;
mod change_stock;
mod checkout;
pub mod command;
pub mod details;
mod expire;
pub mod fact;
pub mod image;
mod invariants;
mod order_checkout;
mod ordering;
mod purchase;
mod refund_purchase;
mod state;
mod take_back;
mod view;

pub use command::SaleCommand;
pub use fact::SaleFact;
pub use invariants::check as check_invariants;
pub use state::{Level, Sale};
pub use view::{CheckoutState, PurchaseState, SaleFound, SaleQuery, SaleView};

use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

/// What deciding a verb yields: its fact, or a yes that needs none.
enum Decided {
    Fact(SaleFact),
    Outcome(Outcome),
}

impl Sale {
    /// Decides one command and applies what follows. `fence` is that of the listing's last fact;
    /// the n-th new fact has the n-th fence after it.
    pub fn execute<F: From<SaleFact>>(
        &mut self,
        command: &SaleCommand,
        now: Millis,
        fence: u64,
        facts: &mut Vec<F>,
    ) -> Result<Outcome, Refusal> {
        check(command)?;
        let mut run = Run { sale: self, now, fence, facts };
        run.follow_schedule();
        run.expire_touched(command);
        match decide(run.sale, command, now)? {
            Decided::Outcome(outcome) => Ok(outcome),
            Decided::Fact(fact) => {
                run.take(fact);
                Ok(Outcome::Done)
            }
        }
    }

    /// The sweep; see [`crate::Command::ExpireDue`].
    pub fn expire_due<F: From<SaleFact>>(
        &mut self,
        limit: u32,
        now: Millis,
        fence: u64,
        facts: &mut Vec<F>,
    ) -> Outcome {
        let before = facts.len();
        let mut run = Run { sale: self, now, fence, facts };
        run.follow_schedule();
        run.expire_due(limit);
        if run.facts.len() == before { Outcome::Unchanged } else { Outcome::Done }
    }
}

/// Refuses what no state of a sale could make sense of: such a command records nothing at all.
pub fn check(command: &SaleCommand) -> Result<(), Refusal> {
    match command {
        SaleCommand::Checkout(command) => checkout::check(command),
        SaleCommand::OrderCheckout(command) => order_checkout::check(command),
        SaleCommand::TakeBack(command) => take_back::check(command),
        SaleCommand::Refund(command) => refund_purchase::check(command),
        SaleCommand::AddStock(line) | SaleCommand::WithdrawStock(line) => change_stock::check_count(*line),
        SaleCommand::Create(_)
        | SaleCommand::Change(_)
        | SaleCommand::AddSku(_)
        | SaleCommand::ChangePrice { .. }
        | SaleCommand::Close
        | SaleCommand::Cancel
        | SaleCommand::CancelCheckout(_)
        | SaleCommand::ReturnCheckout(_)
        | SaleCommand::Purchase(_) => Ok(()),
    }
}

/// Decides without changing anything; `apply` is the only way a sale changes.
fn decide(sale: &Sale, command: &SaleCommand, now: Millis) -> Result<Decided, Refusal> {
    let fact = match command {
        SaleCommand::Create(_) => return Err(Refusal::of(Code::ListingExists)),
        SaleCommand::Change(command) => return change_sale::decide(sale, command, now),
        SaleCommand::AddSku(sku) => change_stock::add_sku(sale, sku)?,
        SaleCommand::AddStock(line) => change_stock::add_stock(sale, *line)?,
        SaleCommand::WithdrawStock(line) => change_stock::withdraw(sale, *line)?,
        SaleCommand::ChangePrice { sku, price_minor } => {
            return change_stock::change_price(sale, *sku, *price_minor);
        }
        SaleCommand::Close => return change_sale::close(sale),
        SaleCommand::Cancel => return Ok(change_sale::cancel(sale)),
        SaleCommand::Checkout(command) => checkout::decide(sale, command, now)?,
        SaleCommand::CancelCheckout(key) => cancel_checkout::decide(sale, key, now)?,
        SaleCommand::OrderCheckout(command) => return order_checkout::decide(sale, command, now),
        SaleCommand::ReturnCheckout(command) => order_checkout::give_back(sale, command, now)?,
        SaleCommand::Purchase(command) => return purchase::decide(sale, command, now),
        SaleCommand::TakeBack(command) => return take_back::decide(sale, command),
        SaleCommand::Refund(command) => refund_purchase::decide(sale, command)?,
    };
    Ok(Decided::Fact(fact))
}

/// One command on its way through: each fact is applied before the next is decided.
struct Run<'a, F> {
    sale: &'a mut Sale,
    now: Millis,
    fence: u64,
    facts: &'a mut Vec<F>,
}

impl<F: From<SaleFact>> Run<'_, F> {
    fn take(&mut self, fact: SaleFact) {
        self.fence += 1;
        self.sale.apply(&fact, self.fence, self.now);
        self.facts.push(fact.into());
    }
}

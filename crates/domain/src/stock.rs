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

use crate::id::{BuyerId, ListingId};
use crate::kind::Kind;
use crate::order::{Goods, GoodsChange};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;
use details::SaleStatus;
use image::SaleImage;

/// What deciding a verb yields: its fact, or a yes that needs none.
enum Decision {
    Fact(SaleFact),
    Outcome(Outcome),
}

impl Kind for Sale {
    type Command = SaleCommand;
    type Fact = SaleFact;
    type View = SaleView;
    type Query = SaleQuery;
    type Found = SaleFound;
    type Image = SaleImage;

    fn create(command: &SaleCommand, now: Millis) -> Result<Vec<SaleFact>, Refusal> {
        let SaleCommand::Create(create) = command else { return Err(Refusal::of(Code::ListingUnknown)) };
        Sale::create(create, now)
    }

    fn begin(_id: ListingId, first: &SaleFact) -> Option<Sale> {
        Sale::begin(first)
    }

    fn check(command: &SaleCommand) -> Result<(), Refusal> {
        check(command)
    }

    fn execute(&mut self, command: &SaleCommand, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        check(command)?;
        let now = writer.now;
        let mut run = Run { sale: self, now, writer };
        run.follow_schedule();
        run.expire_touched(&expire::touched(command));
        match decide(run.sale, command, now)? {
            Decision::Outcome(outcome) => Ok(outcome),
            Decision::Fact(fact) => {
                run.take(fact);
                Ok(Outcome::Done)
            }
        }
    }

    fn sweep(&mut self, limit: u32, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        let mut run = Run { sale: self, now: writer.now, writer };
        run.follow_schedule();
        run.expire_due(limit);
        Ok(if run.writer.added().is_empty() { Outcome::Unchanged } else { Outcome::Done })
    }

    fn apply(&mut self, fact: &SaleFact, fence: u64, at: Millis) {
        self.apply(fact, fence, at);
    }

    fn next_due(&self) -> Option<Millis> {
        self.next_due()
    }

    /// A living code, or a purchase, refunded ones too.
    fn is_in_use(&self) -> bool {
        !self.codes.is_empty() || !self.purchases.is_empty()
    }

    fn view(&self) -> SaleView {
        self.view()
    }

    fn over_at(view: &SaleView) -> Option<Millis> {
        matches!(view.status, SaleStatus::Scheduled | SaleStatus::Open).then_some(view.details.ends_at)
    }

    fn ask(&self, query: &SaleQuery, now: Millis) -> SaleFound {
        self.ask(query, now)
    }

    fn is_nothing(found: &SaleFound) -> bool {
        match found {
            SaleFound::Nothing => true,
            SaleFound::Checkouts(all) => all.is_empty(),
            SaleFound::Purchases(all) => all.is_empty(),
            SaleFound::Checkout(_) | SaleFound::Ended(_) | SaleFound::Purchase(_) => false,
        }
    }

    fn image(&self) -> SaleImage {
        self.image()
    }

    fn sort(image: &mut SaleImage) {
        image.sort();
    }

    fn from_image(_id: ListingId, image: SaleImage) -> Sale {
        Sale::from_image(image)
    }

    fn check_invariants(&self) -> Result<(), String> {
        check_invariants(self)
    }

    fn attempt_by(command: &SaleCommand) -> Option<&BuyerId> {
        if let SaleCommand::Checkout(command) = command {
            Some(&command.buyer)
        } else if let SaleCommand::Purchase(command) = command {
            Some(&command.key.buyer)
        } else {
            None
        }
    }

    fn far(&self, command: &SaleCommand, before: usize) -> [Option<&u32>; 2] {
        self.far(command, before)
    }

    fn goods(&self) -> Option<&dyn Goods> {
        Some(self)
    }

    fn goods_mut(&mut self) -> Option<&mut dyn Goods> {
        Some(self)
    }

    fn each_buyer(&self, name: &mut dyn FnMut(&str)) {
        self.buyers.values().for_each(|buyer| name(&buyer.name));
    }

    fn asks_about(query: &SaleQuery) -> Option<&BuyerId> {
        match query {
            SaleQuery::CheckoutsOf(buyer) | SaleQuery::PurchasesOf { buyer, .. } => Some(buyer),
            SaleQuery::Checkout(_) | SaleQuery::Order(_) => None,
        }
    }

    fn goods_change(fact: &SaleFact) -> Option<GoodsChange> {
        ordering::goods_change(fact)
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
fn decide(sale: &Sale, command: &SaleCommand, now: Millis) -> Result<Decision, Refusal> {
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
    Ok(Decision::Fact(fact))
}

/// One command on its way through: each fact is applied before the next is decided.
struct Run<'a, 'b> {
    sale: &'a mut Sale,
    now: Millis,
    writer: &'a mut StepWriter<'b>,
}

impl Run<'_, '_> {
    fn take(&mut self, fact: SaleFact) {
        self.sale.apply(&fact, self.writer.next_fence(), self.now);
        self.writer.push(fact);
    }
}

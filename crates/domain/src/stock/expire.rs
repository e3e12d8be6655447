//! Expiry as facts: what a command touches before it is decided, the sale's own hours, and the sweep.

use super::Run;
use super::checkout::{is_short, summed};
use super::command::SaleCommand;
use super::details::SaleStatus;
use super::fact::{CancelCause, SaleFact, SkuCount, SkuLine};
use super::refund_purchase::all_of;
use super::state::Sale;
use crate::id::{BuyerId, CheckoutId, SkuIndex};
use crate::limits::EXPIRE_DUE_MAX;
use crate::time::{Millis, is_over};

/// The reason that stands in the refunds of a cancelled sale.
const CANCELLED: &str = "sale cancelled";

impl Sale {
    /// The next change that the sale's window brings, and when.
    fn next_on_schedule(&self) -> Option<(Millis, SaleStatus)> {
        match self.status {
            SaleStatus::Scheduled => Some((self.details.starts_at, SaleStatus::Open)),
            SaleStatus::Open => Some((self.details.ends_at, SaleStatus::Ended)),
            SaleStatus::Ended | SaleStatus::Cancelled => None,
        }
    }

    /// A cancelled sale still has codes to end or purchases to refund.
    fn has_cancelled_work(&self) -> bool {
        self.status == SaleStatus::Cancelled && !(self.codes.is_empty() && self.open_purchases.is_empty())
    }

    /// When something falls due that no command has touched.
    pub fn next_due(&self) -> Option<Millis> {
        if self.has_cancelled_work() {
            return Some(Millis::MIN);
        }
        let first = self.due.first().map(|(until, _)| until);
        first.into_iter().chain(self.next_on_schedule().map(|(at, _)| at)).min()
    }

    fn first_due(&self, now: Millis) -> Option<SaleFact> {
        let (until, index) = self.due.first()?;
        is_over(until, now).then(|| SaleFact::CheckoutExpired { checkout: self.codes[index].id })
    }

    /// The buyer's own due codes, by (until, fence).
    fn due_codes_of(&self, buyer: &BuyerId, now: Millis) -> Vec<CheckoutId> {
        let Some(buyer) = self.buyer_index(buyer) else { return Vec::new() };
        let all = self.codes_of(buyer).map(|index| &self.codes[index]);
        let due = all.filter(|code| is_over(code.until, now)).map(|code| (code.until, code.fence, code.id));
        let mut due: Vec<_> = due.collect();
        due.sort_unstable();
        due.into_iter().map(|(_, _, code)| code).collect()
    }

    /// The next piece of a cancellation: living codes by their deadline, then purchases as they were made.
    fn next_cancelled(&self) -> Option<SaleFact> {
        if let Some((_, index)) = self.due.first() {
            let checkout = self.codes[index].id;
            return Some(SaleFact::CheckoutCancelled { checkout, why: CancelCause::SaleCancelled });
        }
        let (_, index) = self.open_purchases.first_key_value()?;
        Some(all_of(self, *index, true, CANCELLED))
    }
}

impl Run<'_, '_> {
    /// Opens or ends the sale when its hour has come.
    pub(super) fn follow_schedule(&mut self) {
        while let Some((at, status)) = self.sale.next_on_schedule()
            && is_over(at, self.now)
        {
            self.take(SaleFact::StatusChanged { status, by_schedule: true });
        }
    }

    /// Expires what is touched: the buyer's own codes, the code that is named, and, while there is too little of what is
    /// wanted, whatever is due, in the order of the sweep.
    pub(super) fn expire_touched(&mut self, touched: &ExpiryScope<'_>) {
        if self.sale.first_due(self.now).is_none() {
            return;
        }
        let own = touched.buyer.map_or(Vec::new(), |buyer| self.sale.due_codes_of(buyer, self.now));
        own.into_iter().for_each(|checkout| self.take(SaleFact::CheckoutExpired { checkout }));
        if let Some(checkout) = touched.checkout
            && let Some(index) = self.sale.code_index(checkout)
            && is_over(self.sale.codes[index].until, self.now)
        {
            self.take(SaleFact::CheckoutExpired { checkout });
        }
        let wanted = touched.wanted.of(self.sale);
        for _ in 0..EXPIRE_DUE_MAX {
            if !is_short(self.sale, wanted.iter().copied()) {
                break;
            }
            let Some(fact) = self.sale.first_due(self.now) else { break };
            self.take(fact);
        }
    }

    /// The sweep: whatever is due, in (until, fence) order, a bounded number at a time.
    pub(super) fn expire_due(&mut self, limit: u32) {
        for _ in 0..limit.min(EXPIRE_DUE_MAX) {
            let next = match self.sale.has_cancelled_work() {
                true => self.sale.next_cancelled(),
                false => self.sale.first_due(self.now),
            };
            let Some(fact) = next else { break };
            self.take(fact);
        }
    }
}

/// What shall not be in the way, or not be told as living, if it is over.
#[derive(Debug)]
pub(super) struct ExpiryScope<'a> {
    pub buyer: Option<&'a BuyerId>,
    pub checkout: Option<CheckoutId>,
    wanted: Need<'a>,
}

/// Of what free units are needed, and how many.
#[derive(Debug)]
enum Need<'a> {
    Nothing,
    /// Nothing can be reserved outside the sale's hours, so nothing has to make room then.
    Reserved(&'a [SkuCount]),
    TakenBack(&'a [SkuLine]),
    Withdrawn(SkuCount),
}

impl<'a> ExpiryScope<'a> {
    pub(super) fn code(checkout: CheckoutId, buyer: Option<&'a BuyerId>) -> ExpiryScope<'a> {
        ExpiryScope { buyer, checkout: Some(checkout), wanted: Need::Nothing }
    }
}

impl Need<'_> {
    fn of(&self, sale: &Sale) -> Vec<(SkuIndex, u32)> {
        match self {
            Need::Reserved(lines) if sale.status == SaleStatus::Open => {
                summed(lines).iter().map(|line| (line.sku, line.count)).collect()
            }
            Need::TakenBack(lines) if sale.status != SaleStatus::Cancelled => {
                lines.iter().map(|line| (line.sku, line.count)).collect()
            }
            Need::Withdrawn(line) => vec![(line.sku, line.count)],
            Need::Nothing | Need::Reserved(_) | Need::TakenBack(_) => Vec::new(),
        }
    }
}

/// What a command touches.
pub(super) fn touched(command: &SaleCommand) -> ExpiryScope<'_> {
    match command {
        SaleCommand::Checkout(command) => ExpiryScope {
            buyer: Some(&command.buyer),
            checkout: None,
            wanted: Need::Reserved(&command.lines),
        },
        SaleCommand::CancelCheckout(key) => ExpiryScope::code(key.checkout, Some(&key.buyer)),
        SaleCommand::OrderCheckout(command) => {
            ExpiryScope::code(command.key.checkout, Some(&command.key.buyer))
        }
        SaleCommand::Purchase(command) => ExpiryScope::code(command.key.checkout, Some(&command.key.buyer)),
        SaleCommand::TakeBack(command) => ExpiryScope {
            wanted: Need::TakenBack(&command.lines),
            ..ExpiryScope::code(command.key.checkout, Some(&command.key.buyer))
        },
        SaleCommand::ReturnCheckout(command) => ExpiryScope::code(command.checkout, None),
        SaleCommand::WithdrawStock(line) => {
            ExpiryScope { buyer: None, checkout: None, wanted: Need::Withdrawn(*line) }
        }
        SaleCommand::Create(_)
        | SaleCommand::Change(_)
        | SaleCommand::AddSku(_)
        | SaleCommand::AddStock(_)
        | SaleCommand::ChangePrice { .. }
        | SaleCommand::Close
        | SaleCommand::Cancel
        | SaleCommand::Refund(_) => ExpiryScope { buyer: None, checkout: None, wanted: Need::Nothing },
    }
}

//! What readers see of a sale: an immutable view without a lock, and answers about one buyer's things.

use std::sync::Arc;

use super::details::{SaleDetails, SaleStatus, SkuInfo};
use super::fact::SkuLine;
use super::state::{Level, Sale, total_minor};
use crate::ended::End;
use crate::id::{BuyerId, CheckoutId, OrderId};
use crate::money::Minor;
use crate::time::{Millis, is_over};

#[derive(Clone, Debug, PartialEq)]
pub struct SaleView {
    pub details: Arc<SaleDetails>,
    pub status: SaleStatus,
    /// Names and prices; the stock of this moment is in `levels`.
    pub skus: Arc<Vec<SkuInfo>>,
    pub levels: Arc<[Level]>,
}

impl SaleView {
    /// Nothing is left of any SKU: `Some(true)` if nothing can return from a reservation either.
    pub fn sold_out(&self) -> Option<bool> {
        let mut all = self.levels.iter().map(|level| level.sold_out());
        all.try_fold(true, |so_far, one| one.map(|for_good| so_far && for_good))
    }

    /// What the clock makes of the status, whether or not a fact has said so yet.
    pub fn status_at(&self, now: Millis) -> SaleStatus {
        match self.status {
            SaleStatus::Scheduled | SaleStatus::Open if is_over(self.details.ends_at, now) => {
                SaleStatus::Ended
            }
            SaleStatus::Scheduled if is_over(self.details.starts_at, now) => SaleStatus::Open,
            SaleStatus::Scheduled | SaleStatus::Open | SaleStatus::Ended | SaleStatus::Cancelled => {
                self.status
            }
        }
    }
}

/// Questions whose answer is a buyer's own.
#[derive(Clone, Debug, PartialEq)]
pub enum SaleQuery {
    Checkout(CheckoutId),
    CheckoutsOf(BuyerId),
    Order(OrderId),
    /// The buyer's purchases, the latest first, at most so many.
    PurchasesOf {
        buyer: BuyerId,
        limit: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum SaleFound {
    Nothing,
    Checkout(Box<CheckoutState>),
    /// The code is over, and why.
    Ended(End),
    Checkouts(Vec<CheckoutState>),
    Purchase(Box<PurchaseState>),
    Purchases(Vec<PurchaseState>),
}

/// A living code as its owner sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckoutState {
    pub checkout: CheckoutId,
    pub fence: u64,
    pub buyer: BuyerId,
    pub placed_at: Millis,
    pub until: Millis,
    /// The order that has taken it.
    pub order: Option<OrderId>,
    pub lines: Vec<SkuLine>,
    pub total_minor: Minor,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PurchaseState {
    pub order: OrderId,
    pub checkout: CheckoutId,
    pub buyer: BuyerId,
    pub at: Millis,
    /// As it was bought.
    pub lines: Vec<SkuLine>,
    pub total_minor: Minor,
    /// Units given back, line by line.
    pub refunded: Vec<u32>,
}

impl Sale {
    pub fn view(&self) -> SaleView {
        SaleView {
            details: self.details.clone(),
            status: self.status,
            skus: self.skus.clone(),
            levels: self.levels.as_slice().into(),
        }
    }

    /// A code past its deadline is told as expired, though its fact may still be on its way.
    pub fn ask(&self, query: &SaleQuery, now: Millis) -> SaleFound {
        match query {
            SaleQuery::Checkout(id) => match self.code_index(*id) {
                Some(index) if is_over(self.codes[index].until, now) => SaleFound::Ended(End::Expired),
                Some(index) => SaleFound::Checkout(Box::new(self.checkout_state(index))),
                None => match self.purchase_of_code(*id) {
                    Some(bought) => SaleFound::Purchase(Box::new(self.purchase_state(bought))),
                    None => self.ended(*id, now).map_or(SaleFound::Nothing, SaleFound::Ended),
                },
            },
            SaleQuery::CheckoutsOf(buyer) => {
                let Some(buyer) = self.buyer_index(buyer) else { return SaleFound::Checkouts(Vec::new()) };
                let mut living: Vec<u32> =
                    self.codes_of(buyer).filter(|index| !is_over(self.codes[*index].until, now)).collect();
                living.sort_unstable_by_key(|index| self.codes[*index].fence);
                SaleFound::Checkouts(living.into_iter().map(|index| self.checkout_state(index)).collect())
            }
            SaleQuery::Order(id) => match self.purchase_of_order(*id) {
                Some(bought) => SaleFound::Purchase(Box::new(self.purchase_state(bought))),
                None => SaleFound::Nothing,
            },
            SaleQuery::PurchasesOf { buyer, limit } => {
                let Some(buyer) = self.buyer_index(buyer) else { return SaleFound::Purchases(Vec::new()) };
                let latest = self.purchases_of(buyer).take(*limit);
                SaleFound::Purchases(latest.map(|index| self.purchase_state(index)).collect())
            }
        }
    }

    fn checkout_state(&self, index: u32) -> CheckoutState {
        let code = &self.codes[index];
        CheckoutState {
            checkout: code.id,
            fence: code.fence,
            buyer: self.buyers[code.buyer].id(),
            placed_at: code.placed_at,
            until: code.until,
            order: code.order.as_deref().copied(),
            lines: code.lines().to_vec(),
            total_minor: code.total_minor(),
        }
    }

    pub(super) fn purchase_state(&self, index: u32) -> PurchaseState {
        let bought = &self.purchases[index];
        PurchaseState {
            order: bought.order,
            checkout: bought.code,
            buyer: self.buyers[bought.buyer].id(),
            at: bought.at,
            lines: bought.lines().to_vec(),
            total_minor: total_minor(bought.lines()),
            refunded: bought.left().zip(bought.lines()).map(|(left, line)| line.count - left.count).collect(),
        }
    }
}

//! The state of a sale: a counter per SKU, slabs for codes, buyers and purchases, everything else an integer.
//! Only `apply` changes it; everything here that is `&mut self` is called from there.

use std::hash::BuildHasher;
use std::sync::Arc;

use onsale_compact::deadlines::Deadlines;
use onsale_compact::map::{Hasher, Table};
use onsale_compact::slab::Slab;

use super::command::{Checkout, CheckoutKey, SaleCommand};
use super::details::{SaleDetails, SaleStatus, Sku, SkuInfo};
use super::fact::SkuLine;
use crate::ended::{End, EndMemory};
use crate::id::{BuyerId, CheckoutId, HoldId, OrderId, SkuIndex};
use crate::money::Minor;
use crate::time::Millis;

pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub struct Sale {
    pub(super) details: Arc<SaleDetails>,
    pub(super) status: SaleStatus,
    /// Names and prices; how many there are is in `levels`.
    pub(super) skus: Arc<Vec<SkuInfo>>,
    pub(super) levels: Vec<Level>,
    pub(super) codes: Slab<LiveCode>,
    pub(super) code_by_id: Table<u32>,
    pub(super) buyers: Slab<Buyer>,
    pub(super) buyer_by_id: Table<u32>,
    pub(super) purchases: Slab<PastPurchase>,
    pub(super) purchase_by_order: Table<u32>,
    pub(super) purchase_by_code: Table<u32>,
    /// Purchases with something left to refund, in the order they were made. Sorted: fences only grow.
    pub(super) open_purchases: std::collections::BTreeMap<u64, u32>,
    pub(super) due: Deadlines<u32>,
    pub(super) ended: EndMemory,
    pub(super) hasher: Hasher,
}

/// How many units of a SKU there are, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    pub stock: u32,
    pub reserved: u32,
    pub sold: u32,
}

impl Level {
    pub fn available(self) -> u32 {
        self.stock - self.reserved - self.sold
    }

    /// Nothing is left at this moment: `Some(true)` if nothing can return from a reservation either.
    pub fn sold_out(self) -> Option<bool> {
        (self.available() == 0).then_some(self.reserved == 0)
    }
}

/// A checkout code that lives.
#[derive(Clone, Debug)]
pub(super) struct LiveCode {
    pub id: CheckoutId,
    /// Of the fact that made it: its place among codes of the same deadline.
    pub fence: u64,
    pub until: Millis,
    pub placed_at: Millis,
    pub buyer: u32,
    /// The buyer's next code: a list through the slab.
    pub next: u32,
    /// The order that has taken it.
    pub order: Option<Box<OrderId>>,
    lines: Lines,
}

impl LiveCode {
    pub(super) fn new(
        id: CheckoutId,
        fence: u64,
        (placed_at, until): (Millis, Millis),
        buyer: u32,
    ) -> LiveCode {
        LiveCode { id, fence, until, placed_at, buyer, next: NONE, order: None, lines: Lines::default() }
    }

    pub(super) fn with(mut self, lines: &[SkuLine], next: u32) -> LiveCode {
        (self.lines, self.next) = (Lines::of(lines), next);
        self
    }

    pub(super) fn lines(&self) -> &[SkuLine] {
        self.lines.all()
    }

    pub(super) fn units(&self) -> u32 {
        self.lines().iter().map(|line| line.count).sum()
    }

    pub(super) fn total_minor(&self) -> Minor {
        total_minor(self.lines())
    }
}

pub(super) fn total_minor(lines: &[SkuLine]) -> Minor {
    lines.iter().map(|line| line.total_minor()).sum()
}

/// One line in place: most checkouts are of one SKU, and then need no allocation of their own.
#[derive(Clone, Debug)]
struct Lines {
    one: SkuLine,
    many: Option<Box<[SkuLine]>>,
}

impl Default for Lines {
    fn default() -> Self {
        Lines { one: SkuLine { sku: SkuIndex::MAX, count: 0, price_minor: 0 }, many: None }
    }
}

impl Lines {
    fn of(lines: &[SkuLine]) -> Lines {
        match lines {
            [one] => Lines { one: *one, many: None },
            many => Lines { many: Some(many.into()), ..Lines::default() },
        }
    }

    fn all(&self) -> &[SkuLine] {
        self.many.as_deref().unwrap_or(std::slice::from_ref(&self.one))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Buyer {
    pub name: Box<str>,
    pub reserved: u32,
    pub bought: u32,
    pub first_code: u32,
    pub first_purchase: u32,
}

impl Buyer {
    pub(super) fn id(&self) -> BuyerId {
        BuyerId::known(&self.name)
    }
}

/// A code that was used, with what it bought: it answers its owner's retries for ever.
#[derive(Clone, Debug)]
pub(super) struct PastPurchase {
    pub order: OrderId,
    pub code: CheckoutId,
    pub fence: u64,
    pub at: Millis,
    pub buyer: u32,
    pub next: u32,
    /// Units given back so far, by line; empty while it is none.
    pub refunded: Box<[u32]>,
    lines: Lines,
}

/// What makes a purchase; see [`PastPurchase`].
pub(super) struct NewPurchase<'a> {
    pub order: OrderId,
    pub code: CheckoutId,
    pub fence: u64,
    pub at: Millis,
    pub buyer: u32,
    pub lines: &'a [SkuLine],
    pub refunded: &'a [u32],
}

impl PastPurchase {
    pub(super) fn new(new: &NewPurchase<'_>, next: u32) -> PastPurchase {
        PastPurchase {
            order: new.order,
            code: new.code,
            fence: new.fence,
            at: new.at,
            buyer: new.buyer,
            next,
            refunded: new.refunded.into(),
            lines: Lines::of(new.lines),
        }
    }

    pub(super) fn lines(&self) -> &[SkuLine] {
        self.lines.all()
    }

    /// What is left of it, line by line.
    pub(super) fn left(&self) -> impl Iterator<Item = SkuLine> {
        let given_back = |n: usize| self.refunded.get(n).copied().unwrap_or(0);
        self.lines()
            .iter()
            .enumerate()
            .map(move |(n, line)| SkuLine { count: line.count - given_back(n), ..*line })
    }

    pub(super) fn units_left(&self) -> u32 {
        self.left().map(|line| line.count).sum()
    }
}

impl Sale {
    pub(super) fn new(details: SaleDetails, skus: &[Sku]) -> Sale {
        let level = |sku: &Sku| Level { stock: sku.stock, ..Level::default() };
        Sale {
            details: Arc::new(details),
            status: SaleStatus::Scheduled,
            levels: skus.iter().map(level).collect(),
            skus: Arc::new(skus.iter().map(SkuInfo::from).collect()),
            codes: Slab::default(),
            code_by_id: Table::default(),
            buyers: Slab::default(),
            buyer_by_id: Table::default(),
            purchases: Slab::default(),
            purchase_by_order: Table::default(),
            purchase_by_code: Table::default(),
            open_purchases: std::collections::BTreeMap::new(),
            due: Deadlines::default(),
            ended: EndMemory::default(),
            hasher: Hasher::default(),
        }
    }

    pub fn details(&self) -> &Arc<SaleDetails> {
        &self.details
    }

    pub fn status(&self) -> SaleStatus {
        self.status
    }

    pub fn skus(&self) -> &[SkuInfo] {
        &self.skus
    }

    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    pub(super) fn level(&self, sku: SkuIndex) -> Option<Level> {
        self.levels.get(usize::from(sku)).copied()
    }

    /// See [`Listing::far`](crate::Listing::far).
    pub(crate) fn far(&self, command: &SaleCommand, before: usize) -> [Option<&u32>; 2] {
        if let SaleCommand::Checkout(Checkout { checkout, .. }) = command {
            [self.ended.far(HoldId(checkout.0)), None]
        } else if let SaleCommand::CancelCheckout(CheckoutKey { checkout, .. }) = command {
            self.ended.far_of_end(HoldId(checkout.0), before)
        } else {
            [None; 2]
        }
    }

    pub(super) fn code_index(&self, id: CheckoutId) -> Option<u32> {
        self.code_by_id.find(self.hasher.hash_one(id), |known| self.codes[*known].id == id).copied()
    }

    pub(super) fn buyer_index(&self, id: &BuyerId) -> Option<u32> {
        self.buyer_by_id
            .find(self.hasher.hash_one(id.as_str()), |known| *self.buyers[*known].name == *id.as_str())
            .copied()
    }

    pub(super) fn purchase_of_order(&self, id: OrderId) -> Option<u32> {
        let is = |known: &u32| self.purchases[*known].order == id;
        self.purchase_by_order.find(self.hasher.hash_one(id), is).copied()
    }

    pub(super) fn purchase_of_code(&self, id: CheckoutId) -> Option<u32> {
        let is = |known: &u32| self.purchases[*known].code == id;
        self.purchase_by_code.find(self.hasher.hash_one(id), is).copied()
    }

    /// The buyer's living codes: at most as many as the limit allows units.
    pub(super) fn codes_of(&self, buyer: u32) -> impl Iterator<Item = u32> {
        walk(self.buyers[buyer].first_code, |index| self.codes[index].next)
    }

    /// The buyer's purchases, the latest first.
    pub(super) fn purchases_of(&self, buyer: u32) -> impl Iterator<Item = u32> {
        walk(self.buyers[buyer].first_purchase, |index| self.purchases[index].next)
    }

    pub(super) fn ended(&self, id: CheckoutId, now: Millis) -> Option<End> {
        self.ended.get(HoldId(id.0), now)
    }

    /// Whether an id names, or lately named, a code here; a new one must bring a new id.
    pub(super) fn knows(&self, id: CheckoutId, now: Millis) -> bool {
        self.code_index(id).is_some() || self.purchase_of_code(id).is_some() || self.ended(id, now).is_some()
    }

    /// Units that count against a buyer's limit.
    pub fn taken_by(&self, buyer: &BuyerId) -> u32 {
        let taken = |index: u32| self.buyers[index].reserved + self.buyers[index].bought;
        self.buyer_index(buyer).map_or(0, taken)
    }
}

fn walk(first: u32, next_of: impl Fn(u32) -> u32) -> impl Iterator<Item = u32> {
    let mut next = first;
    std::iter::from_fn(move || {
        let index = (next != NONE).then_some(next)?;
        next = next_of(index);
        Some(index)
    })
}

//! Takes facts into the state. Facts were checked when they were decided: anything that does not fit is our bug.

use std::hash::BuildHasher;
use std::sync::Arc;

use super::details::SkuInfo;
use super::fact::{SaleFact, SkuCount, SkuLine};
use super::state::{Buyer, Level, LiveCode, NONE, NewPurchase, PastPurchase, Sale};
use crate::ended::End;
use crate::id::{BuyerId, CheckoutId, HoldId, OrderId, SkuIndex};
use crate::time::Millis;

impl Sale {
    /// The sale that its first fact begins.
    pub fn begin(fact: &SaleFact) -> Option<Sale> {
        if let SaleFact::Created(created) = fact {
            return Some(Sale::new(created.details.clone(), &created.skus));
        }
        None
    }

    pub fn apply(&mut self, fact: &SaleFact, fence: u64, at: Millis) {
        match fact {
            SaleFact::Created(_) => panic!("a sale is created once"),
            SaleFact::Changed(details) => self.details = Arc::new((**details).clone()),
            SaleFact::StatusChanged { status, .. } => self.status = *status,
            SaleFact::SkuAdded(sku) => {
                self.levels.push(Level { stock: sku.stock, ..Level::default() });
                Arc::make_mut(&mut self.skus).push(SkuInfo::from(&**sku));
            }
            SaleFact::StockAdded { sku, count } => self.level_mut(*sku).stock += count,
            SaleFact::StockWithdrawn { sku, count } => self.level_mut(*sku).stock -= count,
            SaleFact::PriceChanged { sku, price_minor } => {
                Arc::make_mut(&mut self.skus)[usize::from(*sku)].price_minor = *price_minor;
            }
            SaleFact::CheckedOut { checkout, buyer, lines, until } => {
                let buyer = self.intern(buyer);
                let code = LiveCode::new(*checkout, fence, (at, *until), buyer);
                self.insert_code(code, lines);
            }
            SaleFact::CheckoutCancelled { checkout, .. } => self.end_code(*checkout, End::Released, at),
            SaleFact::CheckoutExpired { checkout } => self.end_code(*checkout, End::Expired, at),
            SaleFact::CheckoutOrdered { checkout, order, until } => {
                let index = self.known_code(*checkout);
                self.codes[index].order = Some(Box::new(*order));
                self.reschedule(index, *until);
            }
            SaleFact::CheckoutReturned { checkout, until } => {
                let index = self.known_code(*checkout);
                self.codes[index].order = None;
                self.reschedule(index, *until);
            }
            SaleFact::Purchased { checkout, order } => {
                let code = self.take_code(*checkout);
                let (order, code_id, buyer) = (*order, code.id, code.buyer);
                let lines = code.lines();
                let refunded = &[];
                self.insert_purchase(&NewPurchase {
                    order,
                    code: code_id,
                    fence,
                    at,
                    buyer,
                    lines,
                    refunded,
                });
            }
            SaleFact::TakenBack { checkout, order, buyer, lines } => {
                let buyer = self.intern(buyer);
                let (order, code, refunded) = (*order, *checkout, &[]);
                self.insert_purchase(&NewPurchase { order, code, fence, at, buyer, lines, refunded });
            }
            SaleFact::Refunded { order, lines, restock, .. } => self.refund(*order, lines, *restock),
        }
    }

    fn level_mut(&mut self, sku: SkuIndex) -> &mut Level {
        &mut self.levels[usize::from(sku)]
    }

    fn known_code(&self, id: CheckoutId) -> u32 {
        self.code_index(id).expect("a fact names a code that lives")
    }

    pub(super) fn insert_code(&mut self, code: LiveCode, lines: &[SkuLine]) {
        let buyer = code.buyer;
        let code = code.with(lines, self.buyers[buyer].first_code);
        let (hash, until, fence, units) =
            (self.hasher.hash_one(code.id), code.until, code.fence, code.units());
        let index = self.codes.insert(code);
        let (hasher, codes) = (&self.hasher, &self.codes);
        self.code_by_id.insert_unique(hash, index, |known| hasher.hash_one(codes[*known].id));
        self.buyers[buyer].first_code = index;
        self.buyers[buyer].reserved += units;
        self.due.insert(until, fence, index);
        lines.iter().for_each(|line| self.level_mut(line.sku).reserved += line.count);
    }

    pub(super) fn reschedule(&mut self, index: u32, until: Millis) {
        let code = &mut self.codes[index];
        self.due.remove(code.until, code.fence);
        code.until = until;
        self.due.insert(until, code.fence, index);
    }

    /// Takes a code out of every list; what it reserved is available again until somebody says otherwise.
    fn take_code(&mut self, id: CheckoutId) -> LiveCode {
        let found = self.code_by_id.find_entry(self.hasher.hash_one(id), |known| self.codes[*known].id == id);
        let (index, _) = found.expect("a fact names a code that lives").remove();
        let code = self.codes.remove(index);
        self.due.remove(code.until, code.fence);
        self.unlink_code(index, code.next, code.buyer);
        self.buyers[code.buyer].reserved -= code.units();
        code.lines().iter().for_each(|line| self.level_mut(line.sku).reserved -= line.count);
        code
    }

    fn unlink_code(&mut self, index: u32, next: u32, buyer: u32) {
        if self.buyers[buyer].first_code == index {
            self.buyers[buyer].first_code = next;
            return;
        }
        let mut at = self.buyers[buyer].first_code;
        while at != NONE {
            if self.codes[at].next == index {
                self.codes[at].next = next;
                return;
            }
            at = self.codes[at].next;
        }
        panic!("a code is in its buyer's list");
    }

    fn end_code(&mut self, id: CheckoutId, end: End, at: Millis) {
        let code = self.take_code(id);
        self.forget_buyer_if_idle(code.buyer);
        self.ended.remember(HoldId(id.0), end, at);
    }

    pub(super) fn insert_purchase(&mut self, new: &NewPurchase<'_>) {
        let buyer = new.buyer;
        let bought = PastPurchase::new(new, self.buyers[buyer].first_purchase);
        let (units, by_order, by_code) =
            (bought.units_left(), self.hasher.hash_one(bought.order), self.hasher.hash_one(bought.code));
        for line in bought.left() {
            self.level_mut(line.sku).sold += line.count;
        }
        let index = self.purchases.insert(bought);
        let (hasher, purchases) = (&self.hasher, &self.purchases);
        let of_order = |known: &u32| hasher.hash_one(purchases[*known].order);
        let of_code = |known: &u32| hasher.hash_one(purchases[*known].code);
        self.purchase_by_order.insert_unique(by_order, index, of_order);
        self.purchase_by_code.insert_unique(by_code, index, of_code);
        self.buyers[buyer].first_purchase = index;
        self.buyers[buyer].bought += units;
        if units > 0 {
            self.open_purchases.insert(new.fence, index);
        }
    }

    fn refund(&mut self, order: OrderId, lines: &[SkuCount], restock: bool) {
        let index = self.purchase_of_order(order).expect("a fact names an order that is known");
        let bought = &mut self.purchases[index];
        let mut refunded =
            if bought.refunded.is_empty() { vec![0; bought.lines().len()] } else { bought.refunded.to_vec() };
        for away in lines {
            let n = bought.lines().iter().position(|line| line.sku == away.sku);
            refunded[n.expect("a refunded line was bought")] += away.count;
        }
        bought.refunded = refunded.into();
        let (buyer, fence, left) = (bought.buyer, bought.fence, bought.units_left());
        if left == 0 {
            self.open_purchases.remove(&fence);
        }
        self.buyers[buyer].bought -= lines.iter().map(|away| away.count).sum::<u32>();
        for away in lines {
            let level = self.level_mut(away.sku);
            level.sold -= away.count;
            level.stock -= if restock { 0 } else { away.count };
        }
    }

    /// The buyer's small number here, made on first sight.
    pub(super) fn intern(&mut self, id: &BuyerId) -> u32 {
        if let Some(index) = self.buyer_index(id) {
            return index;
        }
        let name = id.as_str().into();
        let buyer = Buyer { name, reserved: 0, bought: 0, first_code: NONE, first_purchase: NONE };
        let index = self.buyers.insert(buyer);
        let (hasher, buyers) = (&self.hasher, &self.buyers);
        self.buyer_by_id.insert_unique(hasher.hash_one(id.as_str()), index, |known| {
            hasher.hash_one(&*buyers[*known].name)
        });
        index
    }

    /// A buyer with nothing left is forgotten; one who bought stays, refunded or not: purchases name them for ever.
    fn forget_buyer_if_idle(&mut self, index: u32) {
        let buyer = &self.buyers[index];
        if buyer.first_code != NONE || buyer.first_purchase != NONE {
            return;
        }
        let hash = self.hasher.hash_one(&*buyer.name);
        if let Ok(entry) = self.buyer_by_id.find_entry(hash, |known| *known == index) {
            entry.remove();
        }
        self.buyers.remove(index);
    }
}

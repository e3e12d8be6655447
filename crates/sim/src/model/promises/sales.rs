//! What sales promise: stock, codes and purchases, by lists and sums.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::order::OrderFact;
use onsale_domain::stock::details::{SaleDetails, SaleStatus};
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use onsale_domain::stock::{Sale, SaleFact};
use onsale_domain::{BuyerId, CheckoutId, Fact, Millis, OrderId};

use super::{Book, ModelledKind};
use crate::model::kept::pinned_until;
use crate::model::money::MoneyBook;

impl ModelledKind for Sale {
    fn goes_on(&self) -> bool {
        matches!(self.status(), SaleStatus::Scheduled | SaleStatus::Open)
    }

    fn open_book(first: &SaleFact) -> Option<Box<dyn Book>> {
        let SaleFact::Created(created) = first else { return None };
        let stock = created.skus.iter().map(|sku| sku.stock).collect();
        Some(Box::new(SaleBook::new(created.details.clone(), stock)))
    }

    fn move_money(money: &mut MoneyBook, fact: &SaleFact, now: Millis) {
        money.take_sale(fact, now);
    }
}

impl Book for SaleBook {
    fn take(&mut self, fact: &Fact, now: Millis) {
        if let Fact::Sale(fact) = fact {
            self.take_own(fact, now);
        } else if let Fact::Order(fact) = fact {
            self.pin(fact);
        }
    }

    fn boxed(&self) -> Box<dyn Book> {
        Box::new(self.clone())
    }
}

#[derive(Clone, Debug)]
struct SaleBook {
    details: SaleDetails,
    status: SaleStatus,
    stock: Vec<u32>,
    codes: BTreeMap<CheckoutId, Code>,
    used: BTreeSet<CheckoutId>,
    orders: BTreeMap<OrderId, (BuyerId, Vec<SkuLine>)>,
}

#[derive(Clone, Debug)]
struct Code {
    buyer: BuyerId,
    lines: Vec<SkuLine>,
    until: Millis,
    order: Option<OrderId>,
}

fn units(lines: &[SkuLine]) -> u32 {
    lines.iter().map(|line| line.count).sum()
}

impl SaleBook {
    fn new(details: SaleDetails, stock: Vec<u32>) -> SaleBook {
        SaleBook {
            details,
            status: SaleStatus::Scheduled,
            stock,
            codes: BTreeMap::new(),
            used: BTreeSet::new(),
            orders: BTreeMap::new(),
        }
    }

    fn taken(&self, sku: u16) -> u32 {
        let lines = self.codes.values().flat_map(|code| &code.lines);
        let lines = lines.chain(self.orders.values().flat_map(|(_, lines)| lines));
        lines.filter(|line| line.sku == sku).map(|line| line.count).sum()
    }

    fn nothing_is_sold_twice(&self) {
        for (sku, stock) in self.stock.iter().enumerate() {
            let taken = self.taken(sku as u16);
            assert!(taken <= *stock, "SKU {sku} is oversold: {taken} of {stock}");
        }
    }

    fn end(&mut self, checkout: CheckoutId) -> Code {
        self.codes.remove(&checkout).unwrap_or_else(|| panic!("{checkout:?} ends twice"))
    }

    fn buy(&mut self, checkout: CheckoutId, order: OrderId, buyer: BuyerId, lines: Vec<SkuLine>) {
        assert!(self.used.insert(checkout), "a code was used twice");
        assert!(self.orders.insert(order, (buyer, lines)).is_none(), "an order has two purchases");
    }

    fn take_own(&mut self, fact: &SaleFact, now: Millis) {
        match fact {
            SaleFact::Created(_) => panic!("a sale is created twice"),
            SaleFact::Changed(details) => self.details = (**details).clone(),
            SaleFact::StatusChanged { status, .. } => self.status = *status,
            SaleFact::SkuAdded(sku) => self.stock.push(sku.stock),
            SaleFact::StockAdded { sku, count } => self.stock[usize::from(*sku)] += count,
            SaleFact::StockWithdrawn { sku, count } => self.stock[usize::from(*sku)] -= count,
            SaleFact::PriceChanged { .. } => {}
            SaleFact::CheckedOut { checkout, buyer, lines, until } => {
                assert!(self.status == SaleStatus::Open, "a code outside the sale's hours");
                assert!(*until > now, "a code that is over when it begins");
                assert!(!self.used.contains(checkout), "a used code begins again");
                let codes = self.codes.values().filter(|code| code.buyer == *buyer);
                let bought = self.orders.values().filter(|(owner, _)| owner == buyer);
                let has: u32 = codes.map(|code| units(&code.lines)).sum();
                let has = has + bought.map(|(_, lines)| units(lines)).sum::<u32>();
                assert!(has + units(lines) <= self.details.rules.buyer_limit, "a buyer is over the limit");
                let code = Code { buyer: buyer.clone(), lines: lines.clone(), until: *until, order: None };
                assert!(self.codes.insert(*checkout, code).is_none(), "a code begins twice");
            }
            SaleFact::CheckoutCancelled { checkout, .. } => drop(self.end(*checkout)),
            SaleFact::CheckoutExpired { checkout } => {
                assert!(self.end(*checkout).until <= now, "a code expired too early");
            }
            SaleFact::CheckoutOrdered { checkout, order, until } => {
                let code = self.codes.get_mut(checkout).expect("a code that lives");
                assert!(*until >= code.until && code.until > now, "an order shortens its code or comes late");
                assert!(code.order.replace(*order).is_none(), "two orders have one code");
                code.until = *until;
            }
            SaleFact::CheckoutReturned { checkout, until } => {
                let code = self.codes.get_mut(checkout).expect("a code that lives");
                assert!(code.order.take().is_some() && *until >= code.until, "nothing to give back");
                code.until = *until;
            }
            SaleFact::Purchased { checkout, order } => {
                let code = self.end(*checkout);
                assert!(code.until > now, "an expired code is used");
                assert!(code.order.is_none_or(|pinned| pinned == *order), "another order has this code");
                self.buy(*checkout, *order, code.buyer, code.lines);
            }
            SaleFact::TakenBack { checkout, order, buyer, lines } => {
                assert!(!self.codes.contains_key(checkout), "a living code is taken back");
                self.buy(*checkout, *order, buyer.clone(), lines.clone());
            }
            SaleFact::Refunded { order, lines, amount_minor, restock, .. } => {
                self.refund(*order, lines, *amount_minor, *restock);
            }
        }
        self.nothing_is_sold_twice();
    }

    /// A payment that is asked for, or was declined, gives the code of its order more time.
    fn pin(&mut self, fact: &OrderFact) {
        let Some(until) = pinned_until(fact) else { return };
        let pinned = self.codes.values_mut().find(|code| code.order == Some(fact.order()));
        let code = pinned.expect("a code that lives and has this order");
        assert!(until >= code.until, "paying shortens a code's life");
        code.until = until;
    }

    fn refund(&mut self, order: OrderId, away: &[SkuCount], amount_minor: i64, restock: bool) {
        let (_, lines) = self.orders.get_mut(&order).expect("an order that was made");
        let mut amount = 0;
        for part in away {
            let line = lines.iter_mut().find(|line| line.sku == part.sku).expect("a line of the order");
            assert!(part.count <= line.count, "more is given back than was bought");
            line.count -= part.count;
            amount += line.price_minor * i64::from(part.count);
            self.stock[usize::from(part.sku)] -= if restock { 0 } else { part.count };
        }
        assert!(amount == amount_minor, "{amount_minor} is given back for {amount}");
    }
}

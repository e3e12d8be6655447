//! A second, much simpler book of a sale's stock, kept from facts alone. `verify` and `load sale` check with it that no
//! unit was sold twice and no code used twice; it shares no code with the rules that decided.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

/// What one fact does to stock, in the book's own few words. `K` names a SKU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<K> {
    /// New SKUs with their stock.
    Skus(Vec<(K, u64)>),
    Limit(u64),
    Opened,
    Over,
    Added(K, u64),
    Withdrawn(K, u64),
    Reserved {
        code: u64,
        buyer: String,
        lines: Vec<(K, u64)>,
        until: i64,
    },
    /// A living code has another deadline.
    Until {
        code: u64,
        until: i64,
    },
    Returned {
        code: u64,
        expired: bool,
    },
    Bought {
        code: u64,
        order: u64,
    },
    TakenBack {
        code: u64,
        order: u64,
        buyer: String,
        lines: Vec<(K, u64)>,
    },
    Refunded {
        order: u64,
        lines: Vec<(K, u64)>,
        restock: bool,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    pub stock: u64,
    pub reserved: u64,
    pub sold: u64,
}

#[derive(Clone, Debug)]
struct Code<K> {
    buyer: String,
    lines: Vec<(K, u64)>,
    until: i64,
}

#[derive(Clone, Debug)]
struct Order<K> {
    buyer: String,
    lines: Vec<(K, u64)>,
}

/// What became of a code that lives no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Returned,
    Bought,
}

#[derive(Clone, Debug)]
pub struct StockBook<K> {
    levels: BTreeMap<K, Level>,
    limit: u64,
    open: bool,
    codes: HashMap<u64, Code<K>>,
    ended: HashMap<u64, End>,
    orders: HashMap<u64, Order<K>>,
    /// Reserved and bought by a buyer.
    taken: HashMap<String, u64>,
}

/// What the book says at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub units: u64,
    pub reserved: u64,
    pub sold: u64,
    pub codes: u64,
    pub orders: u64,
}

impl<K> Default for StockBook<K> {
    fn default() -> Self {
        StockBook {
            levels: BTreeMap::new(),
            limit: 0,
            open: false,
            codes: HashMap::new(),
            ended: HashMap::new(),
            orders: HashMap::new(),
            taken: HashMap::new(),
        }
    }
}

fn units<K>(lines: &[(K, u64)]) -> u64 {
    lines.iter().map(|(_, count)| count).sum()
}

impl<K: Clone + Ord + Display> StockBook<K> {
    /// Writes one entry of a fact that happened at `at`; an error says which promise it breaks.
    pub fn take(&mut self, at: i64, entry: Entry<K>) -> Result<(), String> {
        match entry {
            Entry::Skus(skus) => {
                for (sku, stock) in skus {
                    if self.levels.insert(sku.clone(), Level { stock, ..Level::default() }).is_some() {
                        return Err(format!("SKU {sku} was added twice"));
                    }
                }
                Ok(())
            }
            Entry::Limit(limit) => {
                self.limit = limit;
                Ok(())
            }
            Entry::Opened => {
                self.open = true;
                Ok(())
            }
            Entry::Over => {
                self.open = false;
                Ok(())
            }
            Entry::Added(sku, count) => self.level(&sku, |level| {
                level.stock += count;
                Some(())
            }),
            Entry::Withdrawn(sku, count) => {
                self.level(&sku, |level| level.stock.checked_sub(count).map(|left| level.stock = left))
            }
            Entry::Reserved { code, buyer, lines, until } => {
                self.reserve(at, code, Code { buyer, lines, until })
            }
            Entry::Until { code, until } => {
                self.codes.get_mut(&code).ok_or("a deadline moved of a code that does not live")?.until =
                    until;
                Ok(())
            }
            Entry::Returned { code, expired } => {
                let known = self.codes.remove(&code).ok_or("a code ended that does not live")?;
                if expired && at < known.until {
                    return Err("a code expired before its deadline".to_owned());
                }
                self.ended.insert(code, End::Returned);
                self.give_back(&known.buyer, &known.lines);
                self.move_all(&known.lines, |level, count| {
                    level.reserved.checked_sub(count).map(|left| level.reserved = left)
                })
            }
            Entry::Bought { code, order } => self.buy(at, code, order),
            Entry::TakenBack { code, order, buyer, lines } => {
                if self.codes.contains_key(&code) {
                    return Err("late money for a code that lives".to_owned());
                }
                *self.taken.entry(buyer.clone()).or_default() += units(&lines);
                self.sell(code, order, Order { buyer, lines })
            }
            Entry::Refunded { order, lines, restock } => self.refund(order, &lines, restock),
        }
    }

    pub fn level_of(&self, sku: &K) -> Option<Level> {
        self.levels.get(sku).copied()
    }

    pub fn levels(&self) -> impl Iterator<Item = (&K, Level)> {
        self.levels.iter().map(|(sku, level)| (sku, *level))
    }

    pub fn totals(&self) -> Totals {
        let sum = |what: fn(&Level) -> u64| self.levels.values().map(what).sum();
        Totals {
            units: sum(|level| level.stock),
            reserved: sum(|level| level.reserved),
            sold: sum(|level| level.sold),
            codes: self.codes.len() as u64,
            orders: self.orders.len() as u64,
        }
    }

    /// Changes a level; whatever it was, there is never more reserved and sold than there is.
    fn level(&mut self, sku: &K, change: impl FnOnce(&mut Level) -> Option<()>) -> Result<(), String> {
        let level = self.levels.get_mut(sku).ok_or_else(|| format!("there is no SKU {sku}"))?;
        change(level).ok_or_else(|| format!("the units of {sku} do not add up"))?;
        match level.reserved + level.sold <= level.stock {
            true => Ok(()),
            false => Err(format!("more of {sku} is reserved and sold than there is")),
        }
    }

    fn move_all(
        &mut self,
        lines: &[(K, u64)],
        change: impl Fn(&mut Level, u64) -> Option<()>,
    ) -> Result<(), String> {
        lines.iter().try_for_each(|(sku, count)| self.level(sku, |level| change(level, *count)))
    }

    fn reserve(&mut self, at: i64, id: u64, code: Code<K>) -> Result<(), String> {
        if !self.open {
            return Err("somebody checked out while the sale was not open".to_owned());
        }
        if code.until <= at {
            return Err("a code was over when it was made".to_owned());
        }
        if self.codes.contains_key(&id) || self.ended.contains_key(&id) {
            return Err("two checkouts have the same id".to_owned());
        }
        let taken = self.taken.entry(code.buyer.clone()).or_default();
        *taken += units(&code.lines);
        if *taken > self.limit {
            return Err(format!("{} has {taken} units, and the limit is {}", code.buyer, self.limit));
        }
        self.move_all(&code.lines, |level, count| {
            level.reserved += count;
            Some(())
        })?;
        self.codes.insert(id, code);
        Ok(())
    }

    fn buy(&mut self, at: i64, code: u64, order: u64) -> Result<(), String> {
        let Some(known) = self.codes.remove(&code) else {
            return Err(match self.ended.get(&code) {
                Some(End::Bought) => "a code was used twice".to_owned(),
                Some(End::Returned) => "a code was used after its end".to_owned(),
                None => "a code was used that nobody was given".to_owned(),
            });
        };
        if at >= known.until {
            return Err("a code was used at or after its deadline".to_owned());
        }
        self.move_all(&known.lines, |level, count| {
            level.reserved.checked_sub(count).map(|left| level.reserved = left)
        })?;
        self.sell(code, order, Order { buyer: known.buyer, lines: known.lines })
    }

    fn sell(&mut self, code: u64, id: u64, order: Order<K>) -> Result<(), String> {
        if self.ended.insert(code, End::Bought) == Some(End::Bought) {
            return Err("a code was used twice".to_owned());
        }
        self.move_all(&order.lines, |level, count| {
            level.sold += count;
            Some(())
        })?;
        match self.orders.insert(id, order) {
            None => Ok(()),
            Some(_) => Err("two orders have the same id".to_owned()),
        }
    }

    fn refund(&mut self, order: u64, lines: &[(K, u64)], restock: bool) -> Result<(), String> {
        let known = self.orders.get_mut(&order).ok_or("an order refunded that nobody made")?;
        for (sku, count) in lines {
            let own = known.lines.iter_mut().find(|(own, _)| own == sku);
            let left = own.and_then(|(_, own)| own.checked_sub(*count).map(|left| *own = left));
            left.ok_or_else(|| format!("more of {sku} is refunded than was bought"))?;
        }
        let buyer = known.buyer.clone();
        self.give_back(&buyer, lines);
        self.move_all(lines, |level, count| {
            level.sold = level.sold.checked_sub(count)?;
            level.stock = level.stock.checked_sub(if restock { 0 } else { count })?;
            Some(())
        })
    }

    fn give_back(&mut self, buyer: &str, lines: &[(K, u64)]) {
        if let Some(taken) = self.taken.get_mut(buyer) {
            *taken = taken.saturating_sub(units(lines));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(entries: Vec<(i64, Entry<u16>)>) -> Result<Totals, String> {
        let mut book = StockBook::default();
        book.take(0, Entry::Skus(vec![(0, 3), (1, 1)]))?;
        book.take(0, Entry::Limit(2))?;
        book.take(0, Entry::Opened)?;
        entries.into_iter().try_for_each(|(at, entry)| book.take(at, entry))?;
        Ok(book.totals())
    }

    fn reserved(code: u64, buyer: &str, lines: &[(u16, u64)]) -> Entry<u16> {
        Entry::Reserved { code, buyer: buyer.to_owned(), lines: lines.to_vec(), until: 100 }
    }

    #[test]
    fn a_whole_story_adds_up() {
        let totals = write(vec![
            (1, reserved(1, "ann", &[(0, 1), (1, 1)])),
            (2, reserved(2, "bob", &[(0, 2)])),
            (3, Entry::Bought { code: 1, order: 7 }),
            (100, Entry::Returned { code: 2, expired: true }),
            (101, Entry::Refunded { order: 7, lines: vec![(1, 1)], restock: false }),
            (102, Entry::TakenBack { code: 2, order: 8, buyer: "bob".into(), lines: vec![(0, 2)] }),
            (103, Entry::Added(0, 5)),
            (104, Entry::Withdrawn(0, 1)),
        ]);
        assert_eq!(totals, Ok(Totals { units: 7, reserved: 0, sold: 3, codes: 0, orders: 2 }));
    }

    #[test]
    fn every_broken_promise_is_named() {
        let bought = || vec![(1, reserved(1, "ann", &[(0, 1)])), (2, Entry::Bought { code: 1, order: 7 })];
        let with = |at, last| [bought(), vec![(at, last)]].concat();
        let late = |code| Entry::TakenBack { code, order: 8, buyer: "zoe".into(), lines: vec![(0, 1)] };
        for (entries, why) in [
            (with(3, Entry::Bought { code: 1, order: 8 }), "used twice"),
            (with(3, late(1)), "used twice"),
            (
                with(3, Entry::Refunded { order: 7, lines: vec![(0, 2)], restock: true }),
                "more of 0 is refunded",
            ),
            (with(3, Entry::Refunded { order: 9, lines: vec![], restock: true }), "nobody made"),
            (with(3, Entry::Withdrawn(0, 3)), "more of 0 is reserved and sold"),
            (with(3, reserved(1, "ann", &[(0, 1)])), "same id"),
            (with(3, reserved(2, "ann", &[(0, 2)])), "limit is 2"),
            (vec![(1, reserved(1, "ann", &[(1, 2)]))], "more of 1"),
            (vec![(1, reserved(1, "ann", &[(9, 1)]))], "no SKU 9"),
            (vec![(1, Entry::Over), (1, reserved(1, "ann", &[(0, 1)]))], "not open"),
            (vec![(100, reserved(1, "ann", &[(0, 1)]))], "was over"),
            (vec![(1, reserved(1, "a", &[(0, 1)])), (100, Entry::Bought { code: 1, order: 7 })], "deadline"),
            (
                vec![(1, reserved(1, "a", &[(0, 1)])), (99, Entry::Returned { code: 1, expired: true })],
                "before",
            ),
            (vec![(1, reserved(1, "a", &[(0, 1)])), (2, late(1))], "that lives"),
            (vec![(1, Entry::Bought { code: 1, order: 7 })], "nobody was given"),
            (vec![(1, Entry::Returned { code: 1, expired: false })], "does not live"),
        ] {
            let told = write(entries).expect_err(why);
            assert!(told.contains(why), "{told}");
        }
    }
}

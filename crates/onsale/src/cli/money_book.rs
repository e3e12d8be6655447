//! A second, much simpler book of orders and their money, kept from facts alone. It knows one sentence: of all that was
//! captured, what no confirmed order keeps was owed back. It shares no code with the rules that decided.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// What one fact does to an order or its money. `I` names orders and payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<I> {
    Placed {
        order: I,
        total_minor: i64,
        units: u64,
    },
    Asked {
        order: I,
        payment: I,
        amount_minor: i64,
    },
    Captured {
        order: I,
        payment: I,
        amount_minor: i64,
    },
    Declined {
        order: I,
        payment: I,
    },
    /// Its buyer wants the order no more.
    Cancelled {
        order: I,
    },
    /// The goods are sold, in time or late.
    Sold {
        order: I,
    },
    /// Charged elsewhere.
    Settled {
        order: I,
    },
    /// Goods that came back, with their price.
    Returned {
        order: I,
        units: u64,
        amount_minor: i64,
    },
    Owed {
        order: I,
        payment: I,
        amount_minor: i64,
    },
    PaidBack {
        order: I,
        payment: I,
        refund: u64,
    },
}

#[derive(Clone, Debug)]
struct Order<I> {
    total_minor: i64,
    units: u64,
    returned_units: u64,
    returned_minor: i64,
    sold: bool,
    settled: bool,
    payments: BTreeMap<I, Payment>,
}

#[derive(Clone, Debug, Default)]
struct Payment {
    captured_minor: Option<i64>,
    owed: Vec<i64>,
    paid_back: BTreeSet<u64>,
}

#[derive(Clone, Debug)]
pub struct MoneyBook<I> {
    orders: BTreeMap<I, Order<I>>,
}

/// What came, what goes back, and what confirmed orders come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub captured_minor: i64,
    pub refunded_minor: i64,
    pub confirmed_minor: i64,
    pub orders: u64,
    /// Orders that keep something, and refunds that were owed and not paid back yet.
    pub confirmed: u64,
    pub unpaid: u64,
}

impl<I> Default for MoneyBook<I> {
    fn default() -> Self {
        MoneyBook { orders: BTreeMap::new() }
    }
}

impl<I: Clone + Ord + Display> MoneyBook<I> {
    /// Writes one entry; an error says which promise it breaks.
    pub fn take(&mut self, entry: Entry<I>) -> Result<(), String> {
        match entry {
            Entry::Placed { order, total_minor, units } => {
                let new = Order {
                    total_minor,
                    units,
                    returned_units: 0,
                    returned_minor: 0,
                    sold: false,
                    settled: false,
                    payments: BTreeMap::new(),
                };
                match self.orders.insert(order.clone(), new) {
                    None => Ok(()),
                    Some(_) => Err(format!("order {order} is placed twice")),
                }
            }
            Entry::Asked { order, payment, amount_minor } => {
                let known = self.order(&order)?;
                if amount_minor != known.total_minor {
                    let total = known.total_minor;
                    return Err(format!("order {order} is {total}, and {amount_minor} is asked for it"));
                }
                match known.payments.insert(payment.clone(), Payment::default()) {
                    None => Ok(()),
                    Some(_) => Err(format!("payment {payment} is asked for twice")),
                }
            }
            Entry::Captured { order, payment, amount_minor } => {
                match self.payment(&order, &payment)?.captured_minor.replace(amount_minor) {
                    None => Ok(()),
                    Some(_) => Err(format!("payment {payment} is captured twice")),
                }
            }
            Entry::Declined { order, payment } => self.payment(&order, &payment).map(drop),
            Entry::Cancelled { order } => match self.order(&order)?.sold {
                false => Ok(()),
                true => Err(format!("order {order} is cancelled after it was sold")),
            },
            Entry::Sold { order } => {
                let known = self.order(&order)?;
                match std::mem::replace(&mut known.sold, true) {
                    false => Ok(()),
                    true => Err(format!("order {order} is sold twice")),
                }
            }
            Entry::Settled { order } => {
                self.order(&order)?.settled = true;
                Ok(())
            }
            Entry::Returned { order, units, amount_minor } => {
                let known = self.order(&order)?;
                known.returned_units += units;
                known.returned_minor += amount_minor;
                if !known.sold || known.returned_units > known.units {
                    return Err(format!("more of order {order} comes back than was sold"));
                }
                Ok(())
            }
            Entry::Owed { order, payment, amount_minor } => {
                let known = self.payment(&order, &payment)?;
                known.owed.push(amount_minor);
                let (owed, took) = (known.owed.iter().sum::<i64>(), known.captured_minor.unwrap_or(0));
                match owed <= took && amount_minor > 0 {
                    true => Ok(()),
                    false => Err(format!("payment {payment} gives back {owed} and took {took}")),
                }
            }
            Entry::PaidBack { order, payment, refund } => {
                let known = self.payment(&order, &payment)?;
                if refund == 0 || refund > known.owed.len() as u64 {
                    return Err(format!("refund {refund} of payment {payment} is paid, and was never owed"));
                }
                match known.paid_back.insert(refund) {
                    true => Ok(()),
                    false => Err(format!("refund {refund} of payment {payment} is paid twice")),
                }
            }
        }
    }

    pub fn knows(&self, order: &I) -> bool {
        self.orders.contains_key(order)
    }

    /// Whether an order is known, and keeps goods.
    pub fn keeps_goods(&self, order: &I) -> Option<bool> {
        self.orders.get(order).map(|known| known.sold && known.returned_units < known.units)
    }

    pub fn orders(&self) -> impl Iterator<Item = &I> {
        self.orders.keys()
    }

    /// At the end of a step, no coin of this order is anywhere but with its goods or on its way back.
    pub fn check(&self, order: &I) -> Result<(), String> {
        let Some(known) = self.orders.get(order) else { return Ok(()) };
        let sums = known.sums();
        let kept = sums.captured_minor - sums.refunded_minor;
        let what = match (kept - sums.confirmed_minor, sums.confirmed_minor) {
            (0, _) => return Ok(()),
            (1.., 0) => "money is kept without goods",
            (1.., _) => "more money is kept than the goods cost",
            (_, _) => "goods are kept without their money",
        };
        Err(format!(
            "order {order}: captured {} minus refunded {} is {kept}, what is confirmed of it comes to {}: {what}",
            sums.captured_minor, sums.refunded_minor, sums.confirmed_minor
        ))
    }

    /// What one order comes to; nothing if it is unknown.
    pub fn sums_of(&self, order: &I) -> Sums {
        self.orders.get(order).map_or(Sums::default(), Order::sums)
    }

    pub fn sums(&self) -> Sums {
        self.orders.values().fold(Sums::default(), |all, order| {
            let one = order.sums();
            Sums {
                captured_minor: all.captured_minor + one.captured_minor,
                refunded_minor: all.refunded_minor + one.refunded_minor,
                confirmed_minor: all.confirmed_minor + one.confirmed_minor,
                orders: all.orders + 1,
                confirmed: all.confirmed + one.confirmed,
                unpaid: all.unpaid + one.unpaid,
            }
        })
    }

    fn order(&mut self, order: &I) -> Result<&mut Order<I>, String> {
        self.orders.get_mut(order).ok_or_else(|| format!("order {order} was never placed"))
    }

    fn payment(&mut self, order: &I, payment: &I) -> Result<&mut Payment, String> {
        let known = self.order(order)?.payments.get_mut(payment);
        known.ok_or_else(|| format!("payment {payment} of order {order} was never asked for"))
    }
}

impl<I> Order<I> {
    fn sums(&self) -> Sums {
        let is_left = self.sold && self.returned_units < self.units;
        let ours = is_left && !self.settled;
        let owed = |payment: &Payment| payment.owed.iter().sum::<i64>();
        let unpaid = |payment: &Payment| (payment.owed.len() - payment.paid_back.len()) as u64;
        Sums {
            captured_minor: self.payments.values().filter_map(|payment| payment.captured_minor).sum(),
            refunded_minor: self.payments.values().map(owed).sum(),
            confirmed_minor: if ours { self.total_minor - self.returned_minor } else { 0 },
            orders: 1,
            confirmed: u64::from(is_left),
            unpaid: self.payments.values().map(unpaid).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `place 1050`, `ask 1`, `capture 1 1050`, `sell`, `settle`, `return 1 1000`, `owe 1 50`, `pay_back 1 1`,
    /// `decline 1`, `cancel`; an order of two units.
    fn verdict(story: &str) -> Result<Sums, String> {
        let mut book = MoneyBook::default();
        for line in story.split(", ") {
            let mut words = line.split(' ');
            let verb = words.next().unwrap_or_default();
            let numbers: Vec<i64> = words.map(|word| word.parse().expect("a number")).collect();
            let order = "o".to_owned();
            let payment = || format!("p{}", numbers[0]);
            book.take(match verb {
                "place" => Entry::Placed { order, total_minor: numbers[0], units: 2 },
                "ask" => Entry::Asked { order, payment: payment(), amount_minor: 1_050 },
                "capture" => Entry::Captured { order, payment: payment(), amount_minor: numbers[1] },
                "decline" => Entry::Declined { order, payment: payment() },
                "cancel" => Entry::Cancelled { order },
                "sell" => Entry::Sold { order },
                "settle" => Entry::Settled { order },
                "return" => Entry::Returned { order, units: numbers[0] as u64, amount_minor: numbers[1] },
                "owe" => Entry::Owed { order, payment: payment(), amount_minor: numbers[1] },
                "pay_back" => Entry::PaidBack { order, payment: payment(), refund: numbers[1] as u64 },
                other => panic!("{other}"),
            })?;
        }
        book.check(&"o".to_owned())?;
        Ok(book.sums())
    }

    #[test]
    fn every_coin_is_with_its_goods_or_on_its_way_back() {
        for (story, confirmed, unpaid) in [
            ("place 1050", 0, 0),
            ("place 1050, ask 1, capture 1 1050, sell", 1_050, 0),
            ("place 1050, ask 1, capture 1 1050, owe 1 1050", 0, 1),
            ("place 1050, ask 1, capture 1 1050, sell, return 1 500, owe 1 500, pay_back 1 1", 550, 0),
            ("place 1050, ask 1, capture 1 1050, sell, return 2 1000, owe 1 1050, pay_back 1 1", 0, 0),
            ("place 1050, ask 1, ask 2, capture 1 1050, sell, capture 2 1050, owe 2 1050", 1_050, 1),
            ("place 1050, ask 1, decline 1, ask 2, capture 2 1050, sell", 1_050, 0),
            ("place 1050, ask 1, decline 1, cancel, capture 1 1050, owe 1 1050", 0, 1),
            ("place 1050, settle, sell", 0, 0),
            ("place 0, sell", 0, 0),
        ] {
            let sums = verdict(story).unwrap_or_else(|why| panic!("{story}: {why}"));
            assert_eq!((sums.confirmed_minor, sums.unpaid), (confirmed, unpaid), "{story}");
        }
    }

    #[test]
    fn what_breaks_is_told() {
        for (story, why) in [
            ("place 1050, ask 1, capture 1 1050", "money is kept without goods"),
            ("place 1050, sell", "goods are kept without their money"),
            ("place 1050, ask 1, capture 1 1100, sell", "more money is kept than the goods cost"),
            ("place 1050, ask 1, capture 1 1050, sell, owe 1 1050", "goods are kept without their money"),
            ("place 1050, ask 1, capture 1 1050, capture 1 1050", "captured twice"),
            ("place 1050, ask 1, capture 1 1050, sell, sell", "sold twice"),
            ("place 1050, ask 1, capture 1 1050, owe 1 2000", "gives back 2000 and took 1050"),
            ("place 1050, ask 1, capture 1 1050, owe 1 1050, pay_back 1 1, pay_back 1 1", "paid twice"),
            ("place 1050, ask 1, capture 1 1050, pay_back 1 1", "was never owed"),
            ("place 1000, ask 1", "is asked for it"),
            ("place 1050, capture 1 1050", "never asked for"),
            ("place 1050, ask 1, capture 1 1050, sell, return 3 1000", "more of order o comes back"),
            ("place 1050, place 1050", "placed twice"),
            ("sell", "never placed"),
            ("settle", "never placed"),
            ("cancel", "never placed"),
            ("decline 1", "never placed"),
            ("place 1050, decline 1", "never asked for"),
            ("place 1050, ask 1, ask 1", "asked for twice"),
            ("place 1050, ask 1, capture 1 1050, sell, cancel", "cancelled after it was sold"),
            ("place 1050, ask 1, capture 1 1050, owe 1 0", "gives back 0 and took 1050"),
            ("place 1050, ask 1, return 1 500", "more of order o comes back"),
        ] {
            let told = verdict(story).expect_err(story);
            assert!(told.contains(why), "{story}: {told}");
        }
    }
}

//! A second opinion about money, from the facts alone: of every payment, all that no confirmed order keeps was owed back.
//! It knows neither the book of orders nor how it decides.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::auction::AuctionFact;
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::{Goods, OrderPlaced};
use onsale_domain::registration::RegistrationFact;
use onsale_domain::stock::SaleFact;
use onsale_domain::{EntryId, Fact, OrderId, PaymentId};
use serde::Serialize;

/// Orders of one listing, as its facts tell of them.
#[derive(Debug, Default)]
pub struct Money {
    orders: BTreeMap<OrderId, Sold>,
    /// Orders that facts have named since the last check.
    touched: BTreeSet<OrderId>,
}

#[derive(Debug)]
struct Sold {
    placed: OrderPlaced,
    returned_minor: i64,
    returned_units: u32,
    confirmed: bool,
    settled: bool,
    captured: BTreeMap<PaymentId, i64>,
    refunded: BTreeMap<PaymentId, i64>,
}

/// What came, what goes back, and what confirmed orders come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    pub captured_minor: i64,
    pub refunded_minor: i64,
    pub confirmed_minor: i64,
}

impl Money {
    pub fn take(&mut self, fact: &Fact) -> Result<(), String> {
        if let Fact::Order(OrderFact::Placed(placed)) = fact {
            let sold = Sold {
                placed: (**placed).clone(),
                returned_minor: 0,
                returned_units: 0,
                confirmed: false,
                settled: false,
                captured: BTreeMap::new(),
                refunded: BTreeMap::new(),
            };
            self.touched.insert(placed.order);
            self.orders.insert(placed.order, sold);
        } else if let Fact::HoldConfirmed { order, .. }
        | Fact::Sale(SaleFact::Purchased { order, .. } | SaleFact::TakenBack { order, .. })
        | Fact::Auction(AuctionFact::AwardSettled { order, .. })
        | Fact::Registration(RegistrationFact::Confirmed { order, .. })
        | Fact::Order(OrderFact::SeatsTakenBack { order }) = fact
        {
            self.touched.insert(*order);
            // One that was never placed was confirmed directly: its money is somebody else's affair.
            if let Some(sold) = self.orders.get_mut(order)
                && std::mem::replace(&mut sold.confirmed, true)
            {
                return Err(format!("order {order:?} is sold twice"));
            }
        } else if let Fact::OrderRefunded { order, seats, areas, amount_minor, .. } = fact {
            let places = areas.iter().map(|line| line.count).sum::<u32>();
            self.returned(*order, seats.len() as u32 + places, *amount_minor);
        } else if let Fact::Sale(SaleFact::Refunded { order, lines, amount_minor, .. }) = fact {
            self.returned(*order, lines.iter().map(|line| line.count).sum(), *amount_minor);
        } else if let Fact::Auction(AuctionFact::AwardRefunded { order, amount_minor, left_minor, .. }) = fact
        {
            self.returned(*order, u32::from(*left_minor == 0), *amount_minor);
        } else if let Fact::Registration(RegistrationFact::EntryCancelled { entry, amount_minor, .. }) = fact
        {
            // After the cut-off a place stays paid, and nothing is said to go back.
            let bought = self.orders.values().find(|sold| sold.confirmed && sold.is_of(*entry));
            if let Some(order) = bought.map(|sold| sold.placed.order).filter(|_| *amount_minor > 0) {
                self.returned(order, 1, *amount_minor);
            }
        } else if let Fact::Order(fact) = fact {
            return self.take_own(fact);
        }
        Ok(())
    }

    fn take_own(&mut self, fact: &OrderFact) -> Result<(), String> {
        let id = fact.order();
        self.touched.insert(id);
        let sold = self.orders.get_mut(&id).ok_or_else(|| format!("order {id:?} was never placed"))?;
        if let OrderFact::Settled { .. } = fact {
            sold.settled = true;
        } else if let OrderFact::PaymentCaptured { payment, amount_minor, .. } = fact
            && sold.captured.insert(*payment, *amount_minor).is_some()
        {
            return Err(format!("payment {payment:?} is captured twice"));
        } else if let OrderFact::RefundOwed { payment, amount_minor, .. } = fact {
            *sold.refunded.entry(*payment).or_default() += amount_minor;
        }
        Ok(())
    }

    fn returned(&mut self, order: OrderId, units: u32, amount_minor: i64) {
        self.touched.insert(order);
        if let Some(sold) = self.orders.get_mut(&order) {
            sold.returned_units += units;
            sold.returned_minor += amount_minor;
        }
    }

    /// What an order was placed for; late money buys just that.
    pub fn placed(&self, order: OrderId) -> Option<&OrderPlaced> {
        self.orders.get(&order).map(|sold| &sold.placed)
    }

    /// At the end of a step no coin is anywhere but with a confirmed order or on its way back.
    pub fn check(&mut self) -> Result<(), String> {
        for id in std::mem::take(&mut self.touched) {
            let Some(sold) = self.orders.get(&id) else { continue };
            let sums = sold.sums();
            let kept = sums.captured_minor - sums.refunded_minor;
            if kept != sums.confirmed_minor {
                return Err(format!(
                    "order {id:?}: captured {} minus refunded {} is {kept}, but what is confirmed of it comes to {}",
                    sums.captured_minor, sums.refunded_minor, sums.confirmed_minor
                ));
            }
            let over = sold
                .refunded
                .iter()
                .find(|(payment, back)| **back > sold.captured.get(payment).copied().unwrap_or(0));
            if let Some((payment, back)) = over {
                return Err(format!("payment {payment:?} gives back {back}, more than it took"));
            }
        }
        Ok(())
    }

    /// Sums by currency.
    pub fn sums(&self) -> impl Iterator<Item = (&str, Sums)> {
        self.orders.values().map(|sold| (sold.placed.currency.as_str(), sold.sums()))
    }
}

impl Sold {
    fn is_of(&self, id: EntryId) -> bool {
        matches!(&self.placed.goods, Goods::Entry { entry, .. } if *entry == id)
    }

    fn sums(&self) -> Sums {
        let total = self.placed.goods_minor + self.placed.fee_minor;
        let is_left = self.confirmed && self.returned_units < self.placed.goods.units();
        let ours = is_left && !self.settled;
        Sums {
            captured_minor: self.captured.values().sum(),
            refunded_minor: self.refunded.values().sum(),
            confirmed_minor: if ours { total - self.returned_minor } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::money::Currency;
    use onsale_domain::order::fact::{Goods, RefundCause};
    use onsale_domain::{BuyerId, HoldId};

    use super::*;

    fn placed() -> Fact {
        Fact::Order(OrderFact::Placed(Box::new(OrderPlaced {
            order: OrderId(1),
            buyer: BuyerId::parse("ann").expect("a buyer"),
            goods: Goods::Hold {
                hold: HoldId(2),
                seats: vec![onsale_domain::fact::SeatLine { seat: 0, price_minor: 1_000 }],
                areas: Vec::new(),
                placed_at: 0,
            },
            goods_minor: 1_000,
            fee_minor: 50,
            currency: Currency::parse("EUR").expect("three letters"),
        })))
    }

    fn captured(payment: u128, amount_minor: i64) -> Fact {
        let payment = PaymentId(payment);
        let reference = String::new();
        Fact::Order(OrderFact::PaymentCaptured { order: OrderId(1), payment, amount_minor, reference })
    }

    fn owed(payment: u128, amount_minor: i64) -> Fact {
        let (payment, why) = (PaymentId(payment), RefundCause::Late);
        Fact::Order(OrderFact::RefundOwed { order: OrderId(1), payment, refund: 1, amount_minor, why })
    }

    fn verdict(facts: &[Fact]) -> Result<(), String> {
        let mut money = Money::default();
        facts.iter().try_for_each(|fact| money.take(fact))?;
        money.check()
    }

    #[test]
    fn every_coin_is_with_a_confirmed_order_or_on_its_way_back() {
        let sold = || Fact::HoldConfirmed { hold: HoldId(2), order: OrderId(1) };
        let settled = || Fact::Order(OrderFact::Settled { order: OrderId(1) });
        let sound: [&[Fact]; 5] = [
            &[placed()],
            &[placed(), captured(1, 1_050), sold()],
            &[placed(), captured(1, 1_050), owed(1, 1_050)],
            &[placed(), captured(1, 1_050), sold(), captured(2, 1_050), owed(2, 1_050)],
            &[placed(), settled(), sold()],
        ];
        for facts in sound {
            assert_eq!(verdict(facts), Ok(()), "{facts:?}");
        }
        let wrong: [&[Fact]; 7] = [
            &[placed(), captured(1, 1_050)],
            &[placed(), sold()],
            &[placed(), captured(1, 1_000), sold()],
            &[placed(), captured(1, 1_050), sold(), owed(1, 1_050)],
            &[placed(), captured(1, 1_050), captured(1, 1_050), sold()],
            &[placed(), captured(1, 1_050), sold(), sold()],
            &[captured(1, 1_050)],
        ];
        for facts in wrong {
            assert!(verdict(facts).is_err(), "{facts:?}");
        }
    }
}

//! A listing's facts in the words of the money book: the same second opinion about money that `onsale load mixed` keeps from
//! exported lines. Here it also knows which order has bought a place, and what an order was placed for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::OrderPlaced;
use onsale_domain::{EntryId, OrderId, PaymentId};
use serde::Serialize;

use crate::cli::money_book::{Entry, MoneyBook};

/// Orders of one listing, as its facts tell of them.
#[derive(Debug, Default)]
pub(super) struct Money {
    book: MoneyBook<Name>,
    placed: BTreeMap<OrderId, OrderPlaced>,
    /// Which order has bought a place.
    places: BTreeMap<EntryId, OrderId>,
    /// Orders that facts have named since the last check.
    touched: BTreeSet<Name>,
}

/// An order or a payment, told as people know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name(u64);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", OrderId(self.0))
    }
}

impl From<OrderId> for Name {
    fn from(order: OrderId) -> Name {
        Name(order.0)
    }
}

impl From<PaymentId> for Name {
    fn from(payment: PaymentId) -> Name {
        Name(payment.0)
    }
}

/// What came, what goes back, and what confirmed orders come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Sums {
    pub captured_minor: i64,
    pub refunded_minor: i64,
    pub confirmed_minor: i64,
}

impl Money {
    /// A place is paid.
    pub(super) fn place_sold(&mut self, entry: EntryId, order: OrderId) -> Result<(), String> {
        self.places.insert(entry, order);
        self.sold(order)
    }

    /// After the cut-off a place stays paid, and nothing is said to go back.
    pub(super) fn place_left(&mut self, entry: EntryId, amount_minor: i64) -> Result<(), String> {
        let order = self.places.remove(&entry).filter(|_| amount_minor > 0);
        order.map_or(Ok(()), |order| self.returned(order, 1, amount_minor))
    }

    pub(super) fn take_own(&mut self, fact: &OrderFact) -> Result<(), String> {
        let order = Name::from(fact.order());
        self.touched.insert(order);
        self.book.take(match fact {
            OrderFact::Placed(placed) => {
                self.placed.insert(placed.order, (**placed).clone());
                let total_minor = placed.goods_minor + placed.fee_minor;
                Entry::Placed { order, total_minor, units: u64::from(placed.goods.units()) }
            }
            OrderFact::PaymentAsked { payment, amount_minor, .. } => {
                Entry::Asked { order, payment: (*payment).into(), amount_minor: *amount_minor }
            }
            OrderFact::PaymentCaptured { payment, amount_minor, .. } => {
                Entry::Captured { order, payment: (*payment).into(), amount_minor: *amount_minor }
            }
            OrderFact::PaymentDeclined { payment, .. } => {
                Entry::Declined { order, payment: (*payment).into() }
            }
            OrderFact::Settled { .. } => Entry::Settled { order },
            OrderFact::Cancelled { .. } => Entry::Cancelled { order },
            OrderFact::SeatsTakenBack { .. } => Entry::Sold { order },
            OrderFact::RefundOwed { payment, amount_minor, .. } => {
                Entry::Owed { order, payment: (*payment).into(), amount_minor: *amount_minor }
            }
            OrderFact::RefundPaid { payment, refund, .. } => {
                Entry::PaidBack { order, payment: (*payment).into(), refund: u64::from(*refund) }
            }
        })
    }

    /// What was never ordered was confirmed directly: its money is somebody else's affair.
    fn if_ordered(&mut self, id: OrderId, entry: impl FnOnce(Name) -> Entry<Name>) -> Result<(), String> {
        let order = Name::from(id);
        if !self.book.knows(&order) {
            return Ok(());
        }
        self.touched.insert(order);
        self.book.take(entry(order))
    }

    pub(super) fn sold(&mut self, id: OrderId) -> Result<(), String> {
        self.if_ordered(id, |order| Entry::Sold { order })
    }

    pub(super) fn returned(&mut self, id: OrderId, units: u64, amount_minor: i64) -> Result<(), String> {
        self.if_ordered(id, |order| Entry::Returned { order, units, amount_minor })
    }

    /// What an order was placed for; late money buys just that.
    pub(super) fn placed(&self, order: OrderId) -> Option<&OrderPlaced> {
        self.placed.get(&order)
    }

    /// At the end of a step no coin is anywhere but with a confirmed order or on its way back.
    pub(super) fn check(&mut self) -> Result<(), String> {
        std::mem::take(&mut self.touched).iter().try_for_each(|order| self.book.check(order))
    }

    /// Sums of each order, with its currency.
    pub(super) fn sums(&self) -> impl Iterator<Item = (&str, Sums)> {
        self.placed.values().map(|placed| {
            let sums = self.book.sums_of(&placed.order.into());
            let (captured_minor, refunded_minor) = (sums.captured_minor, sums.refunded_minor);
            let sums = Sums { captured_minor, refunded_minor, confirmed_minor: sums.confirmed_minor };
            (placed.currency.as_str(), sums)
        })
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::money::Currency;
    use onsale_domain::order::fact::{OrderedGoods, RefundCause};
    use onsale_domain::registration::RegistrationFact;
    use onsale_domain::registration::fact::EntryCancelCause;
    use onsale_domain::seats::EventFact;
    use onsale_domain::stock::SaleFact;
    use onsale_domain::stock::fact::{SkuCount, SkuLine};
    use onsale_domain::{BuyerId, CheckoutId, Fact, HoldId};

    use super::super::auctions::award_fact;
    use super::*;

    const ORDER: OrderId = OrderId(1);
    const ENTRY: EntryId = EntryId(7);

    fn goods(what: &str) -> OrderedGoods {
        let (price_minor, until) = (1_000, 9);
        match what {
            "hold" => OrderedGoods::Hold {
                hold: HoldId(2),
                seats: vec![onsale_domain::seats::fact::SeatLine { seat: 0, price_minor }],
                areas: Vec::new(),
                placed_at: 0,
            },
            "code" => OrderedGoods::Checkout {
                checkout: CheckoutId(3),
                lines: vec![SkuLine { sku: 0, count: 1, price_minor }],
                placed_at: 0,
            },
            "award" => OrderedGoods::Award { price_minor, until },
            "place" => OrderedGoods::Entry { entry: ENTRY, price_minor, until },
            other => panic!("{other}"),
        }
    }

    fn placed(what: &str) -> OrderFact {
        OrderFact::Placed(Box::new(OrderPlaced {
            order: ORDER,
            buyer: ann(),
            goods: goods(what),
            goods_minor: 1_000,
            fee_minor: 50,
            currency: Currency::parse("EUR").expect("three letters"),
        }))
    }

    fn ann() -> BuyerId {
        BuyerId::parse("ann").expect("a buyer")
    }

    fn order_fact(verb: &str, payment: u64, number: i64) -> OrderFact {
        let (order, payment, amount_minor) = (ORDER, PaymentId(payment), number);
        match verb {
            "ask" => OrderFact::PaymentAsked { order, payment, amount_minor, until: 9, method: None },
            "capture" => {
                OrderFact::PaymentCaptured { order, payment, amount_minor, reference: String::new() }
            }
            "decline" => OrderFact::PaymentDeclined { order, payment, reason: String::new(), until: None },
            "owe" => {
                OrderFact::RefundOwed { order, payment, refund: 1, amount_minor, why: RefundCause::Late }
            }
            "pay_back" => OrderFact::RefundPaid { order, payment, refund: number as u16 },
            "settle" => OrderFact::Settled { order },
            "cancel" => OrderFact::Cancelled { order },
            "seats_back" => OrderFact::SeatsTakenBack { order },
            other => panic!("{other}"),
        }
    }

    /// The words of a story, each a fact: `hold`, `code`, `award` and `place` order one of these for 1,050; `ask 1 1050`,
    /// `capture 1 1050`, `owe 1 1050`, `pay_back 1 1`; the rest as below. `|` ends a step.
    fn fact(line: &str) -> Fact {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |n: usize| words.get(n).map_or(0, |word| word.parse::<i64>().expect("a number"));
        let (reason, amount_minor) = (String::new(), number(1));
        match words[0] {
            "hold" | "code" | "award" | "place" => Fact::Order(placed(words[0])),
            "confirm" => Fact::Event(EventFact::HoldConfirmed { hold: HoldId(2), order: ORDER }),
            "purchase" => Fact::Sale(SaleFact::Purchased { checkout: CheckoutId(3), order: ORDER }),
            "units_back" => {
                let (checkout, order, buyer, lines) = (CheckoutId(3), ORDER, ann(), Vec::new());
                Fact::Sale(SaleFact::TakenBack { checkout, order, buyer, lines })
            }
            word @ ("pass" | "award_paid" | "award_returned") => {
                award_fact(word, ORDER, ann(), [amount_minor, number(2)]).into()
            }
            "place_paid" => Fact::Registration(RegistrationFact::Confirmed { entry: ENTRY, order: ORDER }),
            "leave" => {
                let (buyer, why) = (ann(), EntryCancelCause::Staff);
                let left = RegistrationFact::EntryCancelled { entry: ENTRY, buyer, why, amount_minor };
                Fact::Registration(left)
            }
            "seat_returned" => {
                let (seats, areas) = (vec![0], Vec::new());
                Fact::Event(EventFact::OrderRefunded { order: ORDER, seats, areas, amount_minor, reason })
            }
            "unit_returned" => {
                let (lines, restock) = (vec![SkuCount { sku: 0, count: 1 }], true);
                Fact::Sale(SaleFact::Refunded { order: ORDER, lines, amount_minor, restock, reason })
            }
            verb => Fact::Order(order_fact(verb, number(1) as u64, number(2))),
        }
    }

    fn verdict(story: &str) -> Result<i64, String> {
        let mut money = Money::default();
        for step in story.split(" | ") {
            step.split(", ").try_for_each(|line| money.take(&fact(line)))?;
            money.check()?;
        }
        Ok(money.sums().map(|(_, sums)| sums.confirmed_minor).sum())
    }

    #[test]
    fn every_coin_is_with_a_confirmed_order_or_on_its_way_back() {
        for (story, confirmed) in [
            ("hold", 0),
            ("hold | ask 1 1050 | capture 1 1050, confirm", 1_050),
            ("hold | ask 1 1050 | capture 1 1050, seats_back", 1_050),
            ("hold | ask 1 1050 | capture 1 1050, owe 1 1050 | pay_back 1 1", 0),
            (
                "hold | ask 1 1050 | decline 1 | ask 2 1050 | capture 2 1050, confirm | capture 1 1050, owe 1 1050",
                1_050,
            ),
            ("hold | ask 1 1050 | capture 1 1050, confirm | seat_returned 1000, owe 1 1050", 0),
            ("hold | settle, confirm", 0),
            ("hold | cancel", 0),
            ("code | ask 1 1050 | capture 1 1050, purchase", 1_050),
            ("code | ask 1 1050 | capture 1 1050, units_back | unit_returned 1000, owe 1 1050", 0),
            ("award | ask 1 1050 | capture 1 1050, award_paid", 1_050),
            ("award | ask 1 1050 | pass | capture 1 1050, award_paid", 1_050),
            ("award | ask 1 1050 | pass | capture 1 1050, owe 1 1050", 0),
            ("award | ask 1 1050 | capture 1 1050, award_paid | award_returned 400 650, owe 1 400", 650),
            ("award | ask 1 1050 | capture 1 1050, award_paid | award_returned 1050 0, owe 1 1050", 0),
            ("place | ask 1 1050 | capture 1 1050, place_paid", 1_050),
            ("place | ask 1 1050 | capture 1 1050, place_paid | leave 0", 1_050),
            ("place | ask 1 1050 | capture 1 1050, place_paid | leave 1000, owe 1 1050", 0),
            // Nobody ordered it: the money is somebody else's affair.
            ("confirm | seat_returned 1000", 0),
            ("place_paid | leave 1000", 0),
        ] {
            assert_eq!(verdict(story), Ok(confirmed), "{story}");
        }
    }

    #[test]
    fn what_breaks_is_told() {
        for (story, why) in [
            ("hold | ask 1 1050 | capture 1 1050", "money is kept without goods"),
            ("hold | confirm", "goods are kept without their money"),
            ("hold | ask 1 1050 | capture 1 1000, confirm", "goods are kept without their money"),
            ("hold | ask 1 1050 | capture 1 1100, confirm", "more money is kept than the goods cost"),
            ("hold | ask 1 1050 | capture 1 1050, confirm, owe 1 1050", "goods are kept without their money"),
            ("hold | ask 1 1050 | capture 1 1050, capture 1 1050, confirm", "captured twice"),
            ("hold | ask 1 1050 | capture 1 1050, confirm | confirm", "sold twice"),
            ("hold | ask 1 1050 | capture 1 1050, seats_back | confirm", "sold twice"),
            ("hold | ask 1 1050 | capture 1 1050, owe 1 2000", "gives back 2000 and took 1050"),
            ("hold | ask 1 1050 | capture 1 1050, confirm | seat_returned 1000", "without goods"),
            ("hold | seat_returned 1000", "more of order"),
            ("hold | ask 1 1000", "is asked for it"),
            ("hold | ask 1 1050 | ask 1 1050", "asked for twice"),
            ("hold | capture 1 1050", "never asked for"),
            ("hold | decline 1", "never asked for"),
            ("hold | hold", "placed twice"),
            ("hold | ask 1 1050 | pay_back 1 1", "never owed"),
            ("hold | ask 1 1050 | capture 1 1050, owe 1 1050 | pay_back 1 1 | pay_back 1 1", "paid twice"),
            ("hold | ask 1 1050 | capture 1 1050, confirm | cancel", "cancelled after it was sold"),
            ("ask 1 1050", "never placed"),
            ("capture 1 1050", "never placed"),
            ("settle", "never placed"),
            ("cancel", "never placed"),
            ("seats_back", "never placed"),
            ("code | purchase", "without their money"),
            ("code | ask 1 1050 | capture 1 1050, units_back | purchase", "sold twice"),
            ("code | ask 1 1050 | capture 1 1050, purchase | unit_returned 1000", "without goods"),
            ("award | award_paid", "without their money"),
            ("award | ask 1 1050 | pass | capture 1 1050", "without goods"),
            ("award | ask 1 1050 | pass | capture 1 1050, award_paid, owe 1 1050", "without their money"),
            (
                "award | ask 1 1050 | capture 1 1050, award_paid | award_returned 400 650",
                "than the goods cost",
            ),
            ("award | ask 1 1050 | capture 1 1050, award_paid | award_returned 1050 0", "without goods"),
            ("award | award_returned 400 650", "more of order"),
            ("place | place_paid", "without their money"),
            ("place | ask 1 1050 | capture 1 1050, place_paid | leave 1000", "without goods"),
            ("place | ask 1 1050 | capture 1 1050, place_paid | leave 0, owe 1 1050", "without their money"),
        ] {
            let told = verdict(story).expect_err(story);
            assert!(told.contains(why), "{story}: {told}");
        }
    }
}

//! An event and a sale that are spoken to in lines of text, about orders. The only test code that knows the API.
//! `<seconds> <verb> <words> -> <answer>`; holds h1, h2 …, codes c1 …, orders o1 …, payments p1 …; seats by their ids.

mod words;

use std::collections::BTreeMap;
use std::fmt;

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::listing::fence;
use onsale_domain::money::Currency;
use onsale_domain::order::command::{
    GoodsKey, NotePayment, NoteRefund, OrderKey, PayOrder, PaymentResult, PlaceOrder,
};
use onsale_domain::order::{Fees, OrderCommand, OrderFact, OrdersFound, OrdersQuery};
use onsale_domain::seats::command::{
    AdoptChart, BlockSeats, ConfirmHold, CreateEvent, DropSeats, ExtendHold, GrowHold, HoldKey, JoinQueue,
    OverrideHold, Pick, PlaceHold, RefundOrder,
};
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::stock::command::{
    Checkout, CheckoutKey, CreateSale, OrderCheckout, Purchase, RefundPurchase, SaleCommand,
};
use onsale_domain::stock::details::{SaleDetails, Sku, StockRules};
use onsale_domain::stock::fact::{SaleFact, SkuCount};
use onsale_domain::{BuyerId, CheckoutId, Command, Fact, HoldId, Millis, OrderId, Outcome, PaymentId};
use onsale_domain::{Found, Query};

use self::words::told;
pub use self::words::told_of_order;
use crate::{Table, cut};

/// The tables' zero. A store that is asked at the time 0 would look at its own clock.
const START: Millis = 1_000_000;
const SEATS: [&str; 5] = ["A1", "A2", "A3", "A4", "F1"];
/// Every listing of these tables is in its first epoch.
const EPOCH: u64 = 1;

/// An event and a sale, wherever they are kept.
pub trait Listings {
    fn run(&mut self, on_event: bool, command: &Command, now: Millis) -> (Outcome, Vec<Fact>);
    fn ask(&self, on_event: bool, query: &Query) -> Found;
    /// The number of the listing's last fact.
    fn offset(&self, on_event: bool) -> u64;
}

pub struct House<'a> {
    listings: &'a mut dyn Listings,
    /// The fence and the buyer of each hold.
    holds: BTreeMap<u64, (u64, BuyerId)>,
    codes: BTreeMap<u64, BuyerId>,
    orders: BTreeMap<u64, (bool, BuyerId)>,
    payments: BTreeMap<u64, u64>,
    pub fees: Fees,
}

fn create_event() -> Command {
    let seat = |id: &&str| Seat {
        id: (*id).into(),
        label: (*id).into(),
        tier: u16::from(*id == "F1"),
        ..Seat::default()
    };
    let rows = vec![Row { label: "r".into(), seats: SEATS.iter().map(seat).collect() }];
    let layout = Layout { sections: vec![Section { name: "stalls".into(), rows }], areas: Vec::new() };
    let details = EventDetails {
        name: "small".into(),
        description: String::new(),
        venue: None,
        starts_at: START + 9_000_000,
        ends_at: START + 10_000_000,
        sale_opens_at: None,
        sale_closes_at: None,
        time_zone: "UTC".into(),
        currency: Currency::parse("EUR").expect("three letters"),
        tiers: [1_000, 0].map(|price_minor| Tier { name: "t".into(), price_minor }).to_vec(),
        rules: SaleRules { buyer_limit: 4, ..SaleRules::default() },
    };
    let chart = AdoptChart { venue: None, version: 1, layout: layout.into() };
    Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent {
        details,
        status: EventStatus::OnSale,
        chart,
    })))
}

fn create_sale() -> Command {
    let sku = |id: &str, stock, price_minor| Sku {
        id: id.into(),
        name: id.into(),
        price_minor,
        stock,
        picture: None,
    };
    Command::Sale(SaleCommand::Create(Box::new(CreateSale {
        details: SaleDetails {
            name: "small".into(),
            description: String::new(),
            starts_at: START,
            ends_at: START + 5_000_000,
            currency: Currency::parse("EUR").expect("three letters"),
            rules: StockRules { buyer_limit: 4, ..StockRules::default() },
            origin: None,
        },
        skus: vec![sku("A", 3, 500), sku("B", 2, 0)],
    })))
}

impl fmt::Debug for House<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("House")
            .field("orders", &self.orders)
            .field("fees", &self.fees)
            .finish_non_exhaustive()
    }
}

impl<'a> House<'a> {
    pub fn new(listings: &'a mut dyn Listings, fees: Fees) -> House<'a> {
        assert_eq!(listings.run(true, &create_event(), START).0, Outcome::Done);
        assert_eq!(listings.run(false, &create_sale(), START).0, Outcome::Done);
        House {
            listings,
            holds: BTreeMap::new(),
            codes: BTreeMap::new(),
            orders: BTreeMap::new(),
            payments: BTreeMap::new(),
            fees,
        }
    }
}

/// Every table.
pub fn tables() -> Vec<Table> {
    cut(&[("order", include_str!("order/tables.txt"))])
}

/// Plays every table on fresh listings and compares every answer.
pub fn play_all(mut fresh: impl FnMut() -> Box<dyn Listings>) {
    let (mut played, mut wrong) = (0, Vec::new());
    for table in tables() {
        played += 1;
        if let Err(why) = play(table.text, &mut *fresh()) {
            wrong.push(format!("{}\n{why}", table.name));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    assert!(played > 20, "only {played} tables were found");
}

/// Plays one table; the error is the first line that was answered otherwise.
pub fn play(lines: &str, listings: &mut dyn Listings) -> Result<(), String> {
    let mut house = House::new(listings, Fees::default());
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(fees) = line.strip_prefix("fees ") {
            let words: Vec<i64> = fees.split(' ').map(|word| word.parse().expect("a number")).collect();
            house.fees = Fees { per_order_minor: words[0], per_unit_minor: words[1], share: words[2] as u16 };
            continue;
        }
        let (asked, expected) = line.split_once("->").ok_or_else(|| format!("no answer in {line:?}"))?;
        let said = house.say(asked);
        if said != expected.trim() {
            return Err(format!("  {asked}-> {said}\n    not: {}", expected.trim()));
        }
    }
    Ok(())
}

fn number(word: &str) -> u64 {
    word[1..].parse().unwrap_or_else(|_| panic!("{word:?} is a letter and a number"))
}

fn seat(word: &str) -> u32 {
    SEATS.iter().position(|id| *id == word).unwrap_or_else(|| panic!("no seat {word:?}")) as u32
}

fn buyer(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a short name")
}

impl House<'_> {
    pub fn say(&mut self, asked: &str) -> String {
        let mut words = asked.split_whitespace();
        let seconds: f64 = words.next().and_then(|word| word.parse().ok()).expect("seconds");
        let now = START + (seconds * 1_000.0) as Millis;
        let verb = words.next().expect("a verb");
        let rest: Vec<&str> = words.collect();
        if verb == "order?" {
            return self.show(rest[0]);
        }
        let (on_event, command) = self.command(verb, &rest, now);
        let (outcome, facts) = self.listings.run(on_event, &command, now);
        self.learn(&command, &facts);
        let mut said: Vec<String> = facts.iter().filter_map(told).collect();
        match outcome {
            Outcome::Refused(refusal) => said.push(format!("no: {}", refusal.code.as_str())),
            Outcome::Unchanged if said.is_empty() => said.push("unchanged".into()),
            _ => {}
        }
        said.join(", ")
    }

    fn hold_key(&self, word: &str) -> HoldKey {
        let id = number(word);
        let (fence, buyer) = self.holds.get(&id).cloned().unwrap_or((0, buyer("nobody")));
        HoldKey { hold: HoldId(id), fence, buyer }
    }

    fn code_key(&self, word: &str) -> CheckoutKey {
        let id = number(word);
        CheckoutKey {
            checkout: CheckoutId(id),
            buyer: self.codes.get(&id).cloned().unwrap_or(buyer("nobody")),
        }
    }

    fn order_key(&self, word: &str, by: Option<&&str>) -> (bool, OrderKey) {
        let (on_event, owner) = self.orders.get(&number(word)).cloned().unwrap_or((true, buyer("nobody")));
        let buyer = by.map_or(owner, |name| buyer(name));
        (on_event, OrderKey { order: OrderId(number(word)), buyer })
    }

    fn paid_order(&self, payment: &str) -> (bool, OrderId, PaymentId) {
        let order = self.payments.get(&number(payment)).copied().unwrap_or(999);
        let on_event = self.orders.get(&order).is_none_or(|(on_event, _)| *on_event);
        (on_event, OrderId(order), PaymentId(number(payment)))
    }

    pub fn command(&self, verb: &str, rest: &[&str], now: Millis) -> (bool, Command) {
        let reason = || "why not".to_owned();
        match verb {
            "hold" => (
                true,
                Command::Event(EventCommand::PlaceHold(PlaceHold {
                    hold: HoldId(number(rest[0])),
                    buyer: buyer(rest[1]),
                    pick: Pick::Seats(rest[2..].iter().map(|word| seat(word)).collect()),
                    areas: Vec::new(),
                    hold_ms: None,
                })),
            ),
            "extend" => (
                true,
                Command::Event(EventCommand::ExtendHold(ExtendHold {
                    key: self.hold_key(rest[0]),
                    extension_ms: None,
                })),
            ),
            "release" => (true, Command::Event(EventCommand::ReleaseHold(self.hold_key(rest[0])))),
            "grow" => (
                true,
                Command::Event(EventCommand::GrowHold(GrowHold {
                    key: self.hold_key(rest[0]),
                    seats: vec![seat(rest[1])],
                    areas: Vec::new(),
                })),
            ),
            "drop" => (
                true,
                Command::Event(EventCommand::DropSeats(DropSeats {
                    key: self.hold_key(rest[0]),
                    seats: vec![seat(rest[1])],
                    areas: Vec::new(),
                })),
            ),
            "confirm" => (
                true,
                Command::Event(EventCommand::ConfirmHold(ConfirmHold {
                    key: self.hold_key(rest[0]),
                    order: OrderId(number(rest[1])),
                    settled: true,
                })),
            ),
            "override" => (
                true,
                Command::Event(EventCommand::OverrideHold(OverrideHold {
                    hold: HoldId(number(rest[0])),
                    reason: reason(),
                    to: rest.get(1).map(|name| (buyer(name), None)),
                })),
            ),
            "block" => (
                true,
                Command::Event(EventCommand::BlockSeats(BlockSeats {
                    seats: vec![seat(rest[0])],
                    areas: Vec::new(),
                    reason: reason(),
                })),
            ),
            "queue" => (
                true,
                Command::Event(EventCommand::JoinQueue(JoinQueue {
                    place: HoldId(number(rest[0])),
                    buyer: buyer(rest[1]),
                    seat: seat(rest[2]),
                })),
            ),
            "cancel_event" => (true, Command::Event(EventCommand::ChangeStatus(EventStatus::Cancelled))),
            "sweep" => (rest == ["event"], Command::ExpireDue { limit: 64 }),
            "code" => {
                let line = |word: &&str| SkuCount {
                    sku: u16::from(word.starts_with('B')),
                    count: number(word) as u32,
                };
                (
                    false,
                    Command::Sale(SaleCommand::Checkout(Checkout {
                        checkout: CheckoutId(number(rest[0])),
                        buyer: buyer(rest[1]),
                        lines: rest[2..].iter().map(line).collect(),
                        checkout_ms: None,
                    })),
                )
            }
            "purchase" => (
                false,
                Command::Sale(SaleCommand::Purchase(Purchase {
                    key: self.code_key(rest[0]),
                    order: OrderId(number(rest[1])),
                    settled: true,
                })),
            ),
            "take_code" => (
                false,
                Command::Sale(SaleCommand::OrderCheckout(OrderCheckout {
                    key: self.code_key(rest[0]),
                    order: OrderId(number(rest[1])),
                    pay_until: now,
                })),
            ),
            "cancel_code" => (false, Command::Sale(SaleCommand::CancelCheckout(self.code_key(rest[0])))),
            "cancel_sale" => (false, Command::Sale(SaleCommand::Cancel)),
            "order" => {
                let on_event = rest[1].starts_with('h');
                let goods = match on_event {
                    true => GoodsKey::Hold(self.hold_key(rest[1])),
                    false => GoodsKey::Checkout(self.code_key(rest[1])),
                };
                let place = PlaceOrder { order: OrderId(number(rest[0])), goods, fees: self.fees };
                (on_event, Command::Order(OrderCommand::Place(place)))
            }
            "pay" | "settle" => {
                let (on_event, key) = self.order_key(rest[0], rest.get(3));
                let seconds = rest.get(2).map_or(600, |word| word.parse().expect("seconds"));
                (
                    on_event,
                    Command::Order(OrderCommand::Pay(PayOrder {
                        key,
                        payment: PaymentId(rest.get(1).map_or(0, |word| number(word))),
                        pay_until: now + seconds * 1_000,
                        method: None,
                        settled: verb == "settle",
                    })),
                )
            }
            "cancel" => {
                let (on_event, key) = self.order_key(rest[0], rest.get(1));
                (on_event, Command::Order(OrderCommand::Cancel(key)))
            }
            "captured" | "declined" => {
                let (on_event, order, payment) = self.paid_order(rest[0]);
                let result = match verb {
                    "captured" => PaymentResult::Captured {
                        amount_minor: rest.get(1).map_or(1_000, |word| word.parse().expect("an amount")),
                        reference: "ref".into(),
                    },
                    _ => PaymentResult::Declined { reason: "no funds".into() },
                };
                (on_event, Command::Order(OrderCommand::NotePayment(NotePayment { order, payment, result })))
            }
            "paid_back" => {
                let (on_event, order, payment) = self.paid_order(rest[0]);
                let refund = rest[1].parse().expect("a number");
                (on_event, Command::Order(OrderCommand::NoteRefund(NoteRefund { order, payment, refund })))
            }
            "refund" => {
                let (on_event, key) = self.order_key(rest[0], None);
                let order = key.order;
                let command = match on_event {
                    true => Command::Event(EventCommand::RefundOrder(RefundOrder {
                        order,
                        seats: rest[1..].iter().map(|word| seat(word)).collect(),
                        areas: Vec::new(),
                        reason: reason(),
                    })),
                    false => Command::Sale(SaleCommand::Refund(RefundPurchase {
                        order,
                        lines: rest[1..]
                            .iter()
                            .map(|word| SkuCount {
                                sku: u16::from(word.starts_with('B')),
                                count: number(word) as u32,
                            })
                            .collect(),
                        restock: true,
                        reason: reason(),
                    })),
                };
                (on_event, command)
            }
            other => panic!("no verb {other:?}"),
        }
    }

    /// Remembers whose things are whose, as the edge would from its tokens.
    pub fn learn(&mut self, command: &Command, facts: &[Fact]) {
        let first =
            self.listings.offset(true) + 1 - facts.len().min(self.listings.offset(true) as usize) as u64;
        for (n, fact) in facts.iter().enumerate() {
            if let Fact::Event(EventFact::HoldPlaced { hold, buyer, .. }) = fact {
                self.holds.insert(hold.0, (fence(EPOCH, first + n as u64), buyer.clone()));
            } else if let Fact::Sale(SaleFact::CheckedOut { checkout, buyer, .. }) = fact {
                self.codes.insert(checkout.0, buyer.clone());
            } else if let Fact::Order(OrderFact::Placed(placed)) = fact {
                let on_event = matches!(
                    command,
                    Command::Order(OrderCommand::Place(PlaceOrder { goods: GoodsKey::Hold(_), .. }))
                );
                self.orders.insert(placed.order.0, (on_event, placed.buyer.clone()));
            } else if let Fact::Order(OrderFact::PaymentAsked { order, payment, .. }) = fact {
                self.payments.insert(payment.0, order.0);
            }
        }
    }

    fn show(&self, word: &str) -> String {
        let (on_event, key) = self.order_key(word, None);
        let query = Query::Orders(OrdersQuery::Order(key.order));
        let Found::Orders(OrdersFound::Order(order)) = self.listings.ask(on_event, &query) else {
            return "unknown".into();
        };
        let until =
            order.until.map_or(String::new(), |until| format!(" until {}", (until - START) as f64 / 1_000.0));
        let fee = match order.fee_minor {
            0 => String::new(),
            fee => format!(" + {fee}"),
        };
        let captured: i64 = order.payments.iter().filter_map(|payment| payment.captured_minor).sum();
        let refunds = order.payments.iter().flat_map(|payment| &payment.refunds);
        let back: i64 = refunds.map(|refund| refund.amount_minor).sum();
        format!("{} {}{fee}{until}, {captured} - {back}", order.status.as_str(), order.goods_minor)
    }
}

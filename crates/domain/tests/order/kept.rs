//! An auction and a registration that are spoken to in lines of text, about orders. The only test code that knows the API.
//! `<seconds> <verb> <words> -> <answer>`; entries e1, e2 …, orders o1 …, payments p1 …

use std::collections::BTreeMap;

use onsale_domain::auction::command::{AuctionCommand, PlaceBid, RefundAward, SettleAward};
use onsale_domain::auction::details::{AuctionDetails, AuctionTerms};
use onsale_domain::auction::fact::{AuctionFact, Award};
use onsale_domain::auction::increment::Increment;
use onsale_domain::money::Currency;
use onsale_domain::order::command::{
    EntryKey, GoodsKey, NotePayment, NoteRefund, OrderKey, PayOrder, PaymentResult, PlaceOrder,
};
use onsale_domain::order::{Fees, OrderCommand, OrderFact, OrdersFound, OrdersQuery};
use onsale_domain::registration::command::{
    CancelEntry, ConfirmEntry, CreateRegistration, Register, RegistrationCommand,
};
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::registration::fact::RegistrationFact;
use onsale_domain::{
    BuyerId, Command, EntryId, Fact, Listing, ListingId, ListingKind, Millis, OrderId, Outcome, PaymentId,
    Tenant,
};
use onsale_domain::{Found, Query};
use onsale_tables::order::told_of_order;

const EPOCH: u64 = 1;
const NAMES: [&str; 3] = ["ann", "bob", "cem"];

pub(crate) struct Keeper {
    auction: Logged,
    course: Logged,
    entries: BTreeMap<u64, BuyerId>,
    orders: BTreeMap<u64, (bool, BuyerId)>,
    /// The order and the amount of each.
    payments: BTreeMap<u64, (u64, i64)>,
}

#[track_caller]
pub(crate) fn check(table: &str) {
    let mut keeper = Keeper::default();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (asked, expected) = line.split_once("->").unwrap_or_else(|| panic!("no answer in {line:?}"));
        assert_eq!(keeper.say(asked), expected.trim(), "\n  {line}\nof\n{table}");
    }
}

/// Whatever a listing is asked, its copies from facts and from an image must answer and become the same.
struct Logged {
    listing: Listing,
    log: Vec<(Millis, Fact)>,
}

impl Logged {
    fn new(kind: ListingKind, create: &Command) -> Logged {
        let id = ListingId { tenant: Tenant::DEFAULT, kind, number: 3 };
        let mut logged = Logged { listing: Listing::new(id, EPOCH), log: Vec::new() };
        assert_eq!(logged.run(create, 0).0, Outcome::Done);
        logged
    }

    fn run(&mut self, command: &Command, clock: Millis) -> (Outcome, Vec<Fact>) {
        let mut replayed = Listing::new(self.listing.id, EPOCH);
        self.log.iter().for_each(|(at, fact)| replayed.apply(fact, *at));
        let reread = Listing::from_image(&self.listing.image()).expect("an image is read");
        let mut facts = Vec::new();
        let outcome = self.listing.execute(command, clock, &mut facts);
        if let Err(wrong) = self.listing.check_invariants() {
            panic!("{wrong} after {command:?} -> {outcome:?} {facts:?}");
        }
        for mut copy in [replayed, reread] {
            let mut again = Vec::new();
            assert_eq!(copy.execute(command, clock, &mut again), outcome, "a copy answers otherwise");
            assert_eq!(again, facts, "a copy decides otherwise");
            assert_eq!(copy.canonical_image(), self.listing.canonical_image(), "a copy is another");
        }
        let at = self.listing.last_at;
        self.log.extend(facts.iter().map(|fact| (at, fact.clone())));
        (outcome, facts)
    }
}

fn eur() -> Currency {
    Currency::parse("EUR").expect("three letters")
}

/// From 100 in steps of 10, until second 1,000.
fn create_auction() -> Command {
    Command::Auction(AuctionCommand::CreateAuction(Box::new(AuctionDetails {
        name: "vase".into(),
        description: String::new(),
        seller: buyer("sam"),
        currency: eur(),
        starts_at: 0,
        ends_at: 1_000_000,
        terms: AuctionTerms {
            start_minor: 100,
            tick_minor: 1,
            increment: Increment::Fixed(10),
            reserve_minor: None,
            buy_now: None,
            soft_close: None,
            bidders_may_retract: false,
        },
    })))
}

/// Two places for 500 each; opens at second 100, starts at second 300,000, closes a day before.
fn create_course() -> Command {
    let details = RegistrationDetails {
        name: "course".into(),
        description: String::new(),
        opens_at: 100_000,
        starts_at: 300_000_000,
        cut_off_ms: 86_400_000,
        currency: eur(),
        price_minor: 500,
        checkout_ms: 600_000,
        ends_at: None,
        event: None,
        venue: None,
    };
    let create = CreateRegistration { details, capacity: 2 };
    Command::Registration(RegistrationCommand::Create(Box::new(create)))
}

impl Default for Keeper {
    fn default() -> Keeper {
        Keeper {
            auction: Logged::new(ListingKind::Auction, &create_auction()),
            course: Logged::new(ListingKind::Registration, &create_course()),
            entries: BTreeMap::new(),
            orders: BTreeMap::new(),
            payments: BTreeMap::new(),
        }
    }
}

fn number(word: &str) -> u64 {
    word[1..].parse().unwrap_or_else(|_| panic!("{word:?} is a letter and a number"))
}

/// Rather one of the latest.
fn one_of<V>(all: &BTreeMap<u64, V>, die: u64) -> Option<(&u64, &V)> {
    all.iter().rev().nth(die as usize % all.len().clamp(1, 4))
}

fn buyer(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a short name")
}

impl Keeper {
    pub(crate) fn say(&mut self, asked: &str) -> String {
        let mut words = asked.split_whitespace();
        let seconds: Millis = words.next().and_then(|word| word.parse().ok()).expect("seconds");
        let verb = words.next().expect("a verb");
        let rest: Vec<&str> = words.collect();
        if verb == "order?" {
            return self.show(rest[0]);
        }
        if verb == "award?" {
            let closed = self.auction.listing.auction().and_then(|auction| auction.view().closed);
            let last = closed.and_then(|closed| closed.awards.last().map(|line| line.state));
            return format!("{last:?}");
        }
        let (on_auction, command) = self.command(verb, &rest, seconds * 1_000);
        let (outcome, facts) = self.log(on_auction).run(&command, seconds * 1_000);
        self.learn(on_auction, &facts);
        let mut said: Vec<String> = facts.iter().filter_map(told).collect();
        if let Outcome::Refused(refusal) = &outcome {
            said.push(format!("no: {}", refusal.code.as_str()));
        }
        if said.is_empty() {
            said.push("unchanged".into());
        }
        said.join(", ")
    }

    fn log(&mut self, on_auction: bool) -> &mut Logged {
        if on_auction { &mut self.auction } else { &mut self.course }
    }

    fn order(&self, word: &str, by: Option<&&str>) -> (bool, OrderKey) {
        let (on_auction, owner) = self.orders.get(&number(word)).cloned().unwrap_or((true, buyer("nobody")));
        let buyer = by.map_or(owner, |name| buyer(name));
        (on_auction, OrderKey { order: OrderId(number(word)), buyer })
    }

    fn entry(&self, word: &str) -> EntryKey {
        let owner = self.entries.get(&number(word)).cloned();
        EntryKey { entry: EntryId(number(word)), buyer: owner.unwrap_or(buyer("nobody")) }
    }

    fn command(&self, verb: &str, rest: &[&str], now: Millis) -> (bool, Command) {
        let auction = |command| (true, Command::Auction(command));
        let course = |command| (false, Command::Registration(command));
        match verb {
            "bid" => auction(AuctionCommand::PlaceBid(PlaceBid {
                bidder: buyer(rest[0]),
                max_minor: rest[1].parse().expect("an amount"),
                currency: eur(),
            })),
            "settle_award" => auction(AuctionCommand::SettleAward(SettleAward {
                bidder: buyer(rest[0]),
                order: OrderId(number(rest[1])),
            })),
            "refund" => auction(AuctionCommand::RefundAward(RefundAward {
                order: OrderId(number(rest[0])),
                amount_minor: rest.get(1).map(|word| word.parse().expect("an amount")),
                reason: "broken".into(),
            })),
            "turn_down" => auction(AuctionCommand::DeclineAward(buyer(rest[0]))),
            "sweep" => (rest == ["auction"], Command::ExpireDue { limit: 64 }),
            "register" => {
                let (entry, buyer) = (EntryId(number(rest[0])), buyer(rest[1]));
                course(RegistrationCommand::Register(Register { entry, buyer }))
            }
            "confirm" => {
                let EntryKey { entry, buyer } = self.entry(rest[0]);
                let order = OrderId(number(rest[1]));
                course(RegistrationCommand::Confirm(ConfirmEntry { entry, buyer, order, settled: true }))
            }
            "give_up" | "remove" => {
                let EntryKey { entry, buyer } = self.entry(rest[0]);
                let buyer = Some(buyer).filter(|_| verb == "give_up");
                course(RegistrationCommand::CancelEntry(CancelEntry { entry, buyer }))
            }
            "cancel_course" => course(RegistrationCommand::Cancel),
            "order" => {
                let on_auction = NAMES.contains(&rest[1]);
                let goods = match on_auction {
                    true => GoodsKey::Award(buyer(rest[1])),
                    false => GoodsKey::Entry(self.entry(rest[1])),
                };
                let place = PlaceOrder { order: OrderId(number(rest[0])), goods, fees: Fees::default() };
                (on_auction, Command::Order(OrderCommand::Place(place)))
            }
            "pay" | "settle" => {
                let (on_auction, key) = self.order(rest[0], rest.get(2));
                let payment = PaymentId(rest.get(1).map_or(0, |word| number(word)));
                let (pay_until, settled) = (now + 600_000, verb == "settle");
                let pay = PayOrder { key, payment, pay_until, method: None, settled };
                (on_auction, Command::Order(OrderCommand::Pay(pay)))
            }
            "cancel" => {
                let (on_auction, key) = self.order(rest[0], None);
                (on_auction, Command::Order(OrderCommand::Cancel(key)))
            }
            "captured" | "declined" | "paid_back" => {
                let payment = PaymentId(number(rest[0]));
                let id = self.payments.get(&payment.0).map_or(999, |(order, _)| *order);
                let (on_auction, OrderKey { order, .. }) = self.order(&format!("o{id}"), None);
                let command = match verb {
                    "captured" => {
                        let amount_minor = rest[1].parse().expect("an amount");
                        let result = PaymentResult::Captured { amount_minor, reference: "ref".into() };
                        OrderCommand::NotePayment(NotePayment { order, payment, result })
                    }
                    "declined" => {
                        let result = PaymentResult::Declined { reason: "no funds".into() };
                        OrderCommand::NotePayment(NotePayment { order, payment, result })
                    }
                    _ => {
                        let refund = rest[1].parse().expect("a number");
                        OrderCommand::NoteRefund(NoteRefund { order, payment, refund })
                    }
                };
                (on_auction, Command::Order(command))
            }
            other => panic!("no verb {other:?}"),
        }
    }

    fn learn(&mut self, on_auction: bool, facts: &[Fact]) {
        for fact in facts {
            if let Fact::Registration(
                RegistrationFact::Reserved { entry, buyer, .. }
                | RegistrationFact::Waitlisted { entry, buyer, .. },
            ) = fact
            {
                self.entries.insert(entry.0, buyer.clone());
            } else if let Fact::Order(OrderFact::Placed(placed)) = fact {
                self.orders.insert(placed.order.0, (on_auction, placed.buyer.clone()));
            } else if let Fact::Order(OrderFact::PaymentAsked { order, payment, amount_minor, .. }) = fact {
                self.payments.insert(payment.0, (order.0, *amount_minor));
            }
        }
    }

    fn show(&self, word: &str) -> String {
        let (on_auction, key) = self.order(word, None);
        let listing = if on_auction { &self.auction.listing } else { &self.course.listing };
        let query = Query::Orders(OrdersQuery::Order(key.order));
        let Found::Orders(OrdersFound::Order(order)) = listing.ask(&query, 0) else {
            return "unknown".into();
        };
        let until = order.until.map_or(String::new(), |until| format!(" until {}", until / 1_000));
        let captured: i64 = order.payments.iter().filter_map(|payment| payment.captured_minor).sum();
        let refunds = order.payments.iter().flat_map(|payment| &payment.refunds);
        let back: i64 = refunds.map(|refund| refund.amount_minor).sum();
        format!("{} {}{until}, {captured} - {back}", order.status.as_str(), order.goods_minor)
    }

    /// Says random things at random times and counts the words of what came of them.
    pub(crate) fn wander(&mut self, seed: u64, steps: u32, told: &mut BTreeMap<String, u32>) {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut die = |sides: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % sides
        };
        for (name, most) in NAMES.into_iter().zip([150, 300, 500]) {
            self.say(&format!("50 bid {name} {}", most - die(50)));
        }
        let mut now = 100;
        for step in 0..steps {
            now += [0, 1, 1, 10, 60, 600, 20_000][die(7) as usize];
            let name = NAMES[die(3) as usize];
            let entry = one_of(&self.entries, die(99)).map_or(0, |(entry, _)| *entry);
            let order = one_of(&self.orders, die(99)).map_or(0, |(order, _)| *order);
            let (payment, amount) =
                one_of(&self.payments, die(99)).map_or((0, 1), |(id, (_, amount))| (*id, *amount));
            let amount = if die(9) == 0 { amount + 1 } else { amount };
            let asked = match die(14) {
                0 => format!("register e{step} {name}"),
                1 => format!("order o{step} {name}"),
                2 | 3 => format!("order o{step} e{entry}"),
                4 | 5 => format!("pay o{order} p{step}"),
                6 | 7 => format!("captured p{payment} {amount}"),
                8 => format!("declined p{payment}"),
                9 => format!("paid_back p{payment} 1"),
                10 => format!("cancel o{order}"),
                11 => ["sweep auction", "sweep course"][die(2) as usize].to_owned(),
                12 => format!("{} e{entry}", ["give_up", "remove"][die(2) as usize]),
                _ => [
                    format!("turn_down {name}"),
                    format!("settle o{order}"),
                    format!("confirm e{entry} o{step}"),
                    format!("refund o{order} {}", 1 + die(200)),
                    format!("refund o{order}"),
                ][die(5) as usize]
                    .clone(),
            };
            let said = self.say(&format!("{now} {asked}"));
            for word in said.split([' ', ',']).filter(|word| !word.is_empty() && !said.starts_with("no: ")) {
                *told.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
}

fn awarded(award: Option<&Award>) -> String {
    award.map_or("nobody".into(), |award| {
        format!("{} for {} until {}", award.bidder.as_str(), award.price_minor, award.until / 1_000)
    })
}

/// A fact in few words; what the clock alone does is left out.
#[expect(clippy::wildcard_enum_match_arm, reason = "a table tells only what it is about")]
fn told(fact: &Fact) -> Option<String> {
    let s = |at: &Millis| at / 1_000;
    Some(match fact {
        Fact::Auction(AuctionFact::AuctionClosed { award, .. }) => {
            format!("closed to {}", awarded(award.as_ref()))
        }
        Fact::Auction(AuctionFact::AwardPassed { to, .. }) => format!("passed to {}", awarded(to.as_ref())),
        Fact::Auction(AuctionFact::AwardSettled { order, .. }) => format!("settled to o{}", order.0),
        Fact::Auction(AuctionFact::AwardRefunded { order, amount_minor, left_minor, .. }) => {
            format!("o{} gets {amount_minor} back, {left_minor} left", order.0)
        }
        Fact::Registration(fact) => match fact {
            RegistrationFact::StatusChanged { by_schedule: true, .. } => return None,
            RegistrationFact::StatusChanged { status, .. } => status.as_str().into(),
            RegistrationFact::Reserved { until, .. } => format!("kept until {}", s(until)),
            RegistrationFact::Waitlisted { .. } => "waits".into(),
            RegistrationFact::Offered { entry, until, .. } => {
                format!("e{} offered until {}", entry.0, s(until))
            }
            RegistrationFact::OfferLapsed { entry, .. } => format!("e{} lapsed", entry.0),
            RegistrationFact::Confirmed { entry, order } => format!("e{} bought by o{}", entry.0, order.0),
            RegistrationFact::EntryCancelled { entry, amount_minor, .. } => {
                format!("e{} cancelled {amount_minor}", entry.0)
            }
            other => other.kind().into(),
        },
        Fact::Listing(fact) => fact.kind().into(),
        Fact::Order(fact) => told_of_order(fact, 0),
        other => other.kind().into(),
    })
}

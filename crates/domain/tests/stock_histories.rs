//! Random histories of one small sale, played on the sale, on copies made from its facts and its image, and on a
//! second, naive sale: all of them say the same, and the stock adds up after every fact.
//! `ONSALE_SEED=<number>` repeats a run; a failure prints its seed and the shortest history that shows it.

#[path = "support/dice.rs"]
mod dice;
#[path = "stock/model.rs"]
mod model;
#[path = "stock/text_sale.rs"]
#[expect(dead_code, reason = "the tables speak another way")]
mod text_sale;

use std::cell::RefCell;
use std::collections::BTreeSet;

use model::{Model, Said};
use onsale_domain::refusal::InTheWay;
use onsale_domain::stock::command::{
    ChangeSale, Checkout, CheckoutKey, OrderCheckout, Purchase, RefundPurchase, ReturnCheckout, SaleCommand,
    TakeBack,
};
use onsale_domain::stock::details::Sku;
use onsale_domain::stock::fact::{SkuCount, SkuLine};
use onsale_domain::stock::{SaleFact, SaleFound, SaleQuery};
use onsale_domain::{BuyerId, CheckoutId, Millis, OrderId, Outcome};
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use text_sale::{Answer, TextSale, create};

const CASES: u32 = 1_500;
const STEPS_MAX: usize = 120;
const BUYERS: [&str; 4] = ["ann", "bob", "cem", "dan"];

#[test]
fn every_history_of_a_sale_adds_up_and_agrees_with_the_naive_one() {
    let seed = dice::seed();
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, dice::rng(seed));
    let asks = proptest::collection::vec(any::<[u8; 6]>().prop_map(Ask), 1..STEPS_MAX);
    let (kinds, codes) = (RefCell::new(BTreeSet::new()), RefCell::new(BTreeSet::new()));
    let result = runner.run(&asks, |asks| {
        play(&asks, &mut kinds.borrow_mut(), &mut codes.borrow_mut()).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("ONSALE_SEED={seed}\n{error}");
    }
    let missing: Vec<_> =
        SaleFact::KINDS[1..].iter().filter(|kind| !kinds.borrow().contains(*kind)).collect();
    dice::all_happened(seed, &missing);
    assert!(codes.borrow().len() >= 19 || seed != dice::DAILY, "only {:?} were refused", codes.borrow());
}

/// One step: verb, arguments, and how far the clock moves.
#[derive(Clone, Copy, Debug)]
struct Ask([u8; 6]);

#[derive(Default)]
struct World {
    now: Millis,
    attempts: u64,
    codes: Vec<(CheckoutId, BuyerId, Vec<SkuLine>)>,
    orders: Vec<OrderId>,
}

fn buyer(n: u8) -> BuyerId {
    BuyerId::parse(BUYERS[usize::from(n) % BUYERS.len()]).expect("a short name")
}

impl World {
    fn fresh(&mut self) -> u64 {
        self.attempts += 1;
        self.attempts
    }

    /// A code that was given once, mostly a recent one; now and then in the wrong hands.
    fn code(&self, choice: u8, twist: u8) -> (CheckoutKey, Vec<SkuLine>) {
        let back = usize::from(choice) % self.codes.len().clamp(1, 6);
        match self.codes.iter().rev().nth(back) {
            None => (CheckoutKey { checkout: CheckoutId(9_999), buyer: buyer(choice) }, Vec::new()),
            Some((checkout, owner, lines)) => {
                let buyer = if twist.is_multiple_of(16) { buyer(choice) } else { owner.clone() };
                (CheckoutKey { checkout: *checkout, buyer }, lines.clone())
            }
        }
    }

    fn order(&mut self, choice: u8) -> OrderId {
        match self.orders.iter().rev().nth(usize::from(choice % 8)) {
            Some(order) => *order,
            None => {
                let order = OrderId(self.fresh());
                self.orders.push(order);
                order
            }
        }
    }

    fn command(&mut self, ask: &Ask) -> Option<SaleCommand> {
        let Ask([verb, a, b, c, d, wait]) = *ask;
        // Mostly seconds, sometimes far enough for everything to be over, once in a while backwards.
        self.now += match wait {
            0..=119 => 0,
            120..=239 => Millis::from(wait - 119) * 200,
            240..=248 => 60_000,
            249..=252 => 650_000,
            253 => 3_700_000,
            254 => 900_000,
            255 => -5_000,
        };
        let line = |n: u8| SkuCount { sku: u16::from(n % 16) % 4, count: 1 + u32::from(n / 16) % 3 };
        Some(match verb % 32 {
            0..=9 => {
                let lines = match d % 8 {
                    0 => vec![line(b), line(c), line(d / 8)],
                    1 | 2 => vec![line(b), line(c)],
                    3 if c == 9 => Vec::new(),
                    _ => vec![SkuCount { count: 1, ..line(b) }],
                };
                let checkout = CheckoutId(if c % 64 == 63 { u64::from(b) } else { self.fresh() });
                let checkout_ms = (c % 2 == 0).then_some(30_000 + Millis::from(c) * 2_000);
                SaleCommand::Checkout(Checkout { checkout, buyer: buyer(a), lines, checkout_ms })
            }
            10..=13 => {
                let (key, _) = self.code(a, b);
                let order = if d % 4 == 0 { self.order(d / 4) } else { OrderId(self.fresh()) };
                self.orders.push(order);
                SaleCommand::Purchase(Purchase { key, order, settled: c % 4 > 0 })
            }
            14 | 15 => SaleCommand::CancelCheckout(self.code(a, b).0),
            16 | 17 => {
                let (key, _) = self.code(a, b);
                let order = if d % 4 == 0 { self.order(d / 4) } else { OrderId(self.fresh()) };
                self.orders.push(order);
                let pay_until = self.now + Millis::from(c) * 10_000;
                SaleCommand::OrderCheckout(OrderCheckout { key, order, pay_until })
            }
            18 => {
                let (key, _) = self.code(a, b);
                SaleCommand::ReturnCheckout(ReturnCheckout {
                    checkout: key.checkout,
                    order: self.order(d % 3),
                })
            }
            // The code's own order, if the last order was for it.
            19 => {
                let (key, _) = self.code(0, 1);
                SaleCommand::ReturnCheckout(ReturnCheckout { checkout: key.checkout, order: self.order(0) })
            }
            20 | 21 => {
                let (key, mut lines) = self.code(a, b);
                if c % 8 == 0 {
                    let SkuCount { sku, count } = line(c / 8);
                    lines.push(SkuLine { sku, count, price_minor: 7 });
                }
                let order = if d % 8 == 0 { self.order(d / 8) } else { OrderId(self.fresh()) };
                self.orders.push(order);
                SaleCommand::TakeBack(TakeBack { key, order, lines })
            }
            22 | 23 => {
                let lines = if c % 2 == 0 { Vec::new() } else { vec![line(b)] };
                let (order, restock) = (self.order(a), d % 2 == 0);
                SaleCommand::Refund(RefundPurchase { order, lines, restock, reason: "rain".into() })
            }
            24 => SaleCommand::AddStock(line(a)),
            25 => SaleCommand::WithdrawStock(line(a)),
            26 => SaleCommand::ChangePrice { sku: line(a).sku, price_minor: i64::from(b % 4) * 100 },
            27 if a < 64 => SaleCommand::AddSku(Box::new(Sku {
                id: ["A", "C", "D", "E"][usize::from(b) % 4].into(),
                name: "new".into(),
                price_minor: i64::from(c % 2) * 50,
                stock: u32::from(d % 3),
                picture: None,
            })),
            28 => match a {
                0..=3 => SaleCommand::Close,
                4..=7 => SaleCommand::Cancel,
                8..=60 => SaleCommand::Change(Box::new(ChangeSale {
                    ends_at: Some(self.now + Millis::from(b) * 20_000 - 40_000),
                    ..ChangeSale::default()
                })),
                _ => SaleCommand::Change(Box::new(ChangeSale {
                    buyer_limit: Some(2 + u32::from(b % 5)),
                    ..ChangeSale::default()
                })),
            },
            _ => return None,
        })
    }

    fn learn(&mut self, facts: &[SaleFact]) {
        for fact in facts {
            if let SaleFact::CheckedOut { checkout, buyer, lines, .. } = fact {
                self.codes.push((*checkout, buyer.clone(), lines.clone()));
            }
        }
    }
}

fn said(answer: &Answer) -> Said {
    match answer {
        Ok(Outcome::Done) => Said::Done,
        Ok(Outcome::Unchanged) => Said::Nothing,
        Ok(Outcome::AlreadyPurchased(bought)) => Said::Again(bought.order),
        Ok(other) => panic!("a sale never says {other:?}"),
        Err(refusal) => {
            let sku = |one: &InTheWay| match one {
                InTheWay::Sku(sku, code) => (*sku, *code),
                InTheWay::Seat(..) | InTheWay::Area(..) => panic!("a sale has no seats"),
            };
            Said::No(refusal.code, refusal.in_the_way.iter().map(sku).collect())
        }
    }
}

fn play(
    asks: &[Ask],
    kinds: &mut BTreeSet<&'static str>,
    codes: &mut BTreeSet<&'static str>,
) -> Result<(), String> {
    let mut world = World { now: 90_000, ..World::default() };
    let mut spoken = TextSale::new(&create(), world.now);
    let mut model = Model::new(&create(), world.now);
    let mut copies: Vec<TextSale> = Vec::new();
    for (n, ask) in asks.iter().enumerate() {
        if n == asks.len() / 2 {
            copies = spoken.copies().into();
        }
        let command = world.command(ask);
        let limit = u32::from(ask.0[1]) % 80;
        let (facts, answer) = spoken.run(command.as_ref(), limit, world.now);
        let told = || format!("step {n}: {command:?} at {} -> {answer:?} with {facts:?}", world.now);
        let (expected, naive) = match &command {
            Some(command) => model.say(command, world.now),
            None => model.sweep(limit, world.now),
        };
        if (&facts, &said(&answer)) != (&expected, &naive) {
            return Err(format!("{}\nbut the naive one said {naive:?} with {expected:?}", told()));
        }
        let levels = spoken.sale.levels().iter();
        let levels: Vec<_> = levels.map(|level| (level.available(), level.reserved, level.sold)).collect();
        if levels != model.levels() {
            return Err(format!("{}\n{levels:?}, but the naive one counts {:?}", told(), model.levels()));
        }
        for copy in &mut copies {
            let (same, reply) = copy.run(command.as_ref(), limit, world.now);
            if (&same, &reply) != (&facts, &answer) {
                return Err(format!("{}\nbut a copy said {reply:?} with {same:?}", told()));
            }
        }
        for fact in &facts {
            let bytes = minicbor::to_vec(fact).map_err(|error| error.to_string())?;
            let back: SaleFact = minicbor::decode(&bytes).map_err(|error| error.to_string())?;
            if back != *fact {
                return Err(format!("{fact:?} was read back as {back:?}"));
            }
            kinds.insert(fact.kind());
        }
        codes.extend(answer.as_ref().err().map(|refusal| refusal.code.as_str()));
        world.learn(&facts);
    }
    // What is asked is answered alike, and the bytes are the same.
    let questions = BUYERS.iter().flat_map(|name| {
        let buyer = || BuyerId::parse(name).expect("a short name");
        [SaleQuery::CheckoutsOf(buyer()), SaleQuery::PurchasesOf { buyer: buyer(), limit: 9 }]
    });
    let of_codes = world.codes.iter().map(|(code, _, _)| SaleQuery::Checkout(*code));
    let questions: Vec<SaleQuery> = questions.chain(of_codes).collect();
    let answers = |spoken: &TextSale| {
        questions.iter().map(|q| spoken.sale.ask(q, world.now)).collect::<Vec<SaleFound>>()
    };
    for copy in copies.iter().chain(&spoken.copies()) {
        if answers(copy) != answers(&spoken) || copy.picture() != spoken.picture() {
            return Err("a copy is not the same in the end".into());
        }
    }
    Ok(())
}

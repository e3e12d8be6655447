//! Random histories of orders on an event and a sale. After every step the book adds up, copies made from facts and from
//! an image answer alike, and a naive second opinion, which reads nothing but the facts, finds every coin.
//! `ONSALE_SEED=<number>` repeats a run; a failure prints its seed and the shortest history that shows it.

#[path = "support/dice.rs"]
mod dice;
#[path = "order/ledger.rs"]
mod ledger;
#[path = "order/logged.rs"]
mod logged;

use std::cell::RefCell;
use std::collections::BTreeSet;

use ledger::audit;
use logged::TwoLogs;
use onsale_domain::order::{Fees, OrderFact};
use onsale_domain::{Command, Fact, Millis, Outcome};
use onsale_domain::{Found, Query};
use onsale_tables::order::{House, Listings};
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

const CASES: u32 = 600;
const STEPS_MAX: usize = 90;
const BUYERS: [&str; 3] = ["ann", "bob", "cem"];
const SEATS: [&str; 5] = ["A1", "A2", "A3", "A4", "F1"];

#[test]
fn in_every_history_captured_minus_refunded_is_what_confirmed_orders_come_to() {
    let seed = dice::seed();
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let asks = proptest::collection::vec(any::<[u8; 5]>(), 1..STEPS_MAX);
    let kinds = RefCell::new(BTreeSet::new());
    let result = TestRunner::new_with_rng(config, dice::rng(seed))
        .run(&asks, |asks| play(&asks, &mut kinds.borrow_mut()).map_err(TestCaseError::fail));
    if let Err(error) = result {
        panic!("ONSALE_SEED={seed}\n{error}");
    }
    let missing: Vec<_> = OrderFact::KINDS.iter().filter(|kind| !kinds.borrow().contains(*kind)).collect();
    dice::all_happened(seed, &missing);
}

fn play(asks: &[[u8; 5]], kinds: &mut BTreeSet<&'static str>) -> Result<(), String> {
    let fees = Fees { per_order_minor: 30, per_unit_minor: 7, share: 333 };
    let mut logs = Audited::default();
    let mut house = House::new(&mut logs, fees);
    let mut now = 0;
    // Numbers run on, so that most names exist and some are the latest.
    let mut next = [1u32; 4];
    for ask in asks {
        now += [0, 1, 5, 30, 61, 130, 400][usize::from(ask[4]) % 7];
        house.say(&format!("{now} {}", line(ask, &mut next)));
    }
    for logged in &logs.0.logs {
        kinds.extend(logged.log.iter().map(|(_, fact)| fact.kind()));
    }
    logs.1.map_or(Ok(()), Err)
}

/// The listings, and the first thing that the naive opinion found wrong.
#[derive(Default)]
struct Audited(TwoLogs, Option<String>);

impl Listings for Audited {
    fn run(&mut self, on_event: bool, command: &Command, now: Millis) -> (Outcome, Vec<Fact>) {
        let answer = self.0.run(on_event, command, now);
        let wrong = audit(&self.0.logs[usize::from(on_event)].log).err();
        self.1 = self.1.take().or(wrong.map(|wrong| format!("{wrong} after {command:?} at {now}")));
        answer
    }

    fn ask(&self, on_event: bool, query: &Query) -> Found {
        self.0.ask(on_event, query)
    }

    fn offset(&self, on_event: bool) -> u64 {
        self.0.offset(on_event)
    }
}

/// One thing to ask for; what exists is named more often than what does not.
fn line([verb, a, b, c, _]: &[u8; 5], next: &mut [u32; 4]) -> String {
    let [holds, codes, orders, payments] = next;
    let who = BUYERS[usize::from(*a) % 3];
    let seat = SEATS[usize::from(*b) % 5];
    let other = SEATS[usize::from(*c) % 5];
    let latest = |last: u32| last.saturating_sub(1 + u32::from(*b) % 3).max(1);
    let new = |counter: &mut u32| {
        *counter += 1;
        *counter - 1
    };
    match verb % 32 {
        0..=2 if seat != other => format!("hold h{} {who} {seat} {other}", new(holds)),
        0..=3 => format!("hold h{} {who} {seat}", new(holds)),
        4..=6 => format!("code c{} {who} A{} B1", new(codes), 1 + c % 2),
        7..=9 => format!("order o{} h{}", new(orders), latest(*holds)),
        10..=11 => format!("order o{} c{}", new(orders), latest(*codes)),
        12..=16 => {
            format!(
                "pay o{} p{} {}",
                latest(*orders),
                new(payments),
                [20, 100, 300, 2_000][usize::from(*c) % 4]
            )
        }
        17 => format!("settle o{}", latest(*orders)),
        18 => format!("cancel o{}", latest(*orders)),
        19..=22 => {
            let amount = [1, 537, 1_040, 1_070, 2_081, 2_111, 5_000][usize::from(*c) % 7];
            format!("captured p{} {amount}", latest(*payments))
        }
        23 => format!("captured p{} 9999", latest(*payments)),
        24 => format!("declined p{}", latest(*payments)),
        25 => format!("paid_back p{} {}", latest(*payments), 1 + c % 2),
        26 => format!("refund o{}", latest(*orders)),
        27 => format!("sweep {}", if c % 2 == 0 { "event" } else { "sale" }),
        28 => match c % 8 {
            0 => "cancel_event".into(),
            1 => "cancel_sale".into(),
            2 => format!("override h{}", latest(*holds)),
            3 => format!("override h{} {who}", latest(*holds)),
            4 => format!("block {seat}"),
            5 => format!("confirm h{} o{}", latest(*holds), new(orders)),
            6 => format!("purchase c{} o{}", latest(*codes), new(orders)),
            _ => format!("drop h{} {seat}", latest(*holds)),
        },
        29 => format!("queue h{} {who} {seat}", new(holds)),
        30 => format!("release h{}", latest(*holds)),
        _ => format!("refund o{} {seat}", latest(*orders)).replace(" F1", "").replace("A4", "A1"),
    }
}

//! The worker with the lease dies while refunds are owed, a provider is down, buyers have an extra step to take, and some are
//! never answered. The other takes over: nobody is charged twice, and nothing is forgotten.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use onsale_domain::desk::{DeskFound, DeskQuery, Task, desk_of};
use onsale_domain::listing::BodyView;
use onsale_domain::order::OrderStatus;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::RefundOrder;
use onsale_domain::{Command, OrderId, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::Engine;
use onsale_engine_redis::live::RedisEngine;
use onsale_payments::ask_key;
use onsale_payments::simulated::Bank;

use crate::bank::{PATIENCE, TOTAL, create, open, order, pay, payment_of, place, runtime, start, submit};
use onsale_redis_servers::{Brand, Server as Redis, Setup};

/// Each group of buyers by what is under way when the worker dies.
const REFUNDED: Range<u32> = 0..4;
const SILENT: Range<u32> = 4..8;
const CONSENT: Range<u32> = 8..11;
const REFUSE: Range<u32> = 11..13;
const DOWN: Range<u32> = 13..17;
const ALL: Range<u32> = 0..17;
/// Longer than any hold and any payment: a buyer who was never answered lets the goods go.
const LATER_MS: i64 = 20 * 60_000;

fn key(n: u32, refund: u16) -> String {
    ask_key(payment_of(n), refund, 0)
}

/// The machine's time, and some more, for every engine of this process.
struct Time {
    shown: Arc<AtomicI64>,
    more: Arc<AtomicI64>,
    over: Arc<AtomicBool>,
}

impl Time {
    fn begin() -> Time {
        let time = Time { shown: Arc::default(), more: Arc::default(), over: Arc::default() };
        let (shown, more, over) = (time.shown.clone(), time.more.clone(), time.over.clone());
        let show = move || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
            let now = i64::try_from(now).expect("not so late");
            shown.fetch_max(now + more.load(Ordering::SeqCst), Ordering::SeqCst);
        };
        show();
        std::thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                show();
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        time
    }
}

impl Drop for Time {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

async fn until(what: &str, mut happened: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !happened().await {
        assert!(begun.elapsed() < PATIENCE, "it never happens that {what}");
        tokio::task::yield_now().await;
    }
    println!("{what}: {:?}", begun.elapsed());
}

async fn tasks(engine: &RedisEngine, n: u32) -> Vec<Task> {
    let query = Query::Desk(DeskQuery::Payment(payment_of(n)));
    let Ok(Found::Desk(DeskFound::Payment { tasks, .. })) = engine.ask(desk_of(Tenant::DEFAULT), query).await
    else {
        return Vec::new();
    };
    tasks
}

async fn all_are(engine: &RedisEngine, group: Range<u32>, status: OrderStatus) -> bool {
    for n in group {
        if order(engine, n).await.status != status {
            return false;
        }
    }
    true
}

async fn every<T>(group: Range<u32>, of: impl AsyncFn(u32) -> T, is: impl Fn(&T) -> bool) -> bool {
    for n in group {
        if !is(&of(n).await) {
            return false;
        }
    }
    true
}

#[test]
fn what_is_under_way_when_the_worker_dies_ends_once_and_is_not_forgotten() {
    let _alone = crate::alone();
    let redis = Redis::with(Brand::Redis, Setup::default().with("appendonly yes"));
    let (bank, time) = (Arc::new(Bank::default()), Time::begin());
    let clock = || Some(time.shown.clone());
    let first = start(&redis.url(), &bank, clock());
    let house = runtime();
    let engine = house.block_on(open(&redis.url(), clock()));
    house.block_on(async {
        submit(&engine, create(engine.now())).await;
        for n in ALL {
            place(&engine, n).await;
        }
        for n in REFUNDED {
            pay(&engine, n, "succeed").await;
        }
        until("those who are refunded later have paid", async || {
            all_are(&engine, REFUNDED, OrderStatus::Confirmed).await
        })
        .await;
    });
    // The first has the lease by now; the other waits for it.
    let second = start(&redis.url(), &bank, clock());
    house.block_on(async {
        for (group, method) in [(SILENT, "silent"), (CONSENT, "action"), (REFUSE, "action")] {
            for n in group {
                pay(&engine, n, method).await;
            }
        }
        let tasks_of = async |n: u32| tasks(&engine, n).await;
        until("buyers are asked for an extra step, and some are never answered", async || {
            let acts = |tasks: &Vec<Task>| tasks.iter().any(|task| task.standing.as_str() == "needs_action");
            every(CONSENT.start..REFUSE.end, tasks_of, acts).await
                && SILENT.into_iter().all(|n| bank.heard(&key(n, 0)) > 0)
        })
        .await;
        bank.set_down(true);
        for n in REFUNDED {
            let (order, reason) = (OrderId(u64::from(n) + 1), "cannot come".to_owned());
            let refund = RefundOrder { order, seats: Vec::new(), areas: Vec::new(), reason };
            submit(&engine, Command::Event(EventCommand::RefundOrder(refund))).await;
        }
        for n in DOWN {
            pay(&engine, n, "succeed").await;
        }
        until("the desk has taken all of it", async || {
            every(REFUNDED, tasks_of, |tasks| tasks.len() == 2).await
                && every(DOWN, tasks_of, |tasks| tasks.len() == 1).await
        })
        .await;
    });
    first.shutdown_background();
    CONSENT.for_each(|n| bank.act(&key(n, 0), true, engine.now()));
    REFUSE.for_each(|n| bank.act(&key(n, 0), false, engine.now()));
    bank.set_down(false);
    house.block_on(async {
        until("the other has ended what could be ended", async || {
            let refunded = async |n: u32| order(&engine, n).await;
            all_are(&engine, CONSENT, OrderStatus::Confirmed).await
                && all_are(&engine, REFUSE, OrderStatus::Pending).await
                && all_are(&engine, DOWN, OrderStatus::Confirmed).await
                && every(REFUNDED, refunded, |order| {
                    order.payments.iter().flat_map(|payment| &payment.refunds).any(|refund| refund.paid)
                })
                .await
        })
        .await;
        assert!(all_are(&engine, SILENT, OrderStatus::Paying).await, "nobody has answered them");
        time.more.store(LATER_MS, Ordering::SeqCst);
        until("those who were never answered let their goods go, and nothing is open", async || {
            let open = engine.view(&desk_of(Tenant::DEFAULT)).map(|view| view.body.clone());
            all_are(&engine, SILENT, OrderStatus::Expired).await
                && matches!(open, Some(BodyView::Desk(desk)) if desk.open == 0)
        })
        .await;
    });
    let in_total = |moved: Vec<(String, i64)>| moved.into_iter().collect::<BTreeMap<_, _>>();
    let wanted = |groups: &[Range<u32>], refund| {
        let all = groups.iter().cloned().flatten();
        all.map(|n| (key(n, refund), TOTAL)).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(in_total(bank.taken()), wanted(&[REFUNDED, CONSENT, DOWN], 0), "charged once, or not at all");
    assert_eq!(in_total(bank.given_back()), wanted(&[REFUNDED], 1), "given back once");
    house.block_on(async {
        for n in ALL {
            let booked = order(&engine, n).await;
            let took: i64 = booked.payments.iter().filter_map(|payment| payment.captured_minor).sum();
            let refunds = booked.payments.iter().flat_map(|payment| &payment.refunds);
            let back: i64 = refunds.filter(|refund| refund.paid).map(|refund| refund.amount_minor).sum();
            let taken = if SILENT.contains(&n) || REFUSE.contains(&n) { 0 } else { TOTAL };
            assert_eq!(took, taken, "{booked:?}");
            assert_eq!(back, if REFUNDED.contains(&n) { TOTAL } else { 0 }, "{booked:?}");
        }
    });
    second.shutdown_background();
}

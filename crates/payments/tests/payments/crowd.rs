//! Many buyers who pay at once, on an embedded engine with a worker that runs as it does in a server.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use http::HeaderMap;
use onsale_domain::desk::{DeskFound, DeskQuery, Webhook, desk_of};
use onsale_domain::listing::fence;
use onsale_domain::order::command::{GoodsKey, OrderKey, PayOrder, PlaceOrder};
use onsale_domain::order::{Fees, OrderCommand, OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::seats::command::HoldKey;
use onsale_domain::{Command, HoldId, Millis, OrderId, PaymentId, PaymentName, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine::disk::MemoryDisk;
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::{Answer, Engine, Request};
use onsale_payments::provider::{Charge, GiveBack, LookUp, Provider, WebhookError};
use onsale_payments::simulated::Bank;
use onsale_payments::worker::{Patience, Worker};
use onsale_payments::{ProviderAnswer, ProviderError, ask_key};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::crash::{Fate, Mode, Mortal};
use crate::world::{EVENT, START, buyer, create, hold, open, simulated};

/// Far more than anything here takes on a busy machine; reached only by what never happens.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Crowd {
    runtime: Runtime,
    engine: Arc<dyn Engine>,
    pub bank: Arc<Bank>,
    asked: Arc<Mutex<BTreeMap<String, u32>>>,
    let_go: Arc<AtomicU32>,
    fate: Arc<Fate>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Crowd {
    /// So many buyers with an order each. Whoever is not answered waits for an hour.
    pub(crate) fn new(buyers: u32) -> Crowd {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let engine = open(&runtime, &MemoryDisk::new(3), &Arc::new(ManualClock::at(START)));
        let bank = Arc::new(Bank::default());
        let (asked, let_go) = (Arc::default(), Arc::default());
        let provider = Arc::new(CountingProvider {
            asked: Arc::clone(&asked),
            let_go: Arc::clone(&let_go),
            inner: simulated(&bank),
        });
        let patience = Patience { answer: Duration::from_secs(3_600), ..Patience::default() };
        // It never dies; its lease is given and taken by hand.
        let fate = Fate::new(u32::MAX, Mode::Before);
        let leased = Arc::new(Mortal { fate: fate.clone(), inner: engine.clone() });
        let worker = Arc::new(Worker::new(leased, provider, patience));
        let stop = CancellationToken::new();
        let running = runtime.spawn({
            let stop = stop.clone();
            async move { worker.run(stop).await }
        });
        let crowd = Crowd { runtime, engine, bank, asked, let_go, fate, stop, running };
        crowd.submit(create(buyers));
        (0..buyers).for_each(|n| crowd.place(n));
        crowd
    }

    fn submit(&self, command: Command) -> Answer {
        let request = Request { listing: EVENT, command, key: None, by: None };
        let answer = self.runtime.block_on(self.engine.submit(request)).expect("decides");
        assert_eq!(answer.outcome.refused(), None);
        answer
    }

    fn place(&self, n: u32) {
        let (name, number) = (format!("buyer {n}"), u64::from(n) + 1);
        let at = self.submit(hold(number, n, &name)).position;
        let key = HoldKey { hold: HoldId(number), fence: fence(at.epoch, at.offset), buyer: buyer(&name) };
        let place = PlaceOrder { order: order(n), goods: GoodsKey::Hold(key), fees: Fees::default() };
        self.submit(Command::Order(OrderCommand::Place(place)));
    }

    pub(crate) fn pay(&self, n: u32, method: &str) {
        self.submit(Command::Order(OrderCommand::Pay(PayOrder {
            key: OrderKey { order: order(n), buyer: buyer(&format!("buyer {n}")) },
            payment: payment(n),
            pay_until: START + 600_000,
            method: Some(method.to_owned()),
            settled: false,
        })));
    }

    /// How often the provider was asked to take this buyer's money.
    pub(crate) fn asked(&self, n: u32) -> u32 {
        self.asked.lock().expect("nobody panics").get(&key(n)).copied().unwrap_or(0)
    }

    /// This server has the desk's lease from now on, or has lost it.
    pub(crate) fn lead(&self, leads: bool) {
        self.fate.lead(leads);
    }

    /// So many conversations were let go before they were answered.
    pub(crate) fn until_let_go(&self, count: u32) {
        self.until("conversations are let go", async || self.let_go.load(Ordering::SeqCst) >= count);
    }

    pub(crate) fn until_asked_again(&self, n: u32, times: u32) {
        self.until(&format!("buyer {n} is asked {times} times"), async || self.asked(n) >= times);
    }

    pub(crate) fn consent(&self, n: u32) {
        self.bank.act(&key(n), true, START);
    }

    pub(crate) fn until_asked(&self, buyers: impl Iterator<Item = u32>) {
        for n in buyers {
            self.until(&format!("buyer {n} is asked for money"), async || self.asked(n) > 0);
        }
    }

    pub(crate) fn until_order(&self, n: u32, status: OrderStatus) {
        self.until(&format!("order {n} is {status:?}"), async || self.status(n).await == status);
    }

    pub(crate) fn until_desk(&self, n: u32, standing: &str) {
        self.until(&format!("payment {n} is {standing}"), async || {
            let query = Query::Desk(DeskQuery::Payment(name(n)));
            let found = self.engine.ask(desk_of(Tenant::DEFAULT), query).await;
            let Ok(Found::Desk(DeskFound::Payment { tasks, .. })) = found else { return false };
            tasks.iter().any(|task| task.standing.as_str() == standing)
        });
    }

    pub(crate) fn order(&self, n: u32) -> OrderStatus {
        self.runtime.block_on(self.status(n))
    }

    async fn status(&self, n: u32) -> OrderStatus {
        let found = self.engine.ask(EVENT, Query::Orders(OrdersQuery::Order(order(n)))).await;
        let Ok(Found::Orders(OrdersFound::Order(order))) = found else { panic!("{found:?}") };
        order.status
    }

    fn until(&self, what: &str, mut happened: impl AsyncFnMut() -> bool) {
        self.within(what, async {
            while !happened().await {
                tokio::task::yield_now().await;
            }
        });
    }

    fn within(&self, what: &str, future: impl Future<Output = ()>) {
        let waited = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await });
        assert!(waited.is_ok(), "it never happens that {what}");
    }

    /// The server is told to stop, and the worker ends.
    pub(crate) fn stop(mut self) {
        self.stop.cancel();
        let Crowd { runtime, running, .. } = &mut self;
        let ended = runtime.block_on(async { tokio::time::timeout(PATIENCE, running).await });
        ended.expect("it ends").expect("without a panic");
    }
}

fn order(n: u32) -> OrderId {
    OrderId(u64::from(n) + 1)
}

fn payment(n: u32) -> PaymentId {
    PaymentId(u64::from(n) + 1)
}

fn name(n: u32) -> PaymentName {
    PaymentName { listing: EVENT, payment: payment(n) }
}

fn key(n: u32) -> String {
    ask_key(name(n), 0, 0)
}

/// Counts how often each key is charged, answered or not, and how often nobody waited for the answer.
struct CountingProvider {
    asked: Arc<Mutex<BTreeMap<String, u32>>>,
    let_go: Arc<AtomicU32>,
    inner: Arc<dyn Provider>,
}

impl Provider for CountingProvider {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn charge(&self, ask: Charge) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>> {
        *self.asked.lock().expect("nobody panics").entry(ask.key.clone()).or_default() += 1;
        let waits = Waits { let_go: Some(self.let_go.clone()) };
        let answer = self.inner.charge(ask);
        async move {
            let answer = answer.await;
            waits.end();
            answer
        }
        .boxed()
    }

    fn refund(&self, ask: GiveBack) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>> {
        self.inner.refund(ask)
    }

    fn look_up(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>> {
        self.inner.look_up(ask)
    }

    fn call_off(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>> {
        self.inner.call_off(ask)
    }

    fn read_webhook(&self, headers: &HeaderMap, body: &[u8], now: Millis) -> Result<Webhook, WebhookError> {
        self.inner.read_webhook(headers, body, now)
    }

    fn pushed(&self, now: Millis) -> Vec<Webhook> {
        self.inner.pushed(now)
    }
}

/// Somebody waits for an answer; whoever is dropped before it came was let go.
struct Waits {
    let_go: Option<Arc<AtomicU32>>,
}

impl Waits {
    /// The answer came.
    fn end(mut self) {
        self.let_go = None;
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(let_go) = self.let_go.take() {
            let_go.fetch_add(1, Ordering::SeqCst);
        }
    }
}

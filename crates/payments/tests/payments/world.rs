//! One event, one buyer, one order, a bank: on an embedded engine whose disk forgets what was not synced.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use onsale_domain::desk::desk_of;
use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Layout, Row, Seat, Section};
use onsale_domain::listing::{BodyView, fence};
use onsale_domain::money::Currency;
use onsale_domain::order::command::{GoodsKey, OrderKey, PayOrder, PlaceOrder};
use onsale_domain::order::{BookedOrder, Fees, OrderCommand, OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{AdoptChart, CreateEvent, HoldKey, Pick, PlaceHold};
use onsale_domain::{
    BuyerId, Command, HoldId, ListingId, ListingKind, Millis, OrderId, PaymentId, PaymentName, Tenant,
};
use onsale_domain::{Found, Query};
use onsale_engine::disk::MemoryDisk;
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine::{Answer, Engine, Request, journal};
use onsale_payments::simulated::{Bank, SimulatedProvider};
use onsale_payments::worker::{Patience, Worker};
use onsale_payments::{Provider, ask_key};
use tokio::runtime::Runtime;

use crate::crash::{Fate, Mode, Mortal};

pub(crate) const EVENT: ListingId =
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 9 };
const ORDER: OrderId = OrderId(5);
const PAYMENT: PaymentId = PaymentId(6);
const PAYMENT_NAME: PaymentName = PaymentName { listing: EVENT, payment: PAYMENT };
/// What the order costs, fees and all.
pub(crate) const AMOUNT: i64 = 4_321;
pub(crate) const START: Millis = 1_700_000_000_000;

pub(crate) struct World {
    runtime: Runtime,
    disk: MemoryDisk,
    clock: Arc<ManualClock>,
    now: Millis,
    engine: Arc<dyn Engine>,
    pub bank: Arc<Bank>,
    worker: Arc<Worker>,
}

/// A provider that does not answer is waited for a moment only; the clock of the tests is moved by hand.
fn patience() -> Patience {
    Patience { answer: Duration::from_millis(2), again_ms: 500, again_ms_max: 4_000 }
}

pub(crate) fn open(runtime: &Runtime, disk: &MemoryDisk, clock: &Arc<ManualClock>) -> Arc<dyn Engine> {
    let options = Options {
        shards: 1,
        sweeps: false,
        clock: clock.clone(),
        journal: journal::Options { segment_bytes: 1 << 16, ..journal::Options::default() },
        ..Options::default()
    };
    let _inside = runtime.enter();
    Arc::new(EmbeddedEngine::open_on(Arc::new(disk.clone()), options).expect("opens"))
}

impl World {
    pub(crate) fn new() -> World {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (disk, clock) = (MemoryDisk::new(3), Arc::new(ManualClock::at(START)));
        let engine = open(&runtime, &disk, &clock);
        let bank = Arc::new(Bank::default());
        let worker = Arc::new(Worker::new(engine.clone(), simulated(&bank), patience()));
        let mut world = World { runtime, disk, clock, now: START, engine, bank, worker };
        world.submit(create(1));
        let held = world.submit(hold(1, 0, "ann"));
        let at = held.position;
        let key = HoldKey { hold: HoldId(1), fence: fence(at.epoch, at.offset), buyer: buyer("ann") };
        let fees = Fees { per_order_minor: 321, ..Fees::default() };
        let place = PlaceOrder { order: ORDER, goods: GoodsKey::Hold(key), fees };
        world.submit(Command::Order(OrderCommand::Place(place)));
        world
    }

    fn block<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    fn submit(&mut self, command: Command) -> Answer {
        let request = Request { listing: EVENT, command, key: None, by: None };
        let answer = self.block(self.engine.submit(request)).expect("decides");
        assert_eq!(answer.outcome.refused(), None);
        answer
    }

    pub(crate) fn pay(&mut self, method: &str) {
        self.submit(Command::Order(OrderCommand::Pay(PayOrder {
            key: OrderKey { order: ORDER, buyer: buyer("ann") },
            payment: PAYMENT,
            pay_until: self.now + 600_000,
            method: Some(method.to_owned()),
            settled: false,
        })));
    }

    pub(crate) fn hold_by_another(&mut self) {
        self.submit(hold(2, 0, "bob"));
    }

    pub(crate) fn cancel_event(&mut self) {
        self.submit(Command::Event(EventCommand::ChangeStatus(EventStatus::Cancelled)));
        self.submit(Command::ExpireDue { limit: 64 });
    }

    pub(crate) fn consent(&self) {
        self.answer(true);
    }

    /// The buyer takes the extra step, or refuses to.
    pub(crate) fn answer(&self, consents: bool) {
        self.bank.act(&ask_key(PAYMENT_NAME, 0, 0), consents, self.now);
    }

    pub(crate) fn pass(&mut self, ms: Millis) {
        self.now += ms;
        self.clock.set(self.now);
    }

    pub(crate) fn round(&mut self) -> bool {
        self.block(self.worker.round()).is_ok()
    }

    /// Time passes and the worker works, until nothing is left to do and all that is due has expired.
    pub(crate) fn until_quiet(&mut self) {
        for _ in 0..400 {
            assert!(self.round(), "the engine runs");
            let open = match self.engine.view(&desk_of(Tenant::DEFAULT)).map(|view| view.body.clone()) {
                Some(BodyView::Desk(desk)) => desk.open,
                _ => 0,
            };
            let waits = self.booked().payments.iter().any(|payment| {
                let owed = payment.refunds.iter().any(|refund| !refund.paid);
                owed || (payment.captured_minor.is_none() && payment.declined.is_none())
            });
            let acts = self.bank.heard(&ask_key(PAYMENT_NAME, 0, 0)) > 0
                && self.bank.taken().is_empty()
                && open > 0
                && self.is_action();
            if acts || (open == 0 && !waits) {
                return;
            }
            self.pass(20_000);
            self.sweep();
        }
        panic!("it never comes to rest: {:?}", self.booked());
    }

    /// Waits for its buyer, and for nobody else.
    fn is_action(&self) -> bool {
        let query = Query::Desk(onsale_domain::desk::DeskQuery::Payment(PAYMENT_NAME));
        let found = self.block(self.engine.ask(desk_of(Tenant::DEFAULT), query)).expect("answers");
        let Found::Desk(onsale_domain::desk::DeskFound::Payment { tasks, .. }) = found else { return false };
        tasks.iter().any(|task| task.standing.as_str() == "needs_action")
    }

    fn sweep(&mut self) {
        let request =
            Request { listing: EVENT, command: Command::ExpireDue { limit: 64 }, key: None, by: None };
        self.block(self.engine.submit(request)).expect("sweeps");
    }

    /// Works with a death after so many calls; true if it came.
    pub(crate) fn run_until_crash(&mut self, calls: u32, mode: Mode) -> bool {
        let fate = Fate::new(calls, mode);
        let engine: Arc<dyn Engine> = Arc::new(Mortal { fate: fate.clone(), inner: self.engine.clone() });
        let provider: Arc<dyn Provider> =
            Arc::new(Mortal { fate: fate.clone(), inner: simulated(&self.bank) });
        let worker = Arc::new(Worker::new(engine, provider, patience()));
        for _ in 0..12 {
            let _ = self.block(worker.round());
            if fate.came() {
                return true;
            }
            self.pass(5_000);
        }
        false
    }

    /// The process is gone, and with it whatever was not on the disk.
    pub(crate) fn reboot(&mut self, seed: u64) {
        let disk = self.disk.fork();
        disk.crash(seed);
        self.engine = open(&self.runtime, &disk, &self.clock);
        self.disk = disk;
        self.worker = Arc::new(Worker::new(self.engine.clone(), simulated(&self.bank), patience()));
    }

    /// The whole process dies, and with it what a provider inside it knew.
    pub(crate) fn reboot_with_the_bank(&mut self, seed: u64) {
        self.bank = Arc::new(Bank::default());
        self.reboot(seed);
    }

    fn booked(&self) -> BookedOrder {
        let query = Query::Orders(OrdersQuery::Order(ORDER));
        let found = self.block(self.engine.ask(EVENT, query)).expect("answers");
        let Found::Orders(OrdersFound::Order(order)) = found else { panic!("the order is known") };
        *order
    }

    pub(crate) fn order(&self) -> OrderStatus {
        self.booked().status
    }

    /// What the bank says and what the order says is the same: captured, refunded, kept.
    pub(crate) fn check(&self) {
        let order = self.booked();
        let captured: i64 = order.payments.iter().filter_map(|payment| payment.captured_minor).sum();
        let refunds = || order.payments.iter().flat_map(|payment| &payment.refunds);
        let back: i64 = refunds().map(|refund| refund.amount_minor).sum();
        let of_bank = |moved: Vec<(String, i64)>| moved.into_iter().map(|(_, amount)| amount).sum::<i64>();
        assert_eq!(of_bank(self.bank.taken()), captured, "the bank took what the order knows of");
        assert_eq!(of_bank(self.bank.given_back()), back, "and gave back what is owed");
        assert!(refunds().all(|refund| refund.paid));
        let kept = if order.status == OrderStatus::Confirmed { AMOUNT } else { 0 };
        assert_eq!(captured - back, kept);
    }
}

pub(crate) fn simulated(bank: &Arc<Bank>) -> Arc<dyn Provider> {
    Arc::new(SimulatedProvider::new(bank.clone(), b"secret"))
}

pub(crate) fn buyer(name: &str) -> BuyerId {
    BuyerId::parse(name).expect("a short name")
}

pub(crate) fn hold(number: u64, seat: u32, name: &str) -> Command {
    Command::Event(EventCommand::PlaceHold(PlaceHold {
        hold: HoldId(number),
        buyer: buyer(name),
        pick: Pick::Seats(vec![seat]),
        areas: Vec::new(),
        hold_ms: None,
    }))
}

pub(crate) fn create(seats: u32) -> Command {
    let seat = |n: u32| Seat { id: format!("A{n}"), label: n.to_string(), ..Seat::default() };
    let rows = vec![Row { label: "r".into(), seats: (1..=seats).map(seat).collect() }];
    let layout = Layout { sections: vec![Section { name: "stalls".into(), rows }], areas: Vec::new() };
    let details = EventDetails {
        name: "small".into(),
        description: String::new(),
        venue: None,
        starts_at: START + 90_000_000,
        ends_at: START + 100_000_000,
        sale_opens_at: None,
        sale_closes_at: None,
        time_zone: "UTC".into(),
        currency: Currency::parse("EUR").expect("three letters"),
        tiers: vec![Tier { name: "t".into(), price_minor: 4_000 }],
        rules: SaleRules::default(),
    };
    let chart = AdoptChart { venue: None, version: 1, layout: layout.into() };
    Command::Event(EventCommand::CreateEvent(Box::new(CreateEvent {
        details,
        status: EventStatus::OnSale,
        chart,
    })))
}

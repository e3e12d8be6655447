//! Shared limits without a store: what a server does when it is away, stands still, or comes back.

use std::sync::atomic::AtomicU64;

use super::*;
use crate::limits::{Address, Class, Limits, LimitsConfig, Outcome};

/// On a machine whose cores are all taken.
const PATIENCE: Duration = Duration::from_secs(30);

/// A store that does as it is told.
#[derive(Debug)]
struct Stub {
    mode: watch::Sender<Mode>,
    /// What was charged in calls that worked.
    spent: AtomicU64,
    calls: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Gives,
    Refuses,
    Hangs,
}

impl Stub {
    async fn answer<T>(&self, given: T) -> Result<T, Away> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mode = *self.mode.borrow();
        match mode {
            Mode::Gives => Ok(given),
            Mode::Refuses => Err(Away),
            Mode::Hangs => std::future::pending().await,
        }
    }
}

impl SharedTokens for Stub {
    fn take<'a>(&'a self, requests: &'a [SliceRequest]) -> Pending<'a, Vec<Slice>> {
        let level = Level { remaining: 5, next_in_us: 0, full_in_us: 60_000_000 };
        if *self.mode.borrow() == Mode::Gives {
            let spent: u32 = requests.iter().map(|request| request.spent).sum();
            self.spent.fetch_add(spent.into(), Ordering::Relaxed);
        }
        let slices = requests.iter().map(|request| Slice { granted: request.wanted, level }).collect();
        Box::pin(self.answer(slices))
    }

    fn charge<'a>(&'a self, buckets: &'a [Bucket]) -> Pending<'a, (bool, Vec<Level>)> {
        Box::pin(self.answer((true, vec![Level::default(); buckets.len()])))
    }
}

struct Bench {
    limits: Arc<Limits>,
    stub: Arc<Stub>,
    stop: CancellationToken,
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn bench(mode: Mode) -> Bench {
    let stub =
        Arc::new(Stub { mode: watch::channel(mode).0, spent: AtomicU64::new(0), calls: AtomicU64::new(0) });
    let limits = Arc::new(Limits::shared(&LimitsConfig::default(), stub.clone()).unwrap());
    let (stop, shared) = (CancellationToken::new(), limits.sharing().unwrap().clone());
    shared.set_servers(3);
    let until = stop.clone();
    tokio::spawn(async move { shared.run(until).await });
    Bench { limits, stub, stop }
}

impl Bench {
    async fn outcome(&self, class: Class, user: &str) -> Outcome {
        let address = Some(Address::from(std::net::IpAddr::from([192, 0, 2, 1])));
        let attempt = Attempt { tenant: Tenant::DEFAULT, class, key: None, user: Some(user), address };
        self.limits.decide(&attempt).await.outcome
    }

    async fn passed(&self, class: Class, user: &str, times: u32) -> u32 {
        let mut passed = 0;
        for _ in 0..times {
            passed += u32::from(self.outcome(class, user).await == Outcome::Passed);
        }
        passed
    }

    async fn is_away(&self, is_away: bool) {
        let begun = Instant::now();
        while self.limits.counts().is_away != is_away {
            assert!(begun.elapsed() < PATIENCE, "away: {is_away} does not happen");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_away_leaves_each_server_its_share_and_signing_in_closed() {
    let bench = bench(Mode::Gives);
    bench.is_away(false).await;
    assert_eq!(bench.outcome(Class::Auth, "usr_1").await, Outcome::Passed);
    bench.stub.mode.send_replace(Mode::Refuses);
    assert_eq!(bench.outcome(Class::Auth, "usr_1").await, Outcome::Unavailable);
    // The next round notices.
    assert_eq!(bench.outcome(Class::SeatLock, "usr_0").await, Outcome::Passed);
    bench.is_away(true).await;
    // A third of twenty seats at once; and a bidder has one at least.
    assert_eq!(bench.passed(Class::SeatLock, "usr_1", 50).await, 6);
    assert_eq!(bench.passed(Class::Bid, "usr_1", 50).await, 1);
    let counts = bench.limits.counts();
    assert_eq!((counts.unavailable, counts.on_own_share), (1, 100));
    bench.stub.mode.send_replace(Mode::Gives);
    bench.is_away(false).await;
    assert_eq!(bench.outcome(Class::Auth, "usr_1").await, Outcome::Passed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_hangs_holds_a_request_for_a_quarter_of_a_second_at_most() {
    let bench = bench(Mode::Gives);
    bench.is_away(false).await;
    bench.stub.mode.send_replace(Mode::Hangs);
    let begun = Instant::now();
    assert_eq!(bench.outcome(Class::Auth, "usr_1").await, Outcome::Unavailable);
    assert!((WAIT_MAX..PATIENCE).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    // Two in advance, then it waits for a slice that does not come, then it decides alone.
    assert_eq!(bench.passed(Class::SeatLock, "usr_1", 3).await, 3);
    bench.is_away(true).await;
    // From now on nobody waits: a thousand that did would take minutes.
    let begun = Instant::now();
    bench.passed(Class::SeatLock, "usr_1", 1_000).await;
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_the_store_has_answered_once_and_after_the_end_each_server_decides_alone() {
    let bench = bench(Mode::Hangs);
    assert_eq!(bench.passed(Class::SeatLock, "usr_1", 50).await, 6);
    bench.stub.mode.send_replace(Mode::Gives);
    bench.is_away(false).await;
    assert_eq!(bench.outcome(Class::SeatLock, "usr_1").await, Outcome::Passed);
    bench.stop.cancel();
    bench.is_away(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_given_in_advance_is_charged_when_the_store_is_back() {
    let bench = bench(Mode::Gives);
    bench.is_away(false).await;
    bench.stub.mode.send_replace(Mode::Refuses);
    assert_eq!(bench.outcome(Class::SeatLock, "usr_1").await, Outcome::Passed);
    bench.is_away(true).await;
    assert_eq!(bench.stub.spent.load(Ordering::Relaxed), 0);
    bench.stub.mode.send_replace(Mode::Gives);
    bench.is_away(false).await;
    // One of the user and one of the address.
    assert_eq!(bench.stub.spent.load(Ordering::Relaxed), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_for_little_costs_the_store_little() {
    let bench = bench(Mode::Gives);
    bench.is_away(false).await;
    let before = bench.stub.calls.load(Ordering::Relaxed);
    assert_eq!(bench.passed(Class::Api, "usr_1", 120).await, 120);
    let calls = bench.stub.calls.load(Ordering::Relaxed) - before;
    // Slices of twelve.
    assert!((1..=40).contains(&calls), "{calls}");
}

#[test]
fn the_name_of_a_bucket_says_the_limit_and_whom_it_counts_and_is_never_long() {
    let rules = Rulebook::new(&LimitsConfig::default());
    let long = "x".repeat(300);
    let named = |user| {
        let attempt = Attempt {
            tenant: Tenant::DEFAULT,
            class: Class::Bid,
            key: None,
            user: Some(user),
            address: None,
        };
        let rule = rules.numbers(Class::Bid, crate::limits::Subject::User).start;
        let charge = Charge { name: 1, rate: rules.rule(rule).rate, policy: usize::from(rule) };
        bucket_of(&rules, &attempt, &charge).name
    };
    assert_eq!(&*named("usr_1"), "bid_user_60:usr_1");
    assert_eq!(named(&long).len(), "bid_user_60:".len() + 64);
    assert_ne!(named(&long), named(&long[1..]));
}

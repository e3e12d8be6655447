//! The smallest thing that has epochs, offsets and operation ids: a counter per listing, decided by one script.
//! `Load` drives it from several servers at once and afterwards looks for what must never be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use onsale_domain::{ListingId, ListingKind, Tenant};
use onsale_engine_redis::Keys;
use onsale_engine_redis::deployment::{Deployment, ScriptSet};
use onsale_engine_redis::link::{Config, Link, LinkError};
use onsale_engine_redis::scripts::{Script, Scripts};
use redis::FromRedisValue;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use onsale_redis_servers::server::PATIENCE;

use super::lua;

const COUNT: &str = r#"
local known = redis.call("GET", KEYS[2])
if known then
  local epoch, offset = string.match(known, "^(%d+)-(%d+)$")
  return {tonumber(epoch), tonumber(offset), 1}
end
local line = redis.call("HGET", KEYS[4], "head")
local epoch, offset = ARGV[2], 0
if line then epoch, offset = string.match(line, "^hash|(%d+)|(%d+)|") end
offset = tonumber(offset) + 1
redis.call("HSET", KEYS[1], "name", "counter")
redis.call("HSET", KEYS[4], "head", "hash|" .. epoch .. "|" .. offset .. "|0|on_sale|0|0|0|0|0|0")
redis.call("SET", KEYS[2], epoch .. "-" .. offset, "PX", 600000)
redis.call("XADD", KEYS[3], epoch .. "-" .. offset, "op", ARGV[1])
return {tonumber(epoch), offset, 0}
"#;

/// The scripts of a release; another release has another text with the same meaning.
#[derive(Debug)]
pub(crate) struct Release<const N: usize> {
    count: Script,
}

impl<const N: usize> ScriptSet for Release<N> {
    fn of_generation(generation: &str) -> Self {
        Release { count: Script::new("count", generation, &format!("-- release {N}\n{COUNT}")) }
    }

    fn raise_epoch(generation: &str) -> Script {
        match lua::planted("recovery/raise_epoch") {
            Some(text) => Script::new("raise_epoch", generation, &text),
            None => Scripts::raise_epoch(generation),
        }
    }
}

/// Where in the listing's log the operation stands, and whether that was known before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CountReply {
    pub epoch: u64,
    pub offset: u64,
    pub again: bool,
}

pub(crate) async fn join<const N: usize>(config: &Config) -> Deployment<Release<N>> {
    let begun = Instant::now();
    // Servers that have just begun, on a machine whose cores are all taken, may answer too late.
    let link = loop {
        match Link::open(config.clone()).await {
            Ok(link) => break link,
            Err(error) => assert!(error.is_retryable() && begun.elapsed() < PATIENCE, "{error}"),
        }
    };
    Deployment::join(&link).await.expect("a deployment")
}

fn event(number: u32) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: number.into() }
}

/// Where a counter stands.
pub(crate) fn keys(config: &Config, listing: u32) -> Keys {
    Keys::new(&config.prefix, &event(listing))
}

pub(crate) async fn count<const N: usize>(
    server: &Deployment<Release<N>>,
    listing: u32,
    operation: &str,
) -> Result<CountReply, LinkError> {
    let own = keys(server.link().config(), listing);
    let idem = format!("{}idem:v1:{{{}}}:{operation}", server.link().config().prefix, event(listing));
    let keys = [own.meta(), &idem, own.facts(), own.head()].map(str::to_owned);
    let epoch = server.current().generation.number;
    let args = [operation.as_bytes().to_vec(), epoch.to_string().into_bytes()];
    let told = server.call(|scripts| &scripts.count, &keys, &args).await?;
    let (epoch, offset, again): (u64, u64, u8) =
        FromRedisValue::from_redis_value(told).expect("three numbers");
    Ok(CountReply { epoch, offset, again: again == 1 })
}

#[derive(Clone, Debug)]
pub(crate) struct Ack {
    pub listing: u32,
    pub operation: String,
    pub told: CountReply,
    pub at: Instant,
}

/// Several servers, several callers each, every operation sent under its id until it is answered.
#[derive(Debug)]
pub(crate) struct Load {
    config: Config,
    stop: Arc<AtomicBool>,
    pub errors: Arc<AtomicU64>,
    acks: Arc<Mutex<Vec<Ack>>>,
    /// The last error that anybody got.
    last: Arc<Mutex<String>>,
    callers: Vec<JoinHandle<Option<String>>>,
    servers: Vec<Deployment<Release<1>>>,
}

impl Load {
    pub(crate) async fn start(config: &Config, servers: usize, callers: usize, listings: u32) -> Load {
        let mut load = Load {
            config: config.clone(),
            stop: Arc::new(AtomicBool::new(false)),
            errors: Arc::new(AtomicU64::new(0)),
            acks: Arc::new(Mutex::new(Vec::new())),
            last: Arc::default(),
            callers: Vec::new(),
            servers: Vec::new(),
        };
        for server in 0..servers {
            let deployment = join::<1>(config).await;
            for caller in 0..callers {
                load.callers.push(load.call(deployment.clone(), format!("{server}.{caller}"), listings));
            }
            load.servers.push(deployment);
        }
        load
    }

    fn call(
        &self,
        server: Deployment<Release<1>>,
        name: String,
        listings: u32,
    ) -> JoinHandle<Option<String>> {
        let (stop, errors, acks) = (self.stop.clone(), self.errors.clone(), self.acks.clone());
        let last = self.last.clone();
        tokio::spawn(async move {
            for number in 0_u32.. {
                if stop.load(Ordering::Relaxed) {
                    return None;
                }
                let listing = number.wrapping_mul(7) % listings;
                let operation = format!("{name}.{number}");
                let begun = Instant::now();
                loop {
                    match count(&server, listing, &operation).await {
                        Ok(told) => {
                            acks.lock().await.push(Ack { listing, operation, told, at: Instant::now() });
                            break;
                        }
                        Err(error) if error.is_retryable() => {
                            errors.fetch_add(1, Ordering::Relaxed);
                            *last.lock().await = format!("listing {listing}: {error}");
                            if begun.elapsed() > PATIENCE {
                                return Some(format!("{operation} is never answered: {error}"));
                            }
                            tokio::time::sleep(Duration::from_millis(20)).await;
                        }
                        Err(error) => return Some(format!("{operation}: {error}")),
                    }
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            None
        })
    }

    pub(crate) async fn acks(&self) -> usize {
        self.acks.lock().await.len()
    }

    /// Waits until `more` operations were answered from now on; says how long the first one took.
    pub(crate) async fn goes_on(&self, more: usize) -> Duration {
        let (before, begun) = (self.acks().await, Instant::now());
        let mut first = None;
        while self.acks().await < before + more {
            if first.is_none() && self.acks().await > before {
                first = Some(begun.elapsed());
            }
            let last = self.last.lock().await.clone();
            assert!(begun.elapsed() < PATIENCE, "nothing is answered any more: {last}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        first.unwrap_or_else(|| begun.elapsed())
    }

    pub(crate) fn generation(&self) -> u64 {
        self.servers.iter().map(|one| one.current().generation.number).max().unwrap_or(0)
    }

    /// Stops and checks; says what was found. `whose` stands before every line.
    pub(crate) async fn end(self, whose: &str) -> Found {
        self.stop.store(true, Ordering::Relaxed);
        for caller in self.callers {
            assert_eq!(caller.await.expect("a caller"), None);
        }
        let acks = self.acks.lock().await.clone();
        let link = Link::open(self.config).await.expect("a link");
        let found = check(&link, &acks).await;
        println!(
            "{whose}: {} answered, {} tried again, {} answered but forgotten, {} generations, epochs {:?}",
            found.answered,
            self.errors.load(Ordering::Relaxed),
            found.forgotten,
            self.servers.iter().map(|one| one.current().generation.number).max().unwrap_or(0),
            found.epochs,
        );
        found
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub answered: usize,
    /// Answered, but not in the log that survived: what Redis' own replication allows.
    pub forgotten: usize,
    pub epochs: BTreeSet<u64>,
}

/// What must never be: an operation with two positions, a position with two operations, an operation twice in the log.
async fn check(link: &Link, acks: &[Ack]) -> Found {
    let mut meaning: BTreeMap<(u32, u64, u64), &str> = BTreeMap::new();
    let mut position: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for ack in acks {
        let at = (ack.told.epoch, ack.told.offset);
        let other = meaning.insert((ack.listing, at.0, at.1), &ack.operation);
        assert!(
            other.is_none_or(|other| other == ack.operation),
            "{at:?} of {} twice: {other:?} {ack:?}",
            ack.listing
        );
        let before = position.insert(&ack.operation, at);
        assert!(
            before.is_none_or(|before| before == at),
            "{} decided twice: {before:?} {at:?}",
            ack.operation
        );
    }
    let listings: BTreeSet<u32> = acks.iter().map(|ack| ack.listing).collect();
    let mut survived = BTreeSet::new();
    let mut epochs = BTreeSet::new();
    for listing in listings {
        let key = keys(link.config(), listing).facts().to_owned();
        let told = link.at(&key, redis::cmd("XRANGE").arg(&key).arg("-").arg("+")).await.expect("a log");
        let log: Vec<(String, Vec<String>)> = Vec::from_redis_value(told).expect("entries");
        let mut last = (0, 0);
        for (id, fields) in log {
            let (epoch, offset) = id.split_once('-').expect("a position");
            let at: (u64, u64) = (epoch.parse().expect("a number"), offset.parse().expect("a number"));
            assert!(at.0 >= last.0 && at.1 == last.1 + 1, "listing {listing}: {at:?} after {last:?}");
            last = at;
            epochs.insert(at.0);
            assert!(survived.insert(fields[1].clone()), "{} stands twice in the log", fields[1]);
            let known = meaning.get(&(listing, at.0, at.1));
            assert!(known.is_none_or(|known| *known == fields[1]), "{at:?} was told of {known:?}");
        }
    }
    let forgotten = acks.iter().filter(|ack| !survived.contains(&ack.operation)).count();
    Found { answered: acks.len(), forgotten, epochs }
}

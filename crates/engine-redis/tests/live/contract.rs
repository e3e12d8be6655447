//! The contract suite on the engine: on single servers, through sentinels and in a Cluster, of both brands.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use onsale_domain::{ListingId, Millis};
use onsale_engine::Engine;
use onsale_engine::contract::Harness;
use onsale_engine::contract::suite::{self, Part};
use onsale_engine_redis::damage;
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::link::config::{Sentinel, Topology};
use onsale_engine_redis::link::{Config, Link};
use onsale_engine_redis::live::{Options, RedisEngine, Sweep};
use onsale_engine_redis::scripts::Name;
use onsale_engine_redis::{Keys, state};
use tokio::runtime::{Handle, Runtime};

use super::door::Door;
use super::support::{Brand, Server, Six, Trio, sentinel};

struct House {
    handle: Handle,
    link: Link,
    clock: Arc<AtomicI64>,
    compact_from: usize,
    door: Door,
}

async fn open(link: Link, clock: Arc<AtomicI64>, compact_from: usize) -> RedisEngine {
    let sweep = Sweep { polls: false, notified: false };
    // The tables ask for each sweep, and restart after every line: nobody else is here to be heard.
    let options = Options { clock: Some(clock), compact_from, sweep, wakes: false, ..Options::default() };
    RedisEngine::open(link, options).await.expect("an engine")
}

impl House {
    fn new(handle: Handle, config: Config, compact_from: usize) -> House {
        let clock = Arc::new(AtomicI64::new(0));
        let link = handle.block_on(Link::open(config)).expect("a server");
        let engine = handle.block_on(open(link.clone(), clock.clone(), compact_from));
        let door = Door { engine, handle: handle.clone() };
        House { handle, link, clock, compact_from, door }
    }
}

impl Harness for House {
    fn engine(&self) -> &dyn Engine {
        &self.door
    }

    fn set_clock(&self, now: Millis) {
        self.clock.store(now, Ordering::Relaxed);
    }

    /// All that the engine knows of listings is gone; the way to the servers is not what the tables are about.
    fn restart(&mut self) {
        self.door.engine.close();
        let opened = open(self.link.clone(), self.clock.clone(), self.compact_from);
        self.door.engine = self.handle.block_on(opened);
    }

    /// Redis read back, the view, and what Redis keeps twice: all the same.
    fn check_invariants(&self, listing: &ListingId) -> Result<(), String> {
        let engine = &self.door.engine;
        let keys = Keys::new(&self.link.config().prefix, listing);
        let asked = engine.deployment().call(|all| all.get(Name::READ_STATE, Layout::Hash), keys.all(), &[]);
        let told = self.handle.block_on(asked).map_err(|error| error.to_string())?;
        let Some(kept) = state::read(told).map_err(|error| error.to_string())? else { return Ok(()) };
        state::check(&kept, *listing)?;
        // No key that a script writes may be taken for another program's.
        let damage = self.handle.block_on(damage::find(&self.link, *listing));
        if let Some(damage) = damage.map_err(|error| error.to_string())? {
            return Err(format!("a sound listing is told to be damaged: {damage}"));
        }
        let read = kept.picture(*listing).map_err(|error| error.to_string())?;
        let known = engine.image(listing).ok_or("the engine does not know the listing")?;
        if known != read.listing.canonical_image() {
            return Err("the replica is not what redis keeps".into());
        }
        Ok(())
    }
}

/// Charts of the tables are small: from one seat on all of them are laid out in bits, or none.
const BITS: usize = 1;
const HASHES: usize = usize::MAX;

/// What a restart makes of the replicas is the same however the servers are found, and takes most of the time: tables
/// restart on single servers, in tests of their own, and everywhere with `ONSALE_CONTRACT=full`. Every part is played on a single server of
/// each day; where there are several servers, two or three of the five.
#[derive(Clone, Copy)]
enum Rounds {
    InOneGo(&'static [Part]),
    Restarted(Part),
}

fn is_full() -> bool {
    std::env::var("ONSALE_CONTRACT").is_ok_and(|mode| mode == "full")
}

/// Every table has a house of its own on the same servers.
fn run(config: &Config, masters: &[&Server], compact_from: usize, rounds: Rounds) {
    let houses = in_houses(config, masters, compact_from, |fresh| match rounds {
        Rounds::InOneGo(_) if is_full() => suite::run_all(fresh),
        Rounds::InOneGo(parts) => suite::run_in_one_go(parts, fresh),
        Rounds::Restarted(part) => suite::run_restarted(part, fresh),
    });
    assert!(houses > 10, "the suite has many tables");
}

type Fresh<'a> = &'a mut dyn FnMut() -> Box<dyn Harness>;

/// How many houses were asked for.
fn in_houses(
    config: &Config,
    masters: &[&Server],
    compact_from: usize,
    play: impl FnOnce(Fresh<'_>),
) -> usize {
    let runtime = Runtime::new().expect("a runtime");
    let mut houses = 0;
    play(&mut || -> Box<dyn Harness> {
        houses += 1;
        for master in masters {
            // A restart looks at every key there is: those of the houses before would make it slow.
            master.tell("FLUSHALL");
            master.tell("SCRIPT FLUSH");
        }
        // The tables are about what is right, not about how soon: a busy machine may take its time.
        let (prefix, patience) = (format!("house-{houses}:"), 5_000);
        let config = Config { prefix, command_ms: patience, connect_ms: patience, ..config.clone() };
        Box::new(House::new(runtime.handle().clone(), config, compact_from))
    });
    houses
}

fn on_one_server(brand: Brand, compact_from: usize, rounds: Rounds) {
    let server = Server::start(brand);
    run(&Config::from(&server.url()), &[&server], compact_from, rounds);
}

fn through_sentinels(brand: Brand, compact_from: usize) {
    let trio = Trio::start(brand, 1);
    let config = Config {
        url: trio.urls(),
        topology: Topology::Sentinel,
        sentinel: Sentinel { master: sentinel::MASTER.to_owned(), ..Sentinel::default() },
        ..Config::default()
    };
    run(&config, &[&trio.data[0]], compact_from, Rounds::InOneGo(&[Part::Holds, Part::Auctions]));
}

fn of_cluster(six: &Six) -> Config {
    Config { url: six.urls(), topology: Topology::Cluster, ..Config::default() }
}

fn in_a_cluster(brand: Brand, compact_from: usize) {
    let six = Six::start(brand);
    let masters = six.nodes[..3].iter().collect::<Vec<_>>();
    run(
        &of_cluster(&six),
        &masters,
        compact_from,
        Rounds::InOneGo(&[Part::Events, Part::Stock, Part::Orders]),
    );
}

#[test]
fn the_engine_keeps_the_contract_of_seats_on_redis() {
    on_one_server(Brand::Redis, HASHES, Rounds::InOneGo(&[Part::Holds, Part::Events]));
}

#[test]
fn the_engine_keeps_the_contract_of_other_kinds_on_redis() {
    on_one_server(Brand::Redis, HASHES, Rounds::InOneGo(&[Part::Auctions, Part::Stock, Part::Orders]));
}

#[test]
fn the_engine_keeps_the_contract_of_holds_on_redis_through_restarts() {
    on_one_server(Brand::Redis, HASHES, Rounds::Restarted(Part::Holds));
}

#[test]
fn the_engine_keeps_the_contract_of_auctions_on_redis_through_restarts() {
    on_one_server(Brand::Redis, HASHES, Rounds::Restarted(Part::Auctions));
}

#[test]
fn the_engine_keeps_the_contract_on_valkey_with_large_charts() {
    on_one_server(Brand::Valkey, BITS, Rounds::InOneGo(&[Part::Holds, Part::Events]));
}

#[test]
fn the_engine_keeps_the_contract_of_stock_on_valkey_through_restarts() {
    on_one_server(Brand::Valkey, BITS, Rounds::Restarted(Part::Stock));
}

#[test]
fn the_engine_keeps_the_contract_of_orders_on_valkey_through_restarts() {
    on_one_server(Brand::Valkey, BITS, Rounds::Restarted(Part::Orders));
}

#[test]
fn the_engine_keeps_the_contract_through_sentinels_of_redis() {
    through_sentinels(Brand::Redis, HASHES);
}

#[test]
fn the_engine_keeps_the_contract_in_a_cluster_of_valkey() {
    in_a_cluster(Brand::Valkey, HASHES);
}

/// The other brand in each place, with restarts after every line: longer than a daily run has time for.
mod deep {
    use super::*;

    #[test]
    fn the_engine_keeps_the_contract_of_events_on_redis_through_restarts() {
        on_one_server(Brand::Redis, HASHES, Rounds::Restarted(Part::Events));
    }

    #[test]
    fn the_engine_keeps_the_contract_of_seats_on_valkey_with_large_charts_through_restarts() {
        on_one_server(Brand::Valkey, BITS, Rounds::Restarted(Part::Holds));
        on_one_server(Brand::Valkey, BITS, Rounds::Restarted(Part::Events));
    }

    #[test]
    fn the_engine_keeps_the_contract_through_sentinels_of_valkey() {
        through_sentinels(Brand::Valkey, BITS);
    }

    #[test]
    fn the_engine_keeps_the_contract_in_a_cluster_of_redis() {
        in_a_cluster(Brand::Redis, BITS);
    }
}

//! The contract suite on the engine, on both brands.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use onsale_domain::{ListingId, Millis};
use onsale_engine::Engine;
use onsale_engine::contract::{Harness, suite};
use onsale_engine_redis::desk::Desk;
use onsale_engine_redis::link::{Config, Link};
use onsale_engine_redis::live::{Options, RedisEngine, Sweep};
use onsale_engine_redis::{commands::Terms, state};
use tokio::runtime::{Handle, Runtime};

use super::door::Door;
use super::support::{Brand, Server};

struct House {
    handle: Handle,
    config: Config,
    clock: Arc<AtomicI64>,
    compact_from: usize,
    door: Door,
}

async fn open(config: Config, clock: Arc<AtomicI64>, compact_from: usize) -> RedisEngine {
    let link = Link::open(config).await.expect("a server");
    let sweep = Sweep { polls: false, notified: false };
    // The tables ask for each sweep, and restart after every line: nobody else is here to be heard.
    let options = Options { clock: Some(clock), compact_from, sweep, wakes: false, ..Options::default() };
    RedisEngine::open(link, options).await.expect("an engine")
}

impl House {
    fn new(handle: Handle, config: Config, compact_from: usize) -> House {
        let clock = Arc::new(AtomicI64::new(0));
        let engine = handle.block_on(open(config.clone(), clock.clone(), compact_from));
        let door = Door { engine, handle: handle.clone() };
        House { handle, config, clock, compact_from, door }
    }
}

impl Harness for House {
    fn engine(&self) -> &dyn Engine {
        &self.door
    }

    fn set_clock(&self, now: Millis) {
        self.clock.store(now, Ordering::Relaxed);
    }

    fn restart(&mut self) {
        self.door.engine.close();
        let opened = open(self.config.clone(), self.clock.clone(), self.compact_from);
        self.door.engine = self.handle.block_on(opened);
    }

    /// Redis read back, the view, and what Redis keeps twice: all the same.
    fn check_invariants(&self, listing: &ListingId) -> Result<(), String> {
        let engine = &self.door.engine;
        let current = engine.deployment().current();
        let desk = Desk {
            link: engine.link().clone(),
            scripts: current.scripts.clone(),
            prefix: self.config.prefix.clone(),
            terms: Terms { epoch: 1, compact_from: self.compact_from, strict: true, plain: true },
        };
        let kept = self.handle.block_on(desk.state(*listing)).map_err(|error| error.to_string())?;
        let Some(kept) = kept else { return Ok(()) };
        state::check(&kept, *listing)?;
        let read = kept.picture(*listing).map_err(|error| error.to_string())?;
        let known = engine.image(listing).ok_or("the engine does not know the listing")?;
        if known != read.listing.canonical_image() {
            return Err("the replica is not what redis keeps".into());
        }
        Ok(())
    }
}

fn run(brand: Brand, compact_from: usize) {
    let runtime = Runtime::new().expect("a runtime");
    let server = Server::start(brand);
    let mut houses = 0;
    suite::run_all(|| {
        houses += 1;
        // A restart looks at every key there is: those of the houses before would make it slow.
        server.tell("FLUSHALL");
        server.tell("SCRIPT FLUSH");
        let config = Config { prefix: format!("house-{houses}:"), ..Config::from(&server.url()) };
        Box::new(House::new(runtime.handle().clone(), config, compact_from))
    });
}

#[test]
fn the_engine_keeps_the_contract_on_redis() {
    run(Brand::Redis, usize::MAX);
}

#[test]
fn the_engine_keeps_the_contract_on_valkey_with_large_charts() {
    run(Brand::Valkey, 1);
}

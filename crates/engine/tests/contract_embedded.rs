//! The contract, run on the embedded engine: threads, journal and recovery, on a disk in memory.

use std::sync::Arc;

use onsale_domain::Millis;
use onsale_engine::Engine;
use onsale_engine::contract::{Harness, suite};
use onsale_engine::disk::MemoryDisk;
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine::journal;

struct OnMemory {
    disk: MemoryDisk,
    clock: Arc<ManualClock>,
    engine: Option<EmbeddedEngine>,
}

impl OnMemory {
    fn new() -> OnMemory {
        let mut fresh =
            OnMemory { disk: MemoryDisk::new(7), clock: Arc::new(ManualClock::default()), engine: None };
        fresh.restart();
        fresh
    }
}

impl Harness for OnMemory {
    fn engine(&self) -> &dyn Engine {
        self.engine.as_ref().expect("the engine runs")
    }

    fn set_clock(&self, now: Millis) {
        self.clock.set(now);
    }

    fn restart(&mut self) {
        drop(self.engine.take());
        let options = Options {
            shards: 1,
            // The tables ask for every sweep: a timer of its own would make their answers a matter of luck.
            sweeps: false,
            clock: self.clock.clone(),
            journal: journal::Options { segment_bytes: 1 << 20, ..journal::Options::default() },
            ..Options::default()
        };
        let engine = EmbeddedEngine::open_on(Arc::new(self.disk.clone()), options).expect("opens again");
        self.engine = Some(engine);
    }
}

#[test]
fn the_embedded_engine_keeps_the_contract() {
    suite::run_all(|| Box::new(OnMemory::new()));
}

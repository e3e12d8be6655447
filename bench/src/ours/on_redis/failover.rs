//! What we add to a failover: a master of a private Cluster is killed, and our first accepted hold on one of its
//! listings is compared with a bare client's first accepted SET in the same slot, in the same failover.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use onsale_domain::{BuyerId, ListingId};
use onsale_engine::Engine;
use onsale_engine_redis::link::config::Topology;
use onsale_engine_redis::link::slot::slot;
use onsale_engine_redis::link::{Config, Link};
use onsale_engine_redis::live::{Options, RedisEngine};
use tokio::runtime::Runtime;

use super::super::hall;
use super::cluster::Cluster;
use crate::contest::{Contestant, Round};
use crate::rivals::redis::ask;

/// Spread over the masters: a recovery has to look at each of those on its node.
const EVENTS: u64 = 60;
const SEATS: usize = 1_000;
/// How often either of the two tries.
const AGAIN: Duration = Duration::from_millis(5);
/// A failover takes seconds.
const GIVEN_UP: Duration = Duration::from_secs(60);

pub(super) struct Failover {
    folder: PathBuf,
    house: Option<House>,
    holds: u64,
}

struct House {
    engine: RedisEngine,
    runtime: Runtime,
    cluster: Cluster,
}

impl Failover {
    pub(super) fn new(folder: &Path) -> Failover {
        Failover { folder: folder.join("redis-failover"), house: None, holds: 0 }
    }
}

impl Contestant for Failover {
    fn subject(&self) -> String {
        "failover_extra".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        let cluster = Cluster::start(&self.folder)?;
        let runtime = Runtime::new()?;
        let config = Config { url: cluster.urls(), topology: Topology::Cluster, ..Config::default() };
        let engine = runtime.block_on(async {
            let engine = RedisEngine::open(Link::open(config).await?, Options::default()).await?;
            for number in 0..EVENTS {
                let listing = hall::event(number);
                let made = engine.submit(hall::create(listing, SEATS)).await?;
                if let Some(refusal) = made.outcome.refused() {
                    bail!("no event: {refusal:?}");
                }
            }
            anyhow::Ok(engine)
        })?;
        self.house = Some(House { engine, runtime, cluster });
        Ok(())
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        let house = self.house.as_mut().context("it was prepared")?;
        let listing = hall::event(self.holds % EVENTS);
        let key = format!("bare:{{{listing}}}");
        let (master, replica) = house.cluster.pair_of(slot(key.as_bytes()))?;
        let promoted = house.cluster.node(replica).address;
        // Both have worked a moment ago.
        house.runtime.block_on(held(&house.engine, listing, &mut self.holds))?;
        house.cluster.node(master).kill()?;
        let killed = Instant::now();
        let bare = std::thread::spawn(move || accepted(promoted, &key));
        let ours = house.runtime.block_on(held(&house.engine, listing, &mut self.holds))? - killed;
        let Ok(bare) = bare.join() else { bail!("the bare client panicked") };
        let bare = bare? - killed;
        house.cluster.node(master).start_again()?;
        house.cluster.is_whole_soon()?;
        let (ours, bare) = (ours.as_secs_f64(), bare.as_secs_f64());
        Ok(vec![("s", ours - bare), ("ours_s", ours), ("bare_s", bare)])
    }
}

/// When the next hold was accepted.
async fn held(engine: &RedisEngine, listing: ListingId, holds: &mut u64) -> Result<Instant> {
    let begun = Instant::now();
    loop {
        *holds += 1;
        let buyer = BuyerId::parse(&format!("{holds}")).context("a buyer")?;
        let seat = u32::try_from(*holds % SEATS as u64)?;
        if let Ok(answer) = engine.submit(hall::hold(listing, *holds, seat, &buyer)).await
            && answer.outcome.refused().is_none()
        {
            return Ok(Instant::now());
        }
        if begun.elapsed() > GIVEN_UP {
            bail!("no hold is accepted");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// When the node that takes over accepted its first write.
fn accepted(node: SocketAddr, key: &str) -> Result<Instant> {
    let begun = Instant::now();
    while ask(node, &["SET", key, "1"]).is_err() {
        if begun.elapsed() > GIVEN_UP {
            bail!("no failover");
        }
        std::thread::sleep(AGAIN);
    }
    Ok(Instant::now())
}

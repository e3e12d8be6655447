//! Real servers on bad days, with load from two sides all the while: no operation is decided twice, no position has
//! two meanings, every server goes on by itself. Every fault is counted, and a fault that did not happen fails.

mod support;

use std::time::Instant;

use onsale_engine_redis::link::Config;
use onsale_engine_redis::link::config::{Sentinel, Topology};
use onsale_engine_redis::link::slot::slot;
use support::counter::Load;
use support::{Brand, Server, Setup, Six, Trio, eventually, sentinel};

const SERVERS: usize = 2;
const CALLERS: usize = 4;
const LISTINGS: u32 = 24;

fn durable() -> Setup {
    Setup::default().with("appendonly yes").with("appendfsync everysec")
}

/// Nothing of what the master writes from now on reaches the replica.
fn cut_off(replica: &Server, master: &Server) {
    replica.tell("CONFIG SET masterauth nonsense");
    master.tell("CLIENT KILL TYPE replica");
    eventually("the replica is cut off", || replica.info("master_link_status").as_deref() == Some("down"));
}

#[derive(Debug, Default)]
struct Counts {
    kills: u32,
    pauses: u32,
    failovers: u32,
    behind: u32,
    returns: u32,
    moved_keys: usize,
}

impl Counts {
    fn tell(&self, whose: &str, moves: bool) {
        println!("{whose}: {self:?}");
        let all = [self.kills, self.pauses, self.failovers, self.behind, self.returns];
        assert!(
            all.iter().all(|count| *count > 0) && (!moves || self.moved_keys > 0),
            "a fault did not happen"
        );
    }
}

async fn sentinel_days(brand: Brand) {
    let mut trio = Trio::with(brand, 2, &durable());
    let config = Config {
        url: trio.urls(),
        topology: Topology::Sentinel,
        sentinel: Sentinel { master: sentinel::MASTER.to_owned(), ..Sentinel::default() },
        ..Config::default()
    };
    let mut counts = Counts::default();
    let load = Load::start(&config, SERVERS, CALLERS, LISTINGS).await;
    load.goes_on(200).await;

    let old = trio.master();
    trio.data[old].kill();
    counts.kills += 1;
    trio.failed_over(old);
    counts.failovers += 1;
    let gap = load.goes_on(200).await;
    println!(
        "{brand:?} sentinel: {:.1} s after the new master was named the first answer",
        gap.as_secs_f64()
    );
    trio.data[old].start_again();
    returned(&trio.data[old], &mut counts);
    in_step(&trio.data);
    load.goes_on(100).await;

    let old = trio.master();
    trio.data[old].pause();
    counts.pauses += 1;
    trio.failed_over(old);
    counts.failovers += 1;
    load.goes_on(100).await;
    trio.data[old].resume();
    returned(&trio.data[old], &mut counts);
    in_step(&trio.data);
    load.goes_on(100).await;

    let old = trio.master();
    for place in (0..trio.data.len()).filter(|place| *place != old) {
        cut_off(&trio.data[place], &trio.data[old]);
    }
    // Answered, and nowhere but at this master.
    load.goes_on(50).await;
    trio.data[old].kill();
    counts.kills += 1;
    for place in (0..trio.data.len()).filter(|place| *place != old) {
        reset(&trio.data[place]);
    }
    trio.failed_over(old);
    counts.failovers += 1;
    counts.behind += 1;
    load.goes_on(200).await;
    trio.data[old].start_again();
    returned(&trio.data[old], &mut counts);
    load.goes_on(100).await;

    let generations = load.generation();
    let found = load.end(&format!("{brand:?} sentinel")).await;
    counts.tell(&format!("{brand:?} sentinel"), false);
    assert!(found.forgotten > 0, "the last second was lost");
    assert!(generations >= 4, "every failover was noticed: {generations}");
}

async fn cluster_days(brand: Brand) {
    let mut six = Six::with(brand, &durable());
    let config = Config { url: six.urls(), topology: Topology::Cluster, ..Config::default() };
    let mut counts = Counts::default();
    let load = Load::start(&config, SERVERS, CALLERS, LISTINGS).await;
    load.goes_on(200).await;

    let (from, to) =
        (six.master_of(slot(b"0")).expect("a master"), six.master_of(slot(b"1")).expect("a master"));
    let mut back = Vec::new();
    for listing in 0..LISTINGS {
        let slot = slot(listing.to_string().as_bytes());
        let Some(owner) = six.master_of(slot) else { continue };
        let target = if owner == from { to } else { from };
        counts.moved_keys += six.move_slot(slot, owner, target).expect("moved");
        back.push((slot, target, owner));
    }
    load.goes_on(100).await;
    for (slot, owner, target) in back {
        counts.moved_keys += six.move_slot(slot, owner, target).expect("moved back");
    }
    load.goes_on(100).await;

    let slot_of_7 = slot(b"7");
    let old = six.master_of(slot_of_7).expect("a master");
    six.nodes[old].kill();
    counts.kills += 1;
    failed_over(&six, slot_of_7, old, &mut counts);
    load.goes_on(300).await;
    six.nodes[old].start_again();
    returned(&six.nodes[old], &mut counts);
    in_step(&six.nodes);
    load.goes_on(100).await;

    let old = six.master_of(slot_of_7).expect("a master");
    six.nodes[old].pause();
    counts.pauses += 1;
    failed_over(&six, slot_of_7, old, &mut counts);
    load.goes_on(300).await;
    six.nodes[old].resume();
    returned(&six.nodes[old], &mut counts);
    in_step(&six.nodes);
    load.goes_on(100).await;

    let old = six.master_of(slot_of_7).expect("a master");
    let master = six.nodes[old].port.to_string();
    let replica = six
        .nodes
        .iter()
        .find(|node| node.info("master_port").as_deref() == Some(&master))
        .expect("a replica");
    cut_off(replica, &six.nodes[old]);
    // Answered, and not known to the replica: enough that some are of this master.
    load.goes_on(300).await;
    let promoted = replica.port;
    six.nodes[old].kill();
    counts.kills += 1;
    failed_over(&six, slot_of_7, old, &mut counts);
    counts.behind += 1;
    reset(six.nodes.iter().find(|node| node.port == promoted).expect("the promoted one"));
    load.goes_on(300).await;
    six.nodes[old].start_again();
    returned(&six.nodes[old], &mut counts);
    load.goes_on(100).await;

    let generations = load.generation();
    let found = load.end(&format!("{brand:?} cluster")).await;
    counts.tell(&format!("{brand:?} cluster"), true);
    assert!(found.forgotten > 0, "the last second was lost");
    assert!(generations >= 4, "every failover was noticed: {generations}");
}

/// An old master that comes back follows the new one.
fn returned(server: &Server, counts: &mut Counts) {
    eventually("the old master follows", || server.info("role").as_deref() == Some("slave"));
    counts.returns += 1;
}

fn in_step(servers: &[Server]) {
    eventually("all replicas are in step", || {
        servers.iter().all(|one| match one.info("role").as_deref() {
            Some("slave") => one.info("master_link_status").as_deref() == Some("up"),
            Some(_) => true,
            None => false,
        })
    });
}

fn reset(server: &Server) {
    let mut command = redis::cmd("CONFIG");
    command.arg("SET").arg("masterauth").arg("");
    command.exec(&mut server.connect().expect("a connection")).expect("reset");
}

fn failed_over(six: &Six, slot: u16, old: usize, counts: &mut Counts) {
    let begun = Instant::now();
    eventually("the failover", || six.master_of(slot).is_some_and(|master| master != old));
    counts.failovers += 1;
    println!("failover after {:.1} s", begun.elapsed().as_secs_f64());
}

/// Sentinels take half a minute to notice three lost masters.
mod deep {
    use super::{Brand, sentinel_days};

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn sentinels_of_redis() {
        sentinel_days(Brand::Redis).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn sentinels_of_valkey() {
        sentinel_days(Brand::Valkey).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cluster_of_redis() {
    cluster_days(Brand::Redis).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cluster_of_valkey() {
    cluster_days(Brand::Valkey).await;
}

//! One master of a Cluster is away: the others are asked no more for that, and it is looked through once it is back.

use std::time::Duration;

use onsale_engine::Engine;
use onsale_engine_redis::Keys;
use onsale_engine_redis::link::Config;
use onsale_engine_redis::link::config::{Durability, Topology};
use onsale_engine_redis::link::slot::slot;
use onsale_engine_redis::live::Options;

use super::few::{NEVER, calls, make, sale};
use super::house::{open, until};
use super::support::{Brand, Setup, Six};

const SALES: usize = 60;

/// The places of three masters: of the recovery's lease, of one that is to go away, and the third.
struct House {
    six: Six,
    stays: usize,
    away: usize,
    third: usize,
}

impl House {
    fn start() -> House {
        let setup = Setup::default()
            .with("cluster-require-full-coverage no")
            .with("cluster-replica-no-failover yes")
            .with("appendonly yes")
            .with("appendfsync always");
        let six = Six::with(Brand::Redis, &setup);
        let master = |key: &str| six.master_of(slot(key.as_bytes())).expect("a master");
        let (stays, index) = (master("onsale:recovery:{onsale}"), master("onsale:listings"));
        let others: Vec<usize> = (0..3).filter(|place| *place != stays).collect();
        // The index is left in place, so that nothing is missed for its sake.
        let [away, third] = if others[0] == index { [others[1], others[0]] } else { [others[0], others[1]] };
        House { six, stays, away, third }
    }

    fn config(&self) -> Config {
        Config {
            url: self.six.urls(),
            topology: Topology::Cluster,
            durability: Some(Durability::Redis),
            ..Config::default()
        }
    }

    /// The sales of a master, by their numbers.
    fn sales_of(&self, place: usize) -> Vec<usize> {
        let home = |number: &usize| {
            let keys = Keys::new("onsale:", &sale(*number));
            self.six.master_of(slot(keys.meta().as_bytes())) == Some(place)
        };
        (0..SALES).filter(home).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_recovery_only_what_could_not_be_read_is_read_again() {
    let mut house = House::start();
    let engine = open(house.config(), Options { poll: NEVER, ..Options::default() }).await;
    make(&engine, SALES).await;
    let (lost, hurt) = (house.sales_of(house.away), house.sales_of(house.third));
    let epoch = |number: usize| engine.view(&sale(number)).map_or(0, |view| view.position.epoch);
    let before = epoch(hurt[0]);
    house.six.nodes[house.away].kill();
    until("its going is noticed", || engine.status().store_down.is_some()).await;
    house.six.nodes[house.third].tell("SCRIPT FLUSH");
    until("its listings go on", || hurt.iter().all(|number| epoch(*number) > before)).await;
    // The pass over the others ends at the same time or a moment later.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let healthy = &house.six.nodes[house.stays];
    let read = calls(healthy, "hgetall");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let again = calls(healthy, "hgetall") - read;
    assert_eq!(again, 0, "what was read once was read again");
    house.six.nodes[house.away].start_again();
    until("those of the one that was away go on, too", || lost.iter().all(|number| epoch(*number) > before))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_that_was_away_at_the_start_is_scanned_once_and_the_others_are_not_again() {
    let mut house = House::start();
    let first = open(house.config(), Options { poll: NEVER, ..Options::default() }).await;
    make(&first, SALES).await;
    first.close();
    drop(first);
    let lost = house.sales_of(house.away);
    house.six.nodes[house.away].kill();
    let options = Options { poll: Duration::from_millis(50), ..Options::default() };
    let engine = open(house.config(), options).await;
    assert!(lost.iter().all(|number| engine.view(&sale(*number)).is_none()));
    let others = [house.stays, house.third];
    let scans = |house: &House| others.map(|place| calls(&house.six.nodes[place], "scan"));
    let before = scans(&house);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(scans(&house), before, "nothing new is to be found there");
    // Only a scan of the one that comes back can find its listings now.
    let index = house.six.master_of(slot(b"onsale:listings")).expect("a master");
    house.six.nodes[index].tell("DEL onsale:listings");
    house.six.nodes[house.away].start_again();
    until("its listings come", || lost.iter().all(|number| engine.view(&sale(*number)).is_some())).await;
}

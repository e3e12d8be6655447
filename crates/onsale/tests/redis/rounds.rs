//! Two servers under load on each topology, while somebody pulls plugs. Every fault prints its count.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use crate::buyers::{Crowd, Heard, SEATS};
use crate::check::{self, Found};
use crate::dice;
use crate::server::{Deployment, Server};
use onsale_redis_servers::{Brand, Server as Redis, Setup, Six, Trio, eventually};

const BUYERS: usize = 8;
const EVENTS: usize = 6;
/// Answers before and after each fault.
const BREATH: u64 = 150;

struct Round {
    deployment: Deployment,
    servers: Vec<Server>,
    events: Vec<String>,
}

impl Round {
    fn new(deployment: Deployment) -> Round {
        let servers = vec![deployment.start(), deployment.start()];
        let events = (0..EVENTS).map(|_| servers[0].create_event(SEATS)).collect();
        Round { deployment, servers, events }
    }

    fn hammer(&mut self, faults: impl FnOnce(&Crowd<'_>, &mut Vec<Server>, &Deployment)) -> Heard {
        let Round { deployment, servers, events } = self;
        // Buyers do not learn the address of a server that is started later; the two are enough.
        let addresses = servers.iter().map(|server| server.address).collect();
        let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
        let crowd = Crowd { servers: addresses, events, buyers: BUYERS, seed: dice::seed(), stop, answered };
        crowd.run(|| {
            crowd.more(BREATH);
            faults(&crowd, servers, deployment);
            crowd.more(BREATH);
        })
    }

    fn settle(self, what: &str, heard: &Heard, may_forget: bool) -> Found {
        let living = self.servers.last().expect("one lives");
        living
            .until("it is ready again", |one| one.try_get("/readyz").is_some_and(|told| told.status == 200));
        let found = check::check(living, &self.events, heard, may_forget);
        println!(
            "{what}: {} facts, {} yes, {} no, {} tried again, {} unknown, {} forgotten, epochs {:?}",
            found.facts,
            found.yes,
            heard.refused,
            heard.tries_again,
            heard.unknown.len(),
            found.forgotten,
            found.epochs
        );
        println!("{what}: {} answers in order, {} refusals with a holder", found.ordered, found.reasons);
        assert!(found.yes > 100 && found.ordered == found.yes, "too few answers to mean anything");
        found
    }
}

fn fault(name: &str, count: &mut u32) {
    *count += 1;
    println!("fault {name}: {count}");
}

#[test]
fn servers_come_and_go_and_redis_stands_still() {
    let _alone = crate::alone();
    let setup = Setup::default().with("appendonly yes").with("appendfsync always");
    let mut redis = Redis::with(Brand::Valkey, setup);
    let mut round = Round::new(Deployment::single(&redis.url()));
    let (mut killed, mut stopped, mut still, mut restarted) = (0, 0, 0, 0);
    let heard = round.hammer(|crowd, servers, deployment| {
        servers[1].pause();
        fault("server stopped", &mut stopped);
        std::thread::sleep(Duration::from_millis(500));
        servers[1].resume();
        crowd.more(BREATH);
        redis.pause();
        fault("redis stands still", &mut still);
        std::thread::sleep(Duration::from_millis(700));
        redis.resume();
        crowd.more(BREATH);
        servers[0].kill();
        fault("server killed", &mut killed);
        crowd.more(BREATH);
        redis.kill();
        redis.start_again();
        fault("redis killed and started again", &mut restarted);
        servers.push(deployment.start());
    });
    let found = round.settle("single", &heard, false);
    assert!(found.epochs.len() >= 2, "a restart may have forgotten something: another epoch");
    assert!([killed, stopped, still, restarted].iter().all(|count| *count > 0));
}

#[test]
fn a_master_is_lost_behind_sentinels() {
    let _alone = crate::alone();
    let mut trio = Trio::with(Brand::Redis, 2, &Setup::default().with("appendonly yes"));
    let mut round = Round::new(Deployment::sentinel(&trio));
    let mut lost = 0;
    let heard = round.hammer(|_, _, _| {
        let old = trio.master();
        trio.kill_master(old);
        fault("master killed", &mut lost);
        let begun = Instant::now();
        trio.failed_over(old);
        println!("failed over within {:?}", begun.elapsed());
        // The old one returns, and must not be taken for the master.
        trio.data[old].start_again();
        fault("old master returned", &mut lost);
    });
    let found = round.settle("sentinel", &heard, true);
    assert!(found.epochs.len() >= 2 && lost == 2);
}

#[test]
fn a_master_is_lost_in_a_cluster() {
    let _alone = crate::alone();
    let mut six = Six::with(Brand::Redis, &Setup::default().with("appendonly yes"));
    let mut round = Round::new(Deployment::cluster(&six));
    // Names are random: six events may all live with the other masters, and then nothing would be lost.
    let slot = six.slot_of_some_key("*event:facts*");
    let old = six.master_of(slot).expect("somebody serves it");
    let (mut lost, mut killed) = (0, 0);
    let heard = round.hammer(|crowd, servers, deployment| {
        six.kill_master(old);
        fault("master killed", &mut lost);
        // The others notice after their node timeout; until then they say that all is well.
        eventually("a replica takes over", || six.master_of(slot).is_some_and(|place| place != old));
        eventually("the cluster is whole again", || six.is_whole());
        crowd.more(BREATH);
        servers[0].kill();
        fault("server killed", &mut killed);
        servers.push(deployment.start());
    });
    let found = round.settle("cluster", &heard, true);
    assert!(found.epochs.len() >= 2 && lost == 1 && killed == 1);
}

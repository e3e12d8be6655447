//! A master, its replicas and three sentinels that agree by two.

use std::time::Duration;

use super::server::{Brand, Server, Setup, are_in_step, eventually};

pub const MASTER: &str = "onsale";
/// Short, so that a failover takes seconds, and long enough for a machine whose cores are all taken.
const DOWN_AFTER: Duration = Duration::from_millis(1_500);

#[derive(Debug)]
pub struct Trio {
    /// The first one is the master at the start.
    pub data: Vec<Server>,
    pub sentinels: Vec<Server>,
}

impl Trio {
    pub fn start(brand: Brand, replicas: usize) -> Trio {
        Trio::with(brand, replicas, &Setup::default())
    }

    /// `setup` holds for master and replicas.
    pub fn with(brand: Brand, replicas: usize, setup: &Setup) -> Trio {
        let setup = setup.clone().with("repl-diskless-sync-delay 0").with("repl-timeout 5");
        let mut data = vec![Server::with(brand, setup.clone())];
        let master = data[0].port;
        for _ in 0..replicas {
            data.push(Server::with(brand, setup.clone().with(format!("replicaof 127.0.0.1 {master}"))));
        }
        eventually("the replicas are in step", || {
            data[1..].iter().all(|one| one.info("master_link_status").as_deref() == Some("up"))
        });
        let mut watch = Setup { sentinel: true, ..Setup::default() }
            .with(format!("sentinel monitor {MASTER} 127.0.0.1 {master} 2"))
            .with(format!("sentinel down-after-milliseconds {MASTER} {}", DOWN_AFTER.as_millis()))
            .with(format!("sentinel failover-timeout {MASTER} 6000"));
        if let Some(password) = &setup.password {
            watch = watch.with(format!("sentinel auth-pass {MASTER} {password}"));
        }
        let sentinels: Vec<Server> = (0..3).map(|_| Server::with(brand, watch.clone())).collect();
        let trio = Trio { data, sentinels };
        eventually("the sentinels know each other and the replicas", || {
            trio.sentinels.iter().all(|one| {
                let known = one.info("master0").unwrap_or_default();
                known.contains("sentinels=3") && known.contains(&format!("slaves={replicas}"))
            })
        });
        trio
    }

    /// Where a client asks for the master.
    pub fn urls(&self) -> Vec<String> {
        self.sentinels.iter().map(Server::url).collect()
    }

    /// The place in `data` of the master, as the sentinel that answers first sees it.
    pub fn master(&self) -> usize {
        let line = format!("SENTINEL get-master-addr-by-name {MASTER}");
        let told = self.sentinels.iter().find_map(|one| one.say::<Vec<String>>(&line).ok());
        let port = told.expect("a sentinel answers")[1].clone();
        self.data.iter().position(|one| one.port.to_string() == port).expect("one of ours")
    }

    /// Ends the master, whose replicas can take its place.
    pub fn kill_master(&mut self, place: usize) {
        eventually("the replicas are in step", || are_in_step(&self.data));
        self.data[place].kill();
    }

    /// Waits until another than `old` is the master and says so itself.
    pub fn failed_over(&self, old: usize) -> usize {
        eventually("the failover", || {
            let master = self.master();
            master != old && self.data[master].info("role").as_deref() == Some("master")
        });
        self.master()
    }
}

//! A Cluster of six: three masters and a replica each. The first three are the masters at the start.

use redis::{RedisResult, Value};

use super::server::{Brand, Server, Setup, are_in_step, eventually};

const NODE_TIMEOUT_MS: u32 = 2_000;
const SLOTS: u16 = 16_384;

#[derive(Debug)]
pub struct Six {
    pub nodes: Vec<Server>,
}

impl Six {
    pub fn start(brand: Brand) -> Six {
        Six::with(brand, &Setup::default())
    }

    pub fn with(brand: Brand, setup: &Setup) -> Six {
        let setup = setup
            .clone()
            .with("cluster-enabled yes")
            .with("cluster-port $BUS")
            .with(format!("cluster-node-timeout {NODE_TIMEOUT_MS}"))
            .with("cluster-replica-validity-factor 0")
            .with("repl-diskless-sync-delay 0")
            .with("repl-timeout 5");
        let nodes: Vec<Server> = (0..6).map(|_| Server::with(brand, setup.clone())).collect();
        for (place, first) in [0, SLOTS / 3, 2 * (SLOTS / 3)].into_iter().enumerate() {
            let last = [SLOTS / 3, 2 * (SLOTS / 3), SLOTS][place] - 1;
            nodes[place].tell(&format!("CLUSTER ADDSLOTSRANGE {first} {last}"));
            nodes[place].tell(&format!("CLUSTER SET-CONFIG-EPOCH {}", place + 1));
        }
        for node in &nodes[1..] {
            let bus = bus_port(&nodes[0]);
            node.tell(&format!("CLUSTER MEET 127.0.0.1 {} {bus}", nodes[0].port));
        }
        let six = Six { nodes };
        eventually("the nodes meet", || six.nodes.iter().all(|one| six.known_by(one) == 6));
        for place in 3..6 {
            let master = six.id(place - 3);
            six.nodes[place].tell(&format!("CLUSTER REPLICATE {master}"));
        }
        eventually("the replicas are in step", || {
            six.nodes[3..].iter().all(|one| one.info("master_link_status").as_deref() == Some("up"))
        });
        eventually("the cluster is whole", || six.is_whole());
        six
    }

    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Server::url).collect()
    }

    pub fn id(&self, place: usize) -> String {
        self.nodes[place].say("CLUSTER MYID").expect("a node's id")
    }

    fn known_by(&self, node: &Server) -> usize {
        let text: String = node.say("CLUSTER NODES").unwrap_or_default();
        text.lines().filter(|line| !line.contains("handshake")).count()
    }

    /// Ends a master whose replica can take its place.
    pub fn kill_master(&mut self, place: usize) {
        eventually("the replicas are in step", || are_in_step(&self.nodes));
        self.nodes[place].kill();
    }

    /// Everybody who answers says that all slots are served, and by six.
    pub fn is_whole(&self) -> bool {
        let living: Vec<String> =
            self.nodes.iter().filter_map(|one| one.say::<String>("CLUSTER INFO").ok()).collect();
        !living.is_empty()
            && living
                .iter()
                .all(|text| text.contains("cluster_state:ok") && text.contains("cluster_slots_ok:16384"))
    }

    /// The place of the master of a slot, as the first who answers sees it.
    pub fn master_of(&self, slot: u16) -> Option<usize> {
        self.nodes.iter().enumerate().find_map(|(place, node)| {
            // Who serves a slot knows it; the others would only tell what they have heard.
            let text: String = node.say("CLUSTER NODES").ok()?;
            text.lines().find(|line| line.contains("myself")).filter(|line| serves(line, slot))?;
            Some(place)
        })
    }

    /// Whether everybody who answers takes this node for the slot's master, and in the same configuration.
    fn is_known_to_serve(&self, id: &str, slot: u16) -> bool {
        let told = self.nodes.iter().filter_map(|node| node.say::<String>("CLUSTER NODES").ok());
        let epochs: Vec<Option<String>> = told
            .map(|text| {
                let line = text.lines().find(|line| line.starts_with(id) && serves(line, slot))?;
                line.split_whitespace().nth(6).map(str::to_owned)
            })
            .collect();
        epochs.iter().all(|epoch| epoch.is_some() && *epoch == epochs[0])
    }

    /// The slot of a key that exists, so that a test can lose the master of something.
    pub fn slot_of_some_key(&self, pattern: &str) -> u16 {
        let keys =
            self.nodes.iter().filter_map(|node| node.say::<Vec<String>>(&format!("KEYS {pattern}")).ok());
        let key = keys.flatten().next().expect("a key of that pattern");
        self.nodes[0].say(&format!("CLUSTER KEYSLOT {key}")).expect("a slot")
    }

    pub fn role(&self, place: usize) -> Option<String> {
        self.nodes[place].info("role")
    }

    /// Moves a slot with all its keys from one master to another while clients go on; says how many keys moved.
    pub fn move_slot(&self, slot: u16, from: usize, to: usize) -> RedisResult<usize> {
        let (source, target) = (self.id(from), self.id(to));
        let tell =
            |node: &Server, what: &str| followed(|| node.say(&format!("CLUSTER SETSLOT {slot} {what}")));
        tell(&self.nodes[to], &format!("IMPORTING {source}"))?;
        tell(&self.nodes[from], &format!("MIGRATING {target}"))?;
        let mut moved = 0;
        loop {
            let keys: Vec<String> = self.nodes[from].say(&format!("CLUSTER GETKEYSINSLOT {slot} 10"))?;
            if keys.is_empty() {
                break;
            }
            moved += keys.len();
            let mut command = redis::cmd("MIGRATE");
            command.arg("127.0.0.1").arg(self.nodes[to].port).arg("").arg(0).arg(5_000).arg("KEYS").arg(keys);
            followed(|| command.query(&mut self.nodes[from].connect()?))?;
        }
        let owner = format!("NODE {target}");
        tell(&self.nodes[to], &owner)?;
        tell(&self.nodes[from], &owner)?;
        // As redis-cli does: other masters would not believe the new owner if the old one has the higher epoch.
        for node in self.nodes.iter().filter(|node| node.info("role").as_deref() == Some("master")) {
            tell(node, &owner)?;
        }
        // Replicas cannot be told, they hear of it. One that has not may hear first that the giver has taken another
        // slot, and so has a higher epoch: it then tells the taker to give this one back, and nobody has it.
        eventually("everybody has heard who has the slot", || self.is_known_to_serve(&target, slot));
        Ok(moved)
    }
}

/// What a master does only with its replicas behind it, as soon as they are: on a busy machine one may be late. Asked twice
/// it means the same.
fn followed(mut ask: impl FnMut() -> RedisResult<Value>) -> RedisResult<()> {
    let mut told = Ok(Value::Nil);
    eventually("enough replicas follow", || {
        told = ask();
        !told.as_ref().is_err_and(|error| error.to_string().contains("NOREPLICAS"))
    });
    told.map(drop)
}

/// Whether a line of `CLUSTER NODES` is a master's that has the slot.
fn serves(line: &str, slot: u16) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let within = |range: &&str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse().is_ok_and(|first: u16| first <= slot)
            && last.parse().is_ok_and(|last: u16| slot <= last)
    };
    words[2].contains("master") && words[8..].iter().any(within)
}

fn bus_port(node: &Server) -> String {
    let told: Vec<String> = node.say("CONFIG GET cluster-port").expect("a cluster port");
    told[1].clone()
}

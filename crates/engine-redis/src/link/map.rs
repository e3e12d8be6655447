//! Who is the master of a slot. A single server and the master behind sentinels have all of them; in a Cluster
//! every node tells what it has heard, and the highest configuration epoch is right.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use redis::{FromRedisValue, Value};

use super::node::Node;
use super::slot::SLOTS;

const NOBODY: u16 = u16::MAX;

#[derive(Debug, Default)]
pub struct Map {
    pub masters: Vec<Arc<Node>>,
    /// Names of the replicas as far as a Cluster told of them.
    pub replicas: Vec<String>,
    /// By slot the place in `masters`; empty if there is only one master.
    slots: Vec<u16>,
}

impl Map {
    pub fn of_one(master: Arc<Node>) -> Map {
        Map { masters: vec![master], replicas: Vec::new(), slots: Vec::new() }
    }

    pub fn master_of(&self, slot: u16) -> Option<&Arc<Node>> {
        match self.slots.get(usize::from(slot)) {
            None => self.masters.first(),
            Some(place) => self.masters.get(usize::from(*place)),
        }
    }

    /// How many slots have nobody.
    pub fn uncovered(&self) -> usize {
        self.slots.iter().filter(|place| **place == NOBODY).count()
    }

    /// A slot that this master serves, for a key of its own.
    pub fn slots_of(&self, master: &Node) -> impl Iterator<Item = u16> {
        (0..SLOTS).filter(|slot| self.master_of(*slot).is_some_and(|one| one.name() == master.name()))
    }

    /// Whether both send every slot to the same node.
    pub fn same_as(&self, other: &Map) -> bool {
        let names = |map: &Map| map.masters.iter().map(|one| one.name().to_owned()).collect::<Vec<_>>();
        self.slots == other.slots && names(self) == names(other)
    }
}

/// A line of `CLUSTER NODES`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub id: String,
    pub name: String,
    /// The line of the node that was asked.
    pub myself: bool,
    pub is_master: bool,
    pub failed: bool,
    pub epoch: u64,
    pub ranges: Vec<(u16, u16)>,
}

/// `asked` is the host of the node that told: some tell their own address as empty.
pub(super) fn read_nodes(text: &str, asked: &str) -> Vec<Line> {
    text.lines().filter_map(|line| read_line(line, asked)).collect()
}

/// `<id> <host:port@bus[,name]> <flags> <master> <ping> <pong> <epoch> <link> <slots>…`
fn read_line(line: &str, asked: &str) -> Option<Line> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (address, _) = words.get(1)?.split_once('@')?;
    let (host, port) = address.rsplit_once(':')?;
    let host = if host.is_empty() { asked } else { host };
    let flags: Vec<&str> = words.get(2)?.split(',').collect();
    if flags.contains(&"noaddr") || flags.contains(&"handshake") {
        return None;
    }
    // A slot on its way stands in brackets; until it has arrived it belongs to where it was.
    let ranges =
        words[8.min(words.len())..].iter().filter(|word| !word.starts_with('[')).filter_map(|word| {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            Some((first.parse().ok()?, last.parse().ok()?))
        });
    Some(Line {
        id: (*words.first()?).to_owned(),
        name: format!("{host}:{port}"),
        myself: flags.contains(&"myself"),
        is_master: flags.contains(&"master"),
        failed: flags.contains(&"fail"),
        epoch: words.get(6)?.parse().ok()?,
        ranges: ranges.collect(),
    })
}

/// One map from what several nodes told.
pub(super) fn of_cluster(told: &[Vec<Line>], mut node: impl FnMut(&str) -> Arc<Node>) -> Map {
    let mut owner: Vec<Option<(u64, &str)>> = vec![None; usize::from(SLOTS)];
    // A node knows best which slots it gave away; of the others we believe what they are said to have.
    let asked: BTreeSet<&str> =
        told.iter().flatten().filter(|line| line.myself).map(|line| &*line.name).collect();
    let claims = told.iter().flatten().filter(|line| line.myself || !asked.contains(&*line.name));
    for line in claims.filter(|line| line.is_master) {
        for (first, last) in &line.ranges {
            for slot in owner.iter_mut().take(usize::from(*last) + 1).skip(usize::from(*first)) {
                if slot.is_none_or(|(epoch, _)| epoch < line.epoch) {
                    *slot = Some((line.epoch, &line.name));
                }
            }
        }
    }
    let mut names: Vec<&str> = owner.iter().flatten().map(|(_, name)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let place = |name: &str| names.binary_search(&name).ok().and_then(|place| u16::try_from(place).ok());
    let slots = owner.iter().map(|slot| slot.and_then(|(_, name)| place(name)).unwrap_or(NOBODY)).collect();
    let mut replicas: Vec<String> =
        told.iter().flatten().map(|line| &line.name).filter(|name| place(name).is_none()).cloned().collect();
    replicas.sort_unstable();
    replicas.dedup();
    let masters = names.iter().map(|name| node(name)).collect();
    Map { masters, replicas, slots }
}

/// The master that a sentinel tells of, and in which of its configurations: `SENTINEL MASTER <name>`.
pub(super) fn read_master(told: Value) -> Option<(u64, String)> {
    let fields: BTreeMap<String, String> = BTreeMap::from_redis_value(told).ok()?;
    let field = |name: &str| fields.get(name);
    let epoch = field("config-epoch")?.parse().ok()?;
    Some((epoch, format!("{}:{}", field("ip")?, field("port")?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::config::Config;

    const BEFORE: &str = "\
a1 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-8191
b1 10.0.0.2:7000@17000,two.example master - 0 0 2 connected 8192-16383
c1 10.0.0.3:7000@17000 slave a1 0 0 1 connected
d1 :0@0 master,noaddr - 0 0 9 disconnected";
    const AFTER: &str = "\
c1 :7000@17000 myself,master - 0 0 3 connected 0-8191 [5-<-b1]
a1 10.0.0.1:7000@17000 master,fail - 0 0 1 disconnected
b1 10.0.0.2:7000@17000 master - 0 0 2 connected 8192-16383";

    fn map(told: &[&str]) -> Map {
        let told: Vec<Vec<Line>> = told.iter().map(|text| read_nodes(text, "10.0.0.3")).collect();
        of_cluster(&told, |name| {
            let client = redis::Client::open(format!("redis://{name}")).expect("an address");
            Arc::new(Node::new(client, &Config::default(), 1))
        })
    }

    #[test]
    fn the_highest_epoch_is_right_whoever_told_it() {
        for told in [[BEFORE, AFTER], [AFTER, BEFORE]] {
            let map = map(&told);
            assert_eq!(map.master_of(0).expect("a master").name(), "10.0.0.3:7000");
            assert_eq!(map.master_of(16_383).expect("a master").name(), "10.0.0.2:7000");
            assert_eq!((map.masters.len(), map.uncovered()), (2, 0));
        }
        assert_eq!(map(&[BEFORE]).replicas, ["10.0.0.3:7000"]);
    }

    #[test]
    fn who_gave_a_slot_away_is_believed_whatever_others_heard() {
        let stale = "\
b1 10.0.0.2:7000@17000 myself,master - 0 0 2 connected 8192-16383
a1 10.0.0.1:7000@17000 master - 0 0 9 connected 0-8191";
        let giver = "a1 10.0.0.1:7000@17000 myself,master - 0 0 9 connected 1-8191";
        let taker = "c1 10.0.0.3:7000@17000 myself,master - 0 0 8 connected 0";
        let map = map(&[stale, giver, taker]);
        assert_eq!(map.master_of(0).expect("a master").name(), "10.0.0.3:7000");
        assert_eq!(map.master_of(1).expect("a master").name(), "10.0.0.1:7000");
    }

    #[test]
    fn a_slot_of_nobody_is_counted() {
        let map = map(&[BEFORE.lines().next().expect("a line")]);
        assert_eq!(map.uncovered(), 8_192);
        assert!(map.master_of(9_000).is_none());
    }
}

//! A private Cluster: three masters and a replica each, on free ports.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::{self, PATIENCE, Running};
use crate::rivals::redis::resp::Reply;
use crate::rivals::redis::{Flush, ask, config};

const MASTERS: usize = 3;
const SLOTS: usize = 16_384;
/// After so long without an answer a master is given up by the others: what Redis' own documents call short.
const NODE_TIMEOUT_MS: u32 = 2_000;

/// The first three are the masters at the start.
#[derive(Debug)]
pub(super) struct Cluster {
    nodes: Vec<Node>,
}

#[derive(Debug)]
pub(super) struct Node {
    folder: PathBuf,
    pub address: SocketAddr,
    bus: u16,
    running: Option<Running>,
}

impl Cluster {
    pub(super) fn start(folder: &Path) -> Result<Cluster> {
        let nodes = (0..2 * MASTERS).map(|place| Node::start(folder.join(format!("node-{place}"))));
        let cluster = Cluster { nodes: nodes.collect::<Result<_>>()? };
        let [first, ..] = &cluster.nodes[..] else { bail!("no node") };
        for (place, node) in cluster.nodes.iter().enumerate() {
            if place < MASTERS {
                let (from, to) = (place * SLOTS / MASTERS, (place + 1) * SLOTS / MASTERS - 1);
                node.ask(&["CLUSTER", "ADDSLOTSRANGE", &from.to_string(), &to.to_string()])?;
                node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &(place + 1).to_string()])?;
            }
            if place > 0 {
                let (port, bus) = (first.address.port().to_string(), first.bus.to_string());
                node.ask(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus])?;
            }
        }
        let all = 2 * MASTERS;
        until("the nodes meet", || cluster.nodes.iter().all(|node| node.lines("") == all))?;
        for place in MASTERS..all {
            let master = cluster.nodes[place - MASTERS].text(&["CLUSTER", "MYID"])?;
            cluster.nodes[place].ask(&["CLUSTER", "REPLICATE", &master])?;
        }
        cluster.is_whole_soon()?;
        Ok(cluster)
    }

    pub(super) fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(|node| format!("redis://{}", node.address)).collect()
    }

    pub(super) fn is_whole_soon(&self) -> Result<()> {
        until("the cluster is whole", || {
            self.nodes.iter().all(|node| {
                let says =
                    |words: &[&str], line: &str| node.text(words).is_ok_and(|text| text.contains(line));
                let in_step = says(&["INFO", "replication"], "role:master")
                    || says(&["INFO", "replication"], "master_link_status:up");
                in_step && says(&["CLUSTER", "INFO"], "cluster_state:ok") && node.lines("fail") == 0
            })
        })
    }

    /// The master of a key's slot, and the replica that will take its place.
    pub(super) fn pair_of(&self, slot: u16) -> Result<(usize, usize)> {
        let place = |name: &str| self.nodes.iter().position(|node| node.address.to_string() == name);
        let told = self.nodes.first().context("a node")?.text(&["CLUSTER", "NODES"])?;
        let rows: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
        let name = |row: &[&str]| row[1].split('@').next().unwrap_or_default().to_owned();
        let serves = |row: &&Vec<&str>| {
            row.iter().skip(8).any(|range| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let within = |first: u16, last: u16| first <= slot && slot <= last;
                matches!((first.parse(), last.parse()), (Ok(first), Ok(last)) if within(first, last))
            })
        };
        let master = rows.iter().find(serves).context("a master of the slot")?;
        let replica = rows.iter().find(|row| row[3] == master[0]).context("its replica")?;
        place(&name(master)).zip(place(&name(replica))).context("nodes of ours")
    }

    pub(super) fn node(&mut self, place: usize) -> &mut Node {
        &mut self.nodes[place]
    }
}

impl Node {
    fn start(folder: PathBuf) -> Result<Node> {
        std::fs::create_dir_all(&folder).context("a node's folder")?;
        let (port, bus) = (process::free_port()?, process::free_port()?);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let more = [
            "cluster-enabled yes".to_owned(),
            format!("cluster-port {bus}"),
            format!("cluster-node-timeout {NODE_TIMEOUT_MS}"),
            "cluster-replica-validity-factor 0".to_owned(),
            "repl-diskless-sync-delay 0".to_owned(),
        ];
        let text = config(port, &folder, Flush::EverySecond) + &more.join("\n") + "\n";
        std::fs::write(folder.join("redis.conf"), text).context("a node's configuration")?;
        let mut node = Node { folder, address, bus, running: None };
        node.start_again()?;
        Ok(node)
    }

    pub(super) fn start_again(&mut self) -> Result<()> {
        let program = &mut Command::new("redis-server");
        let mut running = Running::start(program.arg(self.folder.join("redis.conf")), "-TERM")?;
        running.wait_until(|| ask(self.address, &["PING"]).is_ok()).context("redis-server")?;
        self.running = Some(running);
        Ok(())
    }

    /// `kill -9`.
    pub(super) fn kill(&mut self) -> Result<()> {
        let mut running = self.running.take().context("it is not running")?;
        running.child().kill()?;
        running.child().wait().map(drop).context("its end")
    }

    pub(super) fn ask(&self, words: &[&str]) -> Result<Reply> {
        ask(self.address, words)
    }

    fn text(&self, words: &[&str]) -> Result<String> {
        match self.ask(words)? {
            Reply::Text(text) => Ok(text),
            other @ (Reply::Integer(_) | Reply::List(_) | Reply::Nothing) => bail!("{words:?}: {other:?}"),
        }
    }

    /// How many nodes it knows whose line contains this, strangers aside.
    fn lines(&self, word: &str) -> usize {
        let told = self.text(&["CLUSTER", "NODES"]).unwrap_or_default();
        told.lines().filter(|line| !line.contains("handshake") && line.contains(word)).count()
    }
}

fn until(what: &str, mut done: impl FnMut() -> bool) -> Result<()> {
    let begun = Instant::now();
    while !done() {
        if begun.elapsed() > 2 * PATIENCE {
            bail!("{what}: not after {} s", begun.elapsed().as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

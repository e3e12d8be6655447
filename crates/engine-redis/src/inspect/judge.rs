//! What is wrong with a deployment, and what to change: fatal, a problem on a bad day, or advice.

use super::{Depth, Facts, Finding, Level, conf};
use crate::link::Link;
use crate::link::config::Topology;

/// The first version whose commands our scripts use.
const OLDEST: (u32, u32) = (7, 0);
/// Beyond it a master that changes its place stops the time of its listings, or makes it jump.
const CLOCKS_APART_MS: i64 = 1_000;
/// A decision shall take a few milliseconds; half of the time-out gone on the way is too much.
const SLOW_P99_PART: u64 = 2;
/// Above it the next burst of orders may not fit.
const MEMORY_PERCENT: u64 = 80;
/// These say what is wrong in better words below, or have no meaning alone.
const JUDGED_ELSEWHERE: [&str; 5] =
    ["maxmemory-policy", "appendonly", "appendfsync", "min-replicas-to-write", "min-replicas-max-lag"];

pub(super) fn topology(topology: Topology) -> &'static str {
    match topology {
        Topology::Single => "single",
        Topology::Sentinel => "sentinel",
        Topology::Cluster => "cluster",
    }
}

pub(super) fn all(link: &Link, nodes: &[Facts], depth: Depth) -> Vec<Finding> {
    let mut findings = Vec::new();
    // One of several masters that is away takes its own listings with it; the others can be sold meanwhile.
    let nobody = !nodes.iter().any(|facts| facts.is_master && facts.trouble.is_none());
    for facts in nodes {
        let mut found = NodeFindings { facts, findings: &mut findings };
        if let Some(trouble) = &facts.trouble {
            let fatal = facts.is_master && nobody && depth == Depth::Start;
            let level = if fatal { Level::Fatal } else { Level::Problem };
            found.add(
                level,
                "unreachable",
                format!("it cannot be asked: {trouble}"),
                "bring it back".to_owned(),
            );
            continue;
        }
        found.version();
        found.memory();
        found.persistence();
        found.replicas(link.config().topology);
        if depth == Depth::Doctor {
            found.measured(link);
            found.configuration(link.config().topology);
        }
    }
    let uncovered = link.map().uncovered();
    if uncovered > 0 {
        findings.push(Finding {
            level: Level::Problem,
            code: "slots",
            node: None,
            what: format!("{uncovered} of 16384 slots have no master, and their listings answer 503"),
            change: "bring the lost masters back, or run `redis-cli --cluster fix`".to_owned(),
        });
    }
    if depth == Depth::Doctor {
        findings.extend(clocks(nodes));
    }
    findings
}

struct NodeFindings<'a> {
    facts: &'a Facts,
    findings: &'a mut Vec<Finding>,
}

impl NodeFindings<'_> {
    fn add(&mut self, level: Level, code: &'static str, what: String, change: String) {
        self.findings.push(Finding { level, code, node: Some(self.facts.name.clone()), what, change });
    }

    fn version(&mut self) {
        let mut parts = self.facts.speaks.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        if version < OLDEST {
            let what =
                format!("it is version {}, and our scripts need the commands of 7.0", self.facts.speaks);
            self.add(Level::Fatal, "version", what, "use Redis 7.0 or newer, or Valkey".to_owned());
        }
    }

    fn memory(&mut self) {
        let policy = &self.facts.maxmemory_policy;
        if policy != "noeviction" {
            let what = format!("maxmemory-policy {policy} may evict what was sold");
            let change =
                "set maxmemory-policy noeviction; a cache belongs on a server of its own (redis.cache_url)";
            self.add(Level::Fatal, "policy", what, change.to_owned());
        }
        let (used, limit) = (self.facts.used_memory_bytes, self.facts.maxmemory_bytes);
        if limit > 0 && used * 100 > limit * MEMORY_PERCENT {
            let what =
                format!("{used} of {limit} bytes of memory are used; when it is full, writes answer 503");
            self.add(Level::Problem, "memory", what, "raise maxmemory".to_owned());
        }
    }

    fn persistence(&mut self) {
        let nothing = !self.facts.aof && self.facts.setting("save") == Some("");
        if nothing {
            let what = "it keeps nothing on disk: after a restart everything is gone, on its replicas, too";
            self.add(Level::Problem, "persistence", what.to_owned(), "set appendonly yes".to_owned());
        } else if !self.facts.aof {
            let what = "it keeps snapshots only: a restart loses minutes";
            self.add(Level::Problem, "persistence", what.to_owned(), "set appendonly yes".to_owned());
        } else if self.facts.setting("appendfsync") == Some("no") {
            let what = "appendfsync no: a crash may lose half a minute";
            self.add(
                Level::Problem,
                "fsync",
                what.to_owned(),
                "set appendfsync everysec, or always".to_owned(),
            );
        }
        if self.facts.aof_broken || self.facts.rdb_broken {
            let what = "its last write to disk failed";
            self.add(Level::Problem, "disk", what.to_owned(), "look at its log and its disk".to_owned());
        }
    }

    fn replicas(&mut self, topology: Topology) {
        if !self.facts.is_master {
            return;
        }
        let number = |name: &str| self.facts.setting(name).and_then(|value| value.parse::<u64>().ok());
        let (least, lag) = (number("min-replicas-to-write"), number("min-replicas-max-lag"));
        if topology == Topology::Single && self.facts.replicas.is_empty() {
            // Alone it needs none, unless it was told to.
            if let Some(least) = least.filter(|least| *least > 0 && lag != Some(0)) {
                let what = format!(
                    "min-replicas-to-write is {least} and it has no replica: it refuses every write, and a first start fails"
                );
                let change =
                    "start its replicas, or `CONFIG SET min-replicas-to-write 0`, and the same in its file";
                self.add(Level::Problem, "replicas_behind", what, change.to_owned());
            }
            return;
        }
        if self.facts.replicas.is_empty() {
            let what = "it has no replica: if it is lost, its listings are gone until it comes back";
            self.add(Level::Problem, "replicas", what.to_owned(), "give it a replica".to_owned());
        }
        match (least, lag) {
            (Some(0), _) | (_, Some(0)) => {
                let what = "min-replicas-to-write is 0: a master that is cut off goes on selling what nobody will know";
                let change = "set min-replicas-to-write 1 and min-replicas-max-lag 10";
                self.add(Level::Problem, "min_replicas", what.to_owned(), change.to_owned());
            }
            (Some(least), _) if self.facts.replicas_in_step < least => {
                let what =
                    format!("{} replicas are in step and it wants {least}", self.facts.replicas_in_step);
                let change = "start its replicas; until then it refuses writes";
                self.add(Level::Problem, "replicas_behind", what, change.to_owned());
            }
            (Some(_), _) | (None, _) => {}
        }
    }

    fn measured(&mut self, link: &Link) {
        if let Some(latency) = self.facts.latency {
            let limit = link.config().command_ms * 1_000 / SLOW_P99_PART;
            if latency.p99_us > limit {
                let what =
                    format!("one round trip in a hundred takes more than {} ms", latency.p99_us / 1_000);
                let change = "look for a slow network, a loaded machine or slow commands (`SLOWLOG GET`)";
                self.add(Level::Problem, "latency", what, change.to_owned());
            }
        }
        let Some(known) = self.facts.scripts.clone() else { return };
        match known.generation {
            None => {
                let what = "no server has been here yet: no generation of scripts is published".to_owned();
                self.add(Level::Advice, "scripts", what, "start one".to_owned());
            }
            Some(_) if !known.believed => {
                let what =
                    "it may have forgotten something and is not recovered yet: its listings answer 503"
                        .to_owned();
                self.add(
                    Level::Problem,
                    "forgotten",
                    what,
                    "start a server; it recovers the node".to_owned(),
                );
            }
            Some(_) => {}
        }
    }

    /// Against our own file.
    fn configuration(&mut self, topology: Topology) {
        if self.facts.settings.is_empty() {
            let what = "its configuration may not be read, so it was not compared with ours".to_owned();
            self.add(Level::Advice, "config_hidden", what, "allow the user `+config|get`".to_owned());
        }
        for line in conf::ours() {
            let foreign = line.name.starts_with("cluster-") && topology != Topology::Cluster;
            if foreign || JUDGED_ELSEWHERE.contains(&line.name) {
                continue;
            }
            let Some(theirs) = self.facts.setting(line.name) else { continue };
            if !conf::same(line.name, line.value, theirs) {
                let shown = if theirs.is_empty() { "\"\"" } else { theirs };
                let what = format!(
                    "{} is {shown}, ours is {}: {}",
                    line.name,
                    line.value,
                    line.why.trim_end_matches('.')
                );
                let change = format!("CONFIG SET {} \"{}\", and the same in its file", line.name, line.value);
                self.add(Level::Advice, "config", what, change);
            }
        }
    }
}

/// Against each other, not against ours: the listings' time is the servers' own.
fn clocks(nodes: &[Facts]) -> Option<Finding> {
    let known = || nodes.iter().filter_map(|node| Some((node.clock_ahead_ms?, &node.name)));
    let (first, last) = (known().min()?, known().max()?);
    let ours = known().map(|(ahead, _)| ahead.abs()).max().unwrap_or(0);
    if last.0 - first.0 > CLOCKS_APART_MS {
        return Some(Finding {
            level: Level::Problem,
            code: "clocks",
            node: None,
            what: format!("the clocks of {} and {} are {} ms apart", first.1, last.1, last.0 - first.0),
            change: "run a time service on every node; after a failover holds end too early or too late"
                .to_owned(),
        });
    }
    (ours > CLOCKS_APART_MS).then(|| Finding {
        level: Level::Advice,
        code: "clocks",
        node: None,
        what: format!("the servers' clocks are {ours} ms away from this machine's"),
        change: "run a time service; deadlines are the servers', but people compare them with their watches"
            .to_owned(),
    })
}

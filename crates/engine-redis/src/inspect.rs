//! What a deployment of Redis is like, and whether Onsale can stand on it: asked by every start and by
//! `onsale doctor`. It reads only; the one thing that may be changed (`redis.notify = set`) is in `notify.rs`.

mod conf;
mod durable;
mod judge;
mod listings;
mod measure;
mod node;
pub mod notify;

use serde::Serialize;

pub use self::conf::{Line, ours};
pub use self::measure::{KnownScripts, Latency};
pub use self::node::Facts;
use crate::link::config::Durability;
use crate::link::{Link, LinkError};

/// What was found, and what follows from it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What a yes of this deployment survives, in one sentence.
    pub durable: String,
    pub topology: &'static str,
    pub slots_without_master: usize,
    pub nodes: Vec<Facts>,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub level: Level,
    /// Stable, for scripts that read the report.
    pub code: &'static str,
    /// The node it is about; none: all of them together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    pub what: String,
    pub change: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It would be better otherwise.
    Advice,
    /// Something will be lost or slow on a bad day.
    Problem,
    /// A server refuses to start on it.
    Fatal,
}

/// How thoroughly to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What a start needs to know.
    Start,
    /// Latency, clocks, scripts, sentinels and the whole configuration, too.
    Doctor,
}

pub async fn inspect(link: &Link, depth: Depth) -> Result<Report, LinkError> {
    let map = link.map();
    let mut nodes = Vec::new();
    for master in &map.masters {
        nodes.push(node::look(link, master, true, depth).await);
    }
    if depth == Depth::Doctor {
        for name in &replicas(link, &nodes) {
            nodes.push(node::look(link, &link.node(name), false, depth).await);
        }
    }
    let mut findings = judge::all(link, &nodes, depth);
    if depth == Depth::Doctor {
        findings.extend(measure::sentinels(link).await);
        findings.extend(listings::foreign(link).await);
        findings.extend(listings::damaged(link).await);
    }
    findings.sort_by(|a, b| b.level.cmp(&a.level).then(a.node.cmp(&b.node)).then(a.code.cmp(b.code)));
    let topology = judge::topology(link.config().topology);
    let durable = durable::sentence(link.config().topology, &nodes);
    Ok(Report { durable, topology, slots_without_master: map.uncovered(), nodes, findings })
}

/// What every start asks. The sentence says what durable means here; what is not fatal is logged.
pub async fn at_start(link: &Link, has_records: bool) -> Result<String, LinkError> {
    if !has_records && link.config().durability != Some(Durability::Redis) {
        return Err(LinkError::Config(
            "redis forgets what its replication has not copied yet, and there are no records behind it: set \
             redis.durability = \"redis\" if that is durable enough, or use the embedded engine"
                .to_owned(),
        ));
    }
    let report = inspect(link, Depth::Start).await?;
    let fatal: Vec<String> = report.of(Level::Fatal).map(Finding::sentence).collect();
    if !fatal.is_empty() {
        return Err(LinkError::Config(fatal.join(" ")));
    }
    for finding in report.of(Level::Problem) {
        let text = finding.sentence();
        tracing::warn!(code = finding.code, "{text}");
    }
    Ok(report.durable)
}

impl Report {
    pub fn of(&self, level: Level) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.level == level)
    }

    /// Whether anything needs somebody.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.level == Level::Advice)
    }
}

impl Finding {
    pub fn sentence(&self) -> String {
        let node = self.node.as_ref().map_or(String::new(), |node| format!("{node}: "));
        format!("{node}{}; {}.", self.what, self.change)
    }
}

/// Those a Cluster told of, and those that masters told of.
fn replicas(link: &Link, masters: &[Facts]) -> Vec<String> {
    let mut names = link.map().replicas.clone();
    names.extend(masters.iter().flat_map(|node| node.replicas.iter().cloned()));
    names.sort_unstable();
    names.dedup();
    names
}

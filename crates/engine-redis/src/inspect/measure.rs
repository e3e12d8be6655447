//! What has to be tried out: latency, clocks, which scripts a node knows, whether the sentinels could act.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redis::{FromRedisValue, Value};
use serde::Serialize;

use super::{Finding, Level};
use crate::deployment::{self, Knowledge};
use crate::link::config::Topology;
use crate::link::{Link, LinkError, Node};

/// Enough for a p99 that means something, and over in a moment.
const PINGS: usize = 300;
/// A slow network is what we measure, so patience is longer than a decision's.
const PATIENCE: Duration = Duration::from_secs(5);

/// Round trips, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Latency {
    pub p50_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
}

/// Which scripts a master has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownScripts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
    /// It is the process and the history that the generation was loaded into.
    pub believed: bool,
    pub scripts: usize,
    pub of: usize,
}

pub(super) async fn latency(node: &Node) -> Result<Latency, LinkError> {
    let ping = redis::cmd("PING");
    let mut taken = Vec::with_capacity(PINGS);
    for _ in 0..PINGS {
        let begun = Instant::now();
        node.send_within(&ping, PATIENCE).await?;
        taken.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    taken.sort_unstable();
    let at = |percent: usize| taken[(taken.len() * percent / 100).min(taken.len() - 1)];
    Ok(Latency { p50_us: at(50), p99_us: at(99), max_us: at(100) })
}

/// Its clock minus ours, at the middle of the round trip.
pub(super) async fn clock_ahead_ms(node: &Node) -> Result<i64, LinkError> {
    let ours = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_micros());
    let before = ours();
    let told = node.send_within(&redis::cmd("TIME"), PATIENCE).await?;
    let middle = (before + ours()) / 2;
    let (seconds, micros): (u128, u128) = FromRedisValue::from_redis_value(told).unwrap_or_default();
    let theirs = seconds * 1_000_000 + micros;
    let difference = i128::try_from(theirs).unwrap_or(0) - i128::try_from(middle).unwrap_or(0);
    Ok(i64::try_from(difference / 1_000).unwrap_or(i64::MAX))
}

pub(super) async fn scripts(link: &Link, node: &Node) -> Result<KnownScripts, LinkError> {
    let Knowledge { generation, believed, scripts, of } = deployment::knowledge(link, node).await?;
    Ok(KnownScripts { generation: generation.map(|one| one.to_string()), believed, scripts, of })
}

/// Each sentinel answers, and together they are enough to act.
pub(super) async fn sentinels(link: &Link) -> Vec<Finding> {
    if link.config().topology != Topology::Sentinel {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut question = redis::cmd("SENTINEL");
    question.arg("CKQUORUM").arg(&link.config().sentinel.master);
    for sentinel in link.seeds() {
        let told: Result<Value, LinkError> = sentinel.send_within(&question, PATIENCE).await;
        if let Err(error) = told {
            findings.push(Finding {
                level: Level::Problem,
                code: "sentinel",
                node: Some(sentinel.name().to_owned()),
                what: format!("this sentinel cannot act: {error}"),
                change: "start it, or its fellows, so that a majority can agree on a failover".to_owned(),
            });
        }
    }
    if link.seeds().len() < 3 {
        findings.push(Finding {
            level: Level::Advice,
            code: "sentinels_few",
            node: None,
            what: format!("redis.url names {} sentinels", link.seeds().len()),
            change: "name all of them, three at least, so that one may be away when a server starts"
                .to_owned(),
        });
    }
    findings
}

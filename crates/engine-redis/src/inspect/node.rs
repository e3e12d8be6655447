//! What one server tells of itself.

use std::collections::BTreeMap;

use redis::{FromRedisValue, Value};
use serde::Serialize;

use super::{Depth, measure};
use crate::link::{Link, LinkError, Node};

/// Everything that is judged; what could not be asked is absent, and `trouble` says why.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Facts {
    pub name: String,
    pub is_master: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// `redis` or `valkey`.
    pub product: String,
    pub version: String,
    /// The version of Redis whose commands it knows.
    pub speaks: String,
    pub role: String,
    pub maxmemory_bytes: u64,
    pub used_memory_bytes: u64,
    pub maxmemory_policy: String,
    pub aof: bool,
    pub aof_broken: bool,
    pub rdb_broken: bool,
    pub replicas: Vec<String>,
    pub replicas_in_step: u64,
    /// Settings as `CONFIG GET` tells them; empty if that is not allowed.
    #[serde(skip)]
    pub settings: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<measure::Latency>,
    /// Its clock minus ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_ahead_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<measure::KnownScripts>,
}

impl Facts {
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }
}

pub(super) async fn look(link: &Link, node: &Node, is_master: bool, depth: Depth) -> Facts {
    let mut facts = Facts { name: node.name().to_owned(), is_master, ..Facts::default() };
    if let Err(error) = ask(link, node, depth, &mut facts).await {
        facts.trouble = Some(error.to_string());
    }
    facts
}

async fn ask(link: &Link, node: &Node, depth: Depth, facts: &mut Facts) -> Result<(), LinkError> {
    let info = fields(node.send(redis::cmd("INFO").arg("everything")).await?);
    let text = |name: &str| info.get(name).cloned().unwrap_or_default();
    let number = |name: &str| info.get(name).and_then(|value| value.parse().ok()).unwrap_or(0);
    facts.speaks = text("redis_version");
    facts.product = info.get("server_name").cloned().unwrap_or_else(|| "redis".to_owned());
    facts.version = info.get("valkey_version").cloned().unwrap_or_else(|| facts.speaks.clone());
    facts.role = text("role");
    facts.maxmemory_bytes = number("maxmemory");
    facts.used_memory_bytes = number("used_memory");
    facts.maxmemory_policy = text("maxmemory_policy");
    facts.aof = number("aof_enabled") == 1;
    facts.aof_broken = facts.aof && text("aof_last_write_status") != "ok";
    facts.rdb_broken = text("rdb_last_bgsave_status") == "err";
    facts.replicas =
        (0..number("connected_slaves")).filter_map(|n| replica(&text(&format!("slave{n}")))).collect();
    facts.replicas_in_step = info
        .get("min_slaves_good_slaves")
        .map_or_else(|| facts.replicas.len() as u64, |told| told.parse().unwrap_or(0));
    match node.send(redis::cmd("CONFIG").arg("GET").arg("*")).await {
        Ok(told) => facts.settings = BTreeMap::from_redis_value(told).unwrap_or_default(),
        // A user who may not read the configuration still learns what INFO tells.
        Err(LinkError::Denied { .. } | LinkError::Refused { .. }) => {}
        Err(error) => return Err(error),
    }
    if depth == Depth::Doctor {
        facts.latency = Some(measure::latency(node).await?);
        facts.clock_ahead_ms = Some(measure::clock_ahead_ms(node).await?);
        if facts.is_master {
            facts.scripts = Some(measure::scripts(link, node).await?);
        }
    }
    Ok(())
}

fn fields(told: Value) -> BTreeMap<String, String> {
    let text = String::from_redis_value(told).unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

/// `ip=127.0.0.1,port=6380,state=online,…`
fn replica(line: &str) -> Option<String> {
    let field = |name: &str| line.split(',').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    Some(format!("{}:{}", field("ip")?, field("port")?))
}

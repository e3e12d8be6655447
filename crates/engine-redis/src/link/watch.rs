//! The watch over the servers: finds the masters, says who is away, and looks closer while anything is wrong.
//! A held connection to a master behind sentinels would never notice that it is one no more.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use redis::{FromRedisValue, Value};

use super::config::Topology;
use super::map::{self, Map};
use super::node::Node;
use super::{Inner, LinkError};

/// Between two looks while all is well, while something is wrong, and at least.
const CALM: Duration = Duration::from_secs(1);
const WORRIED: Duration = Duration::from_millis(50);
const AT_LEAST: Duration = Duration::from_millis(10);

pub(super) async fn run(inner: Arc<Inner>) {
    let mut pause = CALM;
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = inner.nudged.notified() => tokio::time::sleep(AT_LEAST).await,
            () = tokio::time::sleep(pause) => {}
        }
        pause = if look(&inner).await { CALM } else { WORRIED };
    }
}

/// Finds the masters again and asks each how it is. True: every slot has a master that answers.
pub(super) async fn look(inner: &Inner) -> bool {
    let _one_at_a_time = inner.looking.lock().await;
    if let Err(error) = find(inner).await {
        tracing::debug!(%error, "the masters cannot be found: {error}");
        // The old map is the best there is; its nodes say themselves how they are.
    }
    let map = inner.map.load_full();
    let told = join_all(map.masters.iter().map(|node| ask_role(node))).await;
    let mut all_well = map.uncovered() == 0;
    for (node, told) in map.masters.iter().zip(told) {
        let name = node.name();
        match told {
            Ok(()) if node.set_up() => tracing::info!(node = name, "redis at {name} can be used again"),
            Ok(()) => {}
            Err(error) => {
                all_well = false;
                if node.set_down(error.clone()) {
                    tracing::warn!(node = name, %error, "redis at {name} cannot be used: {error}");
                }
            }
        }
    }
    inner.looked.send_modify(|looks| *looks += 1);
    all_well
}

/// A replica may answer, but it must not be taken for the master.
async fn ask_role(node: &Node) -> Result<(), LinkError> {
    let told = node.send(&redis::cmd("ROLE")).await?;
    let mut words = Vec::<Value>::from_redis_value(told).unwrap_or_default().into_iter();
    let role = words.next().and_then(|word| String::from_redis_value(word).ok());
    if role.as_deref() != Some("master") {
        return Err(LinkError::ReadOnly { node: node.name().to_owned() });
    }
    // A server that is loading, or busy with a slow script, tells its role all the same.
    match node.send(&redis::cmd("DBSIZE")).await {
        Ok(_) | Err(LinkError::Denied { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Puts a new map in place if the servers tell of one.
pub(super) async fn find(inner: &Inner) -> Result<(), LinkError> {
    let found = match inner.config.topology {
        Topology::Single => Map::of_one(inner.seeds[0].clone()),
        Topology::Sentinel => of_sentinels(inner).await?,
        Topology::Cluster => of_cluster(inner).await?,
    };
    if !found.same_as(&inner.map.load()) {
        let names: Vec<&str> = found.masters.iter().map(|one| one.name()).collect();
        let masters = names.join(", ");
        tracing::info!(masters, "the masters are {masters}");
        inner.map.store(Arc::new(found));
        inner.changed.send_modify(|changes| *changes += 1);
    }
    Ok(())
}

/// The sentinel with the newest configuration is right; the master itself must agree.
async fn of_sentinels(inner: &Inner) -> Result<Map, LinkError> {
    let name = &inner.config.sentinel.master;
    let mut question = redis::cmd("SENTINEL");
    question.arg("MASTER").arg(name);
    let told = join_all(inner.seeds.iter().map(|sentinel| sentinel.send(&question))).await;
    let mut trouble = None;
    let mut newest: Option<(u64, String)> = None;
    for told in told {
        match told {
            Ok(value) => {
                if let Some(found) = map::read_master(value)
                    && newest.as_ref().is_none_or(|best| best.0 < found.0)
                {
                    newest = Some(found);
                }
            }
            Err(LinkError::Refused { why }) if why.contains("No such master") => {
                trouble = Some(LinkError::Config(format!(
                    "the sentinels watch no master called {name}; see redis.sentinel.master"
                )));
            }
            Err(LinkError::Refused { why }) if why.contains("unknown command") => {
                trouble = Some(LinkError::Config(
                    "redis.url must name sentinels if redis.topology is sentinel; this one is none"
                        .to_owned(),
                ));
            }
            Err(error) => trouble = Some(error),
        }
    }
    match (newest, trouble) {
        (Some((_, master)), _) => {
            let master = inner.node(&master);
            ask_role(&master).await?;
            Ok(Map::of_one(master))
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(LinkError::Config(format!("no sentinel tells where the master {name} is"))),
    }
}

/// Asks everybody we know, as the one who is asked alone may be the one who has not heard.
async fn of_cluster(inner: &Inner) -> Result<Map, LinkError> {
    let known = inner.map.load_full();
    let mut ask: Vec<Arc<Node>> = known.masters.clone();
    ask.extend(known.replicas.iter().map(|name| inner.node(name)));
    ask.extend(inner.seeds.iter().cloned());
    ask.sort_by(|a, b| a.name().cmp(b.name()));
    ask.dedup_by(|a, b| a.name() == b.name());
    let mut question = redis::cmd("CLUSTER");
    question.arg("NODES");
    let patience = inner.config.command();
    let told = join_all(ask.iter().map(|node| tokio::time::timeout(patience, node.send(&question)))).await;
    let mut lines = Vec::new();
    let mut trouble = None;
    for (node, told) in ask.iter().zip(told) {
        match told {
            Ok(Ok(value)) => {
                let text = String::from_redis_value(value).unwrap_or_default();
                lines.push(map::read_nodes(&text, node.host()));
            }
            Ok(Err(LinkError::Refused { why })) if why.contains("cluster support disabled") => {
                let name = node.name();
                trouble = Some(LinkError::Config(format!(
                    "{name} is no Cluster node; set redis.topology = single"
                )));
            }
            Ok(Err(error)) => trouble = Some(error),
            Err(_) => {}
        }
    }
    let found = map::of_cluster(&lines, |name| inner.node(name));
    match (found.masters.is_empty(), trouble) {
        (false, _) => Ok(found),
        (true, Some(error)) => Err(error),
        (true, None) => Err(LinkError::ClusterDown { why: "no node tells who serves a slot".to_owned() }),
    }
}

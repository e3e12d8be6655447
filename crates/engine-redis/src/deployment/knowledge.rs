//! What a node knows of the deployment, without changing anything: for `onsale doctor`.

use redis::{FromRedisValue, Value};

use super::examine::{Process, copy_key, generation_key};
use super::generation::Generation;
use crate::link::{Link, LinkError, Node};
use crate::scripts::Scripts;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowledge {
    /// The newest that any master tells of.
    pub generation: Option<Generation>,
    /// It is the process and the history that the generation was loaded into.
    pub believed: bool,
    /// How many of this release's scripts it has: those that somebody has called there.
    pub scripts: usize,
    pub of: usize,
}

pub async fn knowledge(link: &Link, node: &Node) -> Result<Knowledge, LinkError> {
    let generation = published(link).await?;
    let Some(current) = generation.clone() else {
        return Ok(Knowledge { generation, believed: false, scripts: 0, of: 0 });
    };
    let process = Process::reach(node).await?;
    let (history, _) = process.history().await?;
    let witness = current.witness(&history);
    let scripts = Scripts::of_generation(&current.to_string());
    let mut asked = vec![&witness];
    asked.extend(scripts.iter());
    let known = process.knows(&asked).await?;
    let have = known.iter().skip(1).filter(|known| **known).count();
    Ok(Knowledge { generation, believed: known.first() == Some(&true), scripts: have, of: asked.len() - 1 })
}

/// The newest generation that any master tells of.
pub(super) async fn published(link: &Link) -> Result<Option<Generation>, LinkError> {
    let (map, prefix) = (link.map(), &link.config().prefix);
    let home = link.master_of(&generation_key(prefix));
    let mut newest: Option<Generation> = None;
    for node in map.masters.iter().filter(|node| node.is_up()) {
        let at_home = home.as_ref().is_some_and(|home| home.name() == node.name());
        let keys = [copy_key(prefix, &map, node), at_home.then(|| generation_key(prefix))];
        for key in keys.into_iter().flatten() {
            let told = match node.send(redis::cmd("GET").arg(&key)).await {
                Ok(Value::Nil) => continue,
                Ok(value) => String::from_redis_value(value).ok().and_then(|text| Generation::parse(&text)),
                // Who does not answer, or has just given the slot away, will be asked again.
                Err(error) if error.is_retryable() => continue,
                Err(error) => return Err(error),
            };
            newest = newest.max(told);
        }
    }
    Ok(newest)
}

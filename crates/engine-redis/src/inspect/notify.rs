//! `redis.notify = set`: keyspace notifications of expired keys on every master, beside whatever is on already.

use std::collections::BTreeMap;

use redis::FromRedisValue;

use crate::link::{LinkError, Node};

/// Notifications by event, of keys that expired.
const WANTED: &str = "Ex";

/// The flags that are missing added to those that are on; `None` if nothing is missing.
pub fn with_ours(flags: &str) -> Option<String> {
    let has = |flag: char| flags.contains(flag) || (flag != 'E' && flags.contains('A'));
    let missing: String = WANTED.chars().filter(|flag| !has(*flag)).collect();
    (!missing.is_empty()).then(|| format!("{flags}{missing}"))
}

/// Says whether anything had to be changed.
pub async fn turn_on(node: &Node) -> Result<bool, LinkError> {
    let name = "notify-keyspace-events";
    let told = node.send(redis::cmd("CONFIG").arg("GET").arg(name)).await?;
    let told: BTreeMap<String, String> = BTreeMap::from_redis_value(told).unwrap_or_default();
    let flags = told.get(name).map_or("", String::as_str);
    let Some(flags) = with_ours(flags) else { return Ok(false) };
    node.send(redis::cmd("CONFIG").arg("SET").arg(name).arg(flags)).await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_flags_stay() {
        for (before, after) in [
            ("", Some("Ex")),
            ("K$", Some("K$Ex")),
            ("xK", Some("xKE")),
            ("AE", None),
            ("xE", None),
            ("AK", Some("AKE")),
        ] {
            assert_eq!(with_ours(before).as_deref(), after, "{before}");
        }
    }
}

//! Keys that are not what they should be, of listings and of the whole deployment, for the doctor: each with what to do.

use futures_util::StreamExt;
use redis::FromRedisValue;

use super::{Finding, Level};
use crate::damage::{self, Damage};
use crate::deployment;
use crate::index;
use crate::link::Link;
use crate::live::Across;

/// Listings that are looked at side by side, a dozen keys each.
const AT_ONCE: usize = 32;
/// Who has more has another problem first.
const TOLD_MAX: usize = 20;

/// Nodes that cannot be asked have a finding of their own already.
pub(super) async fn damaged(link: &Link) -> Vec<Finding> {
    let mut listings = index::all(link).await.unwrap_or_default();
    for master in &link.map().masters {
        listings.extend(damage::scan(link, master).await.unwrap_or_default());
    }
    let looks = listings.into_iter().map(|listing| async move { damage::find(link, listing).await });
    let found = futures_util::stream::iter(looks).buffered(AT_ONCE).collect::<Vec<_>>().await;
    let found: Vec<Damage> = found.into_iter().filter_map(|found| found.ok().flatten()).collect();
    let mut findings: Vec<Finding> =
        found.iter().take(TOLD_MAX).map(|damage| finding(link, damage)).collect();
    if found.len() > TOLD_MAX {
        let what = format!("{} more listings are damaged", found.len() - TOLD_MAX);
        let change = "put the first ones right and look again".to_owned();
        findings.push(Finding { level: Level::Problem, code: "damaged", node: None, what, change });
    }
    findings
}

fn finding(link: &Link, damage: &Damage) -> Finding {
    let Damage { listing, key, .. } = damage;
    Finding {
        level: Level::Problem,
        code: "damaged",
        node: link.master_of(key).map(|node| node.name().to_owned()),
        what: format!("{damage}: {listing} answers 500 store_damaged, and all others are sold"),
        change: format!(
            "find out who wrote it; put the key back from a backup (RESTORE), or remove all keys with {{{listing}}} \
             to give the listing up"
        ),
    }
}

/// Keys of the whole deployment that another program has written.
pub(super) async fn foreign(link: &Link) -> Vec<Finding> {
    let prefix = &link.config().prefix;
    let mut findings = Vec::new();
    for (key, expected) in deployment::keys(prefix).into_iter().chain(indexes(prefix)) {
        let told = link.at(&key, redis::cmd("TYPE").arg(&key)).await;
        let found = told.ok().and_then(|told| String::from_redis_value(told).ok());
        let Some(found) = found.filter(|found| found != "none" && found != expected) else { continue };
        findings.push(Finding {
            level: Level::Problem,
            code: "foreign",
            node: link.master_of(&key).map(|node| node.name().to_owned()),
            what: format!("`{key}` is a {found} and should be a {expected}: another program has written it"),
            change: "find out which, and remove it; servers write their own key again".to_owned(),
        });
    }
    findings
}

fn indexes(prefix: &str) -> [(String, &'static str); 3] {
    let across = Across::new(prefix);
    [(across.listings(), "zset"), (across.due(), "zset"), (across.writer(), "string")]
}

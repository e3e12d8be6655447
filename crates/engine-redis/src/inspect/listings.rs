//! Listings whose keys are not what they should be, for the doctor: each with the key and what to do.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use onsale_domain::ListingId;
use redis::FromRedisValue;

use super::{Finding, Level};
use crate::damage::{self, Damage};
use crate::keys::Keys;
use crate::link::{Link, LinkError};

/// Listings that are looked at side by side, a dozen keys each.
const AT_ONCE: usize = 32;
/// Who has more has another problem first.
const TOLD_MAX: usize = 20;

/// Nodes that cannot be asked have a finding of their own already.
pub async fn damaged(link: &Link) -> Vec<Finding> {
    let mut listings = indexed(link).await.unwrap_or_default();
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

async fn indexed(link: &Link) -> Result<BTreeSet<ListingId>, LinkError> {
    let key = Keys::index(&link.config().prefix);
    let told = link.at(&key, redis::cmd("SMEMBERS").arg(&key)).await?;
    let ids = Vec::<String>::from_redis_value(told).unwrap_or_default();
    Ok(ids.iter().filter_map(|id| ListingId::parse(id)).collect())
}

//! The index of all listings: a sorted set of their ids by when each was put there, so that who has read it once goes on
//! from that moment. It only helps; a scan finds what it does not have.

use std::collections::BTreeSet;

use onsale_domain::{ListingId, Millis};
use redis::{Cmd, FromRedisValue};

use crate::keys::Keys;
use crate::link::{Link, LinkError};

/// Ids that go to Redis, or come from it, in one command: some tens of kilobytes.
const PAGE: usize = 1_000;

/// Commands that put listings into the index. What is there already keeps its time.
pub(crate) fn add(key: &str, listings: impl IntoIterator<Item = ListingId>, now: Millis) -> Vec<Cmd> {
    let ids: Vec<String> = listings.into_iter().map(|listing| listing.to_string()).collect();
    let command = |ids: &[String]| {
        let mut add = redis::cmd("ZADD");
        add.arg(key).arg("NX");
        for id in ids {
            add.arg(now).arg(id);
        }
        add
    };
    ids.chunks(PAGE).map(command).collect()
}

/// All of it, page by page: what is put there meanwhile only moves others back.
pub(crate) async fn all(link: &Link) -> Result<BTreeSet<ListingId>, LinkError> {
    let key = Keys::index(&link.config().prefix);
    pages(link, &key, |first| redis::cmd("ZRANGE").arg(&key).arg(first).arg(first + PAGE - 1).to_owned())
        .await
}

/// What was put there from a moment on.
pub(crate) async fn since(link: &Link, moment: Millis) -> Result<BTreeSet<ListingId>, LinkError> {
    let key = Keys::index(&link.config().prefix);
    pages(link, &key, |first| {
        let mut read = redis::cmd("ZRANGEBYSCORE");
        read.arg(&key).arg(moment).arg("+inf").arg("LIMIT").arg(first).arg(PAGE);
        read
    })
    .await
}

async fn pages(
    link: &Link,
    key: &str,
    page: impl Fn(usize) -> Cmd,
) -> Result<BTreeSet<ListingId>, LinkError> {
    let (mut first, mut found) = (0, BTreeSet::new());
    loop {
        let told = link.at(key, &page(first)).await?;
        let ids = Vec::<String>::from_redis_value(told).unwrap_or_default();
        found.extend(ids.iter().filter_map(|id| ListingId::parse(id)));
        if ids.len() < PAGE {
            return Ok(found);
        }
        first += ids.len();
    }
}

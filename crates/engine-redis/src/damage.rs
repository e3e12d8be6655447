//! What is wrong with the keys of one listing, if anything is: told by key, for the log, `/readyz` and `onsale doctor`.
//! It reads only. A listing that is damaged stops nobody else.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use futures_util::future::try_join_all;
use onsale_domain::{ListingId, ListingKind};
use redis::{FromRedisValue, Value};

use crate::keys::Keys;
use crate::kinds::{self, OWN_HEAD};
use crate::link::{Link, LinkError, Node};

/// Parts of a head (`lua/lib/head.lua`), and the place of the one that is no number besides the layout.
const HEAD_PARTS: usize = STATUS + 1 + OWN_HEAD;
const STATUS: usize = 4;
/// Keys that a node looks at in one step of a scan.
const SCAN: usize = 1_000;
/// One step of a scan is short; a busy machine may need longer than a decision may take.
const SCAN_PATIENCE: Duration = Duration::from_secs(5);

/// One key that is not what it should be, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub listing: ListingId,
    pub key: String,
    /// Goes on behind the key's name: `is a string and should be a hash`.
    pub what: String,
}

impl Damage {
    pub fn error(&self) -> LinkError {
        LinkError::Damaged { key: self.key.clone(), what: self.what.clone() }
    }

    /// `found`: what TYPE told, or `junk` for a head that is none of ours.
    pub(crate) fn of_key(listing: ListingId, key: &str, found: &str, expected: &str) -> Damage {
        let what = match found {
            "none" => "is missing".to_owned(),
            "junk" => "has no line of ours in its field `head`".to_owned(),
            found => format!("is a {found} and should be a {expected}"),
        };
        Damage { listing, key: key.to_owned(), what }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.key, self.what)
    }
}

/// Whether a line is the head of a listing of this kind.
pub fn is_head(kind: ListingKind, line: &str) -> bool {
    let parts: Vec<&str> = line.split('|').collect();
    let numbers = parts.iter().enumerate().skip(1).filter(|(place, _)| *place != STATUS);
    parts.len() == HEAD_PARTS
        && kinds::layouts(kind).contains(&parts[0])
        && parts[STATUS].bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        && numbers
            .into_iter()
            .all(|(_, part)| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The first key of the listing that is not what it should be; none as well if there is no such listing, of which a marker
/// may be left.
pub async fn find(link: &Link, listing: ListingId) -> Result<Option<Damage>, LinkError> {
    let keys = Keys::new(&link.config().prefix, &listing);
    let types = try_join_all(keys.typed(listing.kind).map(|(key, expected)| async move {
        let told = link.at(key, redis::cmd("TYPE").arg(key)).await?;
        Ok::<_, LinkError>((key, String::from_redis_value(told).unwrap_or_default(), expected))
    }))
    .await?;
    let wrong = types.iter().find(|(_, found, expected)| found != "none" && found != expected);
    if let Some((key, found, expected)) = wrong {
        return Ok(Some(Damage::of_key(listing, key, found, expected)));
    }
    let is_there = |wanted: &str| types.iter().any(|(key, found, _)| *key == wanted && found != "none");
    if !keys.of_listing(listing.kind).any(|key| is_there(key)) {
        return Ok(None);
    }
    if let Some(gone) = [keys.head(), keys.meta()].into_iter().find(|key| !is_there(key)) {
        return Ok(Some(Damage::of_key(listing, gone, "none", "hash")));
    }
    let told = link.at(keys.head(), redis::cmd("HGET").arg(keys.head()).arg("head")).await?;
    let line = Option::<String>::from_redis_value(told).ok().flatten().unwrap_or_default();
    Ok((!is_head(listing.kind, &line)).then(|| Damage::of_key(listing, keys.head(), "junk", "hash")))
}

/// The listings whose metas a node has. What only looks like a meta of ours is passed over.
pub async fn scan(link: &Link, master: &Node) -> Result<BTreeSet<ListingId>, LinkError> {
    let prefix = &link.config().prefix;
    let pattern = Keys::meta_pattern(prefix);
    let (mut found, mut cursor) = (BTreeSet::new(), "0".to_owned());
    loop {
        let mut step = redis::cmd("SCAN");
        step.arg(&cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCAN);
        let (next, keys) = scanned(master.send_within(&step, SCAN_PATIENCE).await?)?;
        found.extend(keys.iter().filter_map(|key| Keys::of_meta(key.strip_prefix(prefix)?)));
        if next == "0" {
            return Ok(found);
        }
        cursor = next;
    }
}

/// The answer of SCAN. Names that are no text are none of ours.
pub(crate) fn scanned(told: Value) -> Result<(String, Vec<String>), LinkError> {
    let (next, keys) = <(String, Vec<Vec<u8>>)>::from_redis_value(told)
        .map_err(|error| LinkError::Refused { why: format!("no answer of SCAN: {error}") })?;
    Ok((next, keys.into_iter().filter_map(|key| String::from_utf8(key).ok()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_head_of_the_right_kind_is_a_head() {
        for (kind, line, ours) in [
            (ListingKind::Event, "hash|1|5|17|on_sale|0|0|9|1|1|0", true),
            (ListingKind::Event, "compact|1|5|17|on_sale|0|0|9|1|1|0", true),
            (ListingKind::Venue, "venue|1|5|17||0|0|0|0|1|0", true),
            (ListingKind::Sale, "hash|1|5|17|open|0|0|9|1|1|0", false),
            (ListingKind::Event, "hash|1|5|17|on_sale|0|0|9|1|1", false),
            (ListingKind::Event, "hash|1||17|on_sale|0|0|9|1|1|0", false),
            (ListingKind::Event, "hash|-1|5|17|on_sale|0|0|9|1|1|0", false),
            (ListingKind::Event, "hash|1|5|17|On Sale|0|0|9|1|1|0", false),
            (ListingKind::Event, "junk", false),
            (ListingKind::Event, "", false),
        ] {
            assert_eq!(is_head(kind, line), ours, "{line}");
        }
    }
}

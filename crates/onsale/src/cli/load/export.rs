//! The facts of one listing, all of them, as everybody can export them.

use serde_json::Value;

use super::hall::{list, text};
use crate::cli::load::connection::Connection;

const FACTS_PER_PAGE: usize = 500;

/// `kind` as it stands in routes: `events`, `sales`, `auctions`.
pub(super) async fn all_facts(
    client: &mut Connection,
    kind: &str,
    listing: &str,
) -> anyhow::Result<Vec<Value>> {
    let (mut facts, mut after) = (Vec::new(), "0".to_owned());
    loop {
        let path = format!("/v1/{kind}/{listing}/facts?limit={FACTS_PER_PAGE}&after={after}");
        let page = client.get(&path).await?;
        facts.extend(list(&page, "data").iter().cloned());
        after = text(&page, "next");
        if page["more"] != true {
            return Ok(facts);
        }
    }
}

//! One question to all listings of a kind, answered from replicas: those that know something, that changed lately or that
//! a key hints at are first compared with Redis.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::StreamExt;
use onsale_domain::Query;
use onsale_domain::{ListingKind, Tenant};
use onsale_engine::{EngineError, FoundAt, Position};

use super::Inner;
use super::fetch::AT_ONCE;
use super::replica::Replica;

/// Listings that changed so lately are compared: another server's hint may not have arrived yet.
const LATELY_MS: i64 = 10_000;
/// So many of either kind are compared with Redis; the rest is told as it was heard.
pub(super) const COMPARED_MAX: usize = 256;

impl Inner {
    pub(super) async fn ask_all(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        query: &Query,
    ) -> Result<Vec<FoundAt>, EngineError> {
        let Some(buyer) = query.about() else { return Ok(Vec::new()) };
        let hinted = self.hinted_by_bids(tenant, query).await;
        let (now, lately) = (self.clock.now(), self.clock.passed() - LATELY_MS);
        let found = |replica: &Replica| {
            replica.with(|picture| {
                let listing = &picture.listing;
                let found = listing.ask(query, now);
                let position = Position { epoch: listing.epoch, offset: listing.offset };
                (!found.is_nothing()).then_some(FoundAt { listing: replica.id, position, found })
            })
        };
        let all = self.replicas_of((tenant, kind), buyer, &hinted);
        let matters = |replica: &&Arc<Replica>| {
            let recent = replica.touched.load(Ordering::Relaxed) >= lately;
            recent || hinted.contains(&replica.id) || found(replica).is_some()
        };
        let compared: Vec<Arc<Replica>> = all.iter().filter(matters).take(COMPARED_MAX).cloned().collect();
        let fresh = compared.into_iter().map(|replica| async move { self.freshen(&replica).await });
        let mut fresh = futures_util::stream::iter(fresh).buffer_unordered(AT_ONCE);
        while let Some(done) = fresh.next().await {
            done?;
        }
        Ok(all.iter().filter_map(|replica| found(replica)).collect())
    }
}

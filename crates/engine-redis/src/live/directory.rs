//! All listings that this server knows, in order of their id.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use onsale_domain::{ListingId, ListingKind, Tenant};
use onsale_engine::View;
use parking_lot::RwLock;

use super::replica::Replica;

#[derive(Debug, Default)]
pub(super) struct Directory {
    replicas: RwLock<BTreeMap<ListingId, Arc<Replica>>>,
}

impl Directory {
    pub(super) fn get(&self, id: &ListingId) -> Option<Arc<Replica>> {
        self.replicas.read().get(id).cloned()
    }

    /// The one that is there already stays.
    pub(super) fn insert(&self, replica: Replica) -> Arc<Replica> {
        self.replicas.write().entry(replica.id).or_insert_with(|| Arc::new(replica)).clone()
    }

    pub(super) fn remove(&self, id: &ListingId) -> bool {
        self.replicas.write().remove(id).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.replicas.read().len()
    }

    pub(super) fn ids(&self) -> BTreeSet<ListingId> {
        self.replicas.read().keys().copied().collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<Replica>> {
        self.replicas.read().values().cloned().collect()
    }

    /// The next ids after one, from the beginning again after the last.
    pub(super) fn after(&self, after: Option<ListingId>, limit: usize) -> Vec<ListingId> {
        let replicas = self.replicas.read();
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut ids: Vec<ListingId> =
            replicas.range((start, Bound::Unbounded)).map(|(id, _)| *id).take(limit).collect();
        if ids.is_empty() && after.is_some() {
            ids = replicas.keys().take(limit).copied().collect();
        }
        ids
    }

    pub(super) fn list(
        &self,
        tenant: Tenant,
        kind: ListingKind,
        after: Option<ListingId>,
        limit: usize,
    ) -> Vec<Arc<View>> {
        let first = ListingId { tenant, kind, number: 0 };
        let start = match after {
            Some(after) if after >= first => Bound::Excluded(after),
            Some(_) | None => Bound::Included(first),
        };
        let replicas = self.replicas.read();
        let of_kind = replicas
            .range((start, Bound::Unbounded))
            .take_while(|(id, _)| id.tenant == tenant && id.kind == kind);
        of_kind.filter_map(|(_, replica)| replica.view()).take(limit).collect()
    }
}

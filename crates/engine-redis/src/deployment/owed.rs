//! Listings that were damaged when their node was recovered: their epoch could not be raised, and no script is called
//! for one of them until somebody has put its keys right and the epoch was raised after all. Otherwise a position of
//! the history that was forgotten could be given out a second time.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use onsale_domain::ListingId;
use parking_lot::Mutex;
use redis::{FromRedisValue, Value};

use super::raise::{Raise, RaiseOutcome};
use super::{CurrentScripts, Inner, ScriptSet};
use crate::keys::Keys;
use crate::link::LinkError;

#[derive(Debug, Default)]
pub(super) struct OwedListings {
    listings: Mutex<BTreeSet<ListingId>>,
    /// Asked by every call: nothing is owed as long as all is well.
    any: AtomicBool,
    /// The generation under which the set in Redis was last read.
    read_under: AtomicU64,
}

impl OwedListings {
    pub(super) fn add(&self, listings: impl IntoIterator<Item = ListingId>) {
        let mut all = self.listings.lock();
        all.extend(listings);
        self.any.store(!all.is_empty(), Ordering::Release);
    }

    fn settled(&self, listing: &ListingId) {
        let mut all = self.listings.lock();
        all.remove(listing);
        self.any.store(!all.is_empty(), Ordering::Release);
    }

    /// The listing whose key this is, if its epoch is still to be raised.
    pub(super) fn of_key(&self, key: &str) -> Option<ListingId> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let (_, tag) = key.split_once('{')?;
        let listing = ListingId::parse(tag.split_once('}')?.0)?;
        self.listings.lock().contains(&listing).then_some(listing)
    }
}

/// In the slot of the lease: whoever publishes a generation has written here before.
pub(super) fn owed_key(prefix: &str) -> String {
    format!("{prefix}recovery:owed:{{onsale}}")
}

impl<S: ScriptSet> Inner<S> {
    /// Before a generation is adopted, what its recovery could not raise is known here, too. If nobody can tell now,
    /// it is asked for at the next look.
    pub(super) async fn read_owed(&self, generation: u64) {
        if self.owed.read_under.load(Ordering::Relaxed) >= generation {
            return;
        }
        let key = owed_key(&self.prefix);
        match self.link.at(&key, redis::cmd("SMEMBERS").arg(&key)).await {
            Ok(told) => {
                let ids = Vec::<String>::from_redis_value(told).unwrap_or_default();
                self.owed.add(ids.iter().filter_map(|id| ListingId::parse(id)));
                self.owed.read_under.store(generation, Ordering::Relaxed);
            }
            Err(error) => tracing::debug!(%error, "what a recovery owes cannot be read now: {error}"),
        }
    }

    /// Raises the epoch of a listing that could not be raised with the others, if its keys are whole by now.
    pub(super) async fn raise_owed(
        &self,
        listing: ListingId,
        current: &CurrentScripts<S>,
    ) -> Result<(), LinkError> {
        let key = owed_key(&self.prefix);
        let id = listing.to_string();
        let told = self.link.at(&key, redis::cmd("SISMEMBER").arg(&key).arg(&id)).await?;
        if told == Value::Int(0) {
            // Another server was faster.
            self.owed.settled(&listing);
            return Ok(());
        }
        let keys = Keys::new(&self.prefix, &listing);
        let raise = Raise::under::<S>(current.generation.number);
        let (script_keys, args) = raise.call_of(&listing, &keys);
        let told = match self.link.script(&raise.script, &script_keys, &args).await {
            Err(LinkError::Forgotten { node }) if self.bring(&node, &raise.script, current).await => {
                self.link.script(&raise.script, &script_keys, &args).await?
            }
            told => told?,
        };
        match raise.read(listing, &keys, told) {
            RaiseOutcome::Gone => Ok(()),
            RaiseOutcome::Damaged(damage) => Err(damage.error()),
            RaiseOutcome::To { epoch, .. } => {
                self.link.at(&key, redis::cmd("SREM").arg(&key).arg(&id)).await?;
                self.owed.settled(&listing);
                tracing::info!(%listing, epoch, "{listing} is whole again and goes on under epoch {epoch}");
                Ok(())
            }
        }
    }
}

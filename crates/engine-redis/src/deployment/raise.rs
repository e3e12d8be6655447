//! The script that raises the epoch of one listing: how it is called and what it tells.

use onsale_domain::ListingId;
use redis::{FromRedisValue, Value};

use super::ScriptSet;
use crate::damage::Damage;
use crate::keys::Keys;
use crate::kinds;
use crate::scripts::Script;

pub(super) struct Raise {
    pub script: Script,
    /// The least epoch.
    number: u64,
}

/// What became of one listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RaiseOutcome {
    /// Its head is whole; what is wrong with its meta, if anything is, needs somebody all the same.
    To { epoch: u64, damage: Option<Damage> },
    /// Nothing was written: its head is not ours, or not there.
    Damaged(Damage),
    /// There is no such listing.
    Gone,
}

impl Raise {
    pub(super) fn under<S: ScriptSet>(number: u64) -> Raise {
        Raise { script: S::raise_epoch(&number.to_string()), number }
    }

    pub(super) fn call_of(&self, listing: &ListingId, keys: &Keys) -> (Vec<String>, Vec<Vec<u8>>) {
        let layouts = format!(" {} ", kinds::layouts(listing.kind).join("  "));
        let args = vec![self.number.to_string().into_bytes(), layouts.into_bytes()];
        (keys.of_listing(listing.kind).cloned().collect(), args)
    }

    pub(super) fn read(&self, listing: ListingId, keys: &Keys, told: Value) -> RaiseOutcome {
        let parts = Vec::<Value>::from_redis_value(told).unwrap_or_default();
        let Some(epoch) = parts.first() else { return RaiseOutcome::Gone };
        let epoch = u64::from_redis_value(epoch.clone()).unwrap_or_default();
        let text = |place: usize| String::from_redis_value(parts.get(place)?.clone()).ok();
        let damage = text(1).map(|key| {
            let found = text(2).unwrap_or_default();
            Damage::of_key(listing, &key, &found, "hash")
        });
        match (epoch, damage) {
            (0, Some(damage)) => RaiseOutcome::Damaged(damage),
            (0, None) => RaiseOutcome::Damaged(Damage::of_key(listing, keys.head(), "junk", "hash")),
            (epoch, damage) => RaiseOutcome::To { epoch, damage },
        }
    }
}

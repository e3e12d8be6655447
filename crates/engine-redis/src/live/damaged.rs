//! Listings whose keys are not what they should be: each is refused alone, named with its key, and looked at again until
//! somebody has put it right.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use onsale_domain::ListingId;
use onsale_engine::{DamagedListing, EngineError};
use parking_lot::Mutex;

use super::fetch::AT_ONCE;
use super::replica::Replica;
use super::{Inner, Trouble};
use crate::damage::{self, Damage};
use crate::link::LinkError;

/// So many are told of by name; the doctor names them all.
const TOLD_MAX: usize = 100;
/// A listing whose keys have the right types but cannot be read is read whole at most so often, however often it is
/// asked for: that may be a hundred thousand seats.
const READ_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct DamagedListings {
    marked: Mutex<BTreeMap<ListingId, DamageMark>>,
    /// Asked by every command: none as long as all is well.
    count: AtomicUsize,
}

#[derive(Debug)]
struct DamageMark {
    damage: Damage,
    read: Option<Instant>,
}

impl DamagedListings {
    pub(super) fn has(&self, listing: &ListingId) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.marked.lock().contains_key(listing)
    }

    pub(super) fn told(&self) -> Vec<DamagedListing> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let marked = self.marked.lock();
        let told = marked.values().take(TOLD_MAX).map(|DamageMark { damage, .. }| DamagedListing {
            listing: damage.listing,
            key: damage.key.clone(),
            what: damage.what.clone(),
        });
        told.collect()
    }

    fn mark(&self, damage: &Damage) {
        let mut marked = self.marked.lock();
        let before = marked.get(&damage.listing).map(|before| before.damage.clone());
        if before.as_ref() != Some(damage) {
            let (listing, key) = (damage.listing, &damage.key);
            tracing::error!(%listing, key, "{listing} is damaged and answers store_damaged: {damage}");
            marked.insert(listing, DamageMark { damage: damage.clone(), read: None });
            self.count.store(marked.len(), Ordering::Release);
        }
    }

    fn clear(&self, listing: &ListingId) {
        let mut marked = self.marked.lock();
        if marked.remove(listing).is_some() {
            tracing::info!(%listing, "{listing} is whole again");
        }
        self.count.store(marked.len(), Ordering::Release);
    }

    /// Whether it may be read whole now; if not, what was wrong with it a moment ago.
    fn may_read(&self, listing: &ListingId) -> Result<(), LinkError> {
        let mut marked = self.marked.lock();
        let Some(known) = marked.get_mut(listing) else { return Ok(()) };
        if known.read.is_some_and(|at| at.elapsed() < READ_AGAIN) {
            return Err(known.damage.error());
        }
        known.read = Some(Instant::now());
        Ok(())
    }

    fn all(&self) -> Vec<ListingId> {
        self.marked.lock().keys().copied().take(TOLD_MAX).collect()
    }
}

impl Inner {
    /// What a listing's trouble is, with the key that it is about, if it is about a key.
    pub(super) async fn named(&self, listing: ListingId, trouble: Trouble) -> Trouble {
        let unreadable = match &trouble {
            Trouble::Malformed(error) => Some(format!("or another key of {listing} cannot be read: {error}")),
            Trouble::Link(LinkError::WrongType { .. } | LinkError::Refused { .. }) => None,
            Trouble::Link(LinkError::Damaged { key, what }) => {
                self.damaged.mark(&Damage { listing, key: key.clone(), what: what.clone() });
                return trouble;
            }
            Trouble::Link(_) => return trouble,
        };
        let damage = match damage::find(&self.link, listing).await {
            Ok(Some(damage)) => damage,
            Ok(None) | Err(_) => match unreadable {
                Some(what) => Damage { listing, key: self.keys(&listing).head().to_owned(), what },
                None => return trouble,
            },
        };
        self.damaged.mark(&damage);
        damage.error().into()
    }

    /// The same for an answer on its way out.
    pub(super) async fn named_error(&self, listing: ListingId, error: EngineError) -> EngineError {
        let EngineError::Damaged(_) = &error else { return error };
        match damage::find(&self.link, listing).await {
            Ok(Some(damage)) => {
                self.damaged.mark(&damage);
                damage.error().into()
            }
            Ok(None) | Err(_) => error,
        }
    }

    /// Its node knows no head of it. If another key of it is there, that is no unknown listing.
    pub(super) async fn headless(&self, listing: ListingId) -> Result<(), Trouble> {
        let keys = self.keys(&listing);
        let all: Vec<&String> = keys.of_listing(listing.kind).collect();
        let told = self.link.at(keys.meta(), redis::cmd("EXISTS").arg(all)).await?;
        if told == redis::Value::Int(0) {
            return Ok(());
        }
        match damage::find(&self.link, listing).await? {
            Some(damage) => {
                self.damaged.mark(&damage);
                Err(damage.error().into())
            }
            None => Ok(()),
        }
    }

    /// Looks at a damaged listing again; an error as long as it is one.
    pub(super) async fn look_again(&self, listing: ListingId) -> Result<(), EngineError> {
        if let Some(damage) = damage::find(&self.link, listing).await? {
            self.damaged.mark(&damage);
            return Err(damage.error().into());
        }
        self.damaged.may_read(&listing)?;
        let read = self.read(listing).await?;
        self.damaged.clear(&listing);
        if let Some(picture) = read {
            match self.directory.get(&listing) {
                Some(replica) => replica.replace(picture),
                None => self.directory.insert(Replica::new(picture, self.bulletin.clone())).announce(),
            }
        }
        Ok(())
    }

    pub(super) async fn look_at_damaged_again(self: &Arc<Self>) {
        let again = |listing| async move {
            let _ = self.look_again(listing).await;
        };
        futures_util::stream::iter(self.damaged.all()).for_each_concurrent(AT_ONCE, again).await;
    }
}

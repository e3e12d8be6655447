//! How a server learns of listings that it does not know: all of them when it starts, and those that are new from then
//! on, by the index. What is on a master that was away is looked for once, when that master is back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onsale_domain::{ListingId, Millis};
use onsale_engine::EngineError;
use parking_lot::Mutex;

use super::Inner;
use super::fetch::Reading;
use crate::link::LinkError;
use crate::{damage, index};

/// The index is read whole so often: what an entry of another time, or a lost one, costs at most.
const WHOLE: Duration = Duration::from_secs(600);
/// Read again from so long before the last time: entries are timed by servers, and written a moment later.
const OVERLAP_MS: Millis = 60_000;

/// What was looked through, and what is left.
#[derive(Debug, Default)]
pub(super) struct Search {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Nothing is left of the search that began with the start.
    over: bool,
    indexed: bool,
    /// Masters by name: each is scanned once.
    scanned: BTreeSet<String>,
    /// Found, but their node is away or being recovered.
    unread: BTreeSet<ListingId>,
    /// To be put into the index: made here, or found beside it.
    unindexed: BTreeSet<ListingId>,
    /// When the index was read last, by the clock of Redis, and when it was read whole.
    read_at: Millis,
    whole_at: Option<Instant>,
}

impl Search {
    pub(super) fn is_over(&self) -> bool {
        self.state.lock().over
    }

    /// A listing that was made here: whoever writes the index may not have heard of it.
    pub(super) fn made(&self, listing: ListingId) {
        self.state.lock().unindexed.insert(listing);
    }
}

impl Inner {
    /// Every listing there is: those of the index, and those that a scan finds beside it.
    pub(super) async fn find_listings(self: &Arc<Self>) -> Result<(), EngineError> {
        let mut whole = true;
        let mut known = BTreeSet::new();
        if !self.search.state.lock().indexed {
            let now = self.clock.now();
            if let Some(indexed) = here(hint(index::all(&self.link).await), &mut whole)? {
                let mut state = self.search.state.lock();
                state.unread.extend(&indexed);
                known = indexed;
                (state.indexed, state.read_at, state.whole_at) = (true, now, Some(Instant::now()));
            }
        }
        let map = self.link.map();
        for master in &map.masters {
            if self.search.state.lock().scanned.contains(master.name()) {
                continue;
            }
            if let Some(there) = here(damage::scan(&self.link, master).await, &mut whole)? {
                let mut state = self.search.state.lock();
                state.unindexed.extend(there.difference(&known));
                state.unread.extend(there);
                state.scanned.insert(master.name().to_owned());
            }
        }
        here(hint(self.write_index().await), &mut whole)?;
        let found = std::mem::take(&mut self.search.state.lock().unread);
        let left = self.look_up_all(found).await;
        let mut state = self.search.state.lock();
        state.over = whole && map.uncovered() == 0 && left.is_empty();
        state.unread.extend(left);
        Ok(())
    }

    /// Those of the index that we do not know yet.
    pub(super) async fn find_new_listings(self: &Arc<Self>) -> Result<(), EngineError> {
        let (read_at, whole_at) = {
            let state = self.search.state.lock();
            (state.read_at, state.whole_at)
        };
        let now = self.clock.now();
        let mut found = match whole_at.filter(|at| at.elapsed() < WHOLE) {
            Some(_) => index::since(&self.link, read_at - OVERLAP_MS).await?,
            None => {
                let indexed = index::all(&self.link).await?;
                let mut state = self.search.state.lock();
                // What we know and the index does not: an entry may have been lost.
                state.unindexed.extend(self.directory.ids().difference(&indexed));
                state.whole_at = Some(Instant::now());
                indexed
            }
        };
        self.search.state.lock().read_at = now;
        self.write_index().await?;
        found.retain(|listing| self.directory.get(listing).is_none());
        let left = self.look_up_all(found).await;
        if !left.is_empty() {
            let mut state = self.search.state.lock();
            state.over = false;
            state.unread.extend(left);
        }
        Ok(())
    }

    async fn write_index(&self) -> Result<(), LinkError> {
        let waiting = std::mem::take(&mut self.search.state.lock().unindexed);
        let key = self.across.listings();
        for add in index::add(&key, waiting.iter().copied(), self.clock.now()) {
            if let Err(error) = self.link.at(&key, &add).await {
                self.search.state.lock().unindexed.extend(waiting);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Says which could not be read now.
    async fn look_up_all(self: &Arc<Self>, listings: BTreeSet<ListingId>) -> BTreeSet<ListingId> {
        self.each(listings, |listing| async move {
            match self.look_up(listing).await {
                // One that is damaged is told of, and stops nobody else.
                Ok(_) | Err(EngineError::Damaged(_)) => Reading::Done,
                Err(_) => Reading::Later,
            }
        })
        .await
    }
}

/// The index only helps: with a foreign key in its place a scan finds everything.
fn hint<T: Default>(told: Result<T, LinkError>) -> Result<T, LinkError> {
    match told {
        Err(LinkError::WrongType { why }) => {
            tracing::warn!(why, "the index of listings is another program's key, and is done without: {why}");
            Ok(T::default())
        }
        told => told,
    }
}

/// What a node told; nothing if it is away, and then this is not the whole.
fn here<T>(told: Result<T, LinkError>, whole: &mut bool) -> Result<Option<T>, EngineError> {
    match told {
        Ok(told) => Ok(Some(told)),
        Err(error) if error.is_retryable() => {
            *whole = false;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

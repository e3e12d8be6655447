//! Streams are cut behind the longest time for which an answer is remembered under its key: 24 hours, whole steps
//! only. Who follows from further back is told to reload. A stream is looked at when its oldest fact is due to go.

use futures_util::StreamExt;
use onsale_domain::{ListingId, ListingKind, Millis};
use onsale_engine::{Agenda, MovedListings, Position};
use parking_lot::Mutex;

use super::bulletin::Bulletin;
use super::fetch::AT_ONCE;
use super::{Inner, Trouble, log};

/// A stream is looked at no more often than this, and so long after the first fact that we hear of: a busy one gives a
/// little at every moment, and each look costs a command.
const EVERY_MS: Millis = 600_000;

/// When each stream is looked at.
#[derive(Debug)]
pub(super) struct Trims {
    moved: MovedListings,
    agenda: Mutex<Agenda>,
}

impl Trims {
    /// Before the first replica is made: each announces itself.
    pub(super) fn new(bulletin: &Bulletin) -> Trims {
        Trims { moved: bulletin.movements.subscribe(&ListingKind::ALL), agenda: Mutex::default() }
    }
}

impl Inner {
    /// Cuts the streams whose time has come by `until`, at most so many; the others come with the next call.
    pub(super) async fn trim_due(&self, until: Millis, limit: usize) {
        let (now, kept_ms) = (self.clock.now(), self.options.facts_kept_ms);
        let due = {
            let mut agenda = self.trims.agenda.lock();
            for (listing, _) in self.trims.moved.take(usize::MAX) {
                if !agenda.contains(&listing) {
                    agenda.set(listing, Some(now + EVERY_MS));
                }
            }
            agenda.take_due(until, limit)
        };
        let trim = |listing: ListingId| async move {
            let next = match self.trim(listing, now - kept_ms).await {
                Ok(oldest) => oldest.map(|at| (at + kept_ms).max(now + EVERY_MS)),
                Err(error) => {
                    tracing::debug!(%listing, %error, "the facts of {listing} are trimmed later: {error}");
                    Some(now + EVERY_MS)
                }
            };
            // One that has nothing to lose is looked at again when it has moved.
            if next.is_some() {
                self.trims.agenda.lock().set(listing, next);
            }
        };
        futures_util::stream::iter(due).for_each_concurrent(AT_ONCE, trim).await;
    }

    /// Removes steps from before a moment; the newest one always stays, so that the stream shows where it ends. Says how
    /// old the first step is that was young enough, if there is one.
    async fn trim(&self, listing: ListingId, before: Millis) -> Result<Option<Millis>, Trouble> {
        let keys = self.keys(&listing);
        let mut at = Position::default();
        let mut keep = None;
        let oldest_young = loop {
            let limit = if at == Position::default() { 1 } else { log::PAGE };
            let page = log::after(&self.link, keys.facts(), listing, at, limit).await?;
            let young = page.steps.iter().find(|step| step.at >= before);
            let young_at = young.map(|step| step.at);
            let first =
                young.or(page.steps.last()).map(|step| Position { epoch: step.epoch, offset: step.first });
            keep = first.or(keep);
            let Some(last) = page.steps.last().filter(|_| young.is_none() && page.more) else {
                break young_at;
            };
            at = Position { epoch: last.epoch, offset: last.last() };
        };
        if let Some(keep) = keep.filter(|keep| keep.offset > 1) {
            let id = format!("{}-{}", keep.epoch, keep.offset);
            let mut command = redis::cmd("XTRIM");
            command.arg(keys.facts()).arg("MINID").arg("=").arg(id);
            self.link.at(keys.facts(), &command).await?;
        }
        Ok(oldest_young)
    }
}

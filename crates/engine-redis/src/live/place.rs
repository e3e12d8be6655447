//! Whether a reader's position is in a listing's log, also when that goes on under another epoch. An epoch ends
//! somewhere: a position behind that end was lost, and its reader is told where the log went on.

use onsale_domain::ListingId;
use onsale_engine::{EngineError, Position};

use super::replica::Replica;
use super::{Inner, log};

impl Inner {
    /// Where the listing is, if the position is in its log; `Reload` with the one to go on from if it is not.
    pub(super) async fn check(&self, replica: &Replica, after: Position) -> Result<Position, EngineError> {
        let now = replica.position();
        // A position of the newest epoch is of this history: nobody else was given that epoch.
        if after.offset == 0 || after.epoch == now.epoch && after.offset <= now.offset {
            return Ok(now);
        }
        if after > now {
            return Err(EngineError::Reload(now));
        }
        let keys = self.keys(&replica.id);
        match log::last_until(&self.link, keys.facts(), after).await? {
            // The very fact, or the last one before the epoch of the position began.
            Some(last) if last.offset == after.offset => Ok(now),
            Some(last) if last.offset < after.offset => Err(EngineError::Reload(last)),
            Some(_) => Err(EngineError::Reload(self.beginning(replica.id, now).await?)),
            None => match self.beginning(replica.id, now).await? {
                beginning if beginning == after => Ok(now),
                beginning => Err(EngineError::Reload(beginning)),
            },
        }
    }

    /// Right before the first fact that is still in the stream.
    async fn beginning(&self, listing: ListingId, now: Position) -> Result<Position, EngineError> {
        let first = log::first(&self.link, self.keys(&listing).facts()).await?;
        Ok(first.map_or(now, |first| Position { offset: first.offset - 1, ..first }))
    }

    /// Steps right behind a position that was checked; `Reload` if the stream does not reach back so far.
    pub(super) async fn page(
        &self,
        listing: ListingId,
        at: Position,
        limit: usize,
    ) -> Result<log::Page, EngineError> {
        let keys = self.keys(&listing);
        // From the beginning means: whatever epoch that was.
        let mut from = if at.offset == 0 { Position::default() } else { at };
        loop {
            let page = log::after(&self.link, keys.facts(), listing, from, limit).await?;
            if is_unbroken(&page, at.offset) {
                return Ok(page);
            }
            match self.older_epoch(listing, from).await? {
                // The same place, under the epoch in which its fact was written.
                Some(older) => from = older,
                None => return Err(EngineError::Reload(self.beginning(listing, at).await?)),
            }
        }
    }

    /// The epoch before the position's own, if it ended behind the position.
    async fn older_epoch(&self, listing: ListingId, at: Position) -> Result<Option<Position>, EngineError> {
        let last = log::last_until(&self.link, self.keys(&listing).facts(), at).await?;
        let older = last.filter(|last| last.epoch < at.epoch && last.offset > at.offset);
        Ok(older.map(|last| Position { epoch: last.epoch, offset: at.offset }))
    }
}

/// Whether nothing is missing between the offset and the end of a page.
fn is_unbroken(page: &log::Page, offset: u64) -> bool {
    let mut next = offset + 1;
    page.steps.iter().all(|step| {
        // A step that began before the position is told from its start.
        let fits = step.first <= next;
        next = step.last() + 1;
        fits
    })
}

//! Streams are cut behind the longest time for which an answer is remembered under its key: 24 hours, whole steps
//! only. Who follows from further back is told to reload.

use std::sync::Arc;

use onsale_domain::{ListingId, Millis};
use onsale_engine::Position;

use super::{Inner, Trouble, log};

pub(super) async fn all(inner: &Arc<Inner>) {
    let before = inner.clock.now() - inner.options.facts_kept_ms;
    for replica in inner.directory.all() {
        let listing = replica.id;
        if let Err(error) = inner.trim(listing, before).await {
            tracing::debug!(%listing, %error, "the facts of {listing} are trimmed later: {error}");
        }
    }
}

impl Inner {
    /// Removes steps from before a moment; the newest one always stays, so that the stream shows where it ends.
    pub(super) async fn trim(&self, listing: ListingId, before: Millis) -> Result<(), Trouble> {
        let keys = self.keys(&listing);
        let mut at = Position::default();
        let mut keep = None;
        loop {
            let limit = if at == Position::default() { 1 } else { log::PAGE };
            let page = log::after(&self.link, keys.facts(), listing, at, limit).await?;
            let young = page.steps.iter().find(|step| step.at >= before);
            let first =
                young.or(page.steps.last()).map(|step| Position { epoch: step.epoch, offset: step.first });
            keep = first.or(keep);
            let Some(last) = page.steps.last().filter(|_| young.is_none() && page.more) else { break };
            at = Position { epoch: last.epoch, offset: last.last() };
        }
        let Some(keep) = keep.filter(|keep| keep.offset > 1) else { return Ok(()) };
        let id = format!("{}-{}", keep.epoch, keep.offset);
        let mut command = redis::cmd("XTRIM");
        command.arg(keys.facts()).arg("MINID").arg("=").arg(id);
        self.link.at(keys.facts(), &command).await?;
        Ok(())
    }
}

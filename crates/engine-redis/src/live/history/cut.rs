//! Takes the oldest steps of one listing away, and the answers that were remembered with them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use onsale_domain::{ListingId, Millis, Step};
use onsale_engine::Position;
use redis::FromRedisValue;

use crate::live::{Inner, Trouble, log};

impl Inner {
    /// Takes steps of a listing from before a moment away, and the answers that were remembered with them.
    pub(super) async fn cut_page(&self, listing: ListingId, before: Millis) -> Result<Cut, Trouble> {
        let keys = self.keys(&listing);
        let mut page = log::after(&self.link, keys.facts(), listing, Position::default(), log::PAGE).await?;
        if let ([long], true) = (&*page.steps, page.more) {
            // One step fills the page: the next one shows whether it may go.
            let at = Position { epoch: long.epoch, offset: long.last() };
            let next = log::after(&self.link, keys.facts(), listing, at, 1).await?;
            page.steps.extend(next.steps);
            page.more = next.more;
        }
        // The last one stays: it shows where the stream goes on, or ends.
        let kept = page.steps.len().saturating_sub(1);
        let going = page.steps.iter().take(kept).take_while(|step| step.at < before).count();
        let (gone, left) = page.steps.split_at(going);
        let (Some(youngest), Some(first)) = (gone.last(), left.first()) else {
            // What is left is too young, or the newest step.
            let has_more = kept > 0 || page.more;
            let first = page.steps.first().filter(|_| has_more);
            return Ok(Cut { next: first.map(|step| step.at), ..Cut::default() });
        };
        // An answer without its facts could not be told again: it goes first.
        let answers = self.forget_answers(listing, gone).await?;
        let mut trim = redis::cmd("XTRIM");
        trim.arg(keys.facts()).arg("MINID").arg("=").arg(format!("{}-{}", first.epoch, first.first));
        self.link.at(keys.facts(), &trim).await?;
        if answers > 0 {
            let age = u64::try_from(self.clock.now() - youngest.at).unwrap_or(1).max(1);
            self.history.window_ms.store(age, Ordering::Relaxed);
            self.history.forgotten.fetch_add(answers, Ordering::Relaxed);
        }
        let facts = gone.iter().map(|step| step.facts.len() as u64).sum();
        let has_more = left.len() > 1 || page.more;
        Ok(Cut { facts, answers, next: has_more.then_some(first.at) })
    }

    /// Removes the records of these steps; one that tells of a later step under the same key stays.
    async fn forget_answers(&self, listing: ListingId, steps: &[Arc<Step>]) -> Result<u64, Trouble> {
        let keys = self.keys(&listing);
        let named: Vec<(String, String)> = steps
            .iter()
            .filter_map(|step| Some((keys.idem(step.key?.scope), format!("{}|{}|", step.epoch, step.first))))
            .collect();
        if named.is_empty() {
            return Ok(0);
        }
        let mut read = redis::cmd("MGET");
        read.arg(named.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>());
        let records = Vec::<Option<String>>::from_redis_value(self.link.at(keys.facts(), &read).await?);
        let records = records.map_err(|_| crate::facts::Malformed::of("idem"))?;
        let of_step = |(known, record): (&(String, String), &Option<String>)| {
            record.as_ref().is_some_and(|record| record.starts_with(&known.1)).then(|| known.0.clone())
        };
        let gone: Vec<String> = named.iter().zip(&records).filter_map(of_step).collect();
        if gone.is_empty() {
            return Ok(0);
        }
        let mut remove = redis::cmd("UNLINK");
        remove.arg(&gone);
        self.link.at(keys.facts(), &remove).await?;
        Ok(gone.len() as u64)
    }
}

/// What was taken away, and when the oldest step was that is left, if there are more.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub facts: u64,
    pub answers: u64,
    pub next: Option<Millis>,
}

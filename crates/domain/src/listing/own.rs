//! What every listing can do whatever its kind: be described and be deleted. Kinds only say whether they are in use.

use std::sync::Arc;

use super::Listing;
use super::body::Body;
use super::command::{Creation, Describe, ListingCommand};
use super::fact::ListingFact;
use crate::about::About;
use crate::fact::Fact;
use crate::id::ListingKind;
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

/// Refuses what no listing could take.
pub(crate) fn check(command: &ListingCommand) -> Result<(), Refusal> {
    match command {
        ListingCommand::Describe(describe) => describe.check(),
        ListingCommand::Delete => Ok(()),
    }
}

impl Listing {
    /// The facts of a new listing, with what is said of it last.
    pub(super) fn create(&self, creation: &Creation, now: Millis) -> Result<Vec<Fact>, Refusal> {
        if creation.command.kind() != Some(self.id.kind) || !creation.command.creates() {
            return Err(Refusal::of(Code::ListingUnknown));
        }
        if self.id.kind == ListingKind::Desk {
            return Err(Refusal::of(Code::WrongKind));
        }
        creation.about.check()?;
        let mut created = Body::create(self.id.kind, &creation.command, now)?;
        if !creation.about.is_empty() {
            created.push(Fact::Listing(ListingFact::Described(Box::new(creation.about.clone()))));
        }
        Ok(created)
    }

    pub(super) fn execute_own(
        &mut self,
        command: &ListingCommand,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<Outcome, Refusal> {
        if self.id.kind == ListingKind::Desk {
            return Err(Refusal::of(Code::WrongKind));
        }
        check(command)?;
        let fact = match command {
            ListingCommand::Describe(describe) => self.describe(describe),
            ListingCommand::Delete => Some(self.delete()?),
        };
        let Some(fact) = fact else { return Ok(Outcome::Unchanged) };
        self.apply_all([Fact::Listing(fact)], now, facts);
        Ok(Outcome::Done)
    }

    fn describe(&self, describe: &Describe) -> Option<ListingFact> {
        let about = describe.of(self.about());
        let before = self.about.as_deref().cloned().unwrap_or_default();
        (about != before).then(|| ListingFact::Described(Box::new(about)))
    }

    /// What is due and was not swept yet still counts: a moment later it does not.
    fn delete(&self) -> Result<ListingFact, Refusal> {
        let has_orders = self.orders.as_deref().is_some_and(|orders| !orders.is_empty());
        if has_orders || self.body.is_in_use() {
            return Err(Refusal::of(Code::ListingInUse));
        }
        Ok(ListingFact::Deleted)
    }

    pub(super) fn apply_own(&mut self, fact: &ListingFact) {
        match fact {
            ListingFact::Described(about) => {
                self.about = (!about.is_empty()).then(|| Arc::new((**about).clone()));
            }
            ListingFact::Deleted => {
                self.body = Body::Nothing;
                (self.about, self.orders, self.attempts) = (None, None, None);
            }
        }
    }

    /// What is said of it; none if nothing is.
    pub fn about(&self) -> Option<&About> {
        self.about.as_deref()
    }

    pub fn shared_about(&self) -> Option<&Arc<About>> {
        self.about.as_ref()
    }

    /// Whether it was, and is no more.
    pub fn is_deleted(&self) -> bool {
        self.offset > 0 && matches!(self.body, Body::Nothing)
    }

    /// One that was deleted, for engines that keep little of it.
    pub fn deleted(id: crate::id::ListingId, epoch: u64, offset: u64, last_at: Millis) -> Listing {
        Listing { offset, last_at, ..Listing::new(id, epoch) }
    }

    #[must_use]
    pub fn with_about(self, about: Option<About>) -> Listing {
        Listing { about: about.filter(|about| !about.is_empty()).map(Arc::new), ..self }
    }

    #[must_use]
    pub fn with_created_at(self, created_at: Millis) -> Listing {
        Listing { created_at, ..self }
    }
}

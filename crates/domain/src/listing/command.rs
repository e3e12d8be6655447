//! What somebody asks of a listing whatever kind it is: to be made with words of its own, to be described anew, to be deleted.

use crate::about::{About, Card};
use crate::command::Command;
use crate::verb::commands;

/// The command that makes a listing, and what is said of it: one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Creation {
    pub command: Command,
    pub about: About,
}

commands! {
    pub enum ListingCommand {
        Describe(Box<Describe>) = sealed "describe_listing",
        /// Only what never sold or promised anything.
        Delete = sealed "delete_listing",
    }
}

/// Only what is named changes, as a whole; `Some(None)` takes it away. The name of the merchant's own never changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Describe {
    pub metadata: Option<Option<String>>,
    pub card: Option<Option<Card>>,
}

impl Describe {
    /// What is said after this, if that was said before.
    pub fn of(&self, before: Option<&About>) -> About {
        let mut about = before.cloned().unwrap_or_default();
        if let Some(metadata) = &self.metadata {
            about.metadata.clone_from(metadata);
        }
        if let Some(card) = &self.card {
            about.card.clone_from(card);
        }
        about
    }

    /// Whether it can be said of any listing.
    pub fn check(&self) -> Result<(), crate::Refusal> {
        self.of(None).check()
    }
}

//! A venue: a name, a place and a line of layouts. Its own small listing, so that events can share it.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::command::Command;
use crate::fact::{Fact, LayoutPublished, VenueCreated};
use crate::layout::{Layout, is_name};
use crate::refusal::{Code, Refusal};

/// Versions kept for events to adopt; older ones live on in the events that adopted them, and in the log.
pub const LAYOUTS_KEPT: usize = 20;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Venue {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub place: String,
    #[n(2)]
    pub layouts: Vec<Published>,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Published {
    #[n(0)]
    pub version: u32,
    #[cbor(n(1), with = "crate::layout::shared")]
    pub layout: Arc<Layout>,
}

impl Venue {
    pub fn latest(&self) -> Option<&Published> {
        self.layouts.last()
    }

    pub fn version(&self, version: u32) -> Option<&Published> {
        self.layouts.iter().find(|published| published.version == version)
    }

    /// The facts that create a venue with its first layout.
    pub fn create(name: &str, place: &str, layout: &Arc<Layout>) -> Result<[Fact; 2], Refusal> {
        if !is_name(name) {
            return Err(Refusal::invalid("name", "1–200 characters without control characters"));
        }
        if place.chars().count() > 200 || place.chars().any(char::is_control) {
            return Err(Refusal::invalid("place", "at most 200 characters without control characters"));
        }
        layout.check()?;
        let created = VenueCreated { name: name.to_owned(), place: place.to_owned() };
        let published = LayoutPublished { version: 1, layout: layout.clone() };
        Ok([Fact::VenueCreated(Box::new(created)), Fact::LayoutPublished(Box::new(published))])
    }

    pub fn decide(&self, command: &Command) -> Result<Fact, Refusal> {
        if let Command::PublishLayout(layout) = command {
            layout.check()?;
            let version = self.latest().map_or(1, |latest| latest.version + 1);
            return Ok(Fact::LayoutPublished(Box::new(LayoutPublished { version, layout: layout.clone() })));
        }
        Err(Refusal::of(Code::WrongKind))
    }

    pub fn apply(&mut self, fact: &Fact) {
        if let Fact::LayoutPublished(published) = fact {
            if self.layouts.len() == LAYOUTS_KEPT {
                self.layouts.remove(0);
            }
            let layout = published.layout.clone();
            self.layouts.push(Published { version: published.version, layout });
        }
    }
}

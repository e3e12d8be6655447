//! A venue: a name, a place and a line of layouts. Its own small listing, so that events can share it.

use std::sync::Arc;

use minicbor::{Decode, Encode};

pub mod command;
pub mod fact;

pub use command::VenueCommand;
pub use fact::VenueFact;

use command::CreateVenue;
use fact::{LayoutPublished, VenueCreated};

use crate::field::Field;
use crate::id::ListingId;
use crate::kind::Kind;
use crate::layout::{Layout, is_name};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;

/// Versions kept for events to adopt; older ones live on in the events that adopted them, and in the log.
pub const LAYOUTS_KEPT: usize = 20;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Venue {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub place: String,
    #[n(2)]
    pub layouts: Vec<LayoutVersion>,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct LayoutVersion {
    #[n(0)]
    pub version: u32,
    #[cbor(n(1), with = "crate::layout::shared")]
    pub layout: Arc<Layout>,
}

impl Venue {
    pub fn latest(&self) -> Option<&LayoutVersion> {
        self.layouts.last()
    }

    pub fn version(&self, version: u32) -> Option<&LayoutVersion> {
        self.layouts.iter().find(|published| published.version == version)
    }

    /// The facts that create a venue with its first layout.
    pub fn create(create: &CreateVenue) -> Result<Vec<VenueFact>, Refusal> {
        let CreateVenue { name, place, layout } = create;
        if !is_name(name) {
            return Err(Refusal::invalid(Field::Name, "1–200 characters without control characters"));
        }
        if place.chars().count() > 200 || place.chars().any(char::is_control) {
            return Err(Refusal::invalid(
                Field::VenuePlace,
                "at most 200 characters without control characters",
            ));
        }
        layout.check()?;
        let created = VenueCreated { name: name.clone(), place: place.clone() };
        let published = LayoutPublished { version: 1, layout: layout.clone() };
        Ok(vec![VenueFact::VenueCreated(Box::new(created)), VenueFact::LayoutPublished(Box::new(published))])
    }
}

/// Nobody has a question about a buyer's things in a venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VenueQuery {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VenueFound;

impl Kind for Venue {
    type Command = VenueCommand;
    type Fact = VenueFact;
    type View = Arc<Venue>;
    type Query = VenueQuery;
    type Found = VenueFound;
    type Image = Venue;

    fn create(command: &VenueCommand, _now: Millis) -> Result<Vec<VenueFact>, Refusal> {
        let VenueCommand::CreateVenue(create) = command else {
            return Err(Refusal::of(Code::ListingUnknown));
        };
        Venue::create(create)
    }

    fn begin(_id: ListingId, first: &VenueFact) -> Option<Venue> {
        let VenueFact::VenueCreated(created) = first else { return None };
        let VenueCreated { name, place } = (**created).clone();
        Some(Venue { name, place, layouts: Vec::new() })
    }

    fn check(command: &VenueCommand) -> Result<(), Refusal> {
        match command {
            VenueCommand::CreateVenue(_) => Ok(()),
            VenueCommand::PublishLayout(layout) => layout.check(),
        }
    }

    fn execute(&mut self, command: &VenueCommand, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        let VenueCommand::PublishLayout(layout) = command else {
            return Err(Refusal::of(Code::ListingExists));
        };
        Self::check(command)?;
        let version = self.latest().map_or(1, |latest| latest.version + 1);
        let published = LayoutPublished { version, layout: layout.clone() };
        let fact = VenueFact::LayoutPublished(Box::new(published));
        self.apply(&fact, writer.next_fence(), writer.now);
        writer.push(fact);
        Ok(Outcome::Done)
    }

    /// A venue has no deadlines at all.
    fn sweep(&mut self, _limit: u32, _tail: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        Err(Refusal::of(Code::WrongKind))
    }

    fn apply(&mut self, fact: &VenueFact, _fence: u64, _at: Millis) {
        if let VenueFact::LayoutPublished(published) = fact {
            if self.layouts.len() == LAYOUTS_KEPT {
                self.layouts.remove(0);
            }
            let layout = published.layout.clone();
            self.layouts.push(LayoutVersion { version: published.version, layout });
        }
    }

    /// An event keeps the layout that it adopted: no venue is needed for it.
    fn is_in_use(&self) -> bool {
        false
    }

    fn view(&self) -> Arc<Venue> {
        Arc::new(self.clone())
    }

    fn ask(&self, query: &VenueQuery, _now: Millis) -> VenueFound {
        match *query {}
    }

    fn image(&self) -> Venue {
        self.clone()
    }

    fn from_image(_id: ListingId, image: Venue) -> Venue {
        image
    }
}

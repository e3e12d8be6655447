//! A series opens sales by a schedule: exactly one per slot, whichever server is up. It only names them; each sale is
//! a listing of its own, made from what the series says. One file per verb in `series/`.

pub mod command;
mod cron;
pub mod details;
pub mod fact;
pub mod image;
pub mod items;
mod open_slot;
mod plan;
pub mod schedule;
mod state;

pub use command::SeriesCommand;
pub use details::sale_of;
pub use fact::SeriesFact;
pub use plan::Plan;
pub use state::{Series, SeriesStatus, SlotState};

use command::ChangeSeries;
use details::SeriesDetails;

use std::sync::Arc;

use crate::id::ListingId;
use crate::kind::Kind;
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;
use image::SeriesImage;

impl Series {
    pub fn create(details: &SeriesDetails) -> Result<Vec<SeriesFact>, Refusal> {
        details.check()?;
        Ok(vec![SeriesFact::Created(Box::new(details.clone()))])
    }

    /// What can be said of a command's slots from the schedule alone, which never changes.
    pub fn check_slots(&self, command: &SeriesCommand) -> Result<(), Refusal> {
        if let SeriesCommand::OpenSlot(command) = command {
            open_slot::check_open(&self.details.schedule, command)
        } else if let SeriesCommand::SkipSlots(slots) = command {
            open_slot::check_skip(&self.details.schedule, slots)
        } else {
            Ok(())
        }
    }

    /// The details after a change, if they keep every bound.
    pub fn changed(&self, change: &ChangeSeries) -> Result<SeriesDetails, Refusal> {
        let mut details = (*self.details).clone();
        details.name = change.name.clone().unwrap_or(details.name);
        details.template = change.template.clone().unwrap_or(details.template);
        details.check().map(|()| details)
    }
}

/// Nobody has a question about a buyer's things in a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesQuery {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesFound;

impl Kind for Series {
    type Command = SeriesCommand;
    type Fact = SeriesFact;
    type View = Arc<Series>;
    type Query = SeriesQuery;
    type Found = SeriesFound;
    type Image = SeriesImage;

    fn create(command: &SeriesCommand, _now: Millis) -> Result<Vec<SeriesFact>, Refusal> {
        let SeriesCommand::Create(details) = command else { return Err(Refusal::of(Code::ListingUnknown)) };
        Series::create(details)
    }

    fn begin(id: ListingId, first: &SeriesFact) -> Option<Series> {
        Series::begin(id, first)
    }

    fn execute(&mut self, command: &SeriesCommand, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        let decided = decide(self, command, writer.now)?;
        let outcome = if decided.is_empty() { Outcome::Unchanged } else { Outcome::Done };
        for fact in decided {
            self.apply(&fact, writer.now);
            writer.push(fact);
        }
        Ok(outcome)
    }

    fn apply(&mut self, fact: &SeriesFact, _fence: u64, at: Millis) {
        self.apply(fact, at);
    }

    /// A slot among those remembered that opened a sale.
    fn is_in_use(&self) -> bool {
        self.slots.iter().any(|slot| slot.ends_at.is_some())
    }

    fn view(&self) -> Arc<Series> {
        Arc::new(self.clone())
    }

    fn ask(&self, query: &SeriesQuery, _now: Millis) -> SeriesFound {
        match *query {}
    }

    fn image(&self) -> SeriesImage {
        self.image()
    }

    fn from_image(id: ListingId, image: SeriesImage) -> Series {
        Series::from_image(id, image)
    }
}

/// Decides without changing anything. No facts: there is nothing to do, and that is a yes.
fn decide(series: &Series, command: &SeriesCommand, now: Millis) -> Result<Vec<SeriesFact>, Refusal> {
    match command {
        SeriesCommand::Create(_) => Err(Refusal::of(Code::ListingExists)),
        SeriesCommand::Change(change) => changed(series, change),
        SeriesCommand::OpenSlot(command) => open_slot::decide(series, command, now),
        SeriesCommand::SkipSlots(slots) => open_slot::skip(series, slots, now),
        SeriesCommand::Pause => become_(series, SeriesStatus::Paused, SeriesFact::Paused),
        SeriesCommand::Resume => become_(series, SeriesStatus::Running, SeriesFact::Resumed),
        SeriesCommand::End => match series.status {
            SeriesStatus::Ended => Ok(Vec::new()),
            SeriesStatus::Running | SeriesStatus::Paused => Ok(vec![SeriesFact::Ended]),
        },
    }
}

fn become_(series: &Series, status: SeriesStatus, fact: SeriesFact) -> Result<Vec<SeriesFact>, Refusal> {
    match series.status {
        SeriesStatus::Ended => Err(Refusal::of(Code::SeriesEnded)),
        same if same == status => Ok(Vec::new()),
        SeriesStatus::Running | SeriesStatus::Paused => Ok(vec![fact]),
    }
}

fn changed(series: &Series, change: &ChangeSeries) -> Result<Vec<SeriesFact>, Refusal> {
    if series.status == SeriesStatus::Ended {
        return Err(Refusal::of(Code::SeriesEnded));
    }
    let details = series.changed(change)?;
    Ok(match details == *series.details {
        true => Vec::new(),
        false => vec![SeriesFact::Changed(Box::new(details))],
    })
}

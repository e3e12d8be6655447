//! Create and change an event: its details, its status, its chart.

use super::command::{AdoptChart, ChangeEvent, CreateEvent};
use super::fact::{ChartAdopted, EventFact};
use super::state::Seats;
use super::{Decision, Status};
use crate::chart::Chart;
use crate::event::{EventDetails, EventStatus};
use crate::field::Field;
use crate::layout::Layout;
use crate::limits::{AREAS_EVER_MAX, SEATS_EVER_MAX};
use crate::outcome::Outcome;
use crate::refusal::{Code, InTheWay, Refusal};
use crate::time::{Millis, is_over};

impl Seats {
    /// The facts that create an event with its chart and, unless it is a draft, put it where it shall be.
    pub fn create(command: &CreateEvent) -> Result<Vec<EventFact>, Refusal> {
        command.details.check()?;
        command.chart.layout.check()?;
        check_tiers(&command.details, &command.chart.layout)?;
        let mut facts = vec![
            EventFact::EventCreated(Box::new(command.details.clone())),
            EventFact::ChartAdopted(adopted(&command.chart)),
        ];
        match command.status {
            EventStatus::Draft => {}
            EventStatus::Scheduled | EventStatus::OnSale => {
                facts.push(EventFact::StatusChanged { status: command.status, by_schedule: false });
            }
            EventStatus::Closed
            | EventStatus::Completed
            | EventStatus::Cancelled
            | EventStatus::Postponed => {
                return Err(Refusal::invalid(Field::Status, "a new event is draft, scheduled or on_sale"));
            }
        }
        Ok(facts)
    }
}

pub(super) fn decide(seats: &Seats, command: &ChangeEvent) -> Result<Decision, Refusal> {
    if matches!(seats.status, EventStatus::Completed | EventStatus::Cancelled) {
        return Err(Refusal::of(Code::StatusConflict));
    }
    Ok(match seats.changed(command)? {
        None => Decision::Outcome(Outcome::Unchanged),
        Some(details) => Decision::Fact(EventFact::EventChanged(Box::new(details))),
    })
}

impl Seats {
    /// The details after a change, whatever the event's status; `None` if nothing would change.
    pub fn changed(&self, command: &ChangeEvent) -> Result<Option<EventDetails>, Refusal> {
        let details = merged(&self.details, command);
        details.check()?;
        let needed = self.chart.tiers;
        if details.tiers.len() < usize::from(needed) {
            return Err(Refusal::invalid(Field::Tiers, format!("the chart uses {needed} tiers")));
        }
        Ok((details != *self.details).then_some(details))
    }

    /// The chart after adopting a layout, and whether the event could ever have it, whoever sits where.
    pub fn next_chart(&self, layout: &Layout) -> (Chart, Result<(), Refusal>) {
        let next = self.chart.adopt(layout);
        let fits = check_tiers(&self.details, layout).and_then(|()| check_ever(&next));
        (next, fits)
    }
}

fn check_ever(next: &Chart) -> Result<(), Refusal> {
    if next.seats_len() > SEATS_EVER_MAX || next.areas.len() > AREAS_EVER_MAX {
        return Err(Refusal::invalid(
            Field::Layout,
            "too many seats or areas were taken off this event before",
        ));
    }
    Ok(())
}

fn merged(old: &EventDetails, change: &ChangeEvent) -> EventDetails {
    let mut details = old.clone();
    fn set<T: Clone>(into: &mut T, from: &Option<T>) {
        if let Some(from) = from {
            *into = from.clone();
        }
    }
    set(&mut details.name, &change.name);
    set(&mut details.description, &change.description);
    set(&mut details.time_zone, &change.time_zone);
    set(&mut details.starts_at, &change.starts_at);
    set(&mut details.ends_at, &change.ends_at);
    set(&mut details.sale_opens_at, &change.sale_opens_at);
    set(&mut details.sale_closes_at, &change.sale_closes_at);
    set(&mut details.tiers, &change.tiers);
    set(&mut details.rules.hold_ms, &change.hold_ms);
    set(&mut details.rules.extension_ms, &change.extension_ms);
    set(&mut details.rules.extensions_max, &change.extensions_max);
    set(&mut details.rules.buyer_limit, &change.buyer_limit);
    set(&mut details.rules.refuse_single_seats, &change.refuse_single_seats);
    details
}

pub(super) fn status(seats: &Seats, status: EventStatus, now: Millis) -> Result<Decision, Refusal> {
    if seats.status == status {
        return Ok(Decision::Outcome(Outcome::Unchanged));
    }
    // A sale whose window is over would close again at once: the window must be moved first.
    let would_close = status == EventStatus::OnSale && is_over(seats.details.sale_ends_at(), now);
    if would_close || !seats.status.may_become(status) {
        return Err(Refusal::of(Code::StatusConflict));
    }
    Ok(Decision::Fact(EventFact::StatusChanged { status, by_schedule: false }))
}

/// A new layout may add and move seats, but not take away one that is held or sold.
pub(super) fn adopt_chart(seats: &Seats, command: &AdoptChart) -> Result<EventFact, Refusal> {
    if matches!(seats.status, EventStatus::Completed | EventStatus::Cancelled) {
        return Err(Refusal::of(Code::StatusConflict));
    }
    let (next, fits) = seats.next_chart(&command.layout);
    fits?;
    let mut in_use = Vec::new();
    for (index, info) in seats.chart.all_seats() {
        let state = seats.seats[index as usize];
        let taken = matches!(state.status(), Status::Held | Status::Sold) || seats.holder(index).is_some();
        if !info.retired && taken && next.seat(index).is_none() {
            in_use.push(InTheWay::Seat(index, Code::SeatInUse));
        }
    }
    for (index, state) in seats.areas.iter().enumerate() {
        let capacity = next.areas.get(index).filter(|area| !area.retired).map_or(0, |area| area.capacity);
        if state.held + state.sold + state.blocked > capacity {
            in_use.push(InTheWay::Area(index as u16, Code::SeatInUse));
        }
    }
    Refusal::in_the_way(in_use)?;
    Ok(EventFact::ChartAdopted(adopted(command)))
}

fn check_tiers(details: &EventDetails, layout: &Layout) -> Result<(), Refusal> {
    let needed = layout.tiers_needed();
    if details.tiers.len() < needed {
        return Err(Refusal::invalid(Field::Tiers, format!("the layout uses {needed} tiers")));
    }
    Ok(())
}

fn adopted(command: &AdoptChart) -> Box<ChartAdopted> {
    let (venue, version) = (command.venue, command.version);
    Box::new(ChartAdopted { venue, version, layout: command.layout.clone() })
}

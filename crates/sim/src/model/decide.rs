//! One command on its way through the model: schedule, expiry of what it touches, the verb, those in line.

use onsale_domain::event::EventStatus;
use onsale_domain::refusal::Refusal;
use onsale_domain::seats::fact::ChartAdopted;
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::venue::fact::{LayoutPublished, VenueCreated};
use onsale_domain::venue::{VenueCommand, VenueFact};
use onsale_domain::{Code, Command, Fact, ListingId, ListingKind, Millis, Outcome};

use super::check::{self, invalid};
use super::{Body, Event, State};

#[derive(Debug)]
pub struct Run<'a> {
    pub id: ListingId,
    pub state: &'a mut State,
    pub now: Millis,
    pub facts: Vec<Fact>,
}

impl Run<'_> {
    pub fn event(&self) -> &Event {
        match &self.state.body {
            Body::Event(event) => event,
            Body::Nothing | Body::Venue { .. } | Body::Other(_) => unreachable!("only events get here"),
        }
    }

    pub fn emit(&mut self, fact: Fact) {
        if let Body::Event(event) = &self.state.body {
            event.assert_lawful(&fact, self.now);
        }
        self.state.apply(self.id, &fact, self.now);
        self.facts.push(fact);
    }

    pub fn command(&mut self, command: &Command) -> Result<Outcome, Refusal> {
        let creates = command.creates();
        match (&self.state.body, self.id.kind, command) {
            (Body::Nothing, ListingKind::Venue, Command::Venue(VenueCommand::CreateVenue(create))) => {
                if !check::name(&create.name, 200) {
                    return invalid("name");
                }
                if create.place.chars().count() > 200 || create.place.chars().any(char::is_control) {
                    return invalid("place");
                }
                check::layout(&create.layout)?;
                let (name, place) = (create.name.clone(), create.place.clone());
                self.emit(Fact::Venue(VenueFact::VenueCreated(Box::new(VenueCreated { name, place }))));
                let first = LayoutPublished { version: 1, layout: create.layout.clone() };
                self.emit(Fact::Venue(VenueFact::LayoutPublished(Box::new(first))));
                Ok(Outcome::Done)
            }
            (Body::Nothing, ListingKind::Event, Command::Event(EventCommand::CreateEvent(create))) => {
                check::details(&create.details)?;
                check::layout(&create.chart.layout)?;
                check::tiers(&create.details, &create.chart.layout)?;
                let new = [EventStatus::Draft, EventStatus::Scheduled, EventStatus::OnSale];
                if !new.contains(&create.status) {
                    return invalid("status");
                }
                self.emit(Fact::Event(EventFact::EventCreated(Box::new(create.details.clone()))));
                let (venue, version) = (create.chart.venue, create.chart.version);
                let layout = create.chart.layout.clone();
                self.emit(Fact::Event(EventFact::ChartAdopted(Box::new(ChartAdopted {
                    venue,
                    version,
                    layout,
                }))));
                if create.status != EventStatus::Draft {
                    self.emit(Fact::Event(EventFact::StatusChanged {
                        status: create.status,
                        by_schedule: false,
                    }));
                }
                Ok(Outcome::Done)
            }
            (Body::Nothing, ..) => Err(Refusal::of(Code::ListingUnknown)),
            (Body::Other(_), ..) => unreachable!("other kinds decide for themselves"),
            (Body::Venue { .. } | Body::Event(_), ..) if creates => Err(Refusal::of(Code::ListingExists)),
            (Body::Venue { version }, _, Command::Venue(VenueCommand::PublishLayout(layout))) => {
                check::layout(layout)?;
                let next = LayoutPublished { version: version + 1, layout: layout.clone() };
                self.emit(Fact::Venue(VenueFact::LayoutPublished(Box::new(next))));
                Ok(Outcome::Done)
            }
            (Body::Venue { .. }, ..) => Err(Refusal::of(Code::WrongKind)),
            (Body::Event(_), ..) => self.event_command(command),
        }
    }

    fn event_command(&mut self, command: &Command) -> Result<Outcome, Refusal> {
        check::shape(command)?;
        self.follow_schedule();
        if let Command::ExpireDue { limit } = command {
            self.sweep(*limit);
            return Ok(if self.facts.is_empty() { Outcome::Unchanged } else { Outcome::Done });
        }
        self.expire_touched(command);
        let mut verdict = self.verb(command);
        if matches!(&verdict, Err(refusal) if refusal.code == Code::NotEnoughSeats)
            && self.expire_for_best(command)
        {
            verdict = self.verb(command);
        }
        let verdict = verdict?;
        Ok(match verdict {
            Verdict::Fact(fact) => {
                self.emit_and_serve(fact);
                Outcome::Done
            }
            Verdict::Outcome(outcome) => outcome,
        })
    }

    fn verb(&self, command: &Command) -> Result<Verdict, Refusal> {
        let (event, now) = (self.event(), self.now);
        match command {
            Command::Event(EventCommand::PlaceHold(command)) => event.place_hold(command, now),
            Command::Event(EventCommand::ExtendHold(command)) => event.extend(command, now),
            Command::Event(EventCommand::DropSeats(command)) => event.drop_seats(command, now),
            Command::Event(EventCommand::ReleaseHold(key)) => event.release(key, now),
            Command::Event(EventCommand::ConfirmHold(command)) => event.confirm(command, now),
            Command::Event(EventCommand::OverrideHold(command)) => event.override_hold(command, now),
            Command::Event(EventCommand::RefundOrder(command)) => event.refund(command),
            Command::Event(EventCommand::BlockSeats(command)) => event.block(command),
            Command::Event(EventCommand::UnblockSeats(command)) => event.unblock(command),
            Command::Event(EventCommand::JoinQueue(command)) => event.join(command, now),
            Command::Event(EventCommand::LeaveQueue(command)) => event.leave_queue(command),
            Command::Event(EventCommand::ChangeEvent(change)) => event.change(change),
            Command::Event(EventCommand::ChangeStatus(status)) => event.change_status(*status, now),
            Command::Event(EventCommand::AdoptChart(chart)) => event.adopt_chart(chart),
            Command::Venue(VenueCommand::CreateVenue(_))
            | Command::Venue(VenueCommand::PublishLayout(_))
            | Command::Event(EventCommand::CreateEvent(_))
            | Command::ExpireDue { .. }
            | Command::Sale(_)
            | Command::Series(_)
            | Command::Registration(_)
            | Command::Auction(_)
            | Command::Order(_)
            | Command::Desk(_) => Err(Refusal::of(Code::WrongKind)),
        }
    }
}

#[derive(Debug)]
pub enum Verdict {
    Fact(Fact),
    Outcome(Outcome),
}

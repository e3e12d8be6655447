//! One command on its way through the model: schedule, expiry of what it touches, the verb, those in line.

use onsale_domain::about::About;
use onsale_domain::event::EventStatus;
use onsale_domain::listing::{ListingCommand, ListingFact};
use onsale_domain::refusal::Refusal;
use onsale_domain::seats::fact::ChartAdopted;
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::venue::fact::{LayoutPublished, VenueCreated};
use onsale_domain::venue::{VenueCommand, VenueFact};
use onsale_domain::{Code, Command, Fact, ListingId, ListingKind, Millis, Outcome};

use super::check::{self, invalid};
use super::{Body, Event, State};

#[derive(Debug)]
pub(super) struct Run<'a> {
    pub id: ListingId,
    pub state: &'a mut State,
    pub now: Millis,
    pub facts: Vec<Fact>,
}

impl Run<'_> {
    pub(super) fn event(&self) -> &Event {
        match &self.state.body {
            Body::Event(event) => event,
            Body::Nothing | Body::Venue { .. } | Body::Other(_) => unreachable!("only events get here"),
        }
    }

    pub(super) fn emit(&mut self, fact: impl Into<Fact>) {
        let fact = fact.into();
        if let (Body::Event(event), Fact::Event(fact)) = (&self.state.body, &fact) {
            event.assert_lawful(fact, self.now);
        }
        self.state.apply(self.id, &fact, self.now);
        self.facts.push(fact);
    }

    pub(super) fn command(&mut self, command: &Command) -> Result<Outcome, Refusal> {
        let creates = command.creates();
        if self.state.is_deleted() {
            return Err(Refusal::of(if creates { Code::ListingExists } else { Code::ListingUnknown }));
        }
        if let Command::Listing(command) = command {
            return self.of_every_kind(command);
        }
        if let (Command::Create(creation), Body::Nothing) = (command, &self.state.body) {
            check::about(&creation.about)?;
            let outcome = self.command(&creation.command)?;
            if creation.about != About::default() {
                self.emit(ListingFact::Described(Box::new(creation.about.clone())));
            }
            return Ok(outcome);
        }
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
                self.emit(VenueFact::VenueCreated(Box::new(VenueCreated { name, place })));
                let first = LayoutPublished { version: 1, layout: create.layout.clone() };
                self.emit(VenueFact::LayoutPublished(Box::new(first)));
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
                self.emit(EventFact::EventCreated(Box::new(create.details.clone())));
                let (venue, version) = (create.chart.venue, create.chart.version);
                let layout = create.chart.layout.clone();
                self.emit(EventFact::ChartAdopted(Box::new(ChartAdopted { venue, version, layout })));
                if create.status != EventStatus::Draft {
                    self.emit(EventFact::StatusChanged { status: create.status, by_schedule: false });
                }
                Ok(Outcome::Done)
            }
            (Body::Nothing, ..) => Err(Refusal::of(Code::ListingUnknown)),
            (Body::Other(_), ..) => unreachable!("other kinds decide for themselves"),
            (Body::Venue { .. } | Body::Event(_), ..) if creates => Err(Refusal::of(Code::ListingExists)),
            (Body::Venue { version }, _, Command::Venue(VenueCommand::PublishLayout(layout))) => {
                check::layout(layout)?;
                let next = LayoutPublished { version: version + 1, layout: layout.clone() };
                self.emit(VenueFact::LayoutPublished(Box::new(next)));
                Ok(Outcome::Done)
            }
            (Body::Venue { .. }, ..) => Err(Refusal::of(Code::WrongKind)),
            (Body::Event(_), ..) => self.event_command(command),
        }
    }

    fn of_every_kind(&mut self, command: &ListingCommand) -> Result<Outcome, Refusal> {
        if let Body::Nothing = &self.state.body {
            return Err(Refusal::of(Code::ListingUnknown));
        }
        match command {
            ListingCommand::Describe(describe) => {
                let mut about = self.state.about.clone();
                about.metadata = describe.metadata.clone().unwrap_or(about.metadata);
                about.card = describe.card.clone().unwrap_or(about.card);
                check::about(&about)?;
                if about == self.state.about {
                    return Ok(Outcome::Unchanged);
                }
                self.emit(ListingFact::Described(Box::new(about)));
            }
            ListingCommand::Delete => {
                if let Body::Event(event) = &self.state.body
                    && !(event.holds.is_empty() && event.places.is_empty() && event.orders.is_empty())
                {
                    return Err(Refusal::of(Code::ListingInUse));
                }
                self.emit(ListingFact::Deleted);
            }
        }
        Ok(Outcome::Done)
    }

    fn event_command(&mut self, command: &Command) -> Result<Outcome, Refusal> {
        if let Command::Event(command) = command {
            check::shape(command)?;
        }
        self.follow_schedule();
        if let Command::ExpireDue { limit } = command {
            self.sweep(*limit);
            return Ok(if self.facts.is_empty() { Outcome::Unchanged } else { Outcome::Done });
        }
        let Command::Event(command) = command else { return Err(Refusal::of(Code::WrongKind)) };
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

    fn verb(&self, command: &EventCommand) -> Result<Verdict, Refusal> {
        let (event, now) = (self.event(), self.now);
        match command {
            EventCommand::CreateEvent(_) => Err(Refusal::of(Code::ListingExists)),
            EventCommand::PlaceHold(command) => event.place_hold(command, now),
            EventCommand::ExtendHold(command) => event.extend(command, now),
            EventCommand::GrowHold(command) => event.grow(command, now),
            EventCommand::DropSeats(command) => event.drop_seats(command, now),
            EventCommand::ReleaseHold(key) => event.release(key, now),
            EventCommand::ConfirmHold(command) => event.confirm(command, now),
            EventCommand::OverrideHold(command) => event.override_hold(command, now),
            EventCommand::RefundOrder(command) => event.refund(command),
            EventCommand::BlockSeats(command) => event.block(command),
            EventCommand::UnblockSeats(command) => event.unblock(command),
            EventCommand::JoinQueue(command) => event.join(command, now),
            EventCommand::LeaveQueue(command) => event.leave_queue(command),
            EventCommand::ChangeEvent(change) => event.change(change),
            EventCommand::ChangeStatus(status) => event.change_status(*status, now),
            EventCommand::AdoptChart(chart) => event.adopt_chart(chart),
        }
    }
}

#[derive(Debug)]
pub enum Verdict {
    Fact(EventFact),
    Outcome(Outcome),
}

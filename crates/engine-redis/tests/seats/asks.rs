//! The next command of a history: mostly one that may work, often one that must not.
//! Each topic has its verbs in a file: how often and how each is asked for, and every answer it must have been given.

mod event;
mod holds;
mod listing;
mod picks;
mod queue;
mod staff;

use std::ops::RangeInclusive;

use onsale_domain::event::EventStatus;
use onsale_domain::listing::Key;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{ChangeEvent, JoinQueue, Pick, PlaceHold};
use onsale_domain::{BuyerId, Command, HoldId, Listing, ListingId, Millis};

use super::world::{Theme, World};
use crate::differential::histories::{Ask, asked_before};
use crate::differential::tally::{Answers, Reachable};
use picks::held_seats;

/// Every generator, by topic. Their order is part of what a seed means.
const TOPICS: &[&[Generator]] =
    &[event::GENERATORS, holds::GENERATORS, staff::GENERATORS, queue::GENERATORS, listing::GENERATORS];
/// Room for the verbs of all topics; the compiler complains when there are more.
const VERBS_MAX: usize = 64;
const VERBS: &([Answers; VERBS_MAX], usize) = &verbs();
/// What each verb of seats can be answered.
pub(crate) const REACHABLE: Reachable = VERBS.0.split_at(VERBS.1).0;

/// Makes commands of one verb, or of a few that are alike.
struct Generator {
    /// The numbers of the dice that ask for it: the more, the more often. Those of all generators together are every
    /// number from 0 on, each once; a new generator takes the next.
    dice: &'static [RangeInclusive<u64>],
    ask: fn(&mut World, &Listing) -> Command,
    /// For a listing with nothing on sale, where only the verb matters.
    bare: fn(&mut World, &Listing) -> Command,
    /// Every answer that its verbs can be given, and must have been once all histories have been played.
    verbs: Reachable,
}

fn generators() -> impl Iterator<Item = &'static Generator> {
    TOPICS.iter().copied().flatten()
}

/// How many numbers the dice have.
fn numbers() -> u64 {
    generators().flat_map(|one| one.dice).map(|range| range.end() - range.start() + 1).sum()
}

impl World {
    /// Moves the clock: mostly by moments, sometimes far enough for everything to be over, now and then backwards.
    pub(crate) fn pass_time(&mut self) {
        let long = if self.theme == Theme::Crowd { 4 } else { 1 };
        self.now += match self.chance.below(400 * long) {
            0..=59 => 20 * self.chance.below(100) as Millis,
            60..=69 => 16_000,
            70..=74 => 45_000,
            75..=77 => 155_000,
            78 => 310_000,
            79 if self.chance.one_in(4) => 3_700_000,
            80 => -5_000,
            81 if self.chance.one_in(40) => 90_000_000,
            _ => 0,
        };
    }

    pub(crate) fn ask(&mut self, event: &Listing) -> Ask {
        // The same question again, under the same key or a changed one.
        if self.chance.one_in(9)
            && let Some((key, listing, mut command)) = asked_before(&self.asked, &mut self.chance)
        {
            let twisted = self.chance.one_in(2);
            if let Command::Event(EventCommand::PlaceHold(hold)) = &mut command
                && twisted
            {
                // Another wish under the same key is mostly another hold.
                hold.hold = HoldId(self.fresh());
            }
            let fingerprint = key.fingerprint ^ u128::from(twisted);
            return Ask { listing, command, key: Some(Key { fingerprint, ..key }) };
        }
        let listing = self.listing();
        let command = match listing == self.event {
            true if !event.exists() && !self.chance.one_in(3) => {
                let mut create = self.create();
                if self.chance.one_in(3) {
                    create.details.name.clear();
                }
                Command::Event(EventCommand::CreateEvent(Box::new(create)))
            }
            _ => self.command(event, listing),
        };
        let key = (!matches!(command, Command::ExpireDue { .. }) && self.chance.one_in(3))
            .then(|| Key { scope: self.fresh().into(), fingerprint: u128::from(self.chance.next()) << 1 });
        Ask { listing, command, key }
    }

    fn listing(&mut self) -> ListingId {
        let elsewhere = if self.theme == Theme::Elsewhere { 2 } else { 60 };
        match self.chance.one_in(elsewhere) {
            false => self.event,
            true if self.chance.one_in(2) => self.venue,
            true => self.nowhere,
        }
    }

    fn command(&mut self, event: &Listing, listing: ListingId) -> Command {
        if listing != self.event && self.chance.one_in(2) {
            return self.of_venue(event);
        }
        if listing != self.event {
            return self.any_verb(event);
        }
        if let Some(command) = self.reopen(event) {
            return command;
        }
        if self.theme == Theme::Crowd && !self.chance.one_in(12) {
            return self.crowd(event);
        }
        if self.theme == Theme::Waiter && !self.chance.one_in(12) {
            return self.waiter(event);
        }
        let number = self.chance.below(numbers());
        let generator = generators().find(|one| one.dice.iter().any(|range| range.contains(&number)));
        (generator.expect("a generator for every number").ask)(self, event)
    }

    /// A sale that is not open is opened again before long, its window moved if need be.
    fn reopen(&mut self, event: &Listing) -> Option<Command> {
        let status = event.event()?.status();
        let waits = matches!(status, EventStatus::Closed | EventStatus::Draft | EventStatus::Postponed);
        if !waits || !self.chance.one_in(6) {
            return None;
        }
        Some(match self.chance.one_in(2) {
            true => Command::Event(EventCommand::ChangeStatus(EventStatus::OnSale)),
            false => Command::Event(EventCommand::ChangeEvent(Box::new(ChangeEvent {
                sale_closes_at: Some(None),
                ends_at: Some(self.now + 90_000_000),
                ..ChangeEvent::default()
            }))),
        })
    }

    /// Every verb alike: where nothing is on sale, only the verb matters.
    fn any_verb(&mut self, event: &Listing) -> Command {
        let all: Vec<&Generator> = generators().collect();
        let generator = self.chance.pick(&all).expect("some generator");
        (generator.bare)(self, event)
    }

    /// Everybody wants the seat that one of them holds.
    fn crowd(&mut self, event: &Listing) -> Command {
        if let Some(seat) = held_seats(event).first().copied() {
            let (place, buyer) = (HoldId(self.fresh()), self.buyer());
            return Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer }));
        }
        self.hold_of(vec![0], 900_000)
    }

    /// One wants every seat that others hold.
    fn waiter(&mut self, event: &Listing) -> Command {
        let held = held_seats(event);
        if held.len() >= 22
            && let Some(seat) = self.chance.pick(&held).copied()
        {
            let buyer = BuyerId::parse("ann").expect("a short name");
            return Command::Event(EventCommand::JoinQueue(JoinQueue {
                place: HoldId(self.fresh()),
                seat,
                buyer,
            }));
        }
        let seat = self.chance.below(u64::from(self.seats)) as u32;
        let mut command = self.hold_of(vec![seat], 900_000);
        if let Command::Event(EventCommand::PlaceHold(hold)) = &mut command {
            hold.buyer = BuyerId::parse("b{o}b").expect("a short name");
        }
        command
    }

    fn hold_of(&mut self, seats: Vec<u32>, hold_ms: Millis) -> Command {
        let (hold, buyer) = (HoldId(self.fresh()), self.buyer());
        let (pick, areas, hold_ms) = (Pick::Seats(seats), Vec::new(), Some(hold_ms));
        Command::Event(EventCommand::PlaceHold(PlaceHold { hold, buyer, pick, areas, hold_ms }))
    }
}

/// The verbs of all topics in one row, and how many they are.
const fn verbs() -> ([Answers; VERBS_MAX], usize) {
    const NONE: Answers = ("", &[], &[]);
    let (mut all, mut count) = ([NONE; VERBS_MAX], 0);
    let mut topics = TOPICS;
    while let [topic, rest @ ..] = topics {
        topics = rest;
        let mut generators = *topic;
        while let [generator, rest @ ..] = generators {
            generators = rest;
            let mut verbs = generator.verbs;
            while let [verb, rest @ ..] = verbs {
                verbs = rest;
                all[count] = *verb;
                count += 1;
            }
        }
    }
    (all, count)
}

#[test]
fn every_number_of_the_dice_asks_for_one_generator() {
    for number in 0..numbers() {
        let askers = generators().flat_map(|one| one.dice).filter(|range| range.contains(&number));
        assert_eq!(askers.count(), 1, "generators that {number} asks for, of {} numbers", numbers());
    }
}

#[test]
fn every_verb_of_an_event_is_asked_for() {
    let missing = EventCommand::VERBS.iter().filter(|verb| !REACHABLE.iter().any(|row| row.0 == verb.name));
    let missing: Vec<&str> = missing.map(|verb| verb.name).collect();
    assert!(missing.is_empty(), "no generator makes {missing:?}");
}

//! One small world for a random history: an event of few seats and fewer buyers, its venue, and what was granted,
//! so that everything collides with everything. `asks` makes the commands.

use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::layout::{Area, Layout, Row, Seat, Section};
use onsale_domain::listing::fence;
use onsale_domain::money::Currency;
use onsale_domain::seats::EventFact;
use onsale_domain::seats::command::{AdoptChart, CreateEvent};
use onsale_domain::{BuyerId, Fact, HoldId, ListingId, ListingKind, Millis, OrderId, Step, Tenant};

use crate::differential::chance::{BUYERS, Chance};
use crate::differential::histories::{SentCommands, takes_its_course};

/// What a history is about, besides what all are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Anything,
    /// Everybody waits for one seat.
    Crowd,
    /// One waits for every seat.
    Waiter,
    Cancelled,
    /// Listings that do not exist, or are of another kind.
    Elsewhere,
}

pub(crate) struct World {
    pub chance: Chance,
    pub theme: Theme,
    pub now: Millis,
    pub event: ListingId,
    pub venue: ListingId,
    pub nowhere: ListingId,
    pub seats: u32,
    ids: u64,
    met: u64,
    /// Holds and places ever granted, with the latest fence known.
    pub holds: Vec<(HoldId, u64, BuyerId)>,
    pub orders: Vec<(OrderId, Vec<u32>)>,
    pub places: Vec<(u32, BuyerId)>,
    pub asked: SentCommands,
}

takes_its_course!(World, event);

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let mut chance = Chance::new(seed);
        let theme = match chance.below(16) {
            0 => Theme::Crowd,
            1 => Theme::Waiter,
            2 | 3 => Theme::Cancelled,
            4 => Theme::Elsewhere,
            _ => Theme::Anything,
        };
        let listing = |kind, number| ListingId { tenant: Tenant::DEFAULT, kind, number };
        let seats = if theme == Theme::Waiter { 26 } else { 10 + chance.below(14) as u32 };
        let number = (seed << 8) % LISTING_NUMBERS;
        World {
            chance,
            theme,
            now: 1_700_000_000_000,
            event: listing(ListingKind::Event, number | 1),
            venue: listing(ListingKind::Venue, number | 2),
            nowhere: listing(ListingKind::Event, number | 3),
            seats,
            ids: seed << 40,
            met: 0,
            holds: Vec::new(),
            orders: Vec::new(),
            places: Vec::new(),
            asked: SentCommands::default(),
        }
    }

    pub(crate) fn fresh(&mut self) -> u64 {
        self.ids += 1;
        // Spread over all bits, as real ids are.
        self.ids.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn buyer(&mut self) -> BuyerId {
        let name = match self.theme == Theme::Crowd {
            true => {
                self.met += 1;
                format!("one of {{many}} {}", self.met % 130)
            }
            false => BUYERS[self.chance.below(BUYERS.len() as u64) as usize].to_owned(),
        };
        BuyerId::parse(&name).expect("a name that the domain admits")
    }

    /// A chart: the last seats come and go, tiers and areas change.
    pub(crate) fn layout(&mut self) -> Layout {
        let (variant, seats) = (self.chance.below(12), self.seats);
        let last = seats - if self.chance.one_in(3) { variant as u32 % 4 } else { 0 };
        let seat = |n: u32| Seat {
            id: format!("S {{{n}}}:|{n}"),
            label: format!("{n}/{variant}"),
            tier: u16::from(variant % 3 == 1 && n.is_multiple_of(3)) + u16::from(n + 1 == seats),
            accessible: n == 3,
            companion: n == 4,
            ..Seat::default()
        };
        // Now and then the rows are cut elsewhere, or run the other way.
        let cut = if variant % 5 == 0 { seats / 3 } else { seats / 2 };
        let row = |from: u32, to: u32| {
            let mut seats: Vec<Seat> = (from..to.max(from)).map(seat).collect();
            if variant == 7 {
                seats.reverse();
            }
            Row { label: "r".into(), seats }
        };
        let areas = ["floor", "pit {1}"].iter().enumerate().map(|(n, id)| Area {
            id: (*id).to_owned(),
            section: "floor".into(),
            tier: 1,
            capacity: 3 + (variant as u32 + n as u32) % 5,
            ..Area::default()
        });
        let areas = areas.take(if variant == 11 { 1 } else { 2 }).collect();
        let section = |name: &str, rows| Section { name: name.into(), rows };
        Layout {
            sections: vec![
                section("stalls", vec![row(0, cut / 2), row(cut / 2, cut)]),
                section("balcony", vec![row(cut, last)]),
            ],
            areas,
        }
    }

    pub(crate) fn create(&mut self) -> CreateEvent {
        let opens = self.chance.below(4);
        let details = EventDetails {
            name: "Konzert | {x}".into(),
            description: "Two\nlines | of \"text\"".into(),
            venue: self.chance.one_in(2).then_some(self.venue),
            starts_at: self.now + 8_000_000,
            ends_at: self.now + if self.chance.one_in(6) { 8_400_000 } else { 90_000_000 },
            sale_opens_at: (opens == 0).then_some(self.now + 20_000),
            sale_closes_at: self.chance.one_in(8).then_some(self.now + 3_000_000),
            time_zone: if self.chance.one_in(2) { "UTC" } else { "Europe/Lisbon" }.into(),
            currency: Currency::parse("EUR").expect("three letters"),
            tiers: [700, 0, 1_000_000_000_000]
                .map(|price_minor| Tier { name: "t 1|2".into(), price_minor })
                .to_vec(),
            rules: SaleRules {
                hold_ms: 30_000 + self.chance.below(10) as Millis * 10_000,
                buyer_limit: if self.theme == Theme::Waiter { 50 } else { 5 + self.chance.below(12) as u32 },
                refuse_single_seats: self.chance.one_in(4),
                extension_ms: self.chance.one_in(3).then_some(15_000),
                extensions_max: self.chance.below(4) as u8,
            },
        };
        let status = match opens {
            0 => EventStatus::Scheduled,
            1 if self.theme == Theme::Anything => EventStatus::Draft,
            _ => EventStatus::OnSale,
        };
        let chart = AdoptChart { venue: Some(self.venue), version: 1, layout: self.layout().into() };
        CreateEvent { details, status, chart }
    }

    /// Takes in what was granted, so that later commands can speak of it.
    pub(crate) fn learn(&mut self, step: &Step) {
        for (offset, fact) in step.numbered() {
            let fence = fence(step.epoch, offset);
            if let Fact::Event(EventFact::HoldPlaced { hold, buyer, .. })
            | Fact::Event(EventFact::QueueJoined { place: hold, buyer, .. }) = fact
            {
                self.holds.push((*hold, fence, buyer.clone()));
            }
            if let Fact::Event(EventFact::QueueJoined { seat, buyer, .. }) = fact {
                self.places.push((*seat, buyer.clone()));
            }
            if let Fact::Event(fact) = fact
                && let Some(hold) = fact.raises_fence_of()
                && let Some(known) = self.holds.iter_mut().rev().find(|(known, ..)| *known == hold)
            {
                known.1 = fence;
            }
            if let Fact::Event(EventFact::HoldConfirmed { order, .. }) = fact {
                self.orders.push((*order, Vec::new()));
            }
        }
    }
}

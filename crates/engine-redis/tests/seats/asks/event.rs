//! What staff ask of the event itself, and every answer to it.

use onsale_domain::event::EventStatus;
use onsale_domain::layout::Layout;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{AdoptChart, ChangeEvent};
use onsale_domain::{Command, Listing};

use super::super::world::{Theme, World};
use super::Generator;

pub(super) const GENERATORS: &[Generator] = &[
    Generator {
        dice: &[92..=93],
        ask: World::change_event,
        bare: World::change_event,
        verbs: &[("change_event", &["done", "unchanged", "invalid", "status_conflict"], &[])],
    },
    Generator {
        dice: &[89..=91],
        ask: World::change_status,
        bare: World::change_status,
        verbs: &[("change_status", &["done", "unchanged", "status_conflict"], &[])],
    },
    Generator {
        dice: &[87..=88],
        ask: World::adopt_chart,
        bare: |world, _| adopt(world.layout()),
        verbs: &[("adopt_chart", &["done", "invalid", "status_conflict", "seat_in_use"], &[])],
    },
];

impl World {
    fn change_event(&mut self, _: &Listing) -> Command {
        let mut change = ChangeEvent::default();
        match self.chance.below(8) {
            0 => change.buyer_limit = Some(self.chance.below(9) as u32),
            1 => change.refuse_single_seats = Some(self.chance.one_in(3)),
            2 => change.extensions_max = Some(self.chance.below(6) as u8),
            3 => change.sale_closes_at = Some(self.chance.one_in(2).then_some(self.now + 900_000)),
            4 => change.ends_at = Some(self.now + 90_000_000),
            5 => change.extension_ms = Some(self.chance.one_in(2).then_some(20_000)),
            6 => change.name = Some(if self.chance.one_in(2) { "new | name".into() } else { String::new() }),
            _ => {}
        }
        Command::Event(EventCommand::ChangeEvent(Box::new(change)))
    }

    fn change_status(&mut self, event: &Listing) -> Command {
        use EventStatus::{Cancelled, Closed, Completed, Draft, OnSale, Postponed, Scheduled};
        let on_sale = event.event().is_some_and(|seats| seats.status() == OnSale);
        let cancelled = self.theme == Theme::Cancelled;
        Command::Event(EventCommand::ChangeStatus(match self.chance.below(24) {
            0 | 1 => Closed,
            2 => Postponed,
            3 => Scheduled,
            4 => Draft,
            5 if self.chance.one_in(4) => Completed,
            6..=9 if cancelled => Cancelled,
            _ if on_sale && self.chance.one_in(3) => Closed,
            _ => OnSale,
        }))
    }

    fn adopt_chart(&mut self, _: &Listing) -> Command {
        adopt(if self.chance.one_in(8) { Layout::default() } else { self.layout() })
    }
}

fn adopt(layout: Layout) -> Command {
    let adopt = AdoptChart { venue: None, version: 2, layout: layout.into() };
    Command::Event(EventCommand::AdoptChart(Box::new(adopt)))
}

//! What staff ask of holds, orders and seats, and every answer to it.

use onsale_domain::seats::command::{BlockSeats, OverrideHold, RefundOrder, UnblockSeats};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventCommand, EventFound, EventQuery};
use onsale_domain::{Command, Found, Listing, Millis, OrderId, Query};

use super::super::world::World;
use super::Generator;

pub(super) const GENERATORS: &[Generator] = &[
    Generator {
        dice: &[70..=73],
        ask: World::override_hold,
        bare: World::override_hold,
        verbs: &[(
            "override_hold",
            &[
                "done",
                "hold_unknown",
                "expired",
                "released",
                "overridden",
                "hold_confirmed",
                "stale_fence",
                "invalid",
                "event_cancelled",
            ],
            &["stale_fence"],
        )],
    },
    Generator {
        dice: &[74..=77],
        ask: World::refund,
        bare: World::refund,
        verbs: &[("refund_order", &["done", "invalid", "order_unknown", "not_refundable"], &[])],
    },
    Generator {
        dice: &[78..=80],
        ask: World::block_seats,
        bare: |world, _| block(vec![world.seat()], Vec::new(), "camera"),
        verbs: &[(
            "block_seats",
            &["done", "unchanged", "invalid", "seat_unknown", "area_unknown", "area_full"],
            &[],
        )],
    },
    Generator {
        dice: &[81..=83],
        ask: World::unblock_seats,
        bare: |world, _| unblock(vec![world.seat()], Vec::new()),
        verbs: &[("unblock_seats", &["done", "unchanged", "invalid", "seat_unknown", "area_unknown"], &[])],
    },
];

impl World {
    pub(super) fn override_hold(&mut self, event: &Listing) -> Command {
        let hold_ms = self.chance.one_in(3).then(|| 1_000 * self.chance.below(400) as Millis);
        let reason = if self.chance.one_in(20) { "" } else { "wheel|chair" };
        let to = self.chance.one_in(2).then(|| (self.buyer(), hold_ms));
        let hold = self.key(event).hold;
        Command::Event(EventCommand::OverrideHold(OverrideHold { hold, reason: reason.into(), to }))
    }

    fn refund(&mut self, event: &Listing) -> Command {
        let open = |order: &OrderId| {
            let Found::Event(EventFound::Order(left)) =
                event.ask(&Query::Event(EventQuery::Order(*order)), self.now)
            else {
                return false;
            };
            !left.seats.is_empty() || !left.areas.is_empty()
        };
        let open: Vec<OrderId> =
            self.orders.iter().rev().take(20).map(|(order, _)| *order).filter(open).collect();
        let known = match self.chance.one_in(5) {
            true => self.chance.recent(&self.orders, 8).map(|(order, _)| *order),
            false => self.chance.pick(&open).copied(),
        };
        let order = match known {
            Some(order) if !self.chance.one_in(12) => order,
            _ => OrderId(self.fresh()),
        };
        let (mut seats, mut areas) = (Vec::new(), Vec::new());
        if self.chance.one_in(2)
            && let Found::Event(EventFound::Order(left)) =
                event.ask(&Query::Event(EventQuery::Order(order)), self.now)
        {
            seats = left.seats.iter().take(1).map(|line| line.seat).collect();
            areas = left.areas.iter().map(|line| AreaCount { area: line.area, count: 1 }).collect();
        }
        if self.chance.one_in(6) {
            seats.push(self.seat());
        }
        let reason = if self.chance.one_in(20) { "" } else { "rain" };
        Command::Event(EventCommand::RefundOrder(RefundOrder { order, seats, areas, reason: reason.into() }))
    }

    fn block_seats(&mut self, _: &Listing) -> Command {
        let (seats, areas) = (self.some_seats(4), self.places_wanted(4));
        let reason = if self.chance.one_in(12) { "a\nb" } else { "camera {1}|2" };
        block(seats, areas, reason)
    }

    fn unblock_seats(&mut self, _: &Listing) -> Command {
        let (seats, areas) = (self.some_seats(4), self.places_wanted(5));
        unblock(seats, areas)
    }
}

fn block(seats: Vec<u32>, areas: Vec<AreaCount>, reason: &str) -> Command {
    Command::Event(EventCommand::BlockSeats(BlockSeats { seats, areas, reason: reason.into() }))
}

fn unblock(seats: Vec<u32>, areas: Vec<AreaCount>) -> Command {
    Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats, areas }))
}

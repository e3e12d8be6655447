//! What buyers ask of holds, and every answer to it.

use onsale_domain::event::EventStatus;
use onsale_domain::seats::command::{
    BestAvailable, ConfirmHold, DropSeats, ExtendHold, GrowHold, Pick, PlaceHold,
};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventCommand, Status};
use onsale_domain::{Command, HoldId, Listing, Millis, OrderId};

use super::super::world::World;
use super::Generator;
use super::picks::{living, seats_of};

pub(super) const GENERATORS: &[Generator] = &[
    Generator {
        dice: &[0..=29, 84..=86],
        ask: World::place_hold,
        bare: World::place_hold,
        verbs: &[(
            "place_hold",
            &[
                "done",
                "already_yours",
                "invalid",
                "event_cancelled",
                "sale_not_started",
                "sale_closed",
                "seat_unknown",
                "area_unknown",
                "seat_sold",
                "seat_blocked",
                "seat_held",
                "no:already_yours",
                "area_full",
                "buyer_limit",
                "leaves_single_seat",
                "not_enough_seats",
                "id_taken",
            ],
            &[],
        )],
    },
    Generator {
        dice: &[49..=55],
        ask: World::extend_hold,
        bare: |world, event| extend(world, event, None),
        verbs: &[(
            "extend_hold",
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
                "extensions_used",
                "extension_cap",
            ],
            &[],
        )],
    },
    Generator {
        dice: &[56..=61],
        ask: World::drop_seats,
        bare: World::drop_seats,
        verbs: &[(
            "drop_seats",
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
                "seat_not_in_hold",
            ],
            &[],
        )],
    },
    Generator {
        dice: &[100..=109],
        ask: World::grow_hold,
        bare: World::grow_hold,
        verbs: &[(
            "grow_hold",
            &[
                "done",
                "already_yours",
                "hold_unknown",
                "expired",
                "released",
                "overridden",
                "hold_confirmed",
                "stale_fence",
                "invalid",
                "event_cancelled",
                "sale_closed",
                "sale_not_started",
                "seat_unknown",
                "area_unknown",
                "seat_sold",
                "seat_blocked",
                "seat_held",
                "no:already_yours",
                "area_full",
                "buyer_limit",
                "leaves_single_seat",
            ],
            &[],
        )],
    },
    Generator {
        dice: &[42..=48],
        ask: World::release_hold,
        bare: World::release_hold,
        verbs: &[(
            "release_hold",
            &["done", "hold_unknown", "expired", "released", "overridden", "hold_confirmed", "stale_fence"],
            &[],
        )],
    },
    Generator {
        dice: &[62..=69],
        ask: World::confirm_hold,
        bare: World::confirm_new_order,
        verbs: &[(
            "confirm_hold",
            &[
                "done",
                "hold_unknown",
                "expired",
                "released",
                "overridden",
                "hold_confirmed",
                "already_confirmed",
                "stale_fence",
                "event_cancelled",
                "payment_required",
                "id_taken",
            ],
            &[],
        )],
    },
];

impl World {
    fn place_hold(&mut self, event: &Listing) -> Command {
        let hold = match self.chance.recent(&self.holds, 9).map(|(hold, ..)| *hold) {
            Some(hold) if self.chance.one_in(25) => hold,
            _ => HoldId(self.fresh()),
        };
        let mut buyer = self.buyer();
        let pick = match self.chance.below(16) {
            0..=2 => Pick::Best(BestAvailable {
                count: if self.chance.one_in(20) { 21 } else { 1 + self.chance.below(5) as u32 },
                section: self.chance.one_in(4).then(|| self.chance.below(2) as u16),
                tier: self.chance.one_in(5).then_some(0),
                accessible: self.chance.one_in(6),
            }),
            3 if self.chance.one_in(3) => Pick::Seats(Vec::new()),
            4 if !self.holds.is_empty() => {
                // Exactly, or nearly, what somebody holds.
                let known = self.chance.recent(&self.holds, 6).cloned();
                let (hold, _, owner) = known.expect("some hold");
                buyer = owner;
                let mut seats = seats_of(event, hold, self.now);
                if self.chance.one_in(4) {
                    seats.push(self.seat());
                }
                Pick::Seats(seats)
            }
            5..=13 => Pick::Seats(self.free_run(event)),
            _ => Pick::Seats(self.some_seats(4)),
        };
        let areas = self.places_wanted(4);
        let hold_ms = match self.chance.below(6) {
            0 => Some(30_000 + self.chance.below(870) as Millis * 1_000),
            1 if self.chance.one_in(6) => Some(1),
            _ => None,
        };
        Command::Event(EventCommand::PlaceHold(PlaceHold { hold, buyer, pick, areas, hold_ms }))
    }

    /// Neighbours that are free.
    fn free_run(&mut self, event: &Listing) -> Vec<u32> {
        let Some(seats) = event.event() else { return vec![0] };
        let free: Vec<u32> =
            living(seats).filter(|seat| seats.seat_status(*seat) == Status::Available).collect();
        if free.is_empty() {
            return vec![self.seat()];
        }
        let from = self.chance.below(free.len() as u64) as usize;
        let count = 1 + self.chance.below(3) as usize;
        free.into_iter().skip(from).take(count).collect()
    }

    fn extend_hold(&mut self, event: &Listing) -> Command {
        let extension_ms = match self.chance.below(8) {
            0 => Some(500),
            1..=3 => Some(1_000 + self.chance.below(300) as Millis * 1_000),
            _ => None,
        };
        extend(self, event, extension_ms)
    }

    fn drop_seats(&mut self, event: &Listing) -> Command {
        let key = self.key(event);
        let mut seats = seats_of(event, key.hold, self.now);
        let keep = usize::from(!self.chance.one_in(4));
        seats.truncate(seats.len().saturating_sub(keep).min(2));
        if self.chance.one_in(8) {
            seats.push(self.seat());
        }
        let mut areas = self.places_wanted(5);
        if seats.is_empty() && areas.is_empty() && !self.chance.one_in(8) {
            areas = vec![AreaCount { area: self.chance.below(2) as u16, count: 1 }];
        }
        Command::Event(EventCommand::DropSeats(DropSeats { key, seats, areas }))
    }

    fn grow_hold(&mut self, event: &Listing) -> Command {
        // Holds outlive the sale: now and then staff postpones it just before.
        if self.chance.one_in(50) {
            return Command::Event(EventCommand::ChangeStatus(EventStatus::Postponed));
        }
        let key = self.key(event);
        let mut seats = match self.chance.below(8) {
            0 => self.some_seats(4),
            1 => seats_of(event, key.hold, self.now),
            2 => Vec::new(),
            _ => self.free_run(event),
        };
        if self.chance.one_in(12) {
            seats.extend(seats_of(event, key.hold, self.now));
        }
        if self.chance.one_in(6) {
            // What the buyer has in another hold.
            let others = self.holds.iter().rev().take(24);
            let own = others.filter(|(hold, _, owner)| *owner == key.buyer && *hold != key.hold);
            seats = own.flat_map(|(hold, ..)| seats_of(event, *hold, self.now)).take(2).collect();
        }
        let mut areas = self.places_wanted(3);
        if self.chance.one_in(16) {
            areas = vec![AreaCount { area: 0, count: 20 }];
        }
        Command::Event(EventCommand::GrowHold(GrowHold { key, seats, areas }))
    }

    fn release_hold(&mut self, event: &Listing) -> Command {
        Command::Event(EventCommand::ReleaseHold(self.key(event)))
    }

    fn confirm_hold(&mut self, event: &Listing) -> Command {
        let order = match self.chance.recent(&self.orders, 9).map(|(order, _)| *order) {
            Some(order) if self.chance.one_in(6) => order,
            _ => OrderId(self.fresh()),
        };
        let (key, settled) = (self.key(event), !self.chance.one_in(5));
        Command::Event(EventCommand::ConfirmHold(ConfirmHold { key, order, settled }))
    }

    fn confirm_new_order(&mut self, event: &Listing) -> Command {
        let key = self.key(event);
        let order = OrderId(self.fresh());
        Command::Event(EventCommand::ConfirmHold(ConfirmHold { key, order, settled: true }))
    }
}

fn extend(world: &mut World, event: &Listing, extension_ms: Option<Millis>) -> Command {
    Command::Event(EventCommand::ExtendHold(ExtendHold { key: world.key(event), extension_ms }))
}

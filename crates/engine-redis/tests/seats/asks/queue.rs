//! What buyers ask of the queue of a seat, and every answer to it.

use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{JoinQueue, LeaveQueue};
use onsale_domain::{Command, HoldId, Listing};

use super::super::world::World;
use super::Generator;
use super::picks::held_seats;

pub(super) const GENERATORS: &[Generator] = &[
    Generator {
        dice: &[30..=38],
        ask: World::join_queue,
        bare: World::join_queue,
        verbs: &[(
            "join_queue",
            &[
                "done",
                "still_queued",
                "event_cancelled",
                "sale_not_started",
                "sale_closed",
                "seat_unknown",
                "seat_sold",
                "seat_blocked",
                "seat_available",
                "no:already_yours",
                "queue_full",
                "queue_limit",
                "id_taken",
            ],
            &[],
        )],
    },
    Generator {
        dice: &[39..=41],
        ask: World::leave_queue,
        bare: World::leave_any_queue,
        verbs: &[("leave_queue", &["done", "seat_unknown", "place_unknown"], &[])],
    },
];

impl World {
    fn join_queue(&mut self, event: &Listing) -> Command {
        let place = match self.chance.recent(&self.holds, 9).map(|(hold, ..)| *hold) {
            Some(hold) if self.chance.one_in(12) => hold,
            _ => HoldId(self.fresh()),
        };
        if self.chance.one_in(4)
            && let Some((seat, buyer)) = self.chance.recent(&self.places, 4).cloned()
        {
            return Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer }));
        }
        let held = held_seats(event);
        let seat = match self.chance.pick(&held).copied() {
            Some(seat) if !self.chance.one_in(4) => seat,
            _ => self.seat(),
        };
        Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer: self.buyer() }))
    }

    fn leave_queue(&mut self, _: &Listing) -> Command {
        let known = self.chance.recent(&self.places, 4).cloned();
        let (seat, buyer) = match known {
            Some(known) if !self.chance.one_in(3) => known,
            _ => (self.seat(), self.buyer()),
        };
        Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat, buyer }))
    }

    fn leave_any_queue(&mut self, _: &Listing) -> Command {
        let (seat, buyer) = (self.seat(), self.buyer());
        Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat, buyer }))
    }
}

//! Buyers who want more: seats beside the ones they hold, seats of others, what they have already, too much.

use onsale_domain::seats::command::GrowHold;
use onsale_domain::seats::{EventCommand, Status};
use onsale_domain::{Command, HoldId};

use super::Workload;
use crate::model::{Event, Listing};
use crate::rng::Rng;

impl Workload {
    pub(super) fn grow_hold(&mut self, rng: &mut Rng, listing: &Listing, event: &Event) -> Command {
        let mut key = self.key(rng, listing, event);
        let statuses = event.statuses();
        let all = 0..statuses.len() as u32;
        let free: Vec<u32> = all.filter(|seat| statuses[*seat as usize] == Status::Available).collect();
        let mut seats: Vec<u32> = match rng.below(10) {
            0..6 => {
                let from = rng.below(free.len().max(1) as u64) as usize;
                free.into_iter().skip(from).take(rng.range(1, 3) as usize).collect()
            }
            6..9 => (0..rng.range(0, 3)).map(|_| self.seat(rng, event)).collect(),
            _ => (0..rng.range(15, 22) as u32).collect(),
        };
        let hold = event.holds.get(&key.hold);
        if let Some(hold) = hold.filter(|_| rng.chance(150)) {
            seats.extend(hold.seats.iter().map(|line| line.seat));
        }
        if rng.chance(970) {
            seats.sort_unstable();
            seats.dedup();
        }
        let areas = if rng.chance(250) { self.areas(rng, event) } else { Vec::new() };
        // The token of before, from another window.
        if let Some(hold) = hold.filter(|_| rng.chance(100)) {
            key.fence = hold.fence - 1;
        }
        if rng.chance(10) {
            key.hold = HoldId(7);
        }
        Command::Event(EventCommand::GrowHold(GrowHold { key, seats, areas }))
    }
}

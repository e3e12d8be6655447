//! The end of a run: everything that is under way comes, and then the bank and our books say the same.

use crate::model::{Listing, MoneyTotals};
use crate::world::World;

/// Rounds after which everything that will come must have come.
const ROUNDS_MAX: usize = 400;

impl World {
    pub(in crate::world) fn close_the_desk(&mut self) -> Result<(), String> {
        for round in 0..ROUNDS_MAX {
            // The slowest money comes, and everybody's days are over; some of it may be the last chance of the next.
            if self.workload.is_keeping() && round % 40 == 0 && self.bank.is_patient(self.clock) {
                self.clock += 25 * 3_600_000;
            }
            self.step += 100;
            self.clock += 5_000;
            for _ in 0..8 {
                self.work_at_the_desk();
            }
            for requests in self.network.arrived(self.step) {
                self.arrive(requests);
            }
            (0..self.shards).try_for_each(|shard| self.decide(shard, usize::MAX))?;
            while !self.pending.is_empty() {
                self.commit()?;
            }
            self.hear(true)?;
        }
        let (taken, given_back) = self.bank.moved();
        let mut books = MoneyTotals::default();
        for other in self.auditor.listings.values().filter_map(|one| one.other()) {
            let moved = other.moved();
            books.captured += moved.captured;
            books.owed += moved.owed;
            books.paid_back += moved.paid_back;
            books.worth += moved.worth;
        }
        if (taken, given_back, books.owed) != (books.captured, books.paid_back, books.paid_back) {
            return Err(format!("the bank took {taken} and gave {given_back} back, our books say {books:?}"));
        }
        if taken - given_back != books.worth {
            return Err(format!(
                "{} is kept, confirmed orders are worth {}",
                taken - given_back,
                books.worth
            ));
        }
        let overdue = |one: &&Listing| one.other().is_some_and(|other| other.is_overdue(self.clock));
        match self.auditor.listings.values().find(overdue) {
            Some(late) if self.workload.is_keeping() => {
                Err(format!("{} keeps something for somebody whose time is over", late.id))
            }
            Some(_) | None => Ok(()),
        }
    }
}

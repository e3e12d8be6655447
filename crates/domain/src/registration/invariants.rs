//! What must be true of a registration after every fact, counted again from scratch.

use std::collections::BTreeSet;

use super::state::{EntryStep, Registration};

macro_rules! ensure {
    ($condition:expr, $($why:tt)*) => {
        if !$condition {
            return Err(format!($($why)*));
        }
    };
}

/// The first thing that is not as it must be, in words.
pub fn check(registration: &Registration) -> Result<(), String> {
    let (mut waiting, mut due) = (BTreeSet::new(), BTreeSet::new());
    let (mut confirmed, mut paid_for, mut buyers) = (0, 0, BTreeSet::new());
    for entry in registration.entries.values() {
        let index = registration.entry_index(entry.id).unwrap_or(u32::MAX);
        ensure!(registration.entry_of(&entry.buyer()) == Some(index), "{} not found", entry.buyer);
        ensure!(buyers.insert(&*entry.buyer), "{} has two entries", entry.buyer);
        ensure!(registration.by_fence.get(&entry.fence) == Some(&index), "{:?} not in order", entry.id);
        match entry.step {
            EntryStep::Waiting => _ = waiting.insert((entry.fence, index)),
            EntryStep::Offered { until, .. } => _ = due.insert((until, entry.fence, index)),
            EntryStep::Confirmed { paid } => {
                confirmed += 1;
                if let Some(paid) = paid {
                    let order = paid.order;
                    paid_for += 1;
                    ensure!(registration.entry_by_order.get(&order) == Some(&index), "{order:?} not found");
                    ensure!(!registration.given_up.contains_key(&order), "{order:?} has and had a place");
                }
            }
        }
    }
    ensure!(registration.waiting.iter().copied().eq(waiting), "the line is not those who wait, in order");
    ensure!(registration.due.iter().eq(due.iter().copied()), "the deadlines are not those of the offers");
    ensure!(registration.confirmed == confirmed, "{} confirmed, counted {confirmed}", registration.confirmed);
    ensure!(registration.offered as usize == due.len(), "offered does not add up");
    ensure!(registration.entry_by_order.len() == paid_for, "orders do not add up");
    ensure!(registration.by_fence.len() == registration.entries.len(), "entries do not add up");
    ensure!(
        registration.taken() <= registration.capacity,
        "{} of {}",
        registration.taken(),
        registration.capacity
    );
    Ok(())
}

//! The contract of the port, as text tables: what every engine must answer, whatever it is built on.
//! `table` reads and runs one of seats and venues, `lines` one of the other kinds, `suite` lists all, `direct` is the plainest engine there is: the domain behind a lock.

mod auctions;
mod awards;
mod desks;
pub mod direct;
mod lines;
mod orders;
mod own;
pub mod reads;
mod registrations;
mod sales;
mod series;
pub mod suite;
pub mod table;

use onsale_domain::{ListingId, Millis};

use crate::engine::Engine;

/// An engine under test, with its hands on the clock and the power switch.
pub trait Harness {
    fn engine(&self) -> &dyn Engine;

    /// Sets the engine's clock; tables only ever move it forward, unless a line says otherwise on purpose.
    fn set_clock(&self, now: Millis);

    /// Closes the engine and opens it again on what it had made durable.
    fn restart(&mut self);

    /// Looks inside a listing, if this engine lets us.
    fn check_invariants(&self, _listing: &ListingId) -> Result<(), String> {
        Ok(())
    }
}

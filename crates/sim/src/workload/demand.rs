//! What is asked of a listing of whatever kind: each kind says it beside its other wishes, and `each_kind!` finds it.

use onsale_domain::desk::Desk;
use onsale_domain::listing::Body;
use onsale_domain::seats::{EventQuery, Seats};
use onsale_domain::venue::Venue;
use onsale_domain::{BuyerId, Command, Kind, ListingId, Query, each_kind};
use onsale_engine::Request;

use super::Workload;
use crate::model::other::Other;
use crate::rng::Rng;

/// A kind of listing of which somebody wants something.
pub(super) trait Demand: Kind {
    /// A command for this listing as it is now.
    fn wish(&self, _workload: &mut Workload, _rng: &mut Rng, _clock: i64) -> Command {
        Command::ExpireDue { limit: 1 }
    }

    /// A question about somebody's things.
    fn question(&self, _workload: &mut Workload, _rng: &mut Rng, buyer: BuyerId) -> Query {
        Query::Event(EventQuery::HoldsOf(buyer))
    }
}

macro_rules! demand {
    ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
        impl Workload {
            pub(super) fn of_other(&mut self, rng: &mut Rng, id: ListingId, other: &Other, clock: i64) -> Request {
                let command = match &other.listing.body {
                    Body::Nothing => Command::ExpireDue { limit: 1 },
                    $(Body::$Kind(state) => state.wish(self, rng, clock),)*
                };
                self.request(rng, id, command)
            }

            pub(super) fn question_of_other(&mut self, rng: &mut Rng, other: &Other) -> Query {
                let buyer = self.buyer(rng);
                match &other.listing.body {
                    Body::Nothing => Query::Event(EventQuery::HoldsOf(buyer)),
                    $(Body::$Kind(state) => state.question(self, rng, buyer),)*
                }
            }
        }
    };
}

each_kind!(demand);

// Events with orders are asked by `orders.rs`, desks by the payments' worker.
impl Demand for Seats {}
impl Demand for Venue {}
impl Demand for Desk {}

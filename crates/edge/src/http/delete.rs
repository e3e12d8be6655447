//! `DELETE` of a listing of any kind: only of what never sold or promised anything. Its id stays taken.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::Command;
use onsale_domain::listing::ListingCommand;

use super::extract::{
    AuctionPath, Caller, EventPath, ListingPath, RegistrationPath, SalePath, SeriesPath, VenuePath,
};
use super::problem::Problem;
use super::reply;
use crate::app::App;

async fn delete<const KIND: char>(
    app: &App,
    at: ListingPath<KIND>,
    caller: &Caller,
) -> Result<Response, Problem> {
    let origin = caller.origin(&at.listing, &());
    let command = Command::Listing(ListingCommand::Delete);
    Ok(reply::gone(&reply::submit(app, at.listing, command, origin, None).await?))
}

/// One handler for each kind, because each stands in the document at a path of its own.
macro_rules! deletes {
    ($($(#[$doc:meta])* $name:ident($Path:ty) $path:literal $tag:literal;)*) => {
        $($(#[$doc])*
        #[utoipa::path(delete, path = $path, tag = $tag,
            responses((status = 204, description = "It is gone"), (status = 409, description = "In use")))]
        pub async fn $name(State(app): State<Arc<App>>, at: $Path, caller: Caller) -> Result<Response, Problem> {
            delete(&app, at, &caller).await
        })*
    };
}

deletes! {
    /// Delete an event
    ///
    /// Only one of which nobody has a hold, a place in a queue or an order, now or ever. Its id and its `external_id` stay taken.
    event(EventPath) "/v1/events/{event}" "events";
    /// Delete a sale
    ///
    /// Only one in which nothing is reserved and nothing was ever bought. Its id and its `external_id` stay taken.
    sale(SalePath) "/v1/sales/{sale}" "sales";
    /// Delete a series
    ///
    /// Only one that has not opened a sale. Its id and its `external_id` stay taken.
    series(SeriesPath) "/v1/series/{series}" "series";
    /// Delete a registration
    ///
    /// Only one in which nobody has a place, waits for one or ever ordered one. Its id and its `external_id` stay taken.
    registration(RegistrationPath) "/v1/registrations/{registration}" "registrations";
    /// Delete an auction
    ///
    /// Only one without any bid. Its id and its `external_id` stay taken.
    auction(AuctionPath) "/v1/auctions/{auction}" "auctions";
    /// Delete a venue
    ///
    /// Events keep the layouts that they have. Its id and its `external_id` stay taken.
    venue(VenuePath) "/v1/venues/{venue}" "venues";
}

//! `/v1/me/favourites`: the listings that a person likes.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::accounts::Favourite;
use onsale_domain::{Code, ListingId};
use serde::Serialize;
use utoipa::ToSchema;

use super::asking::Asking;
use super::done;
use crate::app::App;
use crate::http::extract::{PathParams, find_listing};
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply;
use crate::http::time::Time;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Favourite)]
pub struct FavouriteBody {
    #[schema(example = "evt_0000000000000001")]
    listing: String,
    /// Since when it is one.
    created_at: Time,
}

impl From<Favourite> for FavouriteBody {
    fn from(known: Favourite) -> FavouriteBody {
        FavouriteBody { listing: known.listing, created_at: Time(known.created_ms) }
    }
}

/// My favourites
///
/// The newest first.
#[utoipa::path(get, path = "/v1/me/favourites", tag = "me",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<FavouriteBody>), (status = 404)))]
pub async fn list(asking: Asking, Query(page): Query<Page>) -> Result<Response, Problem> {
    let user = asking.person()?.user.as_str();
    let found = asking.access.accounts.favourites(user, &asking.context()).await?;
    let all = found.into_iter().map(FavouriteBody::from).collect();
    let key = |one: &FavouriteBody| format!("{:016x}{}", !one.created_at.ms(), one.listing);
    Ok(reply::json(StatusCode::OK, &list::of_all(&page, Cursors::new("me.favourites", user), all, key)?))
}

/// Make a listing a favourite
///
/// One that is a favourite already stays one.
#[utoipa::path(put, path = "/v1/me/favourites/{listing}", tag = "me",
    responses((status = 204), (status = 409, description = "Too many favourites")))]
pub async fn add(
    State(app): State<Arc<App>>,
    asking: Asking,
    params: PathParams,
) -> Result<Response, Problem> {
    let person = asking.person()?;
    let listing = read(&params)?;
    if !find_listing(&app, &asking.principal, listing).await? {
        return Err(Problem::code(Code::ListingUnknown));
    }
    asking.access.accounts.add_favourite(person.user.as_str(), &listing, &asking.context()).await?;
    Ok(done())
}

/// Take a listing from my favourites
///
/// One that is none stays none; also one that is not there any more.
#[utoipa::path(delete, path = "/v1/me/favourites/{listing}", tag = "me", responses((status = 204)))]
pub async fn remove(asking: Asking, params: PathParams) -> Result<Response, Problem> {
    let person = asking.person()?;
    let listing = read(&params)?;
    asking.access.accounts.remove_favourite(person.user.as_str(), &listing, &asking.context()).await?;
    Ok(done())
}

fn read(params: &PathParams) -> Result<ListingId, Problem> {
    ListingId::parse(params.first()).ok_or_else(|| Problem::code(Code::ListingUnknown))
}

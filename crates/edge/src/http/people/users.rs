//! `/v1/users`: people, for the staff who look after them.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::asking::Asking;
use super::wire::{self, UserBody};
use crate::http::extract::{Json, PathParams};
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply;

/// Everybody with an account
///
/// In the order of their ids, without guests and without those that were deleted.
#[utoipa::path(get, path = "/v1/users", tag = "users",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<UserBody>)))]
pub async fn list(asking: Asking, Query(page): Query<Page>) -> Result<Response, Problem> {
    let (limit, cursors) = (list::limit(page.limit)?, Cursors::new("users.list", ""));
    let after = cursors.read(page.after.as_deref(), |place| Some(place.to_owned()))?.unwrap_or_default();
    // One more says whether there is another page.
    let count = u32::try_from(limit + 1).unwrap_or(u32::MAX);
    let found = asking.access.accounts.list(&after, count, &asking.context()).await?;
    let cut = list::cut(found, limit, |last| cursors.write(&last.user));
    Ok(reply::json(StatusCode::OK, &cut.into_told(UserBody::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserSearch {
    #[schema(example = "ann@example.org")]
    email: String,
}

/// Find somebody by their e-mail address
///
/// It stands in the body, because addresses of requests are written to logs.
#[utoipa::path(post, path = "/v1/users/find", tag = "users", request_body = UserSearch,
    responses((status = 200, body = UserBody), (status = 404)))]
pub async fn find(asking: Asking, Json(body): Json<UserSearch>) -> Result<Response, Problem> {
    wire::check_email("email", &body.email)?;
    let found = asking.access.accounts.find_by_email(&body.email, &asking.context()).await?;
    Ok(reply::json(StatusCode::OK, &UserBody::from(found)))
}

/// A person
///
/// Also a guest, and what is left of an account that was deleted.
#[utoipa::path(get, path = "/v1/users/{user}", tag = "users", responses((status = 200, body = UserBody)))]
pub async fn show(asking: Asking, params: PathParams) -> Result<Response, Problem> {
    user(&asking, params.first()).await
}

/// Disable an account
///
/// Ends all of its sessions, and nobody signs in to it; what was bought stays bought.
#[utoipa::path(post, path = "/v1/users/{user}/disable", tag = "users",
    responses((status = 200, body = UserBody), (status = 409)))]
pub async fn disable(asking: Asking, params: PathParams) -> Result<Response, Problem> {
    asking.access.accounts.disable(params.first(), asking.staff(), &asking.context()).await?;
    user(&asking, params.first()).await
}

/// Enable an account again
///
/// Its owner signs in as before.
#[utoipa::path(post, path = "/v1/users/{user}/enable", tag = "users",
    responses((status = 200, body = UserBody), (status = 409)))]
pub async fn enable(asking: Asking, params: PathParams) -> Result<Response, Problem> {
    asking.access.accounts.enable(params.first(), asking.staff(), &asking.context()).await?;
    user(&asking, params.first()).await
}

/// The person as it is now.
pub async fn user(asking: &Asking, user: &str) -> Result<Response, Problem> {
    let found = asking.access.accounts.find(user, &asking.context()).await?;
    Ok(reply::json(StatusCode::OK, &UserBody::from(found)))
}

//! `/v1/guests`: buying without signing up. A guest is an id and a session; signing up later keeps the id and all that it has.

use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::asking::Asking;
use super::wire::{self, DeviceBody, SessionBegun};
use crate::http::extract::Json;
use crate::http::problem::Problem;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGuest {
    /// True: the session's token goes into a cookie. Without it browsers get a cookie, and programs the token.
    #[serde(default)]
    cookie: Option<bool>,
    #[serde(default)]
    #[schema(example = "mobile")]
    device_type: Option<String>,
    #[serde(default)]
    #[schema(example = "Ann's phone")]
    device_name: Option<String>,
}

/// Begin as a guest
///
/// A session without an account: it holds, pays and looks at its own. `POST /v1/accounts` makes an account of it later, under the same
/// id. Each request makes another guest.
#[utoipa::path(post, path = "/v1/guests", tag = "accounts", request_body = NewGuest,
    responses((status = 201, body = SessionBegun)))]
pub async fn create(asking: Asking, Json(body): Json<NewGuest>) -> Result<Response, Problem> {
    let told = DeviceBody { device_type: body.device_type, device_name: body.device_name };
    wire::check_device(&told)?;
    let carrier = asking.new_carrier(body.cookie)?;
    let started = asking.access.accounts.start_guest(&asking.device(&told), &asking.context()).await?;
    Ok(wire::begun(&started, carrier, false, asking.now_ms))
}

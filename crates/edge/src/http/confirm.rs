//! `POST …/holds/{hold}/confirm`: held becomes sold, under an order. The API key counts as the merchant's, with
//! scope `settle`: it says that the money was taken elsewhere.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use onsale_domain::id::write_inside;
use onsale_domain::seats::command::ConfirmHold;
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::{Code, Command, Fact, HoldId, OrderId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::credential;
use super::extract::{self, Caller, EventPath, Json};
use super::lost;
use super::names::Names;
use super::problem::Problem;
use super::reply::{self, own_fact};
use super::time::Time;
use super::wire::{At, hold_text};
use crate::app::App;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct Confirm {
    /// The order's id, `ord_…` of this event; made by the server if absent.
    pub order: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Confirmed {
    /// The hold, which is over.
    id: String,
    #[schema(example = "ord_default_01kz0000000000000000000000_01kz0000000000000000000002")]
    order: String,
    event: String,
    confirmed_at: Time,
    #[schema(value_type = String, example = "1-7")]
    position: At,
}

/// Confirm a hold: its seats are sold
#[utoipa::path(post, path = "/v1/events/{event}/holds/{hold}/confirm", tag = "holds", request_body = Confirm,
    params(("event" = String, Path), ("hold" = String, Path), ("Hold-Token" = String, Header),
           ("Onsale-Buyer" = Option<String>, Header), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = Confirmed), (status = 410, body = super::problem::ProblemBody),
              (status = 412, body = super::problem::ProblemBody)))]
pub async fn confirm(
    State(app): State<Arc<App>>,
    at: EventPath,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<Confirm>,
) -> Result<Response, Problem> {
    let hold = HoldId(at.inside("hld", Code::HoldUnknown)?);
    let names = Names::of(&*app.engine, &at.listing)?;
    let order = match &body.order {
        None => app.new_number(),
        Some(text) => extract::inside(&at.listing, "ord", text, Code::OrderUnknown)
            .map_err(|_| Problem::invalid("order", "an id of the form ord_… that belongs to this event"))?,
    };
    let (buyer, keyed) = (caller.buyer.as_ref(), caller.key.is_some());
    let credential = credential::check(&app, at.listing, hold, &headers, buyer, keyed).await?;
    let origin = caller.origin(&at.listing, &(credential.text, &body));
    let fence = credential.key.fence;
    let command =
        Command::Event(EventCommand::ConfirmHold(ConfirmHold { key: credential.key, order: OrderId(order) }));
    let answer = lost::submit(&app, at.listing, fence, command, origin, Some(&names)).await?;
    let (_, order) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::HoldConfirmed { order, .. }) = fact { Some(*order) } else { None }
    })?;
    let body = Confirmed {
        id: hold_text(&at.listing, hold),
        order: write_inside("ord", &at.listing, order.0),
        event: at.listing.to_string(),
        confirmed_at: Time(reply::time_of(&answer)),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}

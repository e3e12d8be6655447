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
    order: String,
    event: String,
    confirmed_at: Time,
    #[schema(value_type = String, example = "1-7")]
    position: At,
}

/// Confirm a hold: its seats are sold
///
/// The money was taken elsewhere. To have it taken by a payment provider, place an order for the hold instead.
#[utoipa::path(post, path = "/v1/events/{event}/holds/{hold}/confirm", tag = "holds", request_body = Confirm,
    params(("Hold-Token" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = Confirmed), (status = 410), (status = 412)))]
pub async fn confirm(
    State(app): State<Arc<App>>,
    at: EventPath,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<Confirm>,
) -> Result<Response, Problem> {
    let hold = HoldId(at.inside("hld", Code::HoldUnknown)?);
    let names = Names::of(&*app.engine, &at.listing)?;
    let order = extract::given_order(&at.listing, body.order.as_deref(), "event")?;
    let (buyer, keyed) = (caller.buyer.as_ref(), caller.key.is_some());
    let credential = credential::check(&app, at.listing, hold, &headers, buyer, keyed).await?;
    let origin = caller.origin(&at.listing, &(credential.text, &body));
    let fence = credential.key.fence;
    let confirm = |number| {
        let (key, order) = (credential.key.clone(), order.unwrap_or(OrderId(number)));
        Command::Event(EventCommand::ConfirmHold(ConfirmHold { key, order }))
    };
    let answer = match order {
        Some(order) => reply::submit(&app, at.listing, confirm(order.0), origin, Some(&names)).await,
        None => {
            let tell = |refusal: &_| Problem::refused(refusal, Some(&names));
            reply::submit_new(&app, at.listing, origin, tell, confirm).await
        }
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(problem) => return Err(lost::instead(&app, at.listing, Some(fence), problem).await),
    };
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

//! `POST /v1/holds/{hold}/confirm`: held becomes sold, under an order. What costs something is sold only to a caller who says
//! that the money was taken elsewhere.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use onsale_domain::id::write_inside;
use onsale_domain::listing::split_fence;
use onsale_domain::seats::command::ConfirmHold;
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::{Command, Fact, HoldId, ListingId, OrderId, Outcome};
use onsale_engine::Position;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::credential;
use super::extract::{Caller, HoldPath, Json};
use super::lost;
use super::problem::Problem;
use super::reply::{self, own_fact};
use super::time::Time;
use super::wire::{At, hold_text};
use crate::app::App;

/// How goods are bought directly, whatever they are.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"paid_elsewhere": true}))]
pub struct DirectPurchase {
    /// True if the money was taken elsewhere. Without it only what costs nothing is bought; all else needs an order.
    #[serde(default)]
    pub paid_elsewhere: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HoldConfirmed {
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
/// With `paid_elsewhere` if they cost anything: the money was taken elsewhere. To have it taken by a payment provider, place an order for
/// the hold instead. Asked again while the hold is remembered it is answered the same.
#[utoipa::path(post, path = "/v1/holds/{hold}/confirm", tag = "holds", request_body = DirectPurchase,
    params(("Hold-Token" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = HoldConfirmed), (status = 410), (status = 412)))]
pub async fn confirm(
    State(app): State<Arc<App>>,
    at: HoldPath,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<DirectPurchase>,
) -> Result<Response, Problem> {
    caller.settles(body.paid_elsewhere)?;
    let hold = HoldId(at.number);
    let (buyer, keyed) = (caller.buyer.as_ref(), caller.key.is_some());
    let credential = credential::check(&app, at.listing, hold, &headers, buyer, keyed).await?;
    let origin = caller.origin(&at.listing, &(credential.text, &body));
    let fence = credential.key.fence;
    let confirm = |order| {
        let (key, settled) = (credential.key.clone(), body.paid_elsewhere);
        Command::Event(EventCommand::ConfirmHold(ConfirmHold { key, order, settled }))
    };
    let answer = match reply::submit_order(&app, at.listing, origin, hold.0, confirm).await {
        Ok(answer) => answer,
        Err(problem) => {
            return Err(lost::or_bought(&app, at.listing, (hold, fence), problem).await);
        }
    };
    if let Outcome::AlreadyConfirmed(order) = &answer.outcome {
        let body = HoldConfirmed::new(&at.listing, hold, order.order, (order.at, order.fence));
        return Ok(reply::yes(StatusCode::OK, &answer, &body));
    }
    let (fence, order) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::HoldConfirmed { order, .. }) = fact { Some(*order) } else { None }
    })?;
    let body = HoldConfirmed::new(&at.listing, hold, order, (reply::time_of(&answer), fence));
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}

impl HoldConfirmed {
    /// `made`: when, and the fence of the fact that made the order.
    fn new(event: &ListingId, hold: HoldId, order: OrderId, made: (i64, u64)) -> HoldConfirmed {
        let (epoch, offset) = split_fence(made.1);
        HoldConfirmed {
            id: hold_text(event, hold),
            order: write_inside("ord", event, order.0),
            event: event.to_string(),
            confirmed_at: Time(made.0),
            position: At(Position { epoch, offset }),
        }
    }
}

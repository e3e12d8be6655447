//! `POST …/overrides`: staff takes a hold away or gives it to somebody else; on record with why.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::seats::command::OverrideHold;
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::{Code, Command, Fact, HoldId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{self, Caller, EventPath, Json};
use super::names::Names;
use super::problem::Problem;
use super::reply::{self, own_fact};
use super::time::Time;
use super::wire::{At, hold_text, seconds};
use crate::app::App;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Override {
    pub hold: String,
    #[schema(example = "wheelchair seat needed")]
    pub reason: String,
    /// The new holder; nobody: the seats come free.
    pub to: Option<OverrideTo>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideTo {
    #[schema(example = "bob")]
    pub buyer: String,
    /// 30 to 900; the event's own if absent.
    pub hold_seconds: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HoldOverridden<'a> {
    hold: String,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<NewHolder<'a>>,
    #[schema(value_type = String, example = "1-8")]
    position: At,
}

/// The new holder reads the new token by GET of the hold.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewHolder<'a> {
    buyer: &'a str,
    expires_at: Time,
    /// How long that is after the answer was first given.
    expires_in_seconds: u64,
    fence: u64,
}

/// Take a hold away, or give it to another
///
/// With a reason, which stays on record. The new holder asks for the hold to get its token.
#[utoipa::path(post, path = "/v1/events/{event}/overrides", tag = "staff", request_body = Override,
    responses((status = 200, body = HoldOverridden), (status = 410)))]
pub async fn place(
    State(app): State<Arc<App>>,
    at: EventPath,
    caller: Caller,
    Json(body): Json<Override>,
) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let hold = HoldId(extract::inside(&at.listing, "hld", &body.hold, Code::HoldUnknown)?);
    let to = match &body.to {
        None => None,
        Some(to) => {
            let buyer = extract::buyer(&to.buyer);
            let wrong = || Problem::invalid("to.buyer", extract::BUYER_RULE);
            Some((buyer.ok_or_else(wrong)?, to.hold_seconds.map(seconds)))
        }
    };
    let origin = caller.origin(&at.listing, &body);
    let reason = body.reason.clone();
    let command = Command::Event(EventCommand::OverrideHold(OverrideHold { hold, reason, to }));
    let tell =
        |refusal: &_| Problem::refused(refusal, Some(&names)).renamed("hold_seconds", "to.hold_seconds");
    let answer = reply::submit_told(&app, at.listing, command, origin, tell).await?;
    let (fence, (reason, to)) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::HoldOverridden { reason, to, .. }) = fact {
            Some((reason, to))
        } else {
            None
        }
    })?;
    let to = to.as_ref().map(|to| NewHolder {
        buyer: to.buyer.as_str(),
        expires_at: Time(to.until),
        expires_in_seconds: Time(to.until).seconds_after(reply::time_of(&answer)),
        fence,
    });
    let position = At(reply::position_of(&answer));
    let body = HoldOverridden { hold: hold_text(&at.listing, hold), reason, to, position };
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}

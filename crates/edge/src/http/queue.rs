//! `…/seats/{seat}/queue`: wait for a seat that another holds. POST joins or renews, GET looks, DELETE leaves.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Question;
use onsale_domain::outcome::PlaceState;
use onsale_domain::seats::command::{JoinQueue, LeaveQueue};
use onsale_domain::seats::{EventCommand, EventFact, EventFound, EventQuery};
use onsale_domain::{Code, Command, Fact, HoldId, Millis, Outcome};
use serde::Serialize;
use utoipa::ToSchema;

use super::credential::ended;
use super::extract::{Caller, EventPath};
use super::names::Names;
use super::problem::Problem;
use super::reply::{self, own_fact};
use super::time::Time;
use super::wire::{At, HoldBody, HoldParts, hold_text};
use crate::app::App;

#[derive(Debug, Serialize, ToSchema)]
pub struct QueuePlace<'a> {
    /// The place's id; when the seat is offered, the id of the hold.
    #[schema(example = "hld_default_01kz0000000000000000000000_01kz0000000000000000000003")]
    place: String,
    seat: &'a str,
    /// 1 is the next to be served.
    position: u32,
    /// Renew by POST before this instant; with more than 150 s left that changes nothing.
    expires_at: Time,
    expires_in_seconds: u64,
}

/// What waiting has come to: a place, or an offer that is now a hold.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueueState<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<QueuePlace<'a>>,
    /// The seat is yours until the hold's deadline: extend, confirm or release it.
    #[serde(skip_serializing_if = "Option::is_none")]
    offer: Option<HoldBody<'a>>,
}

fn body<'a>(names: &Names, seat: &'a str, state: &PlaceState, now: Millis) -> QueuePlace<'a> {
    let expires_at = Time(state.until);
    QueuePlace {
        place: hold_text(&names.view.listing, state.place),
        seat,
        position: state.ahead + 1,
        expires_at,
        expires_in_seconds: expires_at.seconds_after(now),
    }
}

/// Join a seat's queue, or renew the place
#[utoipa::path(post, path = "/v1/events/{event}/seats/{seat}/queue", tag = "queue",
    params(("event" = String, Path), ("seat" = String, Path), ("Onsale-Buyer" = String, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 201, description = "Joined", body = QueuePlace),
              (status = 200, description = "In the queue before", body = QueuePlace),
              (status = 409, body = super::problem::ProblemBody)))]
pub async fn join(State(app): State<Arc<App>>, at: EventPath, caller: Caller) -> Result<Response, Problem> {
    let mut names = Names::of(&*app.engine, &at.listing)?;
    let (seat, buyer) = (names.seat(at.inner()), caller.buyer()?.clone());
    let origin = caller.origin(&at.listing, &());
    let command =
        Command::Event(EventCommand::JoinQueue(JoinQueue { place: HoldId(app.new_number()), seat, buyer }));
    let answer = reply::submit(&app, at.listing, command, origin, Some(&names)).await?;
    let now = reply::time_of(&answer);
    if let Outcome::StillQueued(still) = &answer.outcome {
        let body = body(&names, at.inner(), still, now);
        return Ok(reply::yes(StatusCode::OK, &answer, &body));
    }
    let (_, (status, place)) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::QueueJoined { place, until, ahead, .. }) = fact {
            return Some((StatusCode::CREATED, (*place, *ahead, *until)));
        }
        if let Fact::Event(EventFact::PlaceRenewed { place, until, ahead }) = fact {
            return Some((StatusCode::OK, (*place, *ahead, *until)));
        }
        None
    })?;
    let (place, ahead, until) = place;
    let state = PlaceState { place, seat, until, ahead };
    Ok(reply::yes(status, &answer, &body(&names, at.inner(), &state, now)))
}

/// The place in the queue, or the offer it became
#[utoipa::path(get, path = "/v1/events/{event}/seats/{seat}/queue", tag = "queue",
    params(("event" = String, Path), ("seat" = String, Path), ("Onsale-Buyer" = String, Header)),
    responses((status = 200, body = QueueState), (status = 404, body = super::problem::ProblemBody)))]
pub async fn show(State(app): State<Arc<App>>, at: EventPath, caller: Caller) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let buyer = caller.buyer()?.clone();
    let seat = names.event().chart.seat_named(at.inner());
    let seat = seat.ok_or_else(|| Problem::code(Code::SeatUnknown))?;
    let found = app.engine.ask(at.listing, EventQuery::Place { seat, buyer }.into()).await?;
    match EventQuery::answer(found).unwrap_or(EventFound::Nothing) {
        EventFound::Place(place) => {
            let waiting = Some(body(&names, at.inner(), &place, app.engine.now()));
            Ok(reply::json(StatusCode::OK, &QueueState { waiting, offer: None }))
        }
        EventFound::Hold(state) => {
            let offer =
                Some(HoldBody::new(HoldParts::from(&*state), app.engine.now(), &names, Some(&app.tokens)));
            Ok(reply::json(StatusCode::OK, &QueueState { waiting: None, offer }))
        }
        EventFound::Ended(end) => Err(Problem::code(ended(end))),
        EventFound::Nothing | EventFound::Holds(_) | EventFound::Order(_) => {
            Err(Problem::code(Code::PlaceUnknown))
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct QueueLeft<'a> {
    place: String,
    seat: &'a str,
    left_at: Time,
    #[schema(value_type = String, example = "1-9")]
    position: At,
}

/// Leave a seat's queue
#[utoipa::path(delete, path = "/v1/events/{event}/seats/{seat}/queue", tag = "queue",
    params(("event" = String, Path), ("seat" = String, Path), ("Onsale-Buyer" = String, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = QueueLeft), (status = 404, body = super::problem::ProblemBody)))]
pub async fn leave(State(app): State<Arc<App>>, at: EventPath, caller: Caller) -> Result<Response, Problem> {
    let mut names = Names::of(&*app.engine, &at.listing)?;
    let (seat, buyer) = (names.seat(at.inner()), caller.buyer()?.clone());
    let origin = caller.origin(&at.listing, &());
    let command = Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat, buyer }));
    let answer = reply::submit(&app, at.listing, command, origin, Some(&names)).await?;
    let (_, place) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::QueueLeft { place }) = fact { Some(*place) } else { None }
    })?;
    let body = QueueLeft {
        place: hold_text(&at.listing, place),
        seat: at.inner(),
        left_at: Time(reply::time_of(&answer)),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}

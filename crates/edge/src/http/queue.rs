//! `…/seats/{seat}/queue`: wait for a seat that another holds. POST joins or renews, GET looks, DELETE leaves.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Question;
use onsale_domain::id::SeatIndex;
use onsale_domain::outcome::PlaceState;
use onsale_domain::seats::command::{JoinQueue, LeaveQueue, PlaceHold};
use onsale_domain::seats::{EventCommand, EventFact, EventFound, EventQuery};
use onsale_domain::{Code, Command, Fact, HoldId, ListingId, Millis, Outcome, Refusal};
use onsale_engine::{Answer, EngineError};
use serde::Serialize;
use utoipa::ToSchema;

use super::credential::ended;
use super::extract::{Caller, EventPath, Origin};
use super::names::Names;
use super::problem::{Problem, catalog};
use super::reply::{self, find_fact, own_fact};
use super::time::Time;
use super::wire::{At, HoldBody, HoldParts, hold_text};
use super::words::PlaceStatus;
use crate::app::App;

#[derive(Debug, Serialize, ToSchema)]
pub struct QueuePlace<'a> {
    /// The place's id; when the seat is offered, the id of the hold.
    place: String,
    seat: &'a str,
    /// 1 is the next to be served.
    place_in_line: u32,
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

/// A place that waits, asked for by its own id: the id of the hold that it becomes.
#[derive(Debug, Serialize, ToSchema)]
pub struct WaitingPlace<'a> {
    id: String,
    event: String,
    status: PlaceStatus,
    #[serde(flatten)]
    place: QueuePlace<'a>,
}

pub fn waiting<'a>(names: &'a Names, place: &PlaceState, now: Millis) -> WaitingPlace<'a> {
    let place = body(names, names.seat_text(place.seat), known(place), now);
    WaitingPlace {
        id: place.place.clone(),
        event: names.view.listing.to_string(),
        status: PlaceStatus::Waiting,
        place,
    }
}

/// Where a place in a seat's queue is found.
pub fn location(event: &ListingId, seat: &str) -> String {
    format!("/v1/events/{event}/seats/{}/queue", reply::path_word(seat))
}

fn body<'a>(
    names: &Names,
    seat: &'a str,
    (place, ahead, until): (HoldId, u32, Millis),
    now: Millis,
) -> QueuePlace<'a> {
    let expires_at = Time(until);
    QueuePlace {
        place: hold_text(&names.view.listing, place),
        seat,
        place_in_line: ahead + 1,
        expires_at,
        expires_in_seconds: expires_at.seconds_after(now),
    }
}

/// Join a seat's queue, or renew the place
///
/// Whoever is first when the seat comes free gets it offered for a minute. Join again now and then to keep the place.
#[utoipa::path(post, path = "/v1/events/{event}/seats/{seat}/queue", tag = "queue",
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 201, description = "Joined", body = QueuePlace), (status = 200, description = "In the queue before", body = QueuePlace)))]
pub async fn join(State(app): State<Arc<App>>, at: EventPath, caller: Caller) -> Result<Response, Problem> {
    let mut names = Names::of(&*app.engine, &at.listing)?;
    let (seat, buyer) = (names.seat(at.inner()), caller.buyer()?.clone());
    let origin = caller.origin(&at.listing, &());
    let join = |number| {
        let join = JoinQueue { place: HoldId(number), seat, buyer: buyer.clone() };
        Command::Event(EventCommand::JoinQueue(join))
    };
    let tell = |refusal: &_| Problem::refused(refusal, Some(&names)).of_seat_in_path();
    let answer = reply::submit_new(&app, at.listing, origin, tell, join).await?;
    let told = place_told(&answer, &names, at.inner());
    let (status, body) = told.ok_or_else(|| Problem::of(catalog::INTERNAL))?;
    if status == StatusCode::CREATED {
        return Ok(reply::created(&answer, &location(&at.listing, at.inner()), &body));
    }
    Ok(reply::yes(status, &answer, &body))
}

/// The place that an answer tells of: 201 if it is new. Nothing if the answer is another verb's.
pub fn place_told<'a>(answer: &Answer, names: &Names, seat: &'a str) -> Option<(StatusCode, QueuePlace<'a>)> {
    let now = reply::time_of(answer);
    if let Outcome::StillQueued(still) = &answer.outcome {
        return Some((StatusCode::OK, body(names, seat, known(still), now)));
    }
    let (_, (status, place)) = find_fact(answer, |fact| {
        if let Fact::Event(EventFact::QueueJoined { place, until, ahead, .. }) = fact {
            return Some((StatusCode::CREATED, (*place, *ahead, *until)));
        }
        if let Fact::Event(EventFact::PlaceRenewed { place, until, ahead }) = fact {
            return Some((StatusCode::OK, (*place, *ahead, *until)));
        }
        None
    })?;
    Some((status, body(names, seat, place, now)))
}

fn known(place: &PlaceState) -> (HoldId, u32, Millis) {
    (place.place, place.ahead, place.until)
}

/// How often the seat may go from hand to hand while a buyer asks for it, before the answer is to try again.
const TRIES: u32 = 4;

/// Holds one seat, or joins its queue if another holds it. Under one key both are one question: what was answered
/// first is found again, whichever of the two it was.
pub async fn hold_or_join(
    app: &App,
    event: ListingId,
    (seat, hold): (SeatIndex, impl Fn(u64) -> PlaceHold),
    origin: &Origin,
    names: &Names,
) -> Result<Answer, Problem> {
    let place = |number| Command::Event(EventCommand::PlaceHold(hold(number)));
    let join = |number| {
        let PlaceHold { hold: place, buyer, .. } = hold(number);
        Command::Event(EventCommand::JoinQueue(JoinQueue { place, seat, buyer }))
    };
    for _ in 0..TRIES {
        let (answer, refused) = ask(app, event, place, origin, names).await;
        if refused != Some(Code::SeatHeld) {
            return answer;
        }
        let (answer, refused) = ask(app, event, join, origin, names).await;
        // It came free in between: once more from the beginning.
        if refused != Some(Code::SeatAvailable) {
            return answer;
        }
    }
    Err(Problem::from(EngineError::Busy))
}

/// The answer, with the code of what was refused.
async fn ask(
    app: &App,
    event: ListingId,
    command: impl Fn(u64) -> Command,
    origin: &Origin,
    names: &Names,
) -> (Result<Answer, Problem>, Option<Code>) {
    let mut refused = None;
    let tell = |refusal: &Refusal| {
        refused = Some(refusal.code);
        Problem::refused(refusal, Some(names))
    };
    let answer = reply::submit_new(app, event, origin.clone(), tell, command).await;
    (answer, refused)
}

/// The place in the queue, or the offer it became
///
/// `waiting` while others are in front, `offer` once the seat is the buyer's to take.
#[utoipa::path(get, path = "/v1/events/{event}/seats/{seat}/queue", tag = "queue",
    params(("Onsale-Buyer" = String, Header)), responses((status = 200, body = QueueState), (status = 410)))]
pub async fn show(State(app): State<Arc<App>>, at: EventPath, caller: Caller) -> Result<Response, Problem> {
    let names = Names::of(&*app.engine, &at.listing)?;
    let buyer = caller.buyer()?.clone();
    let seat = names.event().chart.seat_named(at.inner());
    let seat = seat.ok_or_else(|| Problem::code(Code::SeatUnknown).of_seat_in_path())?;
    let found = app.engine.ask(at.listing, EventQuery::Place { seat, buyer }.into()).await?;
    match EventQuery::answer(found).unwrap_or(EventFound::Nothing) {
        EventFound::Place(place) => {
            let waiting = Some(body(&names, at.inner(), known(&place), app.engine.now()));
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
///
/// Those behind move up.
#[utoipa::path(delete, path = "/v1/events/{event}/seats/{seat}/queue", tag = "queue",
    params(("Onsale-Buyer" = String, Header)), responses((status = 200, body = QueueLeft)))]
pub async fn leave(State(app): State<Arc<App>>, at: EventPath, caller: Caller) -> Result<Response, Problem> {
    let mut names = Names::of(&*app.engine, &at.listing)?;
    let (seat, buyer) = (names.seat(at.inner()), caller.buyer()?.clone());
    let origin = caller.origin(&at.listing, &());
    let command = Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat, buyer }));
    let answer = reply::submit(&app, at.listing, command, origin, Some(&names)).await;
    let answer = answer.map_err(Problem::of_seat_in_path)?;
    let (_, place) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::QueueLeft { place, .. }) = fact { Some(*place) } else { None }
    })?;
    let body = QueueLeft {
        place: hold_text(&at.listing, place),
        seat: at.inner(),
        left_at: Time(reply::time_of(&answer)),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}

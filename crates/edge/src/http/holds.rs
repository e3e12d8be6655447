//! `…/holds` and `/v1/holds/{hold}`: place a hold, look at it, extend it, add seats to it or drop some, release it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use onsale_domain::Question;
use onsale_domain::outcome::PlaceState;
use onsale_domain::seats::command::{BestAvailable, DropSeats, ExtendHold, GrowHold, Pick, PlaceHold};
use onsale_domain::seats::fact::HoldAfter;
use onsale_domain::seats::{EventCommand, EventFact, EventFound, EventQuery};
use onsale_domain::{Code, Command, Fact, HoldId, ListingId, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::credential;
use super::extract::{Caller, EventPath, HoldPath, Json, Origin};
use super::lost;
use super::names::Names;
use super::problem::{Problem, catalog};
use super::queue;
use super::reply::{self, own_fact};
use super::time::Time;
use super::wire::{AreaPlaces, At, EndedBody, HoldBody, HoldParts, hold_text, seconds};
use super::words::EndedStatus;
use crate::app::App;
use crate::token::Token;

/// Seats by name, or `best_available`; and places of general-admission areas. 1 to 20 together.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"seats": ["A-1-1", "A-1-2"], "hold_seconds": 120}))]
#[schema(min_properties = 1)]
pub struct NewHold {
    #[serde(default)]
    pub seats: Vec<String>,
    #[serde(default)]
    pub areas: Vec<AreaPlaces>,
    pub best_available: Option<BestBody>,
    /// 30 to 900; the event's own if absent.
    pub hold_seconds: Option<i64>,
    /// With exactly one seat: if another holds it, its queue is joined in the same call, and the answer is 202 with the place.
    #[serde(default)]
    pub or_queue: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BestAvailable)]
pub struct BestBody {
    #[schema(example = 4)]
    pub count: u32,
    /// Only in this section.
    pub section: Option<String>,
    /// Only in the tier of this name.
    pub tier: Option<String>,
    /// Accessible seats and their companions, and only these.
    #[serde(default)]
    pub accessible: bool,
}

/// Place a hold
///
/// All of the seats or none: they are kept for the buyer until `expires_at`. Asking again for exactly what one holds is
/// answered with 200 and the hold as it is.
#[utoipa::path(post, path = "/v1/events/{event}/holds", tag = "holds", request_body = NewHold,
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 201, body = HoldBody), (status = 200, description = "Already yours", body = HoldBody),
              (status = 202, description = "Taken: in its queue, with `or_queue`", body = queue::QueuePlace)))]
pub async fn place(
    State(app): State<Arc<App>>,
    at: EventPath,
    caller: Caller,
    Json(body): Json<NewHold>,
) -> Result<Response, Problem> {
    let mut names = Names::of(&*app.engine, &at.listing)?;
    let buyer = caller.buyer()?;
    let origin = caller.origin(&at.listing, &body);
    let pick = match &body.best_available {
        None => Pick::Seats(names.seats(&body.seats)),
        Some(_) if !body.seats.is_empty() => {
            return Err(Problem::invalid("best_available", "either seats or best_available, not both"));
        }
        Some(wish) => Pick::Best(best(&names, wish)?),
    };
    let areas = names.areas(&body.areas);
    let hold_ms = body.hold_seconds.map(seconds);
    let wish = PlaceHold { hold: HoldId(0), buyer: buyer.clone(), pick, areas, hold_ms };
    let place = |number| PlaceHold { hold: HoldId(number), ..wish.clone() };
    let answer = if body.or_queue {
        let [seat] = body.seats.as_slice() else {
            return Err(Problem::invalid("or_queue", "goes with exactly one seat"));
        };
        if !wish.areas.is_empty() || body.best_available.is_some() {
            return Err(Problem::invalid("or_queue", "goes with exactly one seat and nothing else"));
        }
        let index = names.seat(seat);
        let answer = queue::hold_or_join(&app, at.listing, (index, place), &origin, &names).await?;
        if let Some((_, place)) = queue::place_told(&answer, &names, seat) {
            let waits = reply::yes(StatusCode::ACCEPTED, &answer, &place);
            return Ok(reply::located(waits, queue::location(&at.listing, seat)));
        }
        answer
    } else {
        let tell = |refusal: &_| Problem::refused(refusal, Some(&names));
        let command = |number| Command::Event(EventCommand::PlaceHold(place(number)));
        reply::submit_new(&app, at.listing, origin, tell, command).await?
    };
    if let Outcome::AlreadyYours(state) = &answer.outcome {
        let parts = HoldParts::from(&**state);
        let body = HoldBody {
            already_yours: true,
            ..HoldBody::new(parts, reply::time_of(&answer), &names, Some(&app.tokens))
        };
        return Ok(reply::yes(StatusCode::OK, &answer, &body));
    }
    let (_, body) = own_placed(&answer, &names, &app)?;
    let location = ["/v1/holds/", &body.id].concat();
    Ok(reply::placed(&answer, location, &body))
}

/// The hold as its own fact tells it: the same for the first answer and for every replay.
fn own_placed<'a>(
    answer: &'a onsale_engine::Answer,
    names: &'a Names,
    app: &App,
) -> Result<(u64, HoldBody<'a>), Problem> {
    let placed_at = reply::time_of(answer);
    let (fence, (mut parts, pieces)) = own_fact(answer, |fact| {
        if let Fact::Event(EventFact::HoldPlaced { hold, buyer, seats, areas, until, pieces }) = fact {
            let parts = HoldParts {
                hold: *hold,
                buyer,
                fence: 0,
                placed_at,
                until: *until,
                extensions: 0,
                offered: false,
                seats,
                areas,
            };
            return Some((parts, *pieces));
        }
        None
    })?;
    parts.fence = fence;
    let body = HoldBody { pieces: Some(pieces), ..HoldBody::new(parts, placed_at, names, Some(&app.tokens)) };
    Ok((fence, body))
}

fn best(names: &Names, wish: &BestBody) -> Result<BestAvailable, Problem> {
    let event = names.event();
    let section = match &wish.section {
        None => None,
        Some(name) => {
            let place = event.chart.sections.iter().position(|known| known == name);
            let unknown = || Problem::invalid("best_available.section", "no such section");
            Some(place.ok_or_else(unknown)? as u16)
        }
    };
    let tier = match &wish.tier {
        None => None,
        Some(name) => {
            let place = event.details.tiers.iter().position(|known| known.name == *name);
            let unknown = || Problem::invalid("best_available.tier", "no tier has this name");
            Some(place.ok_or_else(unknown)? as u16)
        }
    };
    Ok(BestAvailable { count: wish.count, section, tier, accessible: wish.accessible })
}

/// A hold that lives, a place in a queue that may become one, or what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum HoldShown<'a> {
    Living(HoldBody<'a>),
    Waiting(queue::WaitingPlace<'a>),
    Ended(EndedBody),
}

/// Look at a hold
///
/// The token is shown to the hold's buyer, named by `Onsale-Buyer` or proved by the token itself. A place in a queue has the id of the hold
/// that it becomes, and is `waiting` until then. What became of either is answered for an hour.
#[utoipa::path(get, path = "/v1/holds/{hold}", tag = "holds",
    params(("Onsale-Buyer" = Option<String>, Header), ("Hold-Token" = Option<String>, Header)),
    responses((status = 200, body = HoldShown), (status = 412)))]
pub async fn show(
    State(app): State<Arc<App>>,
    at: HoldPath,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let hold = HoldId(at.number);
    let names = Names::of(&*app.engine, &at.listing)?;
    let found = app.engine.ask(at.listing, EventQuery::Hold(hold).into()).await?;
    let over = |status: EndedStatus| EndedBody::new(hold_text(&at.listing, hold), &at.listing, status);
    let shown = match EventQuery::answer(found).unwrap_or(EventFound::Nothing) {
        EventFound::Hold(state) => {
            let mut known = caller.buyer.as_ref() == Some(&state.buyer);
            if headers.contains_key("hold-token") {
                let shown =
                    credential::check(&app, at.listing, hold, &headers, Some(&state.buyer), false).await?;
                if shown.key.fence < state.fence {
                    // Whoever has an older token is not told the newest one for it: only the buyer is.
                    return Err(Problem::code(Code::StaleFence));
                }
                known = true;
            } else if !caller.principal.knows(&state.buyer) {
                return Err(Problem::code(Code::HoldUnknown));
            }
            let tokens = known.then_some(&app.tokens);
            let body = HoldBody {
                order: lost::taken_by(&app, at.listing, hold.0).await?,
                ..HoldBody::new(HoldParts::from(&*state), app.engine.now(), &names, tokens)
            };
            return Ok(reply::json(StatusCode::OK, &HoldShown::Living(body)));
        }
        EventFound::Ended(_) if !caller.asks_for_everybody() && !has_token(&app, &at, &caller, &headers) => {
            return Err(Problem::code(Code::HoldUnknown));
        }
        EventFound::Ended(end) => {
            let order = lost::order_text_of(&app, at.listing, hold.0).await?;
            EndedBody { order, ..over(end.into()) }
        }
        EventFound::Place(place) if !is_own_place(&app, &at, &caller, &place).await? => {
            return Err(Problem::code(Code::HoldUnknown));
        }
        EventFound::Place(place) => {
            let place = queue::waiting(&names, &place, app.engine.now());
            return Ok(reply::json(StatusCode::OK, &HoldShown::Waiting(place)));
        }
        EventFound::Nothing | EventFound::Holds(_) | EventFound::Order(_) => {
            match credential::fence_in(&headers) {
                Some(fence) if lost::is_lost(&app, at.listing, fence).await => over(EndedStatus::Lost),
                Some(_) | None => return Err(Problem::code(Code::HoldUnknown)),
            }
        }
    };
    Ok(reply::json(StatusCode::OK, &HoldShown::Ended(shown)))
}

/// Whether this caller is shown a place in a queue: its own buyer, a merchant's server, staff.
async fn is_own_place(
    app: &App,
    at: &HoldPath,
    caller: &Caller,
    place: &PlaceState,
) -> Result<bool, Problem> {
    if caller.asks_for_everybody() {
        return Ok(true);
    }
    let Some(buyer) = caller.buyer.clone() else { return Ok(false) };
    let found = app.engine.ask(at.listing, EventQuery::Place { seat: place.seat, buyer }.into()).await?;
    let own = EventQuery::answer(found).unwrap_or(EventFound::Nothing);
    Ok(matches!(own, EventFound::Place(own) if own.place == place.place))
}

/// Whether the request has the token of this hold for its own caller: of one that is over, nobody knows any more whose it was.
fn has_token(app: &App, at: &HoldPath, caller: &Caller, headers: &HeaderMap) -> bool {
    let token = headers.get("hold-token").and_then(|value| value.to_str().ok()).and_then(Token::parse);
    match (token, &caller.buyer) {
        (Some(token), Some(buyer)) => app.tokens.check(&token, &at.listing, HoldId(at.number), buyer),
        (None, _) | (Some(_), None) => false,
    }
}

/// Exactly one kind of change: more time, more places, or fewer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"extend": true}))]
#[schema(min_properties = 1)]
pub struct HoldChange {
    /// Adds what the event's rule says.
    #[serde(default)]
    pub extend: bool,
    /// Adds this much, up to the hold's cap.
    pub extend_seconds: Option<i64>,
    /// Seats to add, at the prices of now; the deadline stays. Seats that the hold has already count as a yes.
    #[serde(default)]
    pub add_seats: Vec<String>,
    /// Places to add to those that the hold has.
    #[serde(default)]
    pub add_areas: Vec<AreaPlaces>,
    #[serde(default)]
    pub drop_seats: Vec<String>,
    #[serde(default)]
    pub drop_areas: Vec<AreaPlaces>,
}

/// Extend a hold, add seats to it, or drop some
///
/// `extend` moves the deadline, `add_seats` and `add_areas` add to it under a new token, `drop_seats` and `drop_areas` give a part back. One
/// kind of change at a time; the answer is the whole hold as the change has left it.
#[utoipa::path(patch, path = "/v1/holds/{hold}", tag = "holds", request_body = HoldChange,
    params(("Hold-Token" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = HoldBody), (status = 410), (status = 412)))]
pub async fn change(
    State(app): State<Arc<App>>,
    at: HoldPath,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<HoldChange>,
) -> Result<Response, Problem> {
    let hold = HoldId(at.number);
    let mut names = Names::of(&*app.engine, &at.listing)?;
    let extends = body.extend || body.extend_seconds.is_some();
    let drops = !(body.drop_seats.is_empty() && body.drop_areas.is_empty());
    let grows = !(body.add_seats.is_empty() && body.add_areas.is_empty());
    if u8::from(extends) + u8::from(drops) + u8::from(grows) != 1 {
        let why = "exactly one kind of change: extend or extend_seconds, or add_seats and add_areas, \
                   or drop_seats and drop_areas";
        let field = match (drops, grows) {
            (true, _) => "drop_seats",
            (false, true) => "add_seats",
            (false, false) => "body",
        };
        return Err(Problem::invalid(field, why));
    }
    let (buyer, keyed) = (caller.buyer.as_ref(), caller.key.is_some());
    let credential = credential::check(&app, at.listing, hold, &headers, buyer, keyed).await?;
    let fence = credential.key.fence;
    let key = credential.key;
    let command = if extends {
        Command::Event(EventCommand::ExtendHold(ExtendHold {
            key,
            extension_ms: body.extend_seconds.map(seconds),
        }))
    } else if grows {
        let (seats, areas) = (names.seats(&body.add_seats), names.areas(&body.add_areas));
        Command::Event(EventCommand::GrowHold(GrowHold { key, seats, areas }))
    } else {
        let (seats, areas) = (names.seats(&body.drop_seats), names.areas(&body.drop_areas));
        Command::Event(EventCommand::DropSeats(DropSeats { key, seats, areas }))
    };
    let origin = caller.origin(&at.listing, &(credential.text, &body));
    let answer = submit(&app, (at.listing, hold, fence), command, origin, &names).await?;
    if let Outcome::AlreadyYours(state) = &answer.outcome {
        let parts = HoldParts::from(&**state);
        let body = HoldBody::new(parts, reply::time_of(&answer), &names, Some(&app.tokens));
        return Ok(reply::yes(StatusCode::OK, &answer, &HoldBody { already_yours: true, ..body }));
    }
    let (fence, after) = changed(&answer, fence)?;
    let parts = HoldParts {
        hold,
        buyer: &after.buyer,
        fence,
        placed_at: after.placed_at,
        until: after.until,
        extensions: after.extensions,
        offered: after.offered,
        seats: &after.seats,
        areas: &after.areas,
    };
    let body = HoldBody::new(parts, reply::time_of(&answer), &names, Some(&app.tokens));
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}

/// The hold as the change's own fact has left it, the same for every replay; and its fence, which only what is added raises.
fn changed(answer: &onsale_engine::Answer, before: u64) -> Result<(u64, &HoldAfter), Problem> {
    let (fence, (grown, after)) = own_fact(answer, |fact| {
        let Fact::Event(fact) = fact else { return None };
        if let EventFact::HoldGrown { after, .. } = fact {
            return Some((true, &**after));
        }
        if let EventFact::HoldExtended { after, .. } | EventFact::SeatsDropped { after, .. } = fact {
            return Some((false, &**after));
        }
        None
    })?;
    Ok((if grown { fence } else { before }, after))
}

/// Submits a change of a hold.
async fn submit(
    app: &App,
    (event, hold, fence): (ListingId, HoldId, u64),
    command: Command,
    origin: Origin,
    names: &Names,
) -> Result<onsale_engine::Answer, Problem> {
    match reply::submit(app, event, command, origin, Some(names)).await {
        Ok(answer) => Ok(answer),
        Err(problem) => Err(lost::or_bought(app, event, (hold, fence), problem).await),
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HoldReleased {
    id: String,
    released_at: Time,
    #[schema(value_type = String, example = "1-6")]
    position: At,
}

/// Release a hold
///
/// Its seats are free at once, or offered to whoever is first in line for them.
#[utoipa::path(delete, path = "/v1/holds/{hold}", tag = "holds",
    params(("Hold-Token" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = HoldReleased), (status = 410), (status = 412)))]
pub async fn release(
    State(app): State<Arc<App>>,
    at: HoldPath,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let hold = HoldId(at.number);
    let names = Names::of(&*app.engine, &at.listing)?;
    let (buyer, keyed) = (caller.buyer.as_ref(), caller.key.is_some());
    let credential = credential::check(&app, at.listing, hold, &headers, buyer, keyed).await?;
    let origin = caller.origin(&at.listing, &credential.text);
    let fence = credential.key.fence;
    let command = Command::Event(EventCommand::ReleaseHold(credential.key));
    let answer = submit(&app, (at.listing, hold, fence), command, origin, &names).await?;
    if answer.step().is_none() {
        return Err(Problem::of(catalog::INTERNAL));
    }
    let body = HoldReleased {
        id: hold_text(&at.listing, hold),
        released_at: Time(reply::time_of(&answer)),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}

//! `…/entries`: register, see where one stands, pay for a place that is kept, give it back.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Found;
use onsale_domain::id::write_inside;
use onsale_domain::registration::command::{CancelEntry, ConfirmEntry, Register};
use onsale_domain::registration::{
    EntryStanding, EntryState, RegistrationCommand, RegistrationFact, RegistrationFound, RegistrationQuery,
};
use onsale_domain::{Code, Command, EntryId, Fact, ListingId, Millis, OrderId, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::find;
use crate::app::App;
use crate::http::credential::ended;
use crate::http::extract::{self, Caller, Json, RegistrationPath};
use crate::http::problem::{Problem, ProblemBody};
use crate::http::query::{self, LIMIT_MAX, Query};
use crate::http::reply::{self, find_fact, own_fact};
use crate::http::sales::checkouts::Nothing;
use crate::http::time::Time;
use crate::http::wire::At;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Entry)]
pub struct EntryBody {
    #[schema(example = "ent_default_01kz0000000000000000000000_01kz0000000000000000000001")]
    id: String,
    registration: String,
    #[schema(example = "ext:default:ann")]
    buyer: String,
    /// `confirmed`, `offered` (to be paid before `expires_at`) or `waiting`.
    #[schema(example = "confirmed")]
    status: &'static str,
    /// How many are in front.
    #[serde(skip_serializing_if = "Option::is_none")]
    ahead: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_minor: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<String>,
}

impl EntryBody {
    fn of(listing: &ListingId, state: &EntryState, now: Millis) -> EntryBody {
        let mut body = EntryBody {
            id: write_inside("ent", listing, state.entry.0),
            registration: listing.to_string(),
            buyer: state.buyer.as_str().to_owned(),
            status: "confirmed",
            ahead: None,
            expires_at: None,
            expires_in_seconds: None,
            price_minor: None,
            order: None,
        };
        match state.standing {
            EntryStanding::Waiting { ahead } => (body.status, body.ahead) = ("waiting", Some(ahead)),
            EntryStanding::Offered { until, price_minor } => {
                (body.status, body.price_minor) = ("offered", Some(price_minor));
                body.expires_at = Some(Time(until));
                body.expires_in_seconds = Some(Time(until).seconds_after(now));
            }
            EntryStanding::Confirmed { order } => {
                body.order = order.map(|order| write_inside("ord", listing, order.0));
            }
        }
        body
    }
}

/// Register: a place, or the end of the waiting list
///
/// Who is in already is told where he stands, with 200.
#[utoipa::path(post, path = "/v1/registrations/{registration}/entries", tag = "registrations",
    params(("registration" = String, Path), ("Onsale-Buyer" = String, Header, description = "Who registers"),
           ("Idempotency-Key" = Option<String>, Header, description = "Same key, same answer")),
    responses((status = 201, body = EntryBody), (status = 200, description = "Already registered", body = EntryBody),
              (status = 409, body = ProblemBody), (status = "4XX", body = ProblemBody)))]
pub async fn register(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    caller: Caller,
    Json(body): Json<Nothing>,
) -> Result<Response, Problem> {
    let Nothing {} = body;
    find(&app, &at.listing)?;
    let buyer = caller.buyer()?.clone();
    let origin = caller.origin(&at.listing, &());
    let register = Register { entry: EntryId(app.new_number()), buyer };
    let command = Command::Registration(RegistrationCommand::Register(register));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let now = reply::time_of(&answer);
    if let Outcome::AlreadyRegistered(state) = &answer.outcome {
        return Ok(reply::yes(StatusCode::OK, &answer, &EntryBody::of(&at.listing, state, now)));
    }
    let (_, state) = own_fact(&answer, registered)?;
    let told = EntryBody::of(&at.listing, &state, now);
    let location = format!("/v1/registrations/{}/entries/{}", at.listing, told.id);
    Ok(reply::created(&answer, &location, &told))
}

/// The entry that a fact makes.
fn registered(fact: &Fact) -> Option<EntryState> {
    let Fact::Registration(fact) = fact else { return None };
    let (entry, buyer, standing) = if let RegistrationFact::Registered { entry, buyer } = fact {
        (entry, buyer, EntryStanding::Confirmed { order: None })
    } else if let RegistrationFact::Reserved { entry, buyer, price_minor, until } = fact {
        (entry, buyer, EntryStanding::Offered { until: *until, price_minor: *price_minor })
    } else if let RegistrationFact::Waitlisted { entry, buyer, ahead } = fact {
        (entry, buyer, EntryStanding::Waiting { ahead: *ahead })
    } else {
        return None;
    };
    Some(EntryState { entry: *entry, buyer: buyer.clone(), fence: 0, standing })
}

async fn ask(app: &App, listing: ListingId, query: RegistrationQuery) -> Result<RegistrationFound, Problem> {
    let found = app.engine.ask(listing, query.into()).await?;
    let Found::Registration(found) = found else { return Ok(RegistrationFound::Nothing) };
    Ok(found)
}

/// Where an entry stands
#[utoipa::path(get, path = "/v1/registrations/{registration}/entries/{entry}", tag = "registrations",
    params(("registration" = String, Path), ("entry" = String, Path)),
    responses((status = 200, body = EntryBody), (status = 404, body = ProblemBody), (status = 410, body = ProblemBody)))]
pub async fn show(State(app): State<Arc<App>>, at: RegistrationPath) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let entry = EntryId(at.inside("ent", Code::EntryUnknown)?);
    match ask(&app, at.listing, RegistrationQuery::Entry(entry)).await? {
        RegistrationFound::Entry(state) => {
            Ok(reply::json(StatusCode::OK, &EntryBody::of(&at.listing, &state, app.engine.now())))
        }
        RegistrationFound::Ended(end) => Err(Problem::code(ended(end))),
        RegistrationFound::Nothing | RegistrationFound::Entries(_) | RegistrationFound::Paid(..) => {
            Err(Problem::code(Code::EntryUnknown))
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    after: Option<u64>,
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EntryList {
    /// In the order they came.
    entries: Vec<EntryBody>,
    /// The cursor of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// All entries, in the order they came
#[utoipa::path(get, path = "/v1/registrations/{registration}/entries", tag = "registrations",
    params(("registration" = String, Path), ("after" = Option<u64>, Query, description = "The `next` of the page before"),
           ("limit" = Option<usize>, Query, description = "1 to 500")),
    responses((status = 200, body = EntryList), (status = 404, body = ProblemBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let (after, limit) = (page.after.unwrap_or(0), query::limit(page.limit, LIMIT_MAX)?);
    let found = ask(&app, at.listing, RegistrationQuery::Entries { after, limit }).await?;
    let states = match found {
        RegistrationFound::Entries(states) => states,
        RegistrationFound::Nothing
        | RegistrationFound::Entry(_)
        | RegistrationFound::Ended(_)
        | RegistrationFound::Paid(..) => Vec::new(),
    };
    let next = (states.len() == limit).then(|| states.last().map(|state| state.fence)).flatten();
    let now = app.engine.now();
    let entries = states.iter().map(|state| EntryBody::of(&at.listing, state, now)).collect();
    Ok(reply::json(StatusCode::OK, &EntryList { entries, next }))
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct NewConfirmation {
    /// The order's id, `ord_…` of this registration; made by the server if absent.
    pub order: Option<String>,
    /// Whether the money was taken elsewhere. The API key may say so, and does if this is absent.
    pub settled: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EntryConfirmed {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<String>,
    status: &'static str,
}

/// Pay for a place that is kept: it is confirmed
#[utoipa::path(post, path = "/v1/registrations/{registration}/entries/{entry}/confirm", tag = "registrations",
    request_body = NewConfirmation,
    params(("registration" = String, Path), ("entry" = String, Path), ("Onsale-Buyer" = String, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = EntryConfirmed), (status = 403, body = ProblemBody), (status = 410, body = ProblemBody),
              (status = "4XX", body = ProblemBody)))]
pub async fn confirm(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    caller: Caller,
    Json(body): Json<NewConfirmation>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let entry = EntryId(at.inside("ent", Code::EntryUnknown)?);
    let order = match &body.order {
        None => app.new_number(),
        Some(text) => extract::inside(&at.listing, "ord", text, Code::OrderUnknown).map_err(|_| {
            Problem::invalid("order", "an id of the form ord_… that belongs to this registration")
        })?,
    };
    let origin = caller.origin(&at.listing, &body);
    let (buyer, settled) = (caller.buyer()?.clone(), body.settled.unwrap_or(true));
    let confirm = ConfirmEntry { entry, buyer, order: OrderId(order), settled };
    let command = Command::Registration(RegistrationCommand::Confirm(confirm));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let paid = find_fact(&answer, |fact| {
        let Fact::Registration(RegistrationFact::Confirmed { order, .. }) = fact else { return None };
        Some(*order)
    });
    let order = match &answer.outcome {
        Outcome::AlreadyRegistered(state) => match state.standing {
            EntryStanding::Confirmed { order } => order,
            EntryStanding::Waiting { .. } | EntryStanding::Offered { .. } => None,
        },
        Outcome::Done
        | Outcome::Unchanged
        | Outcome::AlreadyYours(_)
        | Outcome::StillQueued(_)
        | Outcome::AlreadyPurchased(_)
        | Outcome::Refused(_) => paid.map(|(_, order)| order),
    };
    let told = EntryConfirmed {
        id: at.inner().to_owned(),
        order: order.map(|order| write_inside("ord", &at.listing, order.0)),
        status: "confirmed",
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EntryCancelled {
    id: String,
    cancelled_at: Time,
    /// What is to be paid back.
    amount_minor: i64,
    #[schema(value_type = String, example = "1-6")]
    position: At,
}

/// Give a place back, or leave the waiting list
///
/// With `Onsale-Buyer` it must be his own; without, staff cancels it and always refunds.
#[utoipa::path(delete, path = "/v1/registrations/{registration}/entries/{entry}", tag = "registrations",
    params(("registration" = String, Path), ("entry" = String, Path), ("Onsale-Buyer" = Option<String>, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = EntryCancelled), (status = 403, body = ProblemBody), (status = 410, body = ProblemBody)))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    caller: Caller,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let entry = EntryId(at.inside("ent", Code::EntryUnknown)?);
    let caller = caller.or_staff();
    let origin = caller.origin(&at.listing, &());
    let cancel = CancelEntry { entry, buyer: caller.buyer.clone() };
    let command = Command::Registration(RegistrationCommand::CancelEntry(cancel));
    let answer = reply::submit(&app, at.listing, command, origin, None).await?;
    let (_, amount_minor) = own_fact(&answer, |fact| {
        let Fact::Registration(RegistrationFact::EntryCancelled { amount_minor, .. }) = fact else {
            return None;
        };
        Some(*amount_minor)
    })?;
    let told = EntryCancelled {
        id: at.inner().to_owned(),
        cancelled_at: Time(reply::time_of(&answer)),
        amount_minor,
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

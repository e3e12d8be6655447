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
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::{self, find_fact, own_fact};
use crate::http::sales::checkouts::Nothing;
use crate::http::time::Time;
use crate::http::wire::At;
use crate::http::words::EntryStatus;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Entry)]
pub struct EntryBody {
    id: String,
    registration: String,
    #[schema(example = "ann")]
    buyer: String,
    status: EntryStatus,
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
            status: EntryStatus::Confirmed,
            ahead: None,
            expires_at: None,
            expires_in_seconds: None,
            price_minor: None,
            order: None,
        };
        match state.standing {
            EntryStanding::Waiting { ahead } => {
                (body.status, body.ahead) = (EntryStatus::Waiting, Some(ahead))
            }
            EntryStanding::Offered { until, price_minor } => {
                (body.status, body.price_minor) = (EntryStatus::Offered, Some(price_minor));
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
/// A buyer who is registered already gets the same registration again, with 200.
#[utoipa::path(post, path = "/v1/registrations/{registration}/entries", tag = "registrations", request_body = Nothing,
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 201, body = EntryBody), (status = 200, description = "Already registered", body = EntryBody)))]
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
    let register = |number| {
        let register = Register { entry: EntryId(number), buyer: buyer.clone() };
        Command::Registration(RegistrationCommand::Register(register))
    };
    let tell = |refusal: &_| Problem::refused(refusal, None);
    let answer = reply::submit_new(&app, at.listing, origin, tell, register).await?;
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
///
/// A place that is confirmed, one that is kept until it is paid, or a place in line.
#[utoipa::path(get, path = "/v1/registrations/{registration}/entries/{entry}", tag = "registrations",
    responses((status = 200, body = EntryBody), (status = 410)))]
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

/// All entries, in the order they came
///
/// Page by page: go on with `after` as long as an answer has `next`.
#[utoipa::path(get, path = "/v1/registrations/{registration}/entries", tag = "registrations",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<EntryBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let (limit, listing) = (list::limit(page.limit)?, at.listing.to_string());
    let cursors = Cursors::new("entries.list", &listing);
    let after = cursors.read(page.after.as_deref(), |place| place.parse().ok())?.unwrap_or(0);
    let found = ask(&app, at.listing, RegistrationQuery::Entries { after, limit: limit + 1 }).await?;
    let states = match found {
        RegistrationFound::Entries(states) => states,
        RegistrationFound::Nothing
        | RegistrationFound::Entry(_)
        | RegistrationFound::Ended(_)
        | RegistrationFound::Paid(..) => Vec::new(),
    };
    let page = list::cut(states, limit, |state| cursors.write(&state.fence.to_string()));
    let now = app.engine.now();
    Ok(reply::json(StatusCode::OK, &page.map(|state| EntryBody::of(&at.listing, state, now))))
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
    status: EntryStatus,
}

/// Pay for a place that is kept: it is confirmed
///
/// The money was taken elsewhere. To have it taken by a payment provider, place an order for the entry instead.
#[utoipa::path(post, path = "/v1/registrations/{registration}/entries/{entry}/confirm",
    tag = "registrations", request_body = NewConfirmation, params(("Onsale-Buyer" = String, Header)),
    responses((status = 200, body = EntryConfirmed), (status = 403), (status = 410)))]
pub async fn confirm(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    caller: Caller,
    Json(body): Json<NewConfirmation>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let entry = EntryId(at.inside("ent", Code::EntryUnknown)?);
    let order = extract::given_order(&at.listing, body.order.as_deref(), "registration")?;
    let origin = caller.origin(&at.listing, &body);
    let (buyer, settled) = (caller.buyer()?.clone(), body.settled.unwrap_or(true));
    let confirm = |number| {
        let (buyer, order) = (buyer.clone(), order.unwrap_or(OrderId(number)));
        Command::Registration(RegistrationCommand::Confirm(ConfirmEntry { entry, buyer, order, settled }))
    };
    let answer = match order {
        Some(order) => reply::submit(&app, at.listing, confirm(order.0), origin, None).await?,
        None => {
            let tell = |refusal: &_| Problem::refused(refusal, None);
            reply::submit_new(&app, at.listing, origin, tell, confirm).await?
        }
    };
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
        status: EntryStatus::Confirmed,
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
/// With `Onsale-Buyer` it must be that buyer's own; without, staff cancels it and always refunds.
#[utoipa::path(delete, path = "/v1/registrations/{registration}/entries/{entry}", tag = "registrations",
    params(("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = EntryCancelled), (status = 403), (status = 410)))]
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

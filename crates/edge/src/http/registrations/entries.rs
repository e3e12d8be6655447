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
use onsale_domain::{Code, Command, EntryId, Fact, ListingId, Millis, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::find;
use crate::app::App;
use crate::http::confirm::DirectPurchase;
use crate::http::extract::{Caller, EntryPath, Json, RegistrationPath};
use crate::http::list::{self, Cursors, List};
use crate::http::lost;
use crate::http::problem::Problem;
use crate::http::query::Query;
use crate::http::reply::{self, find_fact, own_fact};
use crate::http::sales::checkouts::Nothing;
use crate::http::time::Time;
use crate::http::wire::{At, EndedBody};
use crate::http::words::EntryStatus;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Entry)]
pub struct EntryBody {
    id: String,
    registration: String,
    #[schema(example = "ann")]
    buyer: String,
    status: EntryStatus,
    /// 1: the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    place_in_line: Option<u32>,
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
            place_in_line: None,
            expires_at: None,
            expires_in_seconds: None,
            price_minor: None,
            order: None,
        };
        match state.standing {
            EntryStanding::Waiting { ahead } => {
                (body.status, body.place_in_line) = (EntryStatus::Waiting, Some(ahead + 1))
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
    let location = format!("/v1/entries/{}", told.id);
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

/// An entry, or what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EntryShown {
    Known(EntryBody),
    Ended(EndedBody),
}

/// Where an entry stands
///
/// A place that is confirmed, one that is kept until it is paid, or a place in line. What became of one that is over is answered for an hour.
#[utoipa::path(get, path = "/v1/entries/{entry}", tag = "registrations", responses((status = 200, body = EntryShown)))]
pub async fn show(State(app): State<Arc<App>>, at: EntryPath) -> Result<Response, Problem> {
    let entry = EntryId(at.number);
    let shown = match ask(&app, at.listing, RegistrationQuery::Entry(entry)).await? {
        RegistrationFound::Entry(state) if at.principal.knows(&state.buyer) => {
            let mut body = EntryBody::of(&at.listing, &state, app.engine.now());
            if let EntryStanding::Offered { .. } = state.standing {
                body.order = lost::taken_by(&app, at.listing, entry.0).await?;
            }
            EntryShown::Known(body)
        }
        // Whose it was is forgotten: a merchant's server may ask, and staff.
        RegistrationFound::Ended(end) if at.principal.asks_for_everybody() => {
            let order = lost::order_text_of(&app, at.listing, entry.0).await?;
            EntryShown::Ended(EndedBody { order, ..EndedBody::new(at.text(), &at.listing, end) })
        }
        RegistrationFound::Nothing
        | RegistrationFound::Entry(_)
        | RegistrationFound::Ended(_)
        | RegistrationFound::Entries(_)
        | RegistrationFound::Paid(..) => return Err(Problem::code(Code::EntryUnknown)),
    };
    Ok(reply::json(StatusCode::OK, &shown))
}

/// Which entries are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntriesPage {
    status: Option<EntryStatus>,
    after: Option<String>,
    limit: Option<usize>,
}

/// All entries, in the order they came
///
/// Page by page: go on with `after` as long as an answer has `next`. With `status` a page may be short or empty and have one: a request
/// looks at 500 at most.
#[utoipa::path(get, path = "/v1/registrations/{registration}/entries", tag = "registrations",
    params(("status" = Option<EntryStatus>, Query), ("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<EntryBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: RegistrationPath,
    Query(page): Query<EntriesPage>,
) -> Result<Response, Problem> {
    find(&app, &at.listing)?;
    let (limit, listing) = (list::limit(page.limit)?, at.listing.to_string());
    let cursors = Cursors::new("entries.list", &listing);
    let after = cursors.read(page.after.as_deref(), |place| place.parse().ok())?.unwrap_or(0);
    let looked_at = if page.status.is_some() { list::LIMIT_MAX } else { limit };
    let query = RegistrationQuery::Entries { after, limit: looked_at + 1 };
    let found = ask(&app, at.listing, query).await?;
    let states = match found {
        RegistrationFound::Entries(states) => states,
        RegistrationFound::Nothing
        | RegistrationFound::Entry(_)
        | RegistrationFound::Ended(_)
        | RegistrationFound::Paid(..) => Vec::new(),
    };
    let (now, mut entries, mut last, mut next) = (app.engine.now(), Vec::new(), 0, None);
    for (n, state) in states.iter().enumerate() {
        let entry = EntryBody::of(&at.listing, state, now);
        let is_wanted = page.status.is_none_or(|status| status == entry.status);
        if n == looked_at || is_wanted && entries.len() == limit {
            next = Some(cursors.write(&last.to_string()));
            break;
        }
        last = state.fence;
        if is_wanted {
            entries.push(entry);
        }
    }
    Ok(reply::json(StatusCode::OK, &List::new(entries, next)))
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
/// With `paid_elsewhere` if it costs anything: the money was taken elsewhere. To have it taken by a payment provider, place an order for the entry instead.
#[utoipa::path(post, path = "/v1/entries/{entry}/confirm", tag = "registrations", request_body = DirectPurchase, params(("Onsale-Buyer" = String, Header)),
    responses((status = 200, body = EntryConfirmed), (status = 403), (status = 410)))]
pub async fn confirm(
    State(app): State<Arc<App>>,
    at: EntryPath,
    caller: Caller,
    Json(body): Json<DirectPurchase>,
) -> Result<Response, Problem> {
    caller.settles(body.paid_elsewhere)?;
    let entry = EntryId(at.number);
    let origin = caller.origin(&at.listing, &body);
    let (buyer, settled) = (caller.buyer()?.clone(), body.paid_elsewhere);
    let confirm = |order| {
        let confirm = ConfirmEntry { entry, buyer: buyer.clone(), order, settled };
        Command::Registration(RegistrationCommand::Confirm(confirm))
    };
    let answer = reply::submit_order(&app, at.listing, origin, entry.0, confirm).await?;
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
        | Outcome::AlreadyConfirmed(_)
        | Outcome::AlreadyPurchased(_)
        | Outcome::Refused(_) => paid.map(|(_, order)| order),
    };
    let told = EntryConfirmed {
        id: at.text(),
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
#[utoipa::path(delete, path = "/v1/entries/{entry}", tag = "registrations",
    params(("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = EntryCancelled), (status = 403), (status = 410)))]
pub async fn cancel(State(app): State<Arc<App>>, at: EntryPath, caller: Caller) -> Result<Response, Problem> {
    let entry = EntryId(at.number);
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
        id: at.text(),
        cancelled_at: Time(reply::time_of(&answer)),
        amount_minor,
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

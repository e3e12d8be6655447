//! Commands in, answers out: the one place where routes meet the engine.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use onsale_domain::about::About;
use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::seats::EventCommand;
use onsale_domain::{Code, Command, Fact, ListingId, OrderId, Outcome, Refusal};
use onsale_engine::{Answer, Position, Request, View};
use serde::Serialize;

use super::about;
use super::extract::Origin;
use super::json::ByHand;
use super::names::Names;
use super::problem::{Problem, catalog};
use super::wire::At;
use crate::app::App;
use crate::metrics::Verb;

pub const POSITION: HeaderName = HeaderName::from_static("onsale-position");
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Room for a hold of two seats without growing.
const BODY_BYTES: usize = 768;
/// How often a number is drawn for one request: of 64 bits, so many in a row are taken by no chance.
const DRAWS_MAX: u32 = 8;
/// The same for ids of listings, which have 60 bits.
const LISTING_DRAWS_MAX: u32 = 3;

/// Submits a command; a refusal comes back as the problem it is told as.
pub async fn submit(
    app: &App,
    listing: ListingId,
    command: Command,
    origin: Origin,
    names: Option<&Names>,
) -> Result<Answer, Problem> {
    // What is added to a hold stands in a list of its own.
    let adds = matches!(&command, Command::Event(EventCommand::GrowHold(_)));
    let seats = if adds { "add_seats" } else { "seats" };
    let tell = |refusal: &_| Problem::refused(refusal, names).renamed("seats", seats);
    submit_told(app, listing, command, origin, tell).await
}

/// The listing as it is after an answer, or later.
pub async fn seen(app: &App, listing: &ListingId, answer: &Answer) -> Result<Arc<View>, Problem> {
    let at = position_of(answer);
    if app.engine.view(listing).is_none_or(|view| view.position < at) {
        // Whoever reads facts sees every earlier answer, and so does the view from then on.
        let _ = app.engine.facts_after(*listing, at, 1).await;
    }
    app.engine.view(listing).ok_or_else(|| Problem::code(Code::ListingUnknown))
}

/// The same, with a refusal told in the words of the listing's kind.
pub async fn submit_told(
    app: &App,
    listing: ListingId,
    command: Command,
    origin: Origin,
    tell: impl FnOnce(&Refusal) -> Problem,
) -> Result<Answer, Problem> {
    let verb = app.metrics.verb(&command);
    judge(app, verb, &listing, decide(app, verb, listing, command, origin).await?, tell)
}

/// Submits a command that makes something new, whose number nobody but us has chosen: one that is taken is drawn again.
pub async fn submit_new(
    app: &App,
    listing: ListingId,
    origin: Origin,
    tell: impl FnOnce(&Refusal) -> Problem,
    command: impl Fn(u64) -> Command,
) -> Result<Answer, Problem> {
    submit_from(app, listing, origin, app.draw_number(), (tell, command)).await
}

/// The same for an order that buys goods directly: it has the number of the goods, so that it is found by them and asked for again
/// is the same one. Should that be taken, another is drawn.
pub async fn submit_order(
    app: &App,
    listing: ListingId,
    origin: Origin,
    goods: u64,
    command: impl Fn(OrderId) -> Command,
) -> Result<Answer, Problem> {
    let tell = |refusal: &_| Problem::refused(refusal, None);
    submit_from(app, listing, origin, goods, (tell, |number| command(OrderId(number)))).await
}

async fn submit_from(
    app: &App,
    listing: ListingId,
    origin: Origin,
    mut number: u64,
    (tell, command): (impl FnOnce(&Refusal) -> Problem, impl Fn(u64) -> Command),
) -> Result<Answer, Problem> {
    for _ in 0..DRAWS_MAX {
        let command = command(number);
        let verb = app.metrics.verb(&command);
        let answer = decide(app, verb, listing, command, origin.clone()).await?;
        if answer.outcome.refused().is_none_or(|refusal| refusal.code != Code::IdTaken) {
            return judge(app, verb, &listing, answer, tell);
        }
        number = app.draw_number();
    }
    tracing::error!(%listing, "{DRAWS_MAX} drawn numbers in a row were taken in {listing}");
    Err(Problem::of(catalog::INTERNAL))
}

/// Submits the command that makes a listing, with what is said of it, and tells which id it has. One that was drawn and is taken is
/// drawn again; one that follows from the caller's key or from the merchant's own name is the caller's, and that it exists is
/// the answer.
pub async fn create(
    app: &App,
    mut listing: ListingId,
    command: Command,
    about: About,
    origin: Origin,
) -> Result<(ListingId, Answer), Problem> {
    let verb = app.metrics.verb(&command);
    let was_drawn = origin.key.is_none() && about.external_id.is_none();
    let command = about::with(command, about);
    for _ in 0..LISTING_DRAWS_MAX {
        let answer = decide(app, verb, listing, command.clone(), origin.clone()).await?;
        let is_taken = answer.outcome.refused().is_some_and(|refusal| refusal.code == Code::ListingExists);
        if !is_taken || !was_drawn {
            return judge(app, verb, &listing, answer, |refusal| Problem::refused(refusal, None))
                .map(|answer| (listing, answer));
        }
        listing.number = app.draw_number() % LISTING_NUMBERS;
    }
    tracing::error!(kind = ?listing.kind, "{LISTING_DRAWS_MAX} drawn ids of listings in a row were taken");
    Err(Problem::of(catalog::INTERNAL))
}

async fn decide(
    app: &App,
    verb: &Verb,
    listing: ListingId,
    command: Command,
    Origin { key, by }: Origin,
) -> Result<Answer, Problem> {
    let decided = app.engine.submit(Request { listing, command, key, by }).await;
    Ok(decided.inspect_err(|_| verb.failed.increment(1))?)
}

fn judge(
    app: &App,
    verb: &Verb,
    listing: &ListingId,
    answer: Answer,
    tell: impl FnOnce(&Refusal) -> Problem,
) -> Result<Answer, Problem> {
    match &answer.outcome {
        Outcome::Refused(refusal) => {
            verb.refused.increment(1);
            app.metrics.refusal(refusal.code).increment(1);
            Err(tell(refusal).naming(listing, refusal))
        }
        Outcome::Done
        | Outcome::Unchanged
        | Outcome::AlreadyYours(_)
        | Outcome::StillQueued(_)
        | Outcome::AlreadyConfirmed(_)
        | Outcome::AlreadyPurchased(_)
        | Outcome::AlreadyRegistered(_) => {
            if answer.replayed { &verb.replayed } else { &verb.done }.increment(1);
            Ok(answer)
        }
    }
}

/// The position an answer speaks of: its own facts' if it has any, so that a replay says the same.
pub fn position_of(answer: &Answer) -> Position {
    answer.step().map_or(answer.position, |step| Position { epoch: step.epoch, offset: step.last() })
}

/// When the answer's facts happened.
pub fn time_of(answer: &Answer) -> i64 {
    answer.step().map_or(answer.at, |step| step.at)
}

/// The first of the answer's own facts that `pick` recognises, with its fence.
pub fn find_fact<'a, T>(answer: &'a Answer, pick: impl Fn(&'a Fact) -> Option<T>) -> Option<(u64, T)> {
    let step = answer.step()?;
    step.numbered().find_map(|(offset, fact)| Some((step.fence(offset), pick(fact)?)))
}

/// The same where a yes cannot be without it.
pub fn own_fact<'a, T>(
    answer: &'a Answer,
    pick: impl Fn(&'a Fact) -> Option<T>,
) -> Result<(u64, T), Problem> {
    find_fact(answer, pick).ok_or_else(|| {
        tracing::error!("a yes came without the fact it stands on");
        Problem::of(catalog::INTERNAL)
    })
}

/// A yes as JSON, with its position and, if so, the mark of a replay.
pub fn yes(status: StatusCode, answer: &Answer, body: &impl Serialize) -> Response {
    marked(json(status, body), answer)
}

/// A change of a listing: the listing as it is now, at the position that `told` describes. Who asks again under the same key is
/// told the same way: that it was changed, and what it is now.
pub fn changed(answer: &Answer, view: &View, told: &impl Serialize) -> Response {
    let mut response = yes(StatusCode::OK, answer, told);
    response.headers_mut().insert(POSITION, position_value(view.position));
    response
}

/// A yes with nothing to show.
pub fn gone(answer: &Answer) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    marked(response, answer)
}

fn marked(mut response: Response, answer: &Answer) -> Response {
    let headers = response.headers_mut();
    headers.insert(POSITION, position_value(position_of(answer)));
    if answer.replayed {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

/// A yes that made something: 201 with its address.
pub fn created(answer: &Answer, location: &str, body: &impl Serialize) -> Response {
    located(yes(StatusCode::CREATED, answer, body), location.to_owned())
}

/// The same for the answers that are given most.
pub fn placed(answer: &Answer, location: String, body: &impl ByHand) -> Response {
    let mut bytes = Vec::with_capacity(BODY_BYTES);
    body.write(&mut bytes);
    located(marked(json_bytes(StatusCode::CREATED, bytes), answer), location)
}

/// An address of ours with a word in it that somebody chose: only what may stand in a path as it is stays so.
pub fn path_word(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for byte in word.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

pub fn located(mut response: Response, location: String) -> Response {
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let mut bytes = Vec::with_capacity(BODY_BYTES);
    if let Err(error) = serde_json::to_writer(&mut bytes, body) {
        tracing::error!(%error, "an answer could not be written: {error}");
    }
    json_bytes(status, bytes)
}

fn json_bytes(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub fn position_value(position: Position) -> HeaderValue {
    HeaderValue::try_from(At(position).text()).unwrap_or(HeaderValue::from_static("0-0"))
}

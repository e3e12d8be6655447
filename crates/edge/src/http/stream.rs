//! `GET …/stream`: every fact as it happens, as server-sent events. It pulls from the engine only when the
//! connection takes more, so a slow reader costs nothing but its own connection, which is cut in time.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use futures_util::stream;
use onsale_access::principal::Principal;
use onsale_domain::{ListingId, Step};
use onsale_engine::{EngineError, Follower, Position};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;

use super::audience::Audience;
use super::extract::EventPath;
use super::fact::Teller;
use super::facts::read_after;
use super::problem::{Problem, catalog};
use super::query::Query;
use super::wire::At;
use crate::app::App;

/// How soon a browser comes back after the stream has ended.
const RETRY_MS: u32 = 1_000;
/// What is written in one go at most, before the connection is asked whether it takes more.
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    after: Option<String>,
}

struct Running {
    app: Arc<App>,
    listing: ListingId,
    /// Who reads it.
    audience: Audience,
    follower: Option<Follower>,
    /// Steps taken from the follower and not yet written, oldest last.
    taken: Vec<Arc<Step>>,
    after: Position,
    /// Written before anything else.
    first: Option<String>,
    _permit: OwnedSemaphorePermit,
}

/// Every fact as it happens, as server-sent events
///
/// The first event is `position`; then each fact with `id: <epoch>-<offset>`, its kind as `event` and JSON as
/// `data`. `Last-Event-ID` or `?after=` resumes with all that was missed; if that position is not in the log, the event
/// `reload` names the one to go on from and the stream ends. A comment keeps a quiet stream alive.
#[utoipa::path(get, path = "/v1/events/{event}/stream", tag = "facts",
    params(("after" = Option<String>, Query), ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 503, description = "Too many streams")))]
pub async fn follow(
    State(app): State<Arc<App>>,
    at: EventPath,
    Query(wish): Query<Wish>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    of_listing(app, (at.listing, at.principal), &wish, &headers).await
}

/// The stream of any listing.
pub async fn of_listing(
    app: Arc<App>,
    (listing, principal): (ListingId, Arc<Principal>),
    wish: &Wish,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let view = app.engine.view(&listing).ok_or(EngineError::UnknownListing)?;
    let last = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("not a position"));
    let after = match (last, wish.after.as_deref()) {
        (None, None) => view.position,
        (None, text) => read_after("after", text, &view)?,
        (text, _) => read_after("Last-Event-ID", text, &view)?,
    };
    let Ok(permit) = app.streams.clone().try_acquire_owned() else {
        app.metrics.streams_cut.increment(1);
        return Err(Problem::of(catalog::STREAMS_FULL).retry_after(5));
    };
    let (follower, first) = match app.engine.follow(listing, after).await {
        Ok(follower) => (Some(follower), position_event(after, view.position)),
        Err(EngineError::Reload(position)) => (None, reload_event(position)),
        Err(error) => return Err(error.into()),
    };
    app.metrics.streams.increment(1);
    let audience = Audience::of(&principal, &app.tokens);
    let (taken, first) = (Vec::new(), Some(first));
    let running = Running { app, listing, audience, follower, taken, after, first, _permit: permit };
    let mut response = Response::new(Body::from_stream(stream::unfold(running, Running::next)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

impl Running {
    /// The next piece of the stream; `None` ends it.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Running)> {
        if let Some(first) = self.first.take() {
            return Some((Ok(first.into()), self));
        }
        let follower = self.follower.as_mut()?;
        if self.taken.is_empty() {
            let heartbeat = Duration::from_millis(self.app.config.limits.stream_heartbeat_ms);
            let stopping = self.app.stopping.clone();
            let steps = tokio::select! {
                biased;
                () = stopping.cancelled() => return None,
                steps = tokio::time::timeout(heartbeat, follower.next()) => steps,
            };
            match steps {
                Err(_quiet) => return Some((Ok(Bytes::from_static(b": still here\n\n")), self)),
                Ok(Err(EngineError::Reload(position))) => {
                    self.follower = None;
                    return Some((Ok(reload_event(position).into()), self));
                }
                // The reader comes back with its last id when the engine is well again.
                Ok(Err(_)) => return None,
                Ok(Ok(steps)) => self.taken = steps.into_iter().rev().collect(),
            }
        }
        let text = self.write();
        Some((Ok(text.into()), self))
    }

    /// Writes as many of the taken steps as fit into one chunk, at least one.
    fn write(&mut self) -> String {
        let mut text = String::new();
        let Some(view) = self.app.engine.view(&self.listing) else { return text };
        let teller = Teller::new(&view, &self.audience);
        while text.len() < CHUNK_BYTES
            && let Some(step) = self.taken.pop()
        {
            for (offset, fact) in step.numbered().filter(|(offset, _)| *offset > self.after.offset) {
                let told = teller.tell(&step, offset, fact);
                let id = At(Position { epoch: step.epoch, offset });
                // Writing to a `String` cannot fail.
                let _ = write!(text, "id: {id}\nevent: {}\ndata: {told}\n\n", teller.kind(fact));
            }
            self.after = Position { epoch: step.epoch, offset: step.last() };
        }
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.app.metrics.streams.decrement(1);
    }
}

fn position_event(after: Position, now: Position) -> String {
    let (after, now) = (At(after), At(now));
    format!(
        "retry: {RETRY_MS}\nid: {after}\nevent: position\ndata: {{\"after\":\"{after}\",\"position\":\"{now}\"}}\n\n"
    )
}

/// With the position to go on from; as the stream's last id it is also where a browser that comes back goes on.
fn reload_event(position: Position) -> String {
    let position = At(position);
    format!("id: {position}\nevent: reload\ndata: {{\"position\":\"{position}\"}}\n\n")
}

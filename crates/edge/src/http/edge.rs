//! What every request passes: its id, the API key, limits of size and time, the count of its answer. One plain
//! function instead of a pile of layers, because holds must cost little more than an empty handler.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use onsale_access::principal::Principal;
use onsale_domain::ListingId;
use tower::ServiceExt;

use super::document::headers::may_be_stale;
use super::problem::{self, Problem, catalog};
use super::table::{PathNumber, table};
use super::{cross_site, direct, query, router};
use crate::app::App;
use crate::listen::access;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// On a read that may be older than what was answered elsewhere: the store that servers share is away.
const STALE: HeaderName = HeaderName::from_static("onsale-stale");
const REQUEST_ID_CHARS_MAX: usize = 128;
/// hyper's own limit; said to whoever exceeds it.
const HEADERS_MAX: usize = 100;

/// The id under which a request is answered, for handlers that write it down.
#[derive(Clone, Debug)]
pub struct RequestId(pub HeaderValue);

pub struct Edge {
    pub app: Arc<App>,
    router: Router,
    /// Request ids: a random start for this process, then counted.
    next_id: AtomicU64,
}

impl Edge {
    pub fn new(app: Arc<App>) -> Edge {
        Edge { router: router(app.clone()), app, next_id: AtomicU64::new(rand::random()) }
    }

    /// Answers one request that came at `started`. `late` turns true when its time is over, and wakes the task.
    pub async fn answer<B>(&self, request: Request<B>, started: Instant, late: impl Fn() -> bool) -> Response
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let route = table().path_number(request.uri().path());
        let id = self.request_id(request.headers());
        let is_stale = self.is_stale(&request);
        let is_read = request.method().is_safe();
        let mut response = match self.check(route, &request) {
            Err(problem) => problem.into_response(),
            Ok(Some(principal)) => within_time(self.handle((route, &id), principal, request), late).await,
            Ok(None) => within_time(self.ask_and_handle((route, &id), request), late).await,
        };
        let status = response.status().as_u16();
        let took = started.elapsed();
        self.app.metrics.request(route, status, took);
        if status >= 500 && status != 503 {
            tracing::error!(request = ?id, status, "request {id:?} to {} failed with {status}", table().path_name(route));
        } else {
            tracing::debug!(request = ?id, status, route = table().path_name(route), took_us = took.as_micros() as u64);
        }
        if is_read {
            problem::for_reader(&mut response);
        }
        problem::finish(&mut response, &id);
        response.headers_mut().insert(REQUEST_ID, id);
        if is_stale {
            response.headers_mut().insert(STALE, HeaderValue::from_static("true"));
        }
        response
    }

    /// A part of a store may be away: a listing in another part is as fresh as ever.
    fn is_stale<B>(&self, request: &Request<B>) -> bool {
        let path = request.uri().path();
        if !may_be_stale(request.method(), path) || !self.app.engine.is_stale(None) {
            return false;
        }
        let listing = path.split('/').nth(3).and_then(ListingId::parse);
        listing.is_none_or(|listing| self.app.engine.is_stale(Some(&listing)))
    }

    /// What needs no look at the body: the headers' size, those that may come once only, who asks, and a query where none is
    /// read.
    fn check<B>(&self, route: PathNumber, request: &Request<B>) -> Result<Option<Arc<Principal>>, Problem> {
        let headers = request.headers();
        let limit = self.app.config.limits.header_bytes;
        let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if size + request.uri().path().len() > limit {
            return Err(Problem::with(catalog::HEADERS_TOO_LARGE, format!("at most {limit} bytes")));
        }
        if request.version() == Version::HTTP_11 && !headers.contains_key(header::HOST) {
            return Err(Problem::header(
                "Host",
                "a request of HTTP/1.1 names its host; send this header once",
            ));
        }
        // A name that comes twice has two values and one key: nothing is looked for where nothing can be.
        if headers.len() > headers.keys_len() {
            come_once(headers)?;
        }
        cross_site::check(request.method(), headers, request.uri(), self.app.config.tls.is_some())?;
        let scope = table().scope(route, request.method());
        let principal = self.app.gate.admit(scope, headers, request.uri(), self.now_ms())?;
        if table().refuses_query(route, request.method()) {
            query::nothing_in(request.uri())?;
        }
        Ok(principal)
    }

    /// The answer to a request whose head could not be read, ready to be sent; the connection ends with it.
    pub fn unread(&self, status: u16) -> Vec<u8> {
        let problem = match status {
            400 => Problem::with(catalog::MALFORMED, "this is not a request in HTTP/1.1"),
            _ => {
                let limit = self.app.config.limits.header_bytes;
                let told = format!("at most {limit} bytes in {HEADERS_MAX} headers");
                Problem::with(catalog::HEADERS_TOO_LARGE, told)
            }
        };
        // Nobody knows where it was going.
        self.app.metrics.request(table().unknown(), problem.status(), Duration::ZERO);
        self.last_words(&problem)
    }

    /// A problem as bytes, for a connection that ends with it.
    pub fn last_words(&self, problem: &Problem) -> Vec<u8> {
        let id = self.request_id(&HeaderMap::new());
        let status = problem.status();
        let body = problem.body(&id);
        let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let mut words = format!("HTTP/1.1 {status} {}\r\n", reason.unwrap_or_default()).into_bytes();
        let mut headers = problem.headers();
        headers.extend([
            (REQUEST_ID, id.clone()),
            (header::CONNECTION, HeaderValue::from_static("close")),
            (header::CONTENT_LENGTH, HeaderValue::from(body.len())),
        ]);
        for (name, value) in &headers {
            words.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        words.extend(b"\r\n");
        words.extend(body);
        access::unread(status, id.to_str().unwrap_or_default(), words.len());
        words
    }

    /// For a caller who is not in memory.
    async fn ask_and_handle<B>(
        &self,
        (route, id): (PathNumber, &HeaderValue),
        request: Request<B>,
    ) -> Response
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let scope = table().scope(route, request.method());
        match self.app.gate.ask(scope, request.headers(), self.now_ms()).await {
            Ok(principal) => self.handle((route, id), principal, request).await,
            Err(problem) => problem.into_response(),
        }
    }

    /// The time by which keys and sessions expire.
    fn now_ms(&self) -> i64 {
        self.app.access.as_ref().map_or(0, |access| access.now_ms())
    }

    async fn handle<B>(
        &self,
        (route, id): (PathNumber, &HeaderValue),
        principal: Arc<Principal>,
        mut request: Request<B>,
    ) -> Response
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        match table().straight(route, request.method(), request.uri().path()) {
            Some(way) => direct::handle(way, &self.app, &principal, request).await.into_response(),
            None => {
                request.extensions_mut().insert(principal);
                request.extensions_mut().insert(RequestId(id.clone()));
                request.headers_mut().insert(REQUEST_ID, id.clone());
                match self.router.clone().oneshot(request.map(Body::new)).await {
                    Ok(response) => response,
                    Err(never) => match never {},
                }
            }
        }
    }

    /// The caller's request id if it is printable and short, else one of ours.
    fn request_id(&self, headers: &HeaderMap) -> HeaderValue {
        if let Some(given) = headers.get(REQUEST_ID)
            && (1..=REQUEST_ID_CHARS_MAX).contains(&given.len())
            && given.as_bytes().iter().all(u8::is_ascii_graphic)
        {
            return given.clone();
        }
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut text = [0; 16];
        for (place, character) in text.iter_mut().enumerate() {
            *character = HEX[(number >> (60 - 4 * place) & 15) as usize];
        }
        HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("0"))
    }
}

/// Headers that decide who asks, for what or where: of two, nobody could say which is meant.
const ONCE: [(HeaderName, &str); 7] = [
    (header::HOST, "Host"),
    (header::AUTHORIZATION, "Authorization"),
    (HeaderName::from_static("onsale-buyer"), "Onsale-Buyer"),
    (HeaderName::from_static("idempotency-key"), "Idempotency-Key"),
    (HeaderName::from_static("hold-token"), "Hold-Token"),
    (HeaderName::from_static("checkout-code"), "Checkout-Code"),
    (HeaderName::from_static("order-key"), "Order-Key"),
];

fn come_once(headers: &HeaderMap) -> Result<(), Problem> {
    for (name, shown) in &ONCE {
        if headers.get_all(name).iter().nth(1).is_some() {
            return Err(Problem::header(*shown, "this header is there more than once; send it once"));
        }
    }
    Ok(())
}

/// The answer, unless it panics or time is over first.
async fn within_time(answered: impl Future<Output = Response>, late: impl Fn() -> bool) -> Response {
    let mut answered = pin!(AssertUnwindSafe(answered).catch_unwind());
    let answered = poll_fn(|cx| match answered.as_mut().poll(cx) {
        Poll::Ready(answered) => Poll::Ready(Some(answered)),
        Poll::Pending if late() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    });
    match answered.await {
        Some(Ok(response)) => response,
        Some(Err(_panic)) => Problem::of(catalog::INTERNAL).into_response(),
        None => Problem::of(catalog::TIMED_OUT).retry_after(1).into_response(),
    }
}

impl std::fmt::Debug for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Edge")
    }
}

//! What every request passes: its id, the API key, limits of size and time, the count of its answer. One plain
//! function instead of a pile of layers, because holds must cost little more than an empty handler.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use onsale_domain::ListingId;
use subtle::ConstantTimeEq;
use tower::ServiceExt;

use super::problem::{Problem, catalog};
use super::{route, router};
use crate::app::App;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// On a read that may be older than what was answered elsewhere: the store that servers share is away.
const STALE: HeaderName = HeaderName::from_static("onsale-stale");
const REQUEST_ID_CHARS_MAX: usize = 128;

pub struct Edge {
    pub app: Arc<App>,
    router: Router,
    timeout: Duration,
    /// Request ids: a random start for this process, then counted.
    next_id: AtomicU64,
}

impl Edge {
    pub fn new(app: Arc<App>) -> Edge {
        let timeout = Duration::from_millis(app.config.limits.request_timeout_ms);
        Edge { router: router(app.clone()), app, timeout, next_id: AtomicU64::new(rand::random()) }
    }

    pub async fn answer<B>(&self, request: Request<B>) -> Response
    where
        B: http_body_util::BodyExt<Data = axum::body::Bytes> + hyper::body::Body + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let started = Instant::now();
        let route = route::of(request.uri().path());
        let id = self.request_id(request.headers());
        let is_stale = self.is_stale(&request);
        let mut response = match self.check(&request) {
            Err(problem) => problem.into_response(),
            Ok(()) => self.within_time(request.map(Body::new)).await,
        };
        let status = response.status().as_u16();
        let took = started.elapsed();
        self.app.metrics.request(route, status, took);
        if status >= 500 && status != 503 {
            tracing::error!(request = ?id, status, "request {id:?} to {} failed with {status}", route::ROUTES[route]);
        } else {
            tracing::debug!(request = ?id, status, route = route::ROUTES[route], took_us = took.as_micros() as u64);
        }
        response.headers_mut().insert(REQUEST_ID, id);
        if is_stale {
            response.headers_mut().insert(STALE, HeaderValue::from_static("true"));
        }
        response
    }

    /// A part of a store may be away: a listing in another part is as fresh as ever.
    fn is_stale<B>(&self, request: &Request<B>) -> bool {
        let path = request.uri().path();
        if request.method() != Method::GET || !path.starts_with("/v1/") || !self.app.engine.is_stale(None) {
            return false;
        }
        let listing = path.split('/').nth(3).and_then(ListingId::parse);
        listing.is_none_or(|listing| self.app.engine.is_stale(Some(&listing)))
    }

    /// What needs no look at the body: the size of the headers and the API key.
    fn check<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let headers = request.headers();
        let limit = self.app.config.limits.header_bytes;
        let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if size + request.uri().path().len() > limit {
            return Err(Problem::with(catalog::HEADERS_TOO_LARGE, format!("at most {limit} bytes")));
        }
        let path = request.uri().path();
        if !path.starts_with("/v1/") || path == "/v1/time" {
            return Ok(());
        }
        let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let given = given.and_then(|value| {
            let (scheme, key) = value.split_at_checked(7)?;
            scheme.eq_ignore_ascii_case(b"bearer ").then_some(key)
        });
        match given {
            Some(key) if key.ct_eq(self.app.api_key.as_bytes()).into() => Ok(()),
            Some(_) => Err(Problem::with(catalog::UNAUTHENTICATED, "the API key is wrong")),
            None => Err(Problem::of(catalog::UNAUTHENTICATED)),
        }
    }

    async fn within_time(&self, request: Request<Body>) -> Response {
        let answered = AssertUnwindSafe(self.router.clone().oneshot(request)).catch_unwind();
        match tokio::time::timeout(self.timeout, answered).await {
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(never))) => match never {},
            Ok(Err(_panic)) => Problem::of(catalog::INTERNAL).into_response(),
            Err(_elapsed) => Problem::of(catalog::TIMED_OUT).retry_after(1).into_response(),
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

impl std::fmt::Debug for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Edge")
    }
}

//! The access log: one line for each request, written when the last byte of its answer has been handed over, or when
//! nobody takes any more of it. Off unless the log's filter lets the target `access` through.

use std::time::Instant;

use axum::response::Response;
use hyper::Request;

use crate::http::table::{PathNumber, table};

/// What a filter names to show the lines or not.
pub const TARGET: &str = "access";
/// Every answer has it.
const REQUEST_ID: &str = "x-request-id";

/// What there is to say of a request before its answer is sent.
#[derive(Debug)]
pub(super) struct Line {
    method: hyper::Method,
    route: PathNumber,
    began: Instant,
    status: u16,
    request: String,
    bytes: u64,
}

/// The method and the route of a request, if somebody wants to read lines at all.
#[derive(Debug)]
pub(super) struct LoggedRequest(Option<(hyper::Method, PathNumber)>);

impl LoggedRequest {
    pub(super) fn of<B>(request: &Request<B>) -> LoggedRequest {
        let wanted = tracing::enabled!(target: TARGET, tracing::Level::INFO);
        LoggedRequest(wanted.then(|| (request.method().clone(), table().path_number(request.uri().path()))))
    }

    pub(super) fn answered<B>(self, response: &Response<B>, began: Instant) -> Option<Box<Line>> {
        let (method, route) = self.0?;
        let id = response.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok());
        let (status, request) = (response.status().as_u16(), id.unwrap_or_default().to_owned());
        Some(Box::new(Line { method, route, began, status, request, bytes: 0 }))
    }
}

/// A request that was not read: which way it was going, and how, nobody knows.
pub(crate) fn unread(status: u16, request: &str, bytes: usize) {
    let route = table().path_name(table().unknown());
    tracing::info!(
        target: TARGET, method = "-", route, status, ms = 0.0, bytes, request,
        "- {route} {status}"
    );
}

impl Line {
    pub(super) fn sent(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let (method, route, status) = (&self.method, table().path_name(self.route), self.status);
        // A read in memory takes some hundredths of a millisecond.
        let ms = (self.began.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        let (bytes, request) = (self.bytes, self.request.as_str());
        tracing::info!(
            target: TARGET, %method, route, status, ms, bytes, request,
            "{method} {route} {status}"
        );
    }
}

//! Is it alive, is it ready, how is it, what time is it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_engine::EngineError;
use serde::Serialize;
use utoipa::ToSchema;

use super::problem::Problem;
use super::reply;
use super::table::{RouteDeclaration, declare};
use super::time::Time;
use super::words::HealthStatus;
use crate::app::App;

/// What whoever runs the server asks.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("server.time", time, Open, Free),
        declare!("server.live", live, Open, Free),
        declare!("server.ready", ready, Open, Free),
        declare!("server.metrics", metrics, Open, Free),
    ]
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    status: HealthStatus,
    /// Listings that answer `store_damaged` until somebody has put their keys right; all others are decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedListing>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DamagedListing {
    /// The listing's id.
    listing: String,
    /// The key in Redis that is not what it should be.
    key: String,
    /// What is wrong with it.
    #[schema(example = "is a string and should be a hash")]
    what: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ServerTime {
    /// The engine's clock.
    now: Time,
}

/// The process answers
///
/// Says nothing about the store.
#[utoipa::path(get, path = "/livez", tag = "operating", security(()), responses((status = 200, body = Health)))]
pub async fn live() -> Response {
    reply::json(StatusCode::OK, &Health { status: HealthStatus::Ok, damaged: Vec::new() })
}

/// The engine takes commands
///
/// A load balancer sends requests to a server that answers 200 here.
#[utoipa::path(get, path = "/readyz", tag = "operating", security(()),
    responses((status = 200, body = Health)))]
pub async fn ready(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let status = app.engine.status();
    if let Some(why) = status.poisoned {
        return Err(EngineError::Poisoned(why).into());
    }
    if status.stopping || app.stopping.is_cancelled() {
        return Err(EngineError::Stopping.into());
    }
    if status.disk_full {
        return Err(EngineError::DiskFull.into());
    }
    if let Some(why) = status.store_down {
        return Err(EngineError::Unavailable(why).into());
    }
    // Every server of the deployment sees the same: taking this one out of service would take all of them.
    let damaged = status.damaged.into_iter().map(|one| DamagedListing {
        listing: one.listing.to_string(),
        key: one.key,
        what: one.what,
    });
    Ok(reply::json(StatusCode::OK, &Health { status: HealthStatus::Ok, damaged: damaged.collect() }))
}

/// Counters and timings for Prometheus
///
/// In the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operating", security(()),
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn metrics(State(app): State<Arc<App>>) -> Response {
    let mut response = app.metrics.render(&app.engine.status()).into_response();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// The server's time
///
/// By this clock every deadline is kept.
#[utoipa::path(get, path = "/v1/time", tag = "operating", security(()),
    responses((status = 200, body = ServerTime)))]
pub async fn time(State(app): State<Arc<App>>) -> Response {
    reply::json(StatusCode::OK, &ServerTime { now: Time(app.engine.now()) })
}

//! The routes: one file per resource. `edge.rs` stands before them all, `reply.rs` between them and the engine.

pub mod auctions;
pub mod availability;
pub mod blocks;
pub mod buyers;
pub mod change_event;
pub mod chart;
pub mod compat;
pub mod confirm;
pub mod credential;
pub mod direct;
pub mod docs;
pub mod edge;
pub mod events;
pub mod extract;
pub mod fact;
pub mod facts;
pub mod health;
pub mod holds;
pub mod json;
pub mod layout;
pub mod lost;
pub mod names;
pub mod ordering;
pub mod orders;
pub mod overrides;
pub mod payments;
pub mod problem;
pub mod query;
pub mod queue;
pub mod registrations;
pub mod reply;
pub mod route;
pub mod sales;
pub mod seats;
pub mod series;
pub mod stream;
pub mod venues;
pub mod wire;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use onsale_domain::{ListingId, ListingKind, Tenant};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;

use self::extract::Caller;
use self::problem::{Problem, catalog};
use crate::app::App;
use crate::idempotency;

/// All routes. Only answers that may be large are compressed; the buying routes have no layer at all.
pub fn router(app: Arc<App>) -> Router {
    let compressed = || CompressionLayer::new().quality(CompressionLevel::Fastest);
    Router::new()
        .route("/v1/venues", get(venues::list).layer(compressed()).post(venues::create))
        .route("/v1/venues/{venue}", get(venues::show).layer(compressed()))
        .route("/v1/venues/{venue}/layouts", post(venues::publish))
        .route("/v1/events", get(events::list).layer(compressed()).post(events::create))
        .route("/v1/events/{event}", get(events::show).patch(change_event::change))
        .route("/v1/events/{event}/chart", get(chart::show).layer(compressed()))
        .route("/v1/events/{event}/seats", get(seats::show).layer(compressed()))
        .route("/v1/events/{event}/availability", get(availability::show).layer(compressed()))
        .route("/v1/events/{event}/holds", post(holds::place))
        .route(
            "/v1/events/{event}/holds/{hold}",
            get(holds::show).patch(holds::change).delete(holds::release),
        )
        .route("/v1/events/{event}/holds/{hold}/confirm", post(confirm::confirm))
        .route(
            "/v1/events/{event}/seats/{seat}/queue",
            get(queue::show).post(queue::join).delete(queue::leave),
        )
        .route("/v1/events/{event}/blocks", post(blocks::change))
        .route("/v1/events/{event}/overrides", post(overrides::place))
        .route("/v1/events/{event}/refunds", post(orders::refund))
        .route("/v1/events/{event}/orders/{order}", get(orders::show))
        .route("/v1/events/{event}/facts", get(facts::list).layer(compressed()))
        .route("/v1/events/{event}/stream", get(stream::follow))
        .route("/v1/buyers/{buyer}/holds", get(buyers::holds).layer(compressed()))
        .merge(sales::routes())
        .merge(series::routes())
        .merge(registrations::routes())
        .route("/checkout", post(compat::checkout))
        .route("/purchase", post(compat::purchase))
        .merge(auctions::routes())
        .merge(ordering::routes())
        .route("/", get(docs::index))
        .route("/docs", get(docs::page).layer(compressed()))
        .route("/openapi.json", get(docs::openapi).layer(compressed()))
        .route("/problems", get(docs::problems))
        .route("/problems/{code}", get(docs::problem))
        .route("/v1/time", get(health::time))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(async || Problem::of(catalog::ROUTE_UNKNOWN))
        .method_not_allowed_fallback(async || Problem::of(catalog::METHOD_NOT_ALLOWED))
        .with_state(app)
}

/// The id of a listing to be created: derived from the idempotency key if there is one, fresh otherwise.
pub fn new_listing(kind: ListingKind, verb: &str, caller: &Caller) -> ListingId {
    let tenant = Tenant::DEFAULT;
    let number = match &caller.key {
        Some(key) => idempotency::listing_number(tenant, kind, verb, key),
        None => uuid::Uuid::now_v7().as_u128(),
    };
    ListingId { tenant, kind, number }
}

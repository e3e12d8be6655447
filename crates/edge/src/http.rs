//! The routes: one file per resource. `edge.rs` stands before them all, `reply.rs` between them and the engine.

pub mod about;
pub mod access_change;
pub mod attempts;
pub mod auctions;
pub mod audience;
pub mod audit;
pub mod availability;
pub mod blocks;
pub mod buyer_tokens;
pub mod buyers;
pub mod change_event;
pub mod chart;
pub mod compat;
pub mod confirm;
pub mod credential;
pub mod cross_site;
pub mod delete;
pub mod direct;
pub mod docs;
pub mod document;
pub mod edge;
pub mod events;
pub mod extract;
pub mod fact;
pub mod facts;
pub mod gate;
pub mod health;
pub mod holds;
pub mod json;
pub mod keys;
pub mod layout;
pub mod list;
pub mod lost;
pub mod metadata;
pub mod names;
pub mod ordering;
pub mod overrides;
pub mod payments;
pub mod people;
pub mod plain;
pub mod problem;
pub mod query;
pub mod queue;
pub mod registrations;
pub mod reply;
pub mod sales;
pub mod seats;
pub mod series;
pub mod stream;
pub mod table;
pub mod tenants;
pub mod time;
pub mod venues;
pub mod wire;
pub mod wire_field;
pub mod words;

use std::sync::Arc;

use axum::Router;
use onsale_domain::about::About;
use onsale_domain::id::LISTING_NUMBERS;
use onsale_domain::{ListingId, ListingKind, Tenant};

use self::extract::Caller;
use self::problem::{Problem, catalog};
use crate::app::App;
use crate::idempotency::named_number;

/// All routes. Only answers that may be large are compressed; the buying routes have no layer at all.
pub fn router(app: Arc<App>) -> Router {
    table::router()
        .fallback(async || Problem::of(catalog::ROUTE_UNKNOWN))
        .method_not_allowed_fallback(async || Problem::of(catalog::METHOD_NOT_ALLOWED))
        .with_state(app)
}

/// The id of a listing to be created: derived from the merchant's own name of it or else from the idempotency key, if there
/// is one, drawn otherwise.
pub fn new_listing(app: &App, kind: ListingKind, caller: &Caller, about: &About) -> ListingId {
    let tenant = caller.principal.tenant;
    let number = match (&about.external_id, &caller.key) {
        (Some(external_id), _) => return named_listing(tenant, kind, external_id),
        (None, Some(key)) => key.listing_number(tenant, kind),
        (None, None) => app.draw_number() % LISTING_NUMBERS,
    };
    ListingId { tenant, kind, number }
}

/// The listing that has this name of the merchant's own, if there is one: no two can.
pub fn named_listing(tenant: Tenant, kind: ListingKind, external_id: &str) -> ListingId {
    ListingId { tenant, kind, number: named_number(tenant, kind, external_id) }
}

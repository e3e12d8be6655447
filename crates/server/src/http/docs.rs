//! `/openapi.json` made from the types, `/docs` to read it offline, and a page for every problem.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::RawPathParams;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

use super::problem::{Problem, catalog};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Onsale",
        description = "Seats, stock and auctions, sold exactly once. Times are milliseconds since 1970 in UTC, money \
                       is in minor units. Every answer that is not a yes is `application/problem+json`. Send \
                       `Idempotency-Key` with any mutation: the same key gets the same answer. A read with the \
                       header `Onsale-Stale: true` may be older than what was answered: the store that servers \
                       share is away.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    paths(
        super::venues::create, super::venues::list, super::venues::show, super::venues::publish,
        super::events::create, super::events::list, super::events::show, super::change_event::change,
        super::chart::show, super::seats::show, super::availability::show,
        super::holds::place, super::holds::show, super::holds::change, super::holds::release,
        super::confirm::confirm,
        super::queue::join, super::queue::show, super::queue::leave,
        super::attempts::list, super::blocks::change, super::overrides::place, super::orders::refund, super::orders::show,
        super::buyers::holds, super::facts::list, super::stream::follow,
        super::sales::create, super::sales::list, super::sales::show, super::sales::change::change,
        super::sales::skus::add, super::sales::skus::change, super::sales::skus::show_picture,
        super::sales::attempts::list, super::sales::list_facts, super::sales::follow,
        super::sales::checkouts::place, super::sales::checkouts::show, super::sales::checkouts::purchase,
        super::sales::checkouts::cancel, super::sales::bought::list,
        super::compat::checkout, super::compat::purchase,
        super::series::create, super::series::list, super::series::show, super::series::change::change,
        super::series::list_facts, super::series::follow,
        super::registrations::create, super::registrations::list, super::registrations::show,
        super::registrations::change::change, super::registrations::entries::register,
        super::registrations::entries::list, super::registrations::entries::show,
        super::registrations::entries::cancel, super::registrations::entries::confirm,
        super::registrations::list_attempts, super::registrations::list_facts, super::registrations::follow,
        super::ordering::place::place, super::ordering::show::show, super::ordering::pay::pay,
        super::ordering::cancel::cancel, super::ordering::refund::refund, super::ordering::buyer::list,
        super::payments::show, super::payments::receive,
        super::health::time, super::health::live, super::health::ready, super::health::metrics,
    ),
    components(schemas(super::problem::Told, super::holds::SeatsDropped)),
    security(("api_key" = [])),
    tags(
        (name = "holds", description = "Hold, extend, release, confirm"),
        (name = "seats", description = "The chart, the status of every seat, what is left"),
        (name = "queue", description = "Wait for a seat that another holds"),
        (name = "facts", description = "What happened, as pages and live"),
        (name = "sales", description = "Stock on sale for a while"),
        (name = "checkouts", description = "Reserve stock, buy it or give it back"),
        (name = "series", description = "Sales by a schedule"),
        (name = "registrations", description = "Places with a waiting list"),
        (name = "events"), (name = "venues"),
        (name = "orders", description = "Pay for what is held or reserved, and give it back"),
        (name = "payments", description = "What a provider was asked and what it said"),
        (name = "staff", description = "Blocks and overrides"),
        (name = "operating", description = "Health, metrics, time; without a key"),
    )
)]
struct Api;

static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| document().to_json().unwrap_or_default().into());

/// The description of all routes.
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = Api::openapi();
    document.merge(super::auctions::Api::openapi());
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_default().add_security_scheme("api_key", bearer);
    document
}

pub async fn openapi() -> Response {
    let mut response = OPENAPI.clone().into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub async fn page() -> Html<&'static str> {
    Html(include_str!("docs.html"))
}

pub async fn index() -> Redirect {
    Redirect::to("/docs")
}

pub async fn problems() -> Html<String> {
    let mut rows = String::new();
    for entry in catalog::all() {
        // Writing to a `String` cannot fail.
        let _ = write!(
            rows,
            "<tr><td><a href=\"/problems/{0}\"><code>{0}</code></a></td><td>{1}</td><td>{2}</td></tr>",
            entry.code, entry.status, entry.title
        );
    }
    Html(framed("Problems", &format!("<table>{rows}</table>")))
}

pub async fn problem(params: RawPathParams) -> Result<Html<String>, Problem> {
    let code = params.iter().next().map_or("", |(_, value)| value);
    let entry = catalog::all().find(|entry| entry.code == code);
    let entry = entry.ok_or_else(|| Problem::of(catalog::ROUTE_UNKNOWN))?;
    let text = format!(
        "<p>Status {} · code <code>{}</code></p><p><b>What to do next:</b> {}</p><p><a href=\"/problems\">All \
         problems</a> · <a href=\"/docs\">All routes</a></p>",
        entry.status, entry.code, entry.next
    );
    Ok(Html(framed(entry.title, &text)))
}

fn framed(title: &str, inner: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title} · Onsale</title><style>body{{font:16px/1.5 system-ui,\
         sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}}td{{padding:.2rem \
         1rem .2rem 0}}</style><h1>{title}</h1>{inner}</html>"
    )
}

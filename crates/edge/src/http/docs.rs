//! `/openapi.json` made from the types, `/docs` to read it offline, and a page for every problem.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Redirect, Response};

use super::document::document;
use super::extract::PathParams;
use super::problem::{Problem, catalog};
use super::table::{RouteDeclaration, declare};

/// Documents for people and programs.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("docs.index", index, Open, Free, undescribed),
        declare!("docs.page", page, Open, Free, compressed, undescribed),
        declare!("docs.openapi", openapi, Open, Free, compressed, undescribed),
        declare!("docs.problems", problems, Open, Free, undescribed),
        declare!("docs.problem", problem, Open, Free, undescribed),
    ]
}

static OPENAPI: LazyLock<Bytes> = LazyLock::new(|| document().to_string().into());

#[utoipa::path(get, path = "/openapi.json", responses((status = 200)))]
pub async fn openapi() -> Response {
    let mut response = OPENAPI.clone().into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[utoipa::path(get, path = "/docs", responses((status = 200)))]
pub async fn page() -> Html<&'static str> {
    Html(include_str!("docs.html"))
}

#[utoipa::path(get, path = "/", responses((status = 303)))]
pub async fn index() -> Redirect {
    Redirect::to("/docs")
}

#[utoipa::path(get, path = "/problems", responses((status = 200)))]
pub async fn problems() -> Html<String> {
    let mut rows = String::new();
    for entry in catalog::all() {
        // Writing to a `String` cannot fail.
        let _ = write!(
            rows,
            "<tr><td><a href=\"/problems/{0}\"><code>{0}</code></a></td><td>{1}</td><td>{2}</td><td>{3}</td></tr>",
            entry.code,
            entry.status,
            escaped(entry.title),
            escaped(entry.next)
        );
    }
    Html(framed("Problems", &format!("<table>{rows}</table>")))
}

#[utoipa::path(get, path = "/problems/{code}", responses((status = 200)))]
pub async fn problem(PathParams(params): PathParams) -> Result<Html<String>, Problem> {
    let code = params.iter().next().map_or("", |(_, value)| value);
    let entry = catalog::all().find(|entry| entry.code == code);
    let entry = entry.ok_or_else(|| Problem::of(catalog::ROUTE_UNKNOWN))?;
    let text = format!(
        "<p>Status {} · code <code>{}</code></p><p><b>What to do next:</b> {}</p><p><a href=\"/problems\">All \
         problems</a> · <a href=\"/docs\">All routes</a></p>",
        entry.status,
        entry.code,
        escaped(entry.next)
    );
    Ok(Html(framed(&escaped(entry.title), &text)))
}

/// A sentence as HTML: what stands between backquotes is code, and nothing in it is a tag.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = text.split('`').enumerate().map(|(place, part)| match place % 2 {
        0 => part.to_owned(),
        _ => format!("<code>{part}</code>"),
    });
    parts.collect()
}

fn framed(title: &str, inner: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title} · Onsale</title><style>body{{font:16px/1.5 system-ui,\
         sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}}td{{padding:.2rem \
         1rem .2rem 0;vertical-align:top}}@media(max-width:40rem){{tr,td{{display:block}}tr{{padding:.4rem 0}}}}</style><h1>{title}</h1>{inner}</html>"
    )
}

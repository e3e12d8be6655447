//! `GET …/attempts`: who was refused what, for a listing's owner. No part of its log: a restart begins anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::ListingId;
use onsale_domain::Question;
use onsale_domain::attempts::Attempt;
use onsale_domain::limits::ATTEMPTS_KEPT;
use onsale_domain::query::AttemptsQuery;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::names::Skus;
use crate::app::App;
use crate::http::extract::SalePath;
use crate::http::problem::{Obstacles, Problem, ProblemBody};
use crate::http::query::{self, Query};
use crate::http::reply;
use crate::http::time::Time;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    from: Option<u64>,
    limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AttemptList {
    /// How many were refused by each code, since the server was started.
    #[schema(example = json!({"sold_out": 17, "buyer_limit": 2}))]
    counts: BTreeMap<&'static str, u64>,
    /// Oldest first. Only the last 1,000 are kept: a number that is missing was lost to a flood.
    attempts: Vec<AttemptBody>,
    /// Where to go on: `?from=` this.
    next: u64,
    /// True if there is more right now.
    more: bool,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Attempt)]
pub struct AttemptBody {
    #[schema(example = 16)]
    number: u64,
    at: Time,
    #[schema(example = "ext:default:ann")]
    buyer: String,
    #[schema(example = "checkout")]
    verb: &'static str,
    #[schema(example = "sold_out")]
    code: &'static str,
    /// What stood in the way, if it was single things.
    #[serde(flatten)]
    in_the_way: Obstacles,
}

/// Refused attempts
#[utoipa::path(get, path = "/v1/sales/{sale}/attempts", tag = "sales",
    params(("sale" = String, Path), ("from" = Option<u64>, Query, description = "The `next` of the page before"),
           ("limit" = Option<usize>, Query, description = "1 to 1,000")),
    responses((status = 200, body = AttemptList), (status = 404, body = ProblemBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: SalePath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    let skus = Skus::of(&*app.engine, &at.listing)?;
    page_of(&app, at.listing, &page, |attempt| Obstacles::of_sale(&attempt.in_the_way, &skus)).await
}

/// A page of any listing's refused attempts.
pub async fn page_of(
    app: &App,
    listing: ListingId,
    page: &Page,
    in_the_way: impl Fn(&Attempt) -> Obstacles,
) -> Result<Response, Problem> {
    let limit = query::limit(page.limit, ATTEMPTS_KEPT)?;
    let from = page.from.unwrap_or(0);
    let found = app.engine.ask(listing, AttemptsQuery { from, limit }.into()).await?;
    let found = AttemptsQuery::answer(found).map(|found| *found).unwrap_or_default();
    let body = |(number, attempt): &(u64, Attempt)| AttemptBody {
        number: *number,
        at: Time(attempt.at),
        buyer: attempt.buyer.as_str().to_owned(),
        verb: attempt.verb,
        code: attempt.code.as_str(),
        in_the_way: in_the_way(attempt),
    };
    let next = found.attempts.last().map_or(found.next, |(number, _)| number + 1);
    let list = AttemptList {
        counts: found.counts.iter().map(|(code, count)| (code.as_str(), *count)).collect(),
        attempts: found.attempts.iter().map(body).collect(),
        next,
        more: next < found.next,
    };
    Ok(reply::json(StatusCode::OK, &list))
}

//! `GET …/attempts`: who was refused what, for a listing's owner. No part of its log: a restart begins anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Question;
use onsale_domain::attempts::Attempt;
use onsale_domain::query::AttemptsQuery;
use onsale_domain::{Command, ListingId, Millis};
use serde::Serialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::names::Skus;
use crate::app::App;
use crate::http::extract::SalePath;
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::catalog::ProblemCode;
use crate::http::problem::{Obstacles, Problem};
use crate::http::query::Query;
use crate::http::reply;
use crate::http::time::Time;

#[derive(Debug, Serialize, ToSchema)]
pub struct Attempts {
    /// Oldest first. Only the last 1,000 are kept: a number that is missing was lost to a flood.
    #[serde(flatten)]
    page: List<AttemptBody>,
    /// How many were refused by each code, since the server was started.
    #[schema(example = json!({"sold_out": 17, "buyer_limit": 2}))]
    counts: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Attempt)]
pub struct AttemptBody {
    #[schema(example = 16)]
    number: u64,
    at: Time,
    #[schema(example = "ann")]
    buyer: String,
    #[schema(value_type = VerbName, example = "checkout")]
    verb: &'static str,
    #[schema(value_type = ProblemCode, example = "sold_out")]
    code: &'static str,
    /// What stood in the way, if it was single things.
    #[serde(flatten)]
    in_the_way: Obstacles,
}

/// The schema of a verb's name: every verb of the rules.
struct VerbName;

impl PartialSchema for VerbName {
    fn schema() -> RefOr<Schema> {
        let verbs = Command::verbs().map(|verb| verb.name);
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(verbs)).into()
    }
}

impl ToSchema for VerbName {}

/// Refused attempts
///
/// Who was refused what, and why, for whoever runs the sale. It is no part of the log: a restart of the server begins anew.
#[utoipa::path(get, path = "/v1/sales/{sale}/attempts", tag = "sales",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = Attempts)))]
pub async fn list(
    State(app): State<Arc<App>>,
    at: SalePath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    let skus = Skus::of(&*app.engine, &at.listing)?;
    let in_the_way = |attempt: &Attempt| Obstacles::of_sale(&attempt.in_the_way, &skus);
    page_of(&app, "sales.attempts", at.listing, &page, in_the_way).await
}

/// A page of any listing's refused attempts.
///
/// They are no part of the log, so that numbers may begin anew: a cursor has the number and the time of an attempt, and
/// is one no longer when that number is another's.
pub async fn page_of(
    app: &App,
    operation: &'static str,
    listing: ListingId,
    page: &Page,
    in_the_way: impl Fn(&Attempt) -> Obstacles,
) -> Result<Response, Problem> {
    let (limit, listing_text) = (list::limit(page.limit)?, listing.to_string());
    let cursors = Cursors::new(operation, &listing_text);
    let after: Option<(u64, Millis)> = cursors.read(page.after.as_deref(), |place| {
        let (number, at) = place.split_once('-')?;
        Some((number.parse().ok()?, at.parse().ok()?))
    })?;
    // With the one that the cursor names, to see that it is still the same.
    let query = AttemptsQuery { from: after.map_or(0, |(number, _)| number), limit: limit + 2 };
    let found = app.engine.ask(listing, query.into()).await?;
    let mut found = AttemptsQuery::answer(found).map(|found| *found).unwrap_or_default();
    if let Some((number, at)) = after {
        match found.attempts.first() {
            Some((first, attempt)) if *first == number && attempt.at == at => drop(found.attempts.remove(0)),
            // Lost to a flood: all that is kept comes behind it.
            Some((first, _)) if *first > number => {}
            Some(_) | None => return Err(list::wrong()),
        }
    }
    let place = |(number, attempt): &(u64, Attempt)| cursors.write(&format!("{number}-{}", attempt.at));
    let page = list::cut(found.attempts, limit, place).map(|(number, attempt)| AttemptBody {
        number: *number,
        at: Time(attempt.at),
        buyer: attempt.buyer.as_str().to_owned(),
        verb: attempt.verb,
        code: attempt.code.as_str(),
        in_the_way: in_the_way(attempt),
    });
    let counts = found.counts.iter().map(|(code, count)| (code.as_str(), *count)).collect();
    Ok(reply::json(StatusCode::OK, &Attempts { page, counts }))
}

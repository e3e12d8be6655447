//! `/v1/audit`: who changed keys, people and tenants, and from where.

use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::audit::{self, Entry};
use onsale_access::tenants::PAGE_MAX;
use serde::Serialize;
use utoipa::ToSchema;

use super::access_change::{AccessCaller, failed};
use super::list::{self, Cursors, List, Page};
use super::problem::Problem;
use super::query::Query;
use super::reply;
use super::table::{RouteDeclaration, declare};
use super::time::Time;

/// The route of the audit trail.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![declare!("audit.list", list, Access, Staff, in_access)]
}

/// One entry of the audit trail: ids only, no secret and no text of a request.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditEntry {
    at: Time,
    /// A key, a person, the command line, or nobody.
    #[schema(example = "key_5m2k9x0c7q4h8w1t")]
    who: String,
    #[schema(example = "key_revoked")]
    action: String,
    /// To whom or to what it was done.
    subject: String,
    /// The network address it came from, where that is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    address: String,
    /// The request's id, as in the header `X-Request-Id`.
    #[serde(skip_serializing_if = "String::is_empty")]
    request: String,
}

impl AuditEntry {
    fn new(entry: &Entry) -> AuditEntry {
        AuditEntry {
            at: Time(entry.at_ms),
            who: entry.who.clone(),
            action: entry.action.clone(),
            subject: entry.subject.clone(),
            address: entry.address.clone(),
            request: entry.request.clone(),
        }
    }
}

/// List the audit trail
///
/// What happened to keys, people and tenants, the newest first. Entries are kept for 400 days.
#[utoipa::path(get, path = "/v1/audit", tag = "keys",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<AuditEntry>)))]
pub async fn list(caller: AccessCaller, Query(page): Query<Page>) -> Result<Response, Problem> {
    let cursors = Cursors::new("audit.list", "");
    let limit = list::limit(page.limit)?.min(PAGE_MAX - 1);
    let before = cursors.read(page.after.as_deref(), |place| place.parse::<i64>().ok())?;
    let found = audit::list(&caller.access.sql, caller.tenant(), before, limit + 1).await.map_err(failed)?;
    let page = list::cut(found, limit, |(number, _)| cursors.write(&number.to_string()));
    Ok(reply::json(StatusCode::OK, &page.map(|(_, entry)| AuditEntry::new(entry))))
}

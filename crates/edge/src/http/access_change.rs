//! A change of keys, tenants or people: its idempotency key, its audit entry and its answer are in one transaction with what it
//! does. No crash leaves one without the others.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use onsale_access::answers::{self, Claim};
use onsale_access::audit::{self, Entry};
use onsale_access::house::Access;
use onsale_access::principal::{Principal, Who};
use onsale_access::refusal::{AccessError, Refusal};
use onsale_access::{SqlError, Tx};
use onsale_domain::{Code, Tenant};
use serde::{Deserialize, Serialize};

use super::edge::REQUEST_ID;
use super::extract::Caller;
use super::problem::{Problem, catalog};
use super::reply::{self, REPLAYED};
use crate::app::App;

/// Whoever asks something of keys, tenants or the audit trail.
#[derive(Debug)]
pub struct AccessCaller {
    pub access: Arc<Access>,
    caller: Caller,
    request: String,
}

impl FromRequestParts<Arc<App>> for AccessCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let access = app.access.clone().ok_or_else(|| Problem::of(catalog::ACCESS_OFF))?;
        let request = parts.headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
        Ok(AccessCaller { access, caller, request: request.unwrap_or_default().to_owned() })
    }
}

impl AccessCaller {
    pub fn principal(&self) -> &Principal {
        &self.caller.principal
    }

    pub fn tenant(&self) -> Tenant {
        self.principal().tenant
    }

    /// As the audit trail names them.
    pub fn who(&self) -> String {
        match &self.principal().who {
            Who::Nobody => "nobody".to_owned(),
            Who::Key(holder) => holder.key.to_string(),
            Who::Person(person) => person.user.as_str().to_owned(),
            Who::Vouched(vouched) => vouched.key.to_string(),
        }
    }

    /// Begins a change; what was done before under the same idempotency key is answered as it was then. `decoded` is all that is
    /// asked for.
    pub async fn begin(&self, decoded: &impl Serialize) -> Result<Begun<'_>, Problem> {
        let now_ms = self.access.now_ms();
        let mut tx = self.access.sql.begin().await.map_err(failed)?;
        let request = self.caller.key.as_ref().map(|key| key.in_access(self.tenant(), decoded));
        if let Some(request) = &request {
            let claimed = self.access.answers.claim(&mut tx, request, now_ms).await.map_err(failed)?;
            match claimed {
                Claim::New => {}
                Claim::Done(kept) => return KeptAnswer::read(&kept).map(Begun::Done),
                Claim::Reused => return Err(Problem::key_reused()),
            }
        }
        Ok(Begun::New(Change { tx, now_ms, request, caller: self }))
    }
}

/// Whether there is anything to do.
#[derive(Debug)]
pub enum Begun<'a> {
    New(Change<'a>),
    Done(Response),
}

/// A change that is not committed yet. Dropped, nothing of it is done.
#[derive(Debug)]
pub struct Change<'a> {
    pub tx: Tx,
    pub now_ms: i64,
    request: Option<answers::Request>,
    caller: &'a AccessCaller,
}

impl Change<'_> {
    /// Commits, and answers with this.
    pub async fn finish(
        mut self,
        action: &str,
        subject: &str,
        answer: KeptAnswer,
    ) -> Result<Response, Problem> {
        let entry = Entry {
            at_ms: self.now_ms,
            tenant: self.caller.tenant(),
            who: self.caller.who(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            address: String::new(),
            request: self.caller.request.clone(),
        };
        audit::append(&mut self.tx, &entry).await.map_err(failed)?;
        if let Some(request) = &self.request {
            let bytes = serde_json::to_vec(&answer).unwrap_or_default();
            self.caller.access.answers.keep(&mut self.tx, request, &bytes).await.map_err(failed)?;
        }
        self.tx.commit().await.map_err(failed)?;
        Ok(answer.response())
    }
}

/// A yes as it is kept for who asks again. There may be a key in it.
#[derive(Serialize, Deserialize)]
pub struct KeptAnswer {
    status: u16,
    location: Option<String>,
    /// JSON; empty where there is nothing to show.
    body: String,
}

impl KeptAnswer {
    pub fn made(location: String, body: &impl Serialize) -> KeptAnswer {
        KeptAnswer { location: Some(location), ..KeptAnswer::of(StatusCode::CREATED, body) }
    }

    pub fn of(status: StatusCode, body: &impl Serialize) -> KeptAnswer {
        let body = serde_json::to_string(body).unwrap_or_default();
        KeptAnswer { status: status.as_u16(), location: None, body }
    }

    pub fn gone() -> KeptAnswer {
        KeptAnswer { status: StatusCode::NO_CONTENT.as_u16(), location: None, body: String::new() }
    }

    fn read(kept: &[u8]) -> Result<Response, Problem> {
        let kept: KeptAnswer = serde_json::from_slice(kept).map_err(|error| {
            tracing::error!(%error, "an answer that was kept cannot be read: {error}");
            Problem::of(catalog::INTERNAL)
        })?;
        let mut response = kept.response();
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        Ok(response)
    }

    fn response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        if self.status != StatusCode::NO_CONTENT.as_u16() {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        match self.location {
            Some(location) => reply::located(response, location),
            None => response,
        }
    }
}

impl std::fmt::Debug for KeptAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}

/// A no of that room, with the field that it is about.
pub fn refused(error: AccessError) -> Problem {
    let refusal = match error {
        AccessError::Refused(refusal) => refusal,
        AccessError::Sql(error) => return failed(error),
    };
    let problem = Problem::of(catalog::access::of(refusal));
    let field = match refusal {
        Refusal::NameInvalid | Refusal::TenantNameTaken => "name",
        Refusal::ScopesInvalid | Refusal::ScopeNotYours | Refusal::OperateAlone => "scopes",
        Refusal::ExpiryInvalid => "expires_at",
        Refusal::OverlapInvalid => "overlap_seconds",
        Refusal::LifetimeInvalid => "ttl_seconds",
        Refusal::ListingsInvalid => "listings",
        Refusal::BuyerInvalid => "buyer",
        // It stands in the path.
        Refusal::HostInvalid => return Problem::parameter("host", catalog::access::of(refusal).next),
        Refusal::TenantUnknown
        | Refusal::TenantIsDefault
        | Refusal::TooManyTenants
        | Refusal::HostUnknown
        | Refusal::KeyUnknown
        | Refusal::KeyOver
        | Refusal::KeyRotated
        | Refusal::TooManyKeys => return problem,
    };
    problem.of_field(field)
}

/// The database failed.
pub fn failed(error: SqlError) -> Problem {
    match &error {
        SqlError::Unavailable(_) | SqlError::Busy(_) => {
            tracing::debug!(%error, "keys and accounts cannot be changed now: {error}");
            Problem::of(catalog::ACCESS_UNAVAILABLE).retry_after(1)
        }
        SqlError::Unknown(_) => Problem::of(catalog::TIMED_OUT).retry_after(1),
        SqlError::Full(_) => Problem::of(catalog::DISK_FULL).retry_after(5),
        SqlError::InUse(_)
        | SqlError::NewerSchema { .. }
        | SqlError::OlderSchema { .. }
        | SqlError::Damaged(_)
        | SqlError::Configuration(_)
        | SqlError::Duplicate(_)
        | SqlError::Constraint(_)
        | SqlError::Statement(_) => {
            tracing::error!(%error, "keys and accounts: {error}");
            Problem::of(catalog::INTERNAL)
        }
    }
}

impl Problem {
    /// 422: the key of an earlier request that asked for something else.
    fn key_reused() -> Problem {
        let entry = catalog::of(Code::KeyReused);
        Problem::with(entry, entry.next).of_header("Idempotency-Key")
    }
}

//! `/v1/sessions`: signing in and out, on each device.

use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::sessions::SessionEntry;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asking::{Asking, Carrier};
use super::wire::{self, DeviceBody, SessionBegun, TokenChanged};
use super::{cookies, done};
use crate::http::extract::{Json, PathParams};
use crate::http::list::{self, Cursors, List, Page};
use crate::http::problem::{Problem, catalog};
use crate::http::query::Query;
use crate::http::reply;
use crate::http::time::Time;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    #[schema(example = "ann@example.org")]
    email: String,
    #[schema(example = "hedgehog moon 7")]
    password: String,
    /// True: the session's token goes into a cookie. Without it browsers get a cookie, and programs the token.
    #[serde(default)]
    cookie: Option<bool>,
    /// True: the session lives through weeks without a use.
    #[serde(default)]
    remember_me: bool,
    #[serde(default)]
    #[schema(example = "mobile")]
    device_type: Option<String>,
    #[serde(default)]
    #[schema(example = "Ann's phone")]
    device_name: Option<String>,
    /// What an earlier sign-in gave this device to keep: it is known then, and its owner does not wait for others' wrong passwords.
    #[serde(default)]
    #[schema(example = "onsale_dev_…")]
    device_token: Option<String>,
}

/// Sign in
///
/// Programs get a token for `Authorization: Bearer`, browsers a cookie that no script can read. The session that asks ends, if it is
/// the same person's.
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", request_body = SignIn,
    responses((status = 201, body = SessionBegun), (status = 429, description = "Too many wrong passwords")))]
pub async fn create(asking: Asking, Json(body): Json<SignIn>) -> Result<Response, Problem> {
    wire::check_email("email", &body.email)?;
    wire::check_given_password("password", &body.password)?;
    let told = DeviceBody { device_type: body.device_type, device_name: body.device_name };
    wire::check_device(&told)?;
    if let Some(token) = &body.device_token {
        wire::check_token("device_token", token)?;
    }
    let carrier = asking.new_carrier(body.cookie)?;
    let device = asking.device(&told);
    let from = asking.sign_in_from(&device, body.device_token.as_deref(), body.remember_me);
    let accounts = &asking.access.accounts;
    let started = accounts.sign_in(&body.email, &body.password, from, &asking.context()).await?;
    Ok(wire::begun(&started, carrier, body.remember_me, asking.now_ms))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionBody {
    #[schema(example = "ses_0000000000000000000000000b")]
    session: String,
    /// Whether it is the one that asks.
    current: bool,
    #[schema(example = "dev_0000000000000000000000000c")]
    device: String,
    #[schema(example = "mobile")]
    device_type: String,
    #[schema(example = "Ann's phone")]
    device_name: String,
    /// Network address of the sign-in; empty if it is not known.
    #[schema(example = "192.0.2.7")]
    address: String,
    user_agent: String,
    #[schema(example = json!(["buyer"]))]
    roles: Vec<&'static str>,
    #[schema(example = json!(["view_listings", "book_tickets", "view_orders"]))]
    permissions: Vec<&'static str>,
    remembered: bool,
    created_at: Time,
    /// To the minute.
    last_used_at: Time,
    expires_at: Time,
}

impl SessionBody {
    pub fn new(entry: SessionEntry, current: &str) -> SessionBody {
        SessionBody {
            current: entry.session == current,
            session: entry.session,
            device: entry.device,
            device_type: entry.device_type,
            device_name: entry.device_name,
            address: entry.address,
            user_agent: entry.user_agent,
            roles: entry.roles,
            permissions: entry.permissions,
            remembered: entry.is_remembered,
            created_at: Time(entry.created_ms),
            last_used_at: Time(entry.last_used_ms),
            expires_at: Time(entry.expires_ms),
        }
    }
}

/// My devices
///
/// Every session of the person who asks, the last used first.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<SessionBody>)))]
pub async fn list(asking: Asking, Query(page): Query<Page>) -> Result<Response, Problem> {
    let person = asking.person()?;
    let found = asking.access.sessions.list(person.user.as_str(), asking.now_ms).await?;
    let all = found.into_iter().map(|entry| SessionBody::new(entry, &person.session)).collect();
    let cursors = Cursors::new("sessions.list", person.user.as_str());
    let key = |one: &SessionBody| format!("{:016x}{}", !one.last_used_at.ms(), one.session);
    Ok(reply::json(StatusCode::OK, &list::of_all(&page, cursors, all, key)?))
}

/// One of my sessions
///
/// Its device, when it began and when it ends.
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions", responses((status = 200, body = SessionBody)))]
pub async fn show(asking: Asking, params: PathParams) -> Result<Response, Problem> {
    let person = asking.person()?;
    let found = asking.access.sessions.list(person.user.as_str(), asking.now_ms).await?;
    let wanted = params.first();
    let entry = found.into_iter().find(|entry| entry.session == wanted);
    let entry = entry.ok_or_else(|| Problem::of(catalog::SESSION_UNKNOWN))?;
    Ok(reply::json(StatusCode::OK, &SessionBody::new(entry, &person.session)))
}

/// Sign out
///
/// Ends one session of the person who asks: its own, or that of another device. Within a second no server lets it in.
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions", responses((status = 204)))]
pub async fn end(asking: Asking, params: PathParams) -> Result<Response, Problem> {
    let person = asking.person()?;
    let session = params.first();
    asking.access.sessions.end(person.user.as_str(), session, &asking.context()).await?;
    Ok(ended(&asking, session == &*person.session))
}

/// The cookie of a session that is over is taken from its browser.
fn ended(asking: &Asking, is_own: bool) -> Response {
    let mut response = done();
    if is_own && asking.carrier() == Carrier::Cookie {
        cookies::clear_session(&mut response);
    }
    response
}

/// Which session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Except {
    Current,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndQuery {
    except: Option<Except>,
}

/// Sign out everywhere
///
/// Ends all sessions of the person who asks; with `except=current` all others.
#[utoipa::path(delete, path = "/v1/sessions", tag = "sessions",
    params(("except" = Option<String>, Query)), responses((status = 204)))]
pub async fn end_all(asking: Asking, Query(wish): Query<EndQuery>) -> Result<Response, Problem> {
    let person = asking.person()?;
    let user = person.user.as_str();
    let except = wish.except.map(|Except::Current| &*person.session);
    asking.access.sessions.end_all(user, user, except, &asking.context()).await?;
    Ok(ended(&asking, except.is_none()))
}

/// Change the token of a session
///
/// The old one still works for ten seconds, so that requests on their way are answered; one that comes back later ends the session.
#[utoipa::path(post, path = "/v1/sessions/rotate", tag = "sessions",
    responses((status = 200, body = TokenChanged), (status = 404), (status = 409, description = "Another request was quicker")))]
pub async fn rotate(asking: Asking) -> Result<Response, Problem> {
    let person = asking.person()?;
    let token = asking.token().ok_or_else(|| Problem::of(catalog::SESSION_UNKNOWN))?;
    let next = asking.access.sessions.rotate(&token, &asking.context()).await?;
    let seconds = remembered_seconds(&asking, &person.session).await?;
    Ok(TokenChanged::answer(&person.session, &next, asking.carrier(), seconds))
}

/// How long a browser keeps the cookie of this session; `None`: until it is closed.
pub async fn remembered_seconds(asking: &Asking, session: &str) -> Result<Option<i64>, Problem> {
    let person = asking.person()?;
    let all = asking.access.sessions.list(person.user.as_str(), asking.now_ms).await?;
    let own = all.into_iter().find(|entry| entry.session == session && entry.is_remembered);
    Ok(own.map(|entry| wire::cookie_seconds(entry.expires_ms, asking.now_ms)))
}

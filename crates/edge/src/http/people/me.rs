//! `/v1/me`: who asks, as the server sees them; and the end of an account.

use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::principal::{Principal, Who};
use onsale_access::role::Role;
use onsale_access::scope::Scope as Permission;
use onsale_access::sessions::permissions;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asking::{Asking, Carrier};
use super::{cookies, done, wire};
use crate::http::extract::Json;
use crate::http::gate::Visitor;
use crate::http::problem::{Problem, catalog};
use crate::http::reply;

/// What somebody asks with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallerKind {
    /// A person who is signed in.
    Person,
    /// A session without an account.
    Guest,
    /// A merchant's server, or its page.
    Key,
    /// A browser for which a merchant's server vouches.
    Buyer,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Me)]
pub struct MeBody<'a> {
    kind: CallerKind,
    /// Under which name this caller buys; a merchant's server names each buyer itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "usr_0000000000000000000000000a")]
    buyer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "ses_0000000000000000000000000b")]
    session: Option<&'a str>,
    /// The key that asks, or whose holder vouches.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[schema(example = json!(["buyer"]))]
    roles: Vec<&'static str>,
    #[schema(example = json!(["read", "buy"]))]
    scopes: Vec<&'static str>,
    #[schema(example = json!(["view_listings", "book_tickets", "view_orders"]))]
    permissions: Vec<&'static str>,
}

impl MeBody<'_> {
    /// `None` for who carries nothing.
    fn of(principal: &Principal) -> Option<MeBody<'_>> {
        let (kind, session, key, roles) = match &principal.who {
            Who::Nobody => return None,
            Who::Key(holder) => (CallerKind::Key, None, Some(&*holder.key), Vec::new()),
            Who::Vouched(vouched) => (CallerKind::Buyer, None, Some(&*vouched.key), Vec::new()),
            Who::Person(person) => {
                let kind = if person.is_guest { CallerKind::Guest } else { CallerKind::Person };
                (kind, Some(&*person.session), None, person.roles.iter().map(Role::as_str).collect())
            }
        };
        Some(MeBody {
            kind,
            buyer: principal.own_buyer().map(|buyer| buyer.as_str()),
            session,
            key,
            roles,
            scopes: principal.scopes.iter().map(Permission::as_str).collect(),
            permissions: permissions(principal.scopes),
        })
    }
}

/// Who am I
///
/// Whom the key, the session or the buyer token stands for, and what it may do.
#[utoipa::path(get, path = "/v1/me", tag = "me", responses((status = 200, body = MeBody)))]
pub async fn show(Visitor(principal): Visitor) -> Result<Response, Problem> {
    let told = MeBody::of(&principal).ok_or_else(|| Problem::of(catalog::UNAUTHENTICATED))?;
    Ok(reply::json(StatusCode::OK, &told))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Farewell {
    /// Of the account; a guest has none.
    #[serde(default)]
    #[schema(example = "hedgehog moon 7")]
    password: Option<String>,
}

/// Delete my account
///
/// Empties everything personal and ends all sessions. What was bought stays bought, under an id that names nobody any more.
#[utoipa::path(delete, path = "/v1/me", tag = "me", request_body = Farewell,
    responses((status = 204), (status = 404), (status = 409), (status = 429, description = "Too many wrong passwords")))]
pub async fn delete(asking: Asking, Json(body): Json<Farewell>) -> Result<Response, Problem> {
    let person = asking.person()?;
    if let Some(password) = &body.password {
        wire::check_given_password("password", password)?;
    }
    let accounts = &asking.access.accounts;
    accounts.delete(person.user.as_str(), body.password.as_deref(), &asking.context()).await?;
    let mut response = done();
    if asking.carrier() == Carrier::Cookie {
        cookies::clear_session(&mut response);
    }
    Ok(response)
}

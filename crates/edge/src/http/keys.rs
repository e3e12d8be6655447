//! `/v1/keys`: the keys of a tenant. A key is shown whole once, when it is made; only a hash of it is stored.

pub mod wire;

use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::keys::{self, NewKey, Rotation};
use onsale_access::refusal::{AccessError, Refusal};
use onsale_access::scope::{Scope, Scopes};
use onsale_access::tenants::PAGE_MAX;
use onsale_domain::limits::TIME_MAX;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::wire::{KeyBody, KeyKindWord, MadeKey, ScopeWord};
use super::access_change::{AccessCaller, Begun, KeptAnswer, failed, refused};
use super::extract::{Json, PathParams};
use super::list::{self, Cursors, List, Page};
use super::problem::{Problem, catalog};
use super::query::Query;
use super::reply;
use super::table::{RouteDeclaration, declare};
use super::time::Time;

/// The routes of keys.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("keys.create", create, Access, Staff, keyed, in_access),
        declare!("keys.list", list, Access, Staff, in_access),
        declare!("keys.show", show, Access, Staff, in_access),
        declare!("keys.rotate", rotate, Access, Staff, keyed, in_access),
        declare!("keys.revoke", revoke, Access, Staff, keyed, in_access),
    ]
}

/// A new key.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKeyBody {
    kind: KeyKindWord,
    /// What people call it.
    #[schema(example = "till 3")]
    name: String,
    /// What it may do, at most what you may. Absent: all that a key of this kind can do; a restricted key must name some.
    scopes: Option<Vec<ScopeWord>>,
    /// A test key has limits of speed of its own.
    #[serde(default)]
    test: bool,
    /// From then on it opens nothing. Absent: until it is revoked.
    expires_at: Option<Time>,
}

impl NewKeyBody {
    fn scopes(&self, giver: Scopes) -> Scopes {
        let kind = self.kind.kind();
        match (&self.scopes, self.kind) {
            // More than there are: some stand there twice.
            (Some(named), _) if named.len() > Scope::ALL.len() => Scopes::NONE,
            (Some(named), _) => Scopes::of(&named.iter().map(|word| word.scope()).collect::<Vec<_>>()),
            // What is chosen must be said.
            (None, KeyKindWord::Restricted) => Scopes::NONE,
            (None, KeyKindWord::Secret | KeyKindWord::Publishable) => {
                let both = kind.allowed().iter().filter(|scope| giver.contains(*scope));
                Scopes::of(&both.collect::<Vec<Scope>>())
            }
        }
    }
}

/// Make a key
///
/// The answer has the whole key, this once. A secret key is for a merchant's server and may do everything in the tenant; a restricted
/// key may do what is chosen; a publishable key may stand in a page.
#[utoipa::path(post, path = "/v1/keys", tag = "keys", request_body = NewKeyBody,
    responses((status = 201, body = MadeKey)))]
pub async fn create(caller: AccessCaller, Json(body): Json<NewKeyBody>) -> Result<Response, Problem> {
    if body.expires_at.is_some_and(|time| !(0..=TIME_MAX).contains(&time.0)) {
        return Err(Problem::invalid("expires_at", "a time between 1970 and 2200"));
    }
    let mut change = match caller.begin(&body).await? {
        Begun::New(change) => change,
        Begun::Done(answer) => return Ok(answer),
    };
    let giver = caller.principal().scopes;
    let new = NewKey {
        tenant: caller.tenant(),
        kind: body.kind.kind(),
        is_test: body.test,
        scopes: body.scopes(giver),
        name: body.name,
        expires_ms: body.expires_at.map(|time| time.0),
        by: caller.who(),
        giver,
    };
    let (key, text) = keys::create(&mut change.tx, &new, change.now_ms).await.map_err(refused)?;
    let answer = KeptAnswer::made(format!("/v1/keys/{}", key.id), &MadeKey::new(&key, &text));
    change.finish("key_created", &key.id, answer).await
}

/// List keys
///
/// All keys of the tenant in the order of their ids, also those that are over.
#[utoipa::path(get, path = "/v1/keys", tag = "keys",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = List<KeyBody>)))]
pub async fn list(caller: AccessCaller, Query(page): Query<Page>) -> Result<Response, Problem> {
    let cursors = Cursors::new("keys.list", "");
    let limit = list::limit(page.limit)?.min(PAGE_MAX - 1);
    let after = cursors.read(page.after.as_deref(), |place| Some(place.to_owned()))?.unwrap_or_default();
    let found = keys::list(&caller.access.sql, caller.tenant(), &after, limit + 1).await.map_err(failed)?;
    let page = list::cut(found, limit, |key| cursors.write(&key.id));
    Ok(reply::json(StatusCode::OK, &page.map(KeyBody::new)))
}

/// Show a key
///
/// Everything about it but the key itself.
#[utoipa::path(get, path = "/v1/keys/{key}", tag = "keys", responses((status = 200, body = KeyBody)))]
pub async fn show(caller: AccessCaller, path: PathParams) -> Result<Response, Problem> {
    let found = keys::find(&caller.access.sql, caller.tenant(), path.first()).await.map_err(failed)?;
    let key = found.ok_or_else(|| refused(Refusal::KeyUnknown.into()))?;
    Ok(reply::json(StatusCode::OK, &KeyBody::new(&key)))
}

/// How a key is rotated.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RotationBody {
    /// How long the old key still works, while the new one reaches every place that needs it.
    #[schema(example = 3_600)]
    overlap_seconds: u32,
}

/// Rotate a key
///
/// A new key of the same family takes over: with the same scopes, and with the same idempotency keys. The old one works until the overlap
/// is over. The answer has the whole new key, this once.
#[utoipa::path(post, path = "/v1/keys/{key}/rotate", tag = "keys", request_body = RotationBody,
    responses((status = 201, body = MadeKey)))]
pub async fn rotate(
    caller: AccessCaller,
    path: PathParams,
    Json(body): Json<RotationBody>,
) -> Result<Response, Problem> {
    let mut change = match caller.begin(&body).await? {
        Begun::New(change) => change,
        Begun::Done(answer) => return Ok(answer),
    };
    let rotation = Rotation {
        tenant: caller.tenant(),
        id: path.first(),
        overlap_ms: i64::from(body.overlap_seconds) * 1_000,
        by: &caller.who(),
        giver: caller.principal().scopes,
    };
    let rotated = keys::rotate(&mut change.tx, &rotation, change.now_ms).await;
    let (key, text) = rotated.map_err(|error| match error {
        // Here no scope is named.
        AccessError::Refused(refusal @ Refusal::ScopeNotYours) => Problem::of(catalog::access::of(refusal)),
        AccessError::Refused(_) | AccessError::Sql(_) => refused(error),
    })?;
    let answer = KeptAnswer::made(format!("/v1/keys/{}", key.id), &MadeKey::new(&key, &text));
    change.finish("key_rotated", path.first(), answer).await
}

/// Revoke a key
///
/// It opens nothing any more, on every server within a second, and neither do the buyer tokens that were made with it.
#[utoipa::path(delete, path = "/v1/keys/{key}", tag = "keys", responses((status = 204)))]
pub async fn revoke(caller: AccessCaller, path: PathParams) -> Result<Response, Problem> {
    let mut change = match caller.begin(&()).await? {
        Begun::New(change) => change,
        Begun::Done(answer) => return Ok(answer),
    };
    keys::revoke(&mut change.tx, caller.tenant(), path.first(), change.now_ms).await.map_err(refused)?;
    change.finish("key_revoked", path.first(), KeptAnswer::gone()).await
}

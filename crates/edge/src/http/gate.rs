//! Who asks: finds the principal of a request from what it carries, and whether its route is for them. Every request passes here
//! once, before anything is done for it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use onsale_access::principal::{KeyHolder, KeyKind, Principal, Who};
use onsale_access::scope::{Scope as Permission, Scopes};
use onsale_domain::by::Actor;
use onsale_domain::{By, Tenant};
use subtle::ConstantTimeEq;

use super::problem::{Problem, catalog};
use super::table::Scope;

/// What facts call whoever uses the configured key, and under which name its idempotency keys are remembered.
const FIXED_KEY: &str = "house";
const FIXED_FAMILY: &str = "key:house";

/// What every credential of ours begins with: whoever finds one in an address knows it.
const OURS: &str = "onsale_";

/// Knows who may pass.
pub struct Gate {
    /// The key of the configuration, with whom it stands for.
    fixed: (Box<[u8]>, Arc<Principal>),
    nobody: Arc<Principal>,
}

impl Gate {
    pub fn new(api_key: &str) -> Gate {
        let key = KeyHolder { key: FIXED_KEY.into(), kind: KeyKind::Secret };
        let principal = Principal {
            tenant: Tenant::DEFAULT,
            who: Who::Key(key),
            scopes: Scopes::of(&Permission::ALL),
            family: FIXED_FAMILY.into(),
            is_test: true,
        };
        Gate {
            fixed: (api_key.as_bytes().into(), Arc::new(principal)),
            nobody: Arc::new(Principal::nobody(Tenant::DEFAULT)),
        }
    }

    /// Who sends this, if its route is for them.
    pub fn admit(&self, scope: Scope, headers: &HeaderMap, uri: &Uri) -> Result<Arc<Principal>, Problem> {
        no_key_in(uri)?;
        match scope {
            Scope::Open | Scope::Provider => return Ok(self.nobody.clone()),
            Scope::Compat | Scope::Read | Scope::Buy | Scope::Staff | Scope::Listings | Scope::BoxOffice => {}
        }
        let principal = match bearer(headers)? {
            None => self.nobody.clone(),
            Some(key) if key.ct_eq(&self.fixed.0).into() => self.fixed.1.clone(),
            Some(_) => {
                return Err(Problem::with(catalog::UNAUTHENTICATED, "the key or token is not known here"));
            }
        };
        allowed(scope, &principal)?;
        Ok(principal)
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

/// Whoever runs the server, as facts say it.
pub fn staff() -> Option<By> {
    Actor::parse(FIXED_KEY).map(By::Staff)
}

/// Whoever sent the request that these are parts of.
pub fn principal(parts: &Parts) -> Result<Arc<Principal>, Problem> {
    let principal = parts.extensions.get::<Arc<Principal>>();
    principal.cloned().ok_or_else(|| Problem::of(catalog::INTERNAL))
}

/// Whoever asks, for routes that need no more of them than that.
#[derive(Debug)]
pub struct Visitor(pub Arc<Principal>);

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        principal(parts).map(Visitor)
    }
}

/// Whether a route is for this caller.
pub fn allowed(scope: Scope, principal: &Principal) -> Result<(), Problem> {
    let needed = scope.needed();
    if needed.is_empty() || needed.iter().any(|one| principal.may(*one)) {
        return Ok(());
    }
    if matches!(principal.who, Who::Nobody) {
        return Err(Problem::of(catalog::UNAUTHENTICATED));
    }
    let names: Vec<&str> = needed.iter().map(|one| one.as_str()).collect();
    Err(Problem::with(catalog::MISSING_SCOPE, format!("this needs the scope {}", names.join(" or "))))
}

/// What stands behind `Authorization: Bearer`; another scheme is no credential of ours.
fn bearer(headers: &HeaderMap) -> Result<Option<&[u8]>, Problem> {
    let Some(given) = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes) else { return Ok(None) };
    match given.split_at_checked(7) {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case(b"bearer ") => Ok(Some(key)),
        Some(_) | None => {
            Err(Problem::with(catalog::UNAUTHENTICATED, "the header Authorization must be `Bearer <key>`"))
        }
    }
}

/// Addresses stand in logs and in histories of browsers: a key that was in one is no secret any more.
fn no_key_in(uri: &Uri) -> Result<(), Problem> {
    match uri.query() {
        Some(query) if query.contains(OURS) => Err(Problem::of(catalog::KEY_IN_QUERY)),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(scope: Scope, key: Option<&str>, uri: &str) -> Result<bool, &'static str> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            headers.insert(header::AUTHORIZATION, key.parse().expect("a header"));
        }
        let uri = uri.parse().expect("an address");
        let admitted = Gate::new("the-key").admit(scope, &headers, &uri);
        admitted.map(|who| !matches!(who.who, Who::Nobody)).map_err(|problem| problem.code_text())
    }

    #[test]
    fn who_carries_nothing_sees_what_everybody_may_see() {
        for scope in [Scope::Open, Scope::Read, Scope::Provider, Scope::Compat] {
            assert_eq!(admit(scope, None, "/"), Ok(false), "{scope:?}");
        }
        for scope in [Scope::Buy, Scope::Staff, Scope::Listings, Scope::BoxOffice] {
            assert_eq!(admit(scope, None, "/"), Err("unauthenticated"), "{scope:?}");
            assert_eq!(admit(scope, Some("Bearer the-key"), "/"), Ok(true), "{scope:?}");
        }
    }

    #[test]
    fn a_wrong_key_is_refused_even_where_none_is_needed() {
        for wrong in ["Bearer the-ke", "Bearer the-key1", "Bearer ", "Bearer", "Basic the-key", "the-key"] {
            assert_eq!(admit(Scope::Read, Some(wrong), "/"), Err("unauthenticated"), "{wrong}");
        }
        assert_eq!(admit(Scope::Read, Some("bearer the-key"), "/"), Ok(true));
    }

    #[test]
    fn a_key_in_the_address_is_refused_wherever_it_is_sent() {
        for scope in [Scope::Open, Scope::Read, Scope::Buy] {
            assert_eq!(admit(scope, None, "/v1/events?key=onsale_live_sk_x"), Err("key_in_query"));
        }
    }
}

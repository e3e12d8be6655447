//! Who asks: finds the principal of a request from what it carries, and whether its route is for them. Every request passes here
//! once, before anything is done for it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use onsale_access::directory::{Denied, Directory};
use onsale_access::principal::{KeyHolder, KeyKind, Principal, Who};
use onsale_access::scope::{Scope as Permission, Scopes};
use onsale_access::vouchers;
use onsale_domain::by::Actor;
use onsale_domain::{By, Tenant};
use subtle::ConstantTimeEq;

use super::problem::{Problem, catalog};
use super::table::Scope;

/// What facts call whoever uses the configured key, and under which name its idempotency keys are remembered.
pub const FIXED_KEY: &str = "house";
const FIXED_FAMILY: &str = "key:house";

/// What every credential of ours begins with: whoever finds one in an address knows it.
const OURS: &str = "onsale_";

/// The cookie of a browser that is signed in. Its prefix binds it to this host, to every path and to HTTPS.
pub const SESSION_COOKIE: &str = "__Host-onsale_session";
/// Beside a publishable key: for which of its merchant's buyers a page acts.
const BUYER_TOKEN: HeaderName = HeaderName::from_static("onsale-buyer-token");

/// Knows who may pass.
pub struct Gate {
    /// The key of the configuration, if there is one, with whom it stands for.
    fixed: Option<(Box<[u8]>, Arc<Principal>)>,
    nobody: Arc<Principal>,
    directory: Option<Arc<Directory>>,
}

/// What a request carries to say who sends it.
struct Carried<'a> {
    /// Of the header or the cookie; empty if there is none.
    credential: &'a str,
    buyer_token: Option<&'a str>,
}

impl Gate {
    pub fn new(api_key: Option<&str>, directory: Option<Arc<Directory>>) -> Gate {
        let key = KeyHolder { key: FIXED_KEY.into(), kind: KeyKind::Secret };
        let principal = Principal {
            tenant: Tenant::DEFAULT,
            who: Who::Key(key),
            scopes: Scopes::of(&Permission::ALL),
            family: FIXED_FAMILY.into(),
            is_test: true,
        };
        Gate {
            fixed: api_key.map(|key| (key.as_bytes().into(), Arc::new(principal))),
            nobody: Arc::new(Principal::nobody(Tenant::DEFAULT)),
            directory,
        }
    }

    /// Who sends this, if its route is for them. `None`: somebody must be asked, [`Gate::ask`].
    pub fn admit(
        &self,
        scope: Scope,
        headers: &HeaderMap,
        uri: &Uri,
        now_ms: i64,
    ) -> Result<Option<Arc<Principal>>, Problem> {
        no_key_in(uri)?;
        if scope == Scope::Provider {
            return Ok(Some(self.nobody.clone()));
        }
        let carried = match carried(headers) {
            Ok(carried) => carried,
            // What is open to everybody is so whatever is sent along.
            Err(_) if scope.needed().is_empty() => return Ok(self.known_nobody(headers, now_ms)),
            Err(problem) => return Err(problem),
        };
        let Some(principal) = self.known(&carried, headers, now_ms) else { return Ok(None) };
        allowed(scope, &principal)?;
        Ok(Some(principal))
    }

    /// The same for who is not in memory: SQL is asked.
    pub async fn ask(
        &self,
        scope: Scope,
        headers: &HeaderMap,
        now_ms: i64,
    ) -> Result<Arc<Principal>, Problem> {
        let found = self.found(headers, now_ms).await;
        let principal = match found {
            Ok(principal) => principal,
            Err(_) if scope.needed().is_empty() => self.nobody_of(headers, now_ms).await?,
            Err(problem) => return Err(problem),
        };
        allowed(scope, &principal)?;
        Ok(principal)
    }

    /// Who carries nothing, from memory: of the tenant whose host was called.
    fn known_nobody(&self, headers: &HeaderMap, now_ms: i64) -> Option<Arc<Principal>> {
        match &self.directory {
            None => Some(self.nobody.clone()),
            Some(directory) => directory.cached_nobody(host(headers), now_ms),
        }
    }

    async fn nobody_of(&self, headers: &HeaderMap, now_ms: i64) -> Result<Arc<Principal>, Problem> {
        match &self.directory {
            None => Ok(self.nobody.clone()),
            Some(directory) => directory.resolve("", host(headers), now_ms).await.map_err(denied),
        }
    }

    /// From memory alone.
    fn known(&self, carried: &Carried<'_>, headers: &HeaderMap, now_ms: i64) -> Option<Arc<Principal>> {
        if let Some((key, principal)) = &self.fixed
            && !carried.credential.is_empty()
            && carried.credential.as_bytes().ct_eq(key).into()
        {
            return Some(principal.clone());
        }
        match &self.directory {
            None if carried.credential.is_empty() => Some(self.nobody.clone()),
            None => None,
            Some(_) if carried.buyer_token.is_some() => None,
            Some(directory) if carried.credential.is_empty() => {
                directory.cached_nobody(host(headers), now_ms)
            }
            Some(directory) => directory.cached(carried.credential, now_ms),
        }
    }

    async fn found(&self, headers: &HeaderMap, now_ms: i64) -> Result<Arc<Principal>, Problem> {
        let carried = carried(headers)?;
        let Some(directory) = &self.directory else { return Err(denied(Denied::Unknown)) };
        let principal = directory.resolve(carried.credential, host(headers), now_ms).await.map_err(denied)?;
        let Some(token) = carried.buyer_token else { return Ok(principal) };
        let voucher = directory.resolve(token, None, now_ms).await.map_err(denied)?;
        let both = vouchers::beside_key(&principal, &voucher);
        both.map(Arc::new).ok_or_else(|| {
            Problem::with(
                catalog::UNAUTHENTICATED,
                "Onsale-Buyer-Token goes with a publishable key of the merchant that issued it",
            )
        })
    }
}

fn denied(why: Denied) -> Problem {
    match why {
        Denied::Unavailable => Problem::of(catalog::ACCESS_UNAVAILABLE).retry_after(1),
        Denied::Malformed | Denied::Unknown | Denied::Expired | Denied::Revoked | Denied::TenantDisabled => {
            Problem::with(catalog::UNAUTHENTICATED, why.to_string())
        }
    }
}

/// The name by which the server was called.
fn host(headers: &HeaderMap) -> Option<&str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    // A port is none of the name; an address in brackets has colons of its own.
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => Some(name),
        Some(_) | None => Some(host),
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
        let is_person = matches!(principal.who, Who::Person(_));
        if scope == Scope::Person && !is_person {
            return Err(Problem::of(catalog::PERSON_NEEDED));
        }
        return has_whom_it_speaks_for(scope, principal);
    }
    if matches!(principal.who, Who::Nobody) {
        return Err(Problem::of(catalog::UNAUTHENTICATED));
    }
    let names: Vec<&str> = needed.iter().map(|one| one.as_str()).collect();
    Err(Problem::with(catalog::MISSING_SCOPE, format!("this needs the scope {}", names.join(" or "))))
}

/// A key that stands in a page may buy only for the buyer of a token beside it, and nobody vouches but a merchant's server.
fn has_whom_it_speaks_for(scope: Scope, principal: &Principal) -> Result<(), Problem> {
    let why = match (scope, &principal.who) {
        (Scope::Vouch, Who::Key(holder)) if holder.kind != KeyKind::Publishable => return Ok(()),
        (Scope::Vouch, Who::Nobody | Who::Key(_) | Who::Person(_) | Who::Vouched(_)) => {
            "this needs a secret or restricted key with the scope buy"
        }
        (Scope::Buy, Who::Key(holder)) if holder.kind == KeyKind::Publishable => {
            "a publishable key buys for the buyer of a token: send Onsale-Buyer-Token beside it"
        }
        _ => return Ok(()),
    };
    Err(Problem::with(catalog::MISSING_SCOPE, why))
}

/// What a request carries. A header and a cookie that disagree would be two people.
fn carried(headers: &HeaderMap) -> Result<Carried<'_>, Problem> {
    let buyer_token = headers.get(BUYER_TOKEN).map(|token| token.to_str().unwrap_or_default());
    let credential = match (bearer(headers)?, cookie(headers)) {
        (Some(bearer), Some(cookie)) if bearer != cookie => {
            let why = "the header Authorization and the session's cookie name two callers: send one of them";
            return Err(Problem::with(catalog::UNAUTHENTICATED, why));
        }
        (Some(bearer), _) => bearer,
        (None, cookie) => cookie.unwrap_or_default(),
    };
    Ok(Carried { credential, buyer_token })
}

/// What stands behind `Authorization: Bearer`; another scheme is no credential of ours.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(given) = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes) else { return Ok(None) };
    let wrong = || Problem::with(catalog::UNAUTHENTICATED, "the header Authorization must be `Bearer <key>`");
    match given.split_at_checked(7) {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case(b"bearer ") && !key.is_empty() => {
            std::str::from_utf8(key).map(Some).map_err(|_| wrong())
        }
        Some(_) | None => Err(wrong()),
    }
}

/// The session in the cookies of a browser; an empty one is what signing out leaves.
pub fn cookie(headers: &HeaderMap) -> Option<&str> {
    cookie_named(headers, SESSION_COOKIE)
}

pub fn cookie_named<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value).filter(|value| !value.is_empty())
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
    use futures_util::FutureExt;

    use super::*;

    fn admit(scope: Scope, key: Option<&str>, uri: &str) -> Result<bool, &'static str> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            headers.insert(header::AUTHORIZATION, key.parse().expect("a header"));
        }
        let uri = uri.parse().expect("an address");
        let gate = Gate::new(Some("the-key"), None);
        let admitted = match gate.admit(scope, &headers, &uri, 0) {
            Ok(Some(principal)) => Ok(principal),
            Ok(None) => gate.ask(scope, &headers, 0).now_or_never().expect("there is nobody to ask"),
            Err(problem) => Err(problem),
        };
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

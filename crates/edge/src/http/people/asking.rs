//! What every route about people takes from a request: the accounts, who asks and with which token, and from where.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use onsale_access::accounts::SignInFrom;
use onsale_access::context::Context;
use onsale_access::house::Access;
use onsale_access::once::Once;
use onsale_access::principal::{Person, Principal, Who};
use onsale_access::secrets::{Secret, SecretKind};
use onsale_access::sessions::Device;
use serde::Serialize;

use super::cookies;
use super::wire::DeviceBody;
use crate::app::App;
use crate::http::cross_site::{self, SEC_FETCH_SITE};
use crate::http::edge::RequestId;
use crate::http::extract::Caller;
use crate::http::gate;
use crate::http::problem::{Problem, catalog};

/// A request about people.
pub struct Asking {
    pub access: Arc<Access>,
    pub principal: Arc<Principal>,
    pub now_ms: i64,
    request_id: String,
    headers: HeaderMap,
    uri: Uri,
    has_tls: bool,
}

/// Without the headers, which carry secrets.
impl std::fmt::Debug for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asking").field("request_id", &self.request_id).finish_non_exhaustive()
    }
}

/// How a session's token goes to whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// In the body, for a program that sends it in `Authorization`.
    Body,
    /// In a cookie that scripts cannot read, for a browser.
    Cookie,
}

impl FromRequestParts<Arc<App>> for Asking {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let access = app.access.clone().ok_or_else(|| Problem::of(catalog::ACCESS_OFF))?;
        let id = parts.extensions.get::<RequestId>();
        let request_id = id.and_then(|RequestId(id)| id.to_str().ok()).unwrap_or_default().to_owned();
        Ok(Asking {
            now_ms: access.now_ms(),
            principal: gate::principal(parts)?,
            access,
            request_id,
            headers: parts.headers.clone(),
            uri: parts.uri.clone(),
            has_tls: app.config.tls.is_some(),
        })
    }
}

impl Asking {
    pub fn context(&self) -> Context<'_> {
        Context {
            tenant: self.principal.tenant,
            // The edge does not know its peers yet.
            address: "",
            request_id: &self.request_id,
            now_ms: self.now_ms,
            once: None,
        }
    }

    /// The same for a request that is done once under its key; `asked` has no passwords and no tokens in it.
    pub fn context_once(&self, caller: &Caller, asked: &impl Serialize) -> Context<'_> {
        let request = caller.key.as_ref().map(|key| key.request(self.principal.tenant, asked));
        let once = request.map(|request| Once { answers: &self.access.answers, request });
        Context { once, ..self.context() }
    }

    /// Who is signed in, also a guest.
    pub fn person(&self) -> Result<&Person, Problem> {
        self.signed_in().ok_or_else(|| Problem::of(catalog::PERSON_NEEDED))
    }

    pub fn signed_in(&self) -> Option<&Person> {
        match &self.principal.who {
            Who::Person(person) => Some(person),
            Who::Nobody | Who::Key(_) | Who::Vouched(_) => None,
        }
    }

    /// Who asks, as the audit trail names staff.
    pub fn staff(&self) -> &str {
        match &self.principal.who {
            Who::Key(holder) => &holder.key,
            Who::Person(person) => person.user.as_str(),
            Who::Nobody | Who::Vouched(_) => "nobody",
        }
    }

    /// The token of the session that asks.
    pub fn token(&self) -> Option<Secret> {
        let bearer = self.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let text = bearer.and_then(|text| text.get(7..)).or_else(|| gate::cookie(&self.headers))?;
        Secret::parse(SecretKind::Session, text)
    }

    /// How this session's token came, and so where its successor goes.
    pub fn carrier(&self) -> Carrier {
        match self.headers.contains_key(header::AUTHORIZATION) {
            true => Carrier::Body,
            false => Carrier::Cookie,
        }
    }

    /// Where the token of a new session goes: as the caller wishes, or else by whether it is a browser.
    pub fn new_carrier(&self, wants_cookie: Option<bool>) -> Result<Carrier, Problem> {
        match wants_cookie.unwrap_or_else(|| self.is_browser()) {
            false => Ok(Carrier::Body),
            true => {
                cross_site::check_new_cookie(&self.headers, &self.uri, self.has_tls)?;
                Ok(Carrier::Cookie)
            }
        }
    }

    fn is_browser(&self) -> bool {
        self.headers.contains_key(&SEC_FETCH_SITE)
    }

    pub fn device(&self, told: &DeviceBody) -> Device {
        let kind = if self.is_browser() { "browser" } else { "program" };
        let agent = self.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        Device::new(
            told.device_type.as_deref().unwrap_or(kind),
            told.device_name.as_deref().unwrap_or_default(),
            agent.unwrap_or_default(),
        )
    }

    /// From where somebody signs in on this device.
    pub fn sign_in_from<'a>(
        &'a self,
        device: &'a Device,
        token: Option<&'a str>,
        is_remembered: bool,
    ) -> SignInFrom<'a> {
        SignInFrom {
            device,
            device_token: token.or_else(|| cookies::device(&self.headers)),
            replaces: self.signed_in().map(|person| &*person.session),
            is_remembered,
        }
    }
}

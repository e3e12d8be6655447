//! What handlers take from a request: ids from the path, the caller, the body. Every refusal is a problem.

pub mod objects;

use std::pin::pin;
use std::sync::Arc;

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_body_util::BodyExt;
use onsale_access::principal::Principal;
use onsale_access::scope::Scope as Permission;
use onsale_domain::listing::Key;
use onsale_domain::{BuyerId, By, Code, ListingId, ListingKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use self::objects::Objects;
use super::document::place::number_bounds;
use super::gate;
use super::plain;
use super::problem::{Problem, catalog};
use super::table::{Scope, table};
use crate::app::App;
use crate::idempotency::{self, RouteKey};

/// The listing in a path and whatever else the path names, percent-decoded.
#[derive(Debug)]
pub struct ListingPath<const KIND: char> {
    pub listing: ListingId,
    /// Who asks.
    pub principal: Arc<Principal>,
    rest: Option<String>,
}

pub type EventPath = ListingPath<'e'>;
pub type VenuePath = ListingPath<'v'>;
pub type SalePath = ListingPath<'s'>;
pub type SeriesPath = ListingPath<'h'>;
pub type RegistrationPath = ListingPath<'r'>;
pub type AuctionPath = ListingPath<'a'>;

impl<const KIND: char> ListingPath<KIND> {
    /// Of the path's own words, decoded.
    pub async fn of(
        app: &App,
        principal: &Arc<Principal>,
        listing: Option<&str>,
        rest: Option<&str>,
    ) -> Result<Self, Problem> {
        let kind = match KIND {
            'v' => ListingKind::Venue,
            's' => ListingKind::Sale,
            'h' => ListingKind::Series,
            'r' => ListingKind::Registration,
            'a' => ListingKind::Auction,
            _ => ListingKind::Event,
        };
        let listing = listing.and_then(ListingId::parse).filter(|listing| listing.kind == kind);
        let listing = listing.ok_or_else(|| Problem::code(Code::ListingUnknown))?;
        look_up(app, principal, listing).await?;
        Ok(ListingPath { listing, principal: principal.clone(), rest: rest.map(str::to_owned) })
    }

    /// The seat, hold or order in the path.
    pub fn inner(&self) -> &str {
        self.rest.as_deref().unwrap_or_default()
    }

    /// The number of something inside this listing; another's is unknown here.
    pub fn inside(&self, prefix: &str, unknown: Code) -> Result<u64, Problem> {
        inside(&self.listing, prefix, self.inner(), unknown)
    }
}

/// What has an id of its own, in a path: the id leads to its listing.
#[derive(Debug)]
pub struct InnerPath<const KIND: char> {
    pub listing: ListingId,
    /// Who asks.
    pub principal: Arc<Principal>,
    pub number: u64,
}

pub type HoldPath = InnerPath<'h'>;
pub type EntryPath = InnerPath<'e'>;

impl<const KIND: char> InnerPath<KIND> {
    /// Of the path's own word, decoded. The listing is known here, if any server knows it.
    pub async fn of(app: &App, principal: &Arc<Principal>, text: Option<&str>) -> Result<Self, Problem> {
        let (kind, prefix, unknown) = match KIND {
            'e' => (ListingKind::Registration, "ent", Code::EntryUnknown),
            _ => (ListingKind::Event, "hld", Code::HoldUnknown),
        };
        let found = onsale_domain::id::read_inside_of(kind, prefix, text.unwrap_or_default());
        let (listing, number) = found.ok_or_else(|| Problem::code(unknown))?;
        match find_listing(app, principal, listing).await? {
            true => Ok(InnerPath { listing, principal: principal.clone(), number }),
            false => Err(Problem::code(unknown)),
        }
    }
}

impl InnerPath<'e'> {
    pub fn text(&self) -> String {
        onsale_domain::id::write_inside("ent", &self.listing, self.number)
    }
}

impl<const KIND: char> FromRequestParts<Arc<App>> for InnerPath<KIND> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let principal = gate::principal(parts)?;
        let params = path_params(parts, app).await?;
        InnerPath::of(app, &principal, params.iter().next().map(|(_, value)| value)).await
    }
}

/// The one check of every id in a path or a body: of what is another tenant's, or of no concern to this caller, nothing is known.
/// Another server may have made the listing a moment ago.
pub async fn look_up(app: &App, principal: &Principal, listing: ListingId) -> Result<(), Problem> {
    if !principal.sees(&listing) {
        return Err(Problem::code(Code::ListingUnknown));
    }
    if app.config.shared_store && app.engine.view(&listing).is_none() {
        app.engine.look_up(listing).await?;
    }
    Ok(())
}

/// Whether this caller can find the listing, if any server knows it.
pub async fn find_listing(app: &App, principal: &Principal, listing: ListingId) -> Result<bool, Problem> {
    if !principal.sees(&listing) {
        return Ok(false);
    }
    look_up(app, principal, listing).await?;
    Ok(app.engine.view(&listing).is_some())
}

/// Reads an id such as `hld_…` that must belong to this listing.
pub fn inside(whole: &ListingId, prefix: &str, text: &str, unknown: Code) -> Result<u64, Problem> {
    match onsale_domain::id::read_inside_of(whole.kind, prefix, text) {
        Some((listing, number)) if listing == *whole => Ok(number),
        Some(_) | None => Err(Problem::code(unknown)),
    }
}

impl<const KIND: char> FromRequestParts<Arc<App>> for ListingPath<KIND> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let principal = gate::principal(parts)?;
        let params = path_params(parts, app).await?;
        let mut values = params.iter().map(|(_, value)| value);
        ListingPath::of(app, &principal, values.next(), values.next()).await
    }
}

/// The buyer in the path, and who asks about them.
#[derive(Debug)]
pub struct BuyerPath(pub BuyerId, pub Arc<Principal>);

impl<S: Send + Sync> FromRequestParts<S> for BuyerPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = path_params(parts, state).await?;
        let text = params.iter().next().map_or("", |(_, value)| value);
        let buyer = BuyerId::parse(text).ok_or_else(|| Problem::parameter("buyer", BUYER_RULE))?;
        let principal = gate::principal(parts)?;
        match principal.knows(&buyer) {
            true => Ok(BuyerPath(buyer, principal)),
            false => Err(Problem::of(catalog::OTHER_BUYER)),
        }
    }
}

pub async fn path_params<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<RawPathParams, Problem> {
    RawPathParams::from_request_parts(parts, state).await.map_err(|error| {
        // The parameter's name stands between backquotes.
        let told = error.body_text();
        let name = told.split('`').nth(1).unwrap_or("path");
        Problem::header(name, "this part of the path is not valid UTF-8 when decoded")
    })
}

/// The words in a path, by name; what cannot be decoded is a problem like any other.
#[derive(Debug)]
pub struct PathParams(pub RawPathParams);

impl PathParams {
    /// The first word, as every route has it that takes these.
    pub fn first(&self) -> &str {
        self.word(0)
    }

    pub fn second(&self) -> &str {
        self.word(1)
    }

    /// The one at this place, counted from 0.
    pub fn word(&self, place: usize) -> &str {
        self.0.iter().nth(place).map_or("", |(_, value)| value)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathParams {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        path_params(parts, state).await.map(PathParams)
    }
}

const BUYER: HeaderName = HeaderName::from_static("onsale-buyer");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// What a merchant's own name of a buyer must be.
pub const BUYER_RULE: &str = "must be a buyer's id of your own: 1 to 128 characters, no control characters, and not beginning with \
     usr_, which are the accounts of this server";

/// What accounts begin with: a merchant's server cannot speak for one.
const ACCOUNT: &str = "usr_";

/// A buyer for whom the merchant's server vouches, by the merchant's own id.
pub fn buyer(text: &str) -> Option<BuyerId> {
    BuyerId::parse(text).filter(|_| !text.starts_with(ACCOUNT))
}

/// Who asks, and under which idempotency key.
#[derive(Debug)]
pub struct Caller {
    pub principal: Arc<Principal>,
    /// For whom it is asked.
    pub buyer: Option<BuyerId>,
    pub key: Option<RouteKey>,
    /// Who acts, where that is not the buyer.
    by: Option<By>,
}

/// Under which key a command is asked for, and by whom if not by its buyer.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub key: Option<Key>,
    pub by: Option<By>,
}

impl Caller {
    /// The caller of a request to this path, whose route needs this scope.
    pub fn of(
        principal: &Arc<Principal>,
        (method, path, scope): (&Method, &str, Scope),
        headers: &HeaderMap,
    ) -> Result<Caller, Problem> {
        let buyer = buyer_of(principal, headers.get(BUYER))?;
        let key = match headers.get(KEY) {
            None => None,
            Some(value) => {
                let text = std::str::from_utf8(value.as_bytes()).ok();
                let known = text.and_then(idempotency::parse);
                let text = known.ok_or_else(|| {
                    Problem::parameter("Idempotency-Key", "must be 1 to 255 characters, quoted or bare")
                })?;
                Some(RouteKey::new(text, principal.family.clone(), method, path))
            }
        };
        let by = if scope.is_staffs() { principal.as_staff() } else { None };
        Ok(Caller { principal: principal.clone(), buyer, key, by })
    }

    /// The caller of a route that buyers and staff share: staff acts where no buyer is named, and a person of the staff always does.
    pub fn or_staff(mut self) -> Caller {
        let is_staff = self.principal.is_staff();
        if is_staff && self.principal.own_buyer().is_some() {
            self.buyer = None;
        }
        if self.buyer.is_none() && is_staff {
            self.by = self.principal.as_staff();
        }
        self
    }

    /// Whether this caller may ask about anybody's: a merchant's server, and staff.
    pub fn asks_for_everybody(&self) -> bool {
        self.principal.asks_for_everybody()
    }

    /// Fails unless this caller may say that money was taken elsewhere.
    pub fn settles(&self, is_claimed: bool) -> Result<(), Problem> {
        if is_claimed && !self.principal.may(Permission::Settle) {
            let why =
                "only who has the scope settle may say that it was paid elsewhere: place an order and pay it";
            return Err(Problem::with(catalog::MISSING_SCOPE, why));
        }
        Ok(())
    }

    /// The buyer, where the route needs one.
    pub fn buyer(&self) -> Result<&BuyerId, Problem> {
        let why = "this header is missing: it says who buys, by your own id of the buyer";
        self.buyer.as_ref().ok_or_else(|| Problem::parameter("Onsale-Buyer", why))
    }

    /// Where a command comes from: its idempotency key if the caller gave one, and who acts. `decoded`: the body, and those headers but the
    /// buyer's that decide what becomes of it.
    pub fn origin(&self, listing: &ListingId, decoded: &impl Serialize) -> Origin {
        let key = self.key.as_ref().map(|key| key.of(listing, self.buyer.as_ref(), decoded));
        Origin { key, by: self.by.clone() }
    }
}

/// Whom a request is for: a credential that stands for one buyer says it itself, and a merchant's server in a header.
fn buyer_of(principal: &Principal, named: Option<&HeaderValue>) -> Result<Option<BuyerId>, Problem> {
    let Some(value) = named else { return Ok(principal.own_buyer().cloned()) };
    let text = std::str::from_utf8(value.as_bytes()).ok();
    if let Some(own) = principal.own_buyer() {
        return match text == Some(own.as_str()) {
            true => Ok(Some(own.clone())),
            false => Err(Problem::of(catalog::OTHER_BUYER)),
        };
    }
    if !principal.may_name_buyer() {
        return Err(Problem::of(catalog::OTHER_BUYER));
    }
    let known = text.and_then(buyer).ok_or_else(|| Problem::parameter("Onsale-Buyer", BUYER_RULE))?;
    Ok(Some(known))
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let path = parts.uri.path();
        let scope = table().scope(table().path_number(path), &parts.method);
        Caller::of(&gate::principal(parts)?, (&parts.method, path, scope), &parts.headers)
    }
}

/// A JSON body within the limit for commands; an empty one counts as `{}`.
#[derive(Debug)]
pub struct Json<T>(pub T);

/// A JSON body within the limit for layouts.
#[derive(Debug)]
pub struct LargeJson<T>(pub T);

impl<T: DeserializeOwned + ToSchema> FromRequest<Arc<App>> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        read(&parts.headers, body, app.config.limits.body_bytes).await.map(Json)
    }
}

impl<T: DeserializeOwned + ToSchema> FromRequest<Arc<App>> for LargeJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        read(&parts.headers, body, app.config.limits.layout_body_bytes).await.map(LargeJson)
    }
}

/// A body as it was sent, within the limit for commands.
#[derive(Debug)]
pub struct RawBody(pub Bytes);

impl FromRequest<Arc<App>> for RawBody {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        collect(request.into_body(), app.config.limits.body_bytes).await.map(RawBody)
    }
}

/// Reads a JSON body of at most `limit` bytes.
pub async fn read<T, B>(headers: &HeaderMap, body: B, limit: usize) -> Result<T, Problem>
where
    T: DeserializeOwned + ToSchema,
    B: HttpBody<Data = Bytes>,
    B::Error: Into<axum::BoxError>,
{
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length: Option<u64> = length;
    let is_json = headers.get(header::CONTENT_TYPE).is_none_or(names_json);
    // Both are told before a single byte of it is read, where the length is.
    if !is_json && length.is_some_and(|length| length > 0) {
        return Err(Problem::of(catalog::MEDIA_TYPE));
    }
    if length.is_some_and(|length| length > limit as u64) {
        return Err(too_large(limit));
    }
    let bytes = collect(body, limit).await?;
    // A body of nothing has no type that could be wrong.
    if !is_json && !bytes.is_empty() {
        return Err(Problem::of(catalog::MEDIA_TYPE));
    }
    parse(&bytes)
}

fn names_json(kind: &HeaderValue) -> bool {
    let kind = kind.to_str().unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json") || essence.ends_with("+json")
}

/// The whole body; one that comes in one piece, as small ones do, is not copied.
async fn collect<B>(body: B, limit: usize) -> Result<Bytes, Problem>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<axum::BoxError>,
{
    let mut body = pin!(body);
    let (mut one, mut many) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::with(catalog::MALFORMED, "the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        if one.len() + many.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        if one.is_empty() && many.is_empty() {
            one = data;
            continue;
        }
        many.extend_from_slice(&std::mem::take(&mut one));
        many.extend_from_slice(&data);
    }
    Ok(if many.is_empty() { one } else { many.into() })
}

fn too_large(limit: usize) -> Problem {
    Problem::with(catalog::TOO_LARGE, format!("at most {limit} bytes here"))
}

/// Parses a body; only a wrong one is parsed a second time, to name the field.
fn parse<T: DeserializeOwned + ToSchema>(bytes: &[u8]) -> Result<T, Problem> {
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    if bytes.trim_ascii_start().first() == Some(&b'{')
        && let Ok(value) = T::deserialize(Objects(&mut reader))
        && reader.end().is_ok()
    {
        return Ok(value);
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        let why = format!("the body is not valid UTF-8, at byte {}", error.valid_up_to() + 1);
        return Err(Problem::with(catalog::MALFORMED, why));
    }
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        return Err(Problem::with(catalog::MALFORMED, plain::unreadable(&error)));
    }
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::invalid("body", "must be a JSON object"));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(Objects(&mut reader)) {
        Ok(value) => Ok(value),
        Err(error) => {
            let told = error.inner().to_string();
            let (field, pointer) = plain::place(error.path(), &told);
            let bounds = number_bounds(&T::name(), &pointer);
            Err(Problem::misread((field, pointer), plain::words_within(&told, bounds)))
        }
    }
}

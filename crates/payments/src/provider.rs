//! The port: all that the house may ask of a payment provider. Every ask has a key; the same key asked twice is one
//! ask. A provider may answer, refuse, be late, say things twice or in any order, or never speak again.

use futures_util::future::{BoxFuture, FutureExt, ready};
use http::HeaderMap;
use onsale_domain::Millis;
use onsale_domain::desk::{PaymentStanding, Webhook};
use onsale_domain::limits::REASON_CHARS_MAX;
use onsale_domain::money::{Currency, Minor};
use thiserror::Error;

use super::signature::BadSignature;

pub trait Provider: Send + Sync + 'static {
    /// As it stands in routes and facts.
    fn name(&self) -> &'static str;

    /// Takes money, or begins to.
    fn charge(&self, ask: Charge) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>>;

    /// Gives money back.
    fn refund(&self, ask: GiveBack) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>>;

    /// What became of an ask. `None`: it never arrived there.
    fn look_up(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>>;

    /// The goods are let go: no money shall be taken for this ask any more. Says what became of it, which may be that
    /// the money was taken before.
    fn call_off(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>>;

    /// What a buyer's browser needs to do the next step at the provider itself, if that is how it goes. Never stored.
    fn client_secret(&self, _reference: String) -> BoxFuture<'static, Result<Option<String>, ProviderError>> {
        ready(Ok(None)).boxed()
    }

    /// Verifies a webhook over its raw bytes and reads it.
    fn read_webhook(&self, headers: &HeaderMap, body: &[u8], now: Millis) -> Result<Webhook, WebhookError>;

    /// Webhooks that a provider inside this process has for us.
    fn pushed(&self, _now: Millis) -> Vec<Webhook> {
        Vec::new()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    pub key: String,
    pub amount_minor: Minor,
    pub currency: Currency,
    /// What to take the money from, in the provider's words.
    pub method: Option<String>,
    /// The order, for whoever reads the provider's own pages.
    pub order: String,
    pub now: Millis,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GiveBack {
    pub key: String,
    /// The key and the provider's own name of the payment.
    pub payment_key: String,
    pub reference: Option<String>,
    pub amount_minor: Minor,
    pub currency: Currency,
    /// How often this refund has failed before: each try has a key of its own.
    pub failures: u16,
    /// When it was first put on the desk: a provider does not remember keys for ever.
    pub asked_at: Millis,
    pub now: Millis,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LookUp {
    pub key: String,
    /// The provider's own name of it, if it ever told.
    pub reference: Option<String>,
    pub is_refund: bool,
    /// When it was put on the desk: it cannot have arrived before.
    pub asked_at: Millis,
    pub now: Millis,
}

/// What a provider says about one payment or refund.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderAnswer {
    pub reference: Option<String>,
    pub standing: PaymentStanding,
}

/// A failure as the desk takes it, whatever a provider says: one line, not too long.
pub fn failed(reason: &str) -> PaymentStanding {
    PaymentStanding::Failed { reason: printable(reason) }
}

pub fn printable(text: &str) -> String {
    let text: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(REASON_CHARS_MAX).collect();
    if text.is_empty() { "no reason given".to_owned() } else { text }
}

/// Nobody knows whether it arrived: the same ask is made again later.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the payment provider cannot be reached: {0}")]
pub struct ProviderError(pub String);

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum WebhookError {
    #[error("{0}")]
    Signature(#[from] BadSignature),
    #[error("the body is not an event of this provider")]
    Unreadable,
}

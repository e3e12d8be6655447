//! The section `[stripe]`: keys from the environment, the file itself or files of their own, and where Stripe is.

use std::path::{Path, PathBuf};

use onsale_payments::stripe::{Secret, StripeKeys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Where Stripe is, for everybody but tests.
const BASE_URL: &str = "https://api.stripe.com";

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stripe {
    /// `sk_…`, or a restricted key `rk_…`. The file that holds it is safer: `secret_key_file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", example = &"sk_test_…")]
    pub secret_key: Option<Secret>,
    /// The file that holds the secret key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"stripe_key")]
    pub secret_key_file: Option<PathBuf>,
    /// `whsec_…`: signs the events that Stripe sends. The file that holds it is safer: `webhook_secret_file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", example = &"whsec_…")]
    pub webhook_secret: Option<Secret>,
    /// The file that holds the webhook's secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"stripe_webhook_secret")]
    pub webhook_secret_file: Option<PathBuf>,
    /// Another place than api.stripe.com, for tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"http://127.0.0.1:8420")]
    pub base_url: Option<String>,
    /// Where buyers come back to from their bank. Without it the browser does the step, with the payment's client secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"https://tickets.example.org/paid")]
    pub return_url: Option<String>,
}

#[derive(Debug, Error)]
pub enum StripeError {
    #[error(
        "payments.provider = stripe needs stripe.{0}, or a file that holds it in stripe.{0}_file; in the environment \
         the first is ONSALE_STRIPE__{1}"
    )]
    Missing(&'static str, String),
    #[error("stripe.{0} and stripe.{0}_file are both set; one is enough")]
    Twice(&'static str),
    #[error("stripe.{0}_file = {1}: {2}")]
    File(&'static str, PathBuf, std::io::Error),
    #[error("stripe.secret_key must begin with sk_ or rk_: a publishable key (pk_) may not take money")]
    NotSecretKey,
    #[error("stripe.webhook_secret must begin with whsec_: Stripe shows it with the webhook's endpoint")]
    NotWebhookSecret,
    #[error("stripe.{0} holds characters that no key has")]
    NotPrintable(&'static str),
    #[error(
        "stripe.base_url = {0} must begin with https://, or with http:// and a loopback address: the key goes there"
    )]
    BaseUrl(String),
    #[error("stripe.return_url = {0} must begin with https:// or http://")]
    ReturnUrl(String),
}

impl Stripe {
    pub fn keys(&self) -> Result<StripeKeys, StripeError> {
        let secret_key = found("secret_key", self.secret_key.as_ref(), self.secret_key_file.as_deref())?;
        if !["sk_", "rk_"].iter().any(|start| secret_key.expose().starts_with(start)) {
            return Err(StripeError::NotSecretKey);
        }
        let file = self.webhook_secret_file.as_deref();
        let webhook_secret = found("webhook_secret", self.webhook_secret.as_ref(), file)?;
        if !webhook_secret.expose().starts_with("whsec_") {
            return Err(StripeError::NotWebhookSecret);
        }
        let base_url = self.base_url.clone().unwrap_or_else(|| BASE_URL.to_owned());
        if !base_url.starts_with("https://") && !is_loopback(&base_url) {
            return Err(StripeError::BaseUrl(base_url));
        }
        let is_url = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
        if let Some(url) = self.return_url.as_ref().filter(|url| !is_url(url)) {
            return Err(StripeError::ReturnUrl(url.clone()));
        }
        Ok(StripeKeys { secret_key, webhook_secret, base_url, return_url: self.return_url.clone() })
    }

    pub fn masked(&self) -> Stripe {
        Stripe {
            secret_key: self.secret_key.as_ref().map(Secret::masked),
            webhook_secret: self.webhook_secret.as_ref().map(Secret::masked),
            ..self.clone()
        }
    }
}

fn found(name: &'static str, given: Option<&Secret>, file: Option<&Path>) -> Result<Secret, StripeError> {
    let secret = match (given, file) {
        (Some(_), Some(_)) => return Err(StripeError::Twice(name)),
        (Some(given), None) => given.clone(),
        (None, Some(file)) => {
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|error| StripeError::File(name, file.to_owned(), error))?;
            Secret::new(text.trim())
        }
        (None, None) => return Err(StripeError::Missing(name, name.to_uppercase())),
    };
    match secret.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(secret),
        false => Err(StripeError::NotPrintable(name)),
    }
}

/// The host alone decides; whatever stands before an `@` would be sent elsewhere.
fn is_loopback(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    matches!(host, "127.0.0.1" | "[::1]" | "localhost")
}

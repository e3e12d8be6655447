//! The way to Stripe: one request with its key, version and time limits, sent again a few times if that may help.
//! The secret key is in a header that no log shows.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::VERSION;
use super::keys::Secret;
use crate::ProviderError;

const CONNECT: Duration = Duration::from_secs(4);
/// One try from its first byte to its last: a bank behind Stripe may take some seconds.
const ANSWER: Duration = Duration::from_secs(12);
/// Tries of one request; the worker asks again later, under the same key.
const TRIES: u32 = 4;
const WAIT: Duration = Duration::from_millis(200);
/// If Stripe asks for a longer pause, the worker makes it.
const WAIT_MAX: Duration = Duration::from_secs(2);
/// A page of a hundred payment intents has a few hundred kilobytes.
const BODY_BYTES_MAX: usize = 4 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
}

#[derive(Debug)]
pub(super) struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    base_url: String,
}

/// Whether another try may end better.
enum TryOutcome {
    Answered(Reply),
    Again { why: String, after: Option<Duration> },
}

impl Client {
    pub(super) fn new(base_url: &str, secret_key: &Secret) -> Result<Client, String> {
        // A second user of TLS in this process finds it installed; that is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut key = HeaderValue::try_from(format!("Bearer {}", secret_key.expose()))
            .map_err(|_| "the secret key has characters that no header takes".to_owned())?;
        key.set_sensitive(true);
        let headers = [(AUTHORIZATION, key)].into_iter().collect::<HeaderMap>();
        let http = reqwest::Client::builder()
            .user_agent(concat!("onsale/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(CONNECT)
            .timeout(ANSWER)
            // Whoever sends us elsewhere would be given our key.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| format!("no way to speak TLS: {}", causes(&error)))?;
        Ok(Client { http, base_url: base_url.trim_end_matches('/').to_owned() })
    }

    /// Sends, and sends again after a pause if Stripe was busy or nobody answered: with the same key it is the same ask.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        form: &[(&str, String)],
        key: Option<&str>,
    ) -> Result<Reply, ProviderError> {
        let mut tried = 0;
        loop {
            tried += 1;
            match self.once(method, path, form, key).await {
                TryOutcome::Answered(reply) => return Ok(reply),
                TryOutcome::Again { why, .. } if tried == TRIES => {
                    return Err(ProviderError(format!("{why}, after {TRIES} tries")));
                }
                TryOutcome::Again { why, after } if after.is_some_and(|after| after > WAIT_MAX) => {
                    return Err(ProviderError(format!("{why}, and it asks for a pause")));
                }
                TryOutcome::Again { after, .. } => tokio::time::sleep(pause(tried, after)).await,
            }
        }
    }

    async fn once(
        &self,
        method: Method,
        path: &str,
        form: &[(&str, String)],
        key: Option<&str>,
    ) -> TryOutcome {
        let url = format!("{}/v1/{path}", self.base_url);
        let mut request = match method {
            Method::Get => self.http.get(url),
            Method::Post => self.http.post(url).form(form),
        };
        request = request.header("stripe-version", VERSION);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        match read(request).await {
            Ok((reply, again)) if again.may => {
                TryOutcome::Again { why: format!("Stripe says {}", reply.status), after: again.after }
            }
            Ok((reply, _)) => TryOutcome::Answered(reply),
            Err(why) => TryOutcome::Again { why, after: None },
        }
    }
}

struct Again {
    may: bool,
    after: Option<Duration>,
}

async fn read(request: reqwest::RequestBuilder) -> Result<(Reply, Again), String> {
    let mut response = request.send().await.map_err(|error| causes(&error))?;
    let status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    // Stripe says itself whether it pays to ask again, and knows better than its status.
    let may = match header("stripe-should-retry") {
        Some("true") => true,
        Some("false") => false,
        Some(_) | None => matches!(status, 409 | 429 | 500..),
    };
    let after = header("retry-after").and_then(|value| value.parse().ok()).map(Duration::from_secs);
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| causes(&error))? {
        if body.len() + part.len() > BODY_BYTES_MAX {
            return Err("an answer larger than any of Stripe's".to_owned());
        }
        body.extend_from_slice(&part);
    }
    Ok((Reply { status, body }, Again { may, after }))
}

/// Twice as long each time, and not everybody at the same moment.
fn pause(tried: u32, after: Option<Duration>) -> Duration {
    let wait = WAIT * 2_u32.pow(tried - 1);
    let spread = rand::random::<u8>();
    wait.mul_f64(0.75 + f64::from(spread) / 512.0).max(after.unwrap_or_default())
}

/// The whole chain: its first link alone says only that sending failed.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text += ": ";
        text += &cause.to_string();
        next = cause.source();
    }
    text
}

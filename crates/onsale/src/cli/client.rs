//! How the command line asks a server: plain or TLS, and errors that say what next. `load` has connections of its own.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use axum::body::Bytes;
use clap::Args as ClapArgs;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Certificate, RequestBuilder, Response};
use serde_json::Value;

use super::login::store;

/// An address that takes no connection by then is not there.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// Longer than the server's own limit, so that its answer comes first.
pub(super) const ANSWER: Duration = Duration::from_secs(30);

/// What to do when nobody answers.
pub(super) const NEXT: &str =
    "is it running? `onsale demo` starts one with something on sale, `onsale serve` your own";

/// Where the server is and which key opens it.
#[derive(Clone, Debug, ClapArgs)]
pub struct Server {
    /// The server's address
    #[arg(long = "server", value_name = "URL", default_value = "http://127.0.0.1:7070")]
    pub url: String,
    /// The key that opens it [default: what `onsale login` keeps for this server, or else the demo's]
    #[arg(long, env = "ONSALE_KEY", hide_env_values = true)]
    pub key: Option<String>,
    /// The certificate to trust, in PEM; an https:// address needs it
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

impl Server {
    /// Whether this can only be a demo: on this machine, under the key that every demo has.
    pub fn is_own_demo(&self) -> bool {
        let rest = self.url.trim_end_matches('/').split_once("://").map_or("", |(_, rest)| rest);
        let host = host(rest);
        let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        is_here && self.key().is_ok_and(|key| key == super::DEMO_KEY)
    }

    /// What opens it: what was said, what is in the environment, what is kept for it, and last what every demo takes.
    pub fn key(&self) -> anyhow::Result<String> {
        // The server's own setting serves for both where they run side by side.
        let said = self.key.clone().or_else(|| std::env::var("ONSALE_API_KEY").ok());
        match said.filter(|key| !key.is_empty()) {
            Some(key) => Ok(key),
            None => {
                let kept = store::find(self.url.trim_end_matches('/'))?;
                Ok(kept.unwrap_or_else(|| super::DEMO_KEY.to_owned()))
            }
        }
    }
}

/// A server and the key that opens it; connections are kept, and opened again when they broke.
#[derive(Debug)]
pub struct Client {
    /// `http://127.0.0.1:7070`
    base: String,
    authorization: HeaderValue,
    http: reqwest::Client,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Server {
    pub fn client(&self) -> anyhow::Result<Client> {
        let url = self.url.trim_end_matches('/');
        let trusted = match (url.split_once("://"), &self.ca) {
            (Some(("http", _)), None) => Vec::new(),
            (Some(("https", _)), Some(file)) => trusted(file)?,
            (Some(("http", _)), Some(_)) => bail!("--ca is for an https:// address, and {url} is none"),
            (Some(("https", _)), None) => {
                bail!("{url} needs --ca <file>: the certificate to trust, such as the server's own tls.cert")
            }
            _ => bail!("--server {} is not an address like http://127.0.0.1:7070", self.url),
        };
        // A second user of TLS in this process finds it installed; that is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            // The key is for the server that was named, and for nobody on the way or elsewhere.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .tls_certs_only(trusted)
            .build()
            .context("no way to speak TLS")?;
        let mut authorization = HeaderValue::try_from(format!("Bearer {}", self.key()?))
            .context("the key has characters that no header takes")?;
        authorization.set_sensitive(true);
        Ok(Client { base: url.to_owned(), authorization, http })
    }
}

/// The certificates of one file: an `https://` client believes them and nobody else.
fn trusted(file: &Path) -> anyhow::Result<Vec<Certificate>> {
    let told = || format!("--ca {}", file.display());
    let pem = std::fs::read(file).with_context(told)?;
    let trusted = Certificate::from_pem_bundle(&pem).with_context(told)?;
    if trusted.is_empty() {
        bail!("{}: no certificate in it", told());
    }
    Ok(trusted)
}

/// The host of `host:port`, an IPv6 address without its brackets.
pub(super) fn host(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

impl Client {
    /// Reads the whole answer to a question.
    pub async fn get(&self, path: &str) -> anyhow::Result<Reply> {
        let asked = self.request(path).timeout(ANSWER).send().await;
        let mut response = asked.map_err(|error| self.trouble(&error))?;
        let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
        let body = response.bytes().await.map_err(|error| self.trouble(&error))?;
        Ok(Reply { status, headers, body })
    }

    /// Asks for a stream after a position; the answer's body is still to come, as long as it takes.
    pub async fn follow(&self, path: &str, after: &str) -> anyhow::Result<Response> {
        let asked = self.request(path).header("last-event-id", after).send().await;
        asked.map_err(|error| self.trouble(&error))
    }

    fn request(&self, path: &str) -> RequestBuilder {
        let request = self.http.get([&self.base, path].concat());
        request.header(AUTHORIZATION, self.authorization.clone())
    }

    /// Why there is no answer, and what next.
    fn trouble(&self, error: &reqwest::Error) -> anyhow::Error {
        let base = &self.base;
        let why = root(error);
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => anyhow!("no server answers at {base} within {} s; {NEXT}", CONNECT.as_secs()),
            (true, false) if base.starts_with("https://") && !is_refused(error) => {
                anyhow!("no TLS with {base}: {why}; does it speak https?")
            }
            (true, false) => anyhow!("no server answers at {base}: {why}; {NEXT}"),
            (false, true) => anyhow!("no answer within {} s", ANSWER.as_secs()),
            (false, false) => anyhow!("the connection broke: {why}"),
        }
    }
}

/// The cause of all causes: what lies above it only says that something went wrong.
fn root<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    causes(error).last().unwrap_or(error)
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

/// Whether nobody listens there at all.
fn is_refused(error: &reqwest::Error) -> bool {
    let kinds = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|kind| kind == io::ErrorKind::ConnectionRefused)
}

/// The server's "no" as one sentence.
pub fn refused(path: &str, reply: &Reply) -> anyhow::Error {
    if reply.status == 401 {
        return anyhow::anyhow!(
            "the server refuses the key; give the right one with --key or in ONSALE_KEY, or keep it with `onsale login` \
             (`onsale keys create` makes one)"
        );
    }
    let told = reply.json();
    let text = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (title, detail) = (text("title"), text("detail"));
    anyhow::anyhow!("GET {path} was answered {}: {title}. {detail}", reply.status)
}

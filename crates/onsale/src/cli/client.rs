//! A small HTTP/1.1 client for `facts` and `load`: one kept connection, plain or TLS, errors that say what next.

mod trust;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::body::Bytes;
use clap::Args as ClapArgs;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use trust::Trust;

/// An address that takes no connection by then is not there.
const CONNECT: Duration = Duration::from_secs(5);
/// Longer than the server's own limit, so that its answer comes first.
const ANSWER: Duration = Duration::from_secs(30);

/// Where the server is and which key opens it.
#[derive(Clone, Debug, ClapArgs)]
pub struct Server {
    /// The server's address
    #[arg(long = "server", value_name = "URL", default_value = "http://127.0.0.1:7070")]
    pub url: String,
    /// The server's API key
    #[arg(long, env = "ONSALE_API_KEY", default_value = super::DEMO_KEY, hide_env_values = true)]
    pub key: String,
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
        is_here && self.key == super::DEMO_KEY
    }
}

/// One connection, opened when it is needed and opened again when it broke.
#[derive(Debug)]
pub struct Client {
    authority: String,
    authorization: String,
    /// Plain `http://` without it.
    trust: Option<Trust>,
    sender: Option<SendRequest<Full<Bytes>>>,
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
        let (rest, port, trust) = match (url.split_once("://"), &self.ca) {
            (Some(("http", rest)), None) => (rest, 80, None),
            (Some(("https", rest)), Some(file)) => (rest, 443, Some(Trust::read(file, host(rest))?)),
            (Some(("http", _)), Some(_)) => bail!("--ca is for an https:// address, and {url} is none"),
            (Some(("https", _)), None) => {
                bail!("{url} needs --ca <file>: the certificate to trust, such as the server's own tls.cert")
            }
            _ => bail!("--server {} is not an address like http://127.0.0.1:7070", self.url),
        };
        let authority = if rest.contains(':') { rest.to_owned() } else { format!("{rest}:{port}") };
        Ok(Client { authority, authorization: format!("Bearer {}", self.key), trust, sender: None })
    }
}

/// The host of `host:port`, an IPv6 address without its brackets.
fn host(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

impl Client {
    /// Another connection to the same server.
    pub fn another(&self) -> Client {
        Client {
            authority: self.authority.clone(),
            authorization: self.authorization.clone(),
            trust: self.trust.clone(),
            sender: None,
        }
    }

    /// Sends one request and reads the whole answer.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> anyhow::Result<Reply> {
        let exchange = async {
            let response = self.open(method, path, headers, body).await?;
            let (parts, incoming) = response.into_parts();
            let body = incoming.collect().await.context("the answer broke off")?.to_bytes();
            Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, body })
        };
        let reply = match tokio::time::timeout(ANSWER, exchange).await {
            Ok(reply) => reply,
            Err(_) => Err(anyhow::anyhow!("no answer within {} s", ANSWER.as_secs())),
        };
        if reply.is_err() {
            self.sender = None;
        }
        reply
    }

    /// Sends one request; the answer's body is still to come.
    pub async fn open(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> anyhow::Result<Response<Incoming>> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.authority)
            .header("authorization", &self.authorization);
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default())))?;
        self.sender().await?.send_request(request).await.context("the connection broke")
    }

    /// Reads JSON, or says what the server said instead.
    pub async fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        let reply = self.send(Method::GET, path, &[], None).await?;
        if reply.status == 200 {
            return serde_json::from_slice(&reply.body).context("the answer is not JSON");
        }
        Err(refused(path, &reply))
    }

    async fn sender(&mut self) -> anyhow::Result<&mut SendRequest<Full<Bytes>>> {
        let ready = match &mut self.sender {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !ready {
            self.sender = Some(connect(&self.authority, self.trust.as_ref()).await?);
        }
        self.sender.as_mut().context("a connection")
    }
}

async fn connect(authority: &str, trust: Option<&Trust>) -> anyhow::Result<SendRequest<Full<Bytes>>> {
    let next = "is it running? `onsale demo` starts one with something on sale, `onsale serve` your own";
    let seconds = CONNECT.as_secs();
    let stream = match tokio::time::timeout(CONNECT, TcpStream::connect(authority)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => bail!("no server answers at {authority}: {error}; {next}"),
        Err(_) => bail!("no server answers at {authority} within {seconds} s; {next}"),
    };
    stream.set_nodelay(true)?;
    let Some(trust) = trust else { return handshake(stream).await };
    match tokio::time::timeout(CONNECT, trust.greet(stream)).await {
        Ok(Ok(stream)) => handshake(stream).await,
        Ok(Err(error)) => bail!("no TLS with {authority}: {error}"),
        Err(_) => bail!("no TLS with {authority} within {seconds} s; does it speak https?"),
    }
}

async fn handshake<S>(stream: S) -> anyhow::Result<SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// The server's "no" as one sentence.
pub fn refused(path: &str, reply: &Reply) -> anyhow::Error {
    if reply.status == 401 {
        return anyhow::anyhow!(
            "the server refuses the API key; give the right one with --key or in ONSALE_API_KEY \
             (a server makes its own in <data>/api_key)"
        );
    }
    let told = reply.json();
    let text = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (title, detail) = (text("title"), text("detail"));
    anyhow::anyhow!("GET {path} was answered {}: {title}. {detail}", reply.status)
}

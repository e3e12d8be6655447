//! The connections of `load`: HTTP/1.1 by hand over one kept connection each, plain or TLS. It shares its machine with the
//! server that it measures, and a client with a pool takes a quarter more of it for every request (decision 0030).

mod trust;

use anyhow::{Context, bail};
use axum::body::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::cli::client::{ANSWER, CONNECT, NEXT, Reply, Server, host, refused};
use trust::Trust;

/// One connection, opened when it is needed and opened again when it broke.
#[derive(Debug)]
pub struct Connection {
    authority: String,
    authorization: String,
    /// Plain `http://` without it.
    trust: Option<Trust>,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Server {
    pub fn connection(&self) -> anyhow::Result<Connection> {
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
        let authorization = format!("Bearer {}", self.key()?);
        Ok(Connection { authority, authorization, trust, sender: None })
    }
}

impl Connection {
    /// Another connection to the same server.
    pub fn another(&self) -> Connection {
        Connection {
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
    async fn open(
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
    let seconds = CONNECT.as_secs();
    let stream = match tokio::time::timeout(CONNECT, TcpStream::connect(authority)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => bail!("no server answers at {authority}: {error}; {NEXT}"),
        Err(_) => bail!("no server answers at {authority} within {seconds} s; {NEXT}"),
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

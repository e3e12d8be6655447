//! The server's loop: accepts within a cap, serves HTTP/1.1 with modest buffers, and stops in good order.

pub mod access;
mod closing;
mod connection_timer;
mod patience;
pub mod tls;
mod unread;

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Limits;
use crate::http::edge::Edge;
use crate::http::problem::{Problem, catalog};
use access::LoggedRequest;
use closing::{Closing, Stage};
use connection_timer::{Alarm, ConnectionTimer, Overdue};
use patience::{PatientStream, Stream};
use tls::Acceptor;

/// A pause after `accept` failed, usually for want of file descriptors: time for others to close.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// A TLS handshake that takes longer is no handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

pub async fn serve(listener: TcpListener, edge: Arc<Edge>, stop: CancellationToken) -> io::Result<()> {
    let limits = edge.app.config.limits.clone();
    let acceptor = edge.app.config.tls.as_ref().map(tls::acceptor).transpose()?;
    let http = http1_builder(&limits);
    let room = Arc::new(Semaphore::new(limits.connections_max));
    let (tasks, closing) = (TaskTracker::new(), Closing::default());
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "accepting a connection failed: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(permit) = room.clone().try_acquire_owned() else {
            tasks.spawn(turn_away(edge.clone(), stream));
            continue;
        };
        let _ = stream.set_nodelay(true);
        let guard = Connection { edge: edge.clone(), closing: closing.clone() };
        let (http, acceptor) = (http.clone(), acceptor.clone());
        tasks.spawn(async move {
            guard.edge.app.metrics.connections.increment(1);
            guard.run(http, acceptor, stream, permit).await;
            guard.edge.app.metrics.connections.decrement(1);
        });
    }
    drop(listener);
    closing.reach(Stage::Finishing);
    tasks.close();
    let patience = Duration::from_millis(limits.shutdown_ms);
    if tokio::time::timeout(patience, tasks.wait()).await.is_err() {
        tracing::warn!(open = tasks.len(), "{} connections did not end in time and are cut", tasks.len());
        closing.reach(Stage::Cut);
        tasks.wait().await;
    }
    Ok(())
}

fn http1_builder(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    // Twice the limit: headers a little too large are still read, so that the answer counts for its route. At this
    // size hyper gives up; its answer leaves in our words (`unread.rs`), and no head ever needs more memory.
    // It keeps no time: `connection_timer.rs` does, for less.
    http.max_buf_size(limits.header_bytes * 2).keep_alive(true);
    http
}

struct Connection {
    edge: Arc<Edge>,
    closing: Closing,
}

impl Connection {
    async fn run(
        &self,
        http: http1::Builder,
        acceptor: Option<Acceptor>,
        stream: TcpStream,
        permit: OwnedSemaphorePermit,
    ) {
        match acceptor {
            // Boxed apart: an idle plain connection does not carry the room that a TLS one needs.
            None if self.speaks(&stream).await => Box::pin(self.serve(http, stream, permit)).await,
            None => {}
            Some(acceptor) => match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                Ok(Ok(stream)) => Box::pin(self.serve(http, stream, permit)).await,
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed: {error}"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            },
        }
    }

    /// Waits for the first byte, as long as a connection may be idle: hyper makes its buffers at once, so that who
    /// only connects would cost as much as who asks.
    async fn speaks(&self, stream: &TcpStream) -> bool {
        let idle = Duration::from_millis(self.edge.app.config.limits.idle_timeout_ms);
        let mut first = [0];
        let mut closing = self.closing.watch();
        tokio::select! {
            biased;
            _ = poll_fn(|cx| closing.poll(cx)) => false,
            // Not `readable`, which may say so although there is nothing yet.
            peeked = tokio::time::timeout(idle, stream.peek(&mut first)) => matches!(peeked, Ok(Ok(1))),
        }
    }

    async fn serve<S: Stream>(&self, http: http1::Builder, stream: S, permit: OwnedSemaphorePermit) {
        let turn = ConnectionTimer::new(&self.edge.app.config.limits);
        let io = TokioIo::new(PatientStream::new(stream, permit, self.edge.clone()));
        // Boxed: hyper keeps room for the service's future as long as the connection lives, and most are idle.
        let service = service_fn(|request| {
            let turn = turn.clone();
            Box::pin(async move {
                let started = Instant::now();
                turn.take(started);
                let asked = LoggedRequest::of(&request);
                let response = self.edge.answer(request, started, || turn.is_late()).await;
                let line = asked.answered(&response, started);
                Ok::<_, Infallible>(response.map(|body| turn.answered(body, line)))
            })
        });
        let mut connection = pin!(http.serve_connection(io, service));
        let (mut alarm, mut closing) = (Alarm::new(turn.clone()), self.closing.watch());
        let served = poll_fn(|cx| {
            loop {
                if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                    return Poll::Ready(ended);
                }
                match closing.poll(cx) {
                    Poll::Pending | Poll::Ready(Stage::Open) => {}
                    Poll::Ready(Stage::Finishing) => {
                        connection.as_mut().graceful_shutdown();
                        continue;
                    }
                    Poll::Ready(Stage::Cut) => return Poll::Ready(Ok(())),
                }
                match alarm.poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    // Whoever makes the answer sees now that it is too late.
                    Poll::Ready(Overdue::Answering) => {}
                    Poll::Ready(Overdue::Asking) => return Poll::Ready(Ok(())),
                }
            }
        });
        if let Err(error) = served.await {
            tracing::debug!(%error, "a connection ended: {error}");
        }
    }
}

/// One connection too many: told so, and closed.
async fn turn_away(edge: Arc<Edge>, mut stream: TcpStream) {
    let problem = Problem::with(catalog::BUSY, "too many open connections").retry_after(1);
    let words = edge.last_words(&problem);
    let told = async {
        stream.write_all(&words).await?;
        stream.shutdown().await
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), told).await;
}

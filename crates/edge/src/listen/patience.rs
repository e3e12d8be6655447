//! A connection with two kinds of patience: a reader that takes nothing for too long is cut, and a caller that is
//! still sending when we have answered is heard out for a moment, lest the reset swallow our answer.
//! What hyper answers by itself goes out in our words.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

use super::unread;
use crate::http::edge::Edge;

/// How long, and for how much, we listen after our last word.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES_MAX: usize = 4 << 20;

/// A small head and its small body are written as one piece: copying costs less than a list in the kernel.
const TOGETHER_BYTES_MAX: usize = 2048;

/// What a connection may be: plain or TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

pub(super) struct PatientStream<S: Stream> {
    /// Taken only when it lingers.
    stream: Option<(S, OwnedSemaphorePermit)>,
    patience: Duration,
    /// The other side has said that it is done.
    ended: bool,
    /// Runs only while a write makes no progress; idle connections pay one pointer for it.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Who has the words for a request that hyper could not read.
    edge: Arc<Edge>,
    /// Those words, as far as they are still to be sent.
    instead: Vec<u8>,
}

impl<S: Stream> PatientStream<S> {
    /// The permit is the connection's place under the cap; it is given back when all is over.
    pub(super) fn new(stream: S, permit: OwnedSemaphorePermit, edge: Arc<Edge>) -> PatientStream<S> {
        let patience = Duration::from_millis(edge.app.config.limits.write_timeout_ms);
        let stream = Some((stream, permit));
        PatientStream { stream, patience, ended: false, waiting: None, edge, instead: Vec::new() }
    }

    fn inner(&mut self) -> io::Result<Pin<&mut S>> {
        let inner = self.stream.as_mut().map(|(stream, _)| Pin::new(stream));
        inner.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Whether hyper is about to answer by itself. If so our answer takes the place of its own, and counts as sent:
    /// it leaves with the flush that follows.
    fn reworded(&mut self, bytes: &[u8]) -> bool {
        let Some(status) = unread::status(bytes) else { return false };
        self.instead = self.edge.unread(status);
        true
    }

    fn poll_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.instead.is_empty() {
            let Some((stream, _)) = self.stream.as_mut() else { break };
            let sent = Pin::new(stream).poll_write(cx, &self.instead);
            match ready!(self.watch(cx, sent))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => drop(self.instead.drain(..sent)),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn watch<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match waiting.as_mut().poll(cx) {
            Poll::Ready(()) => {
                let told = "the reader took nothing for too long";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, told)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: Stream> Drop for PatientStream<S> {
    fn drop(&mut self) {
        let cut = self.waiting.is_some();
        if let Some((stream, permit)) = self.stream.take()
            && !(self.ended || cut)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                let _ = tokio::time::timeout(LINGER, hear_out(stream)).await;
                drop(permit);
            });
        }
    }
}

async fn hear_out<S: Stream>(mut stream: S) -> io::Result<()> {
    stream.shutdown().await?;
    let mut scratch = vec![0; 4096];
    let mut heard = 0;
    while heard < LINGER_BYTES_MAX {
        match stream.read(&mut scratch).await? {
            0 => return Ok(()),
            more => heard += more,
        }
    }
    Ok(())
}

impl<S: Stream> AsyncRead for PatientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (before, room) = (buf.filled().len(), buf.remaining());
        let polled = self.inner()?.poll_read(cx, buf);
        if polled.is_ready() && buf.filled().len() == before && room > 0 {
            self.ended = true;
        }
        polled
    }
}

impl<S: Stream> AsyncWrite for PatientStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.reworded(buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        let polled = self.inner()?.poll_write(cx, buf);
        self.watch(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Alone in its write: behind an answer that was still waiting it would go out as hyper made it.
        if let [only] = bufs
            && self.reworded(only)
        {
            return Poll::Ready(Ok(only.len()));
        }
        let whole: usize = bufs.iter().map(|part| part.len()).sum();
        let polled = if whole <= TOGETHER_BYTES_MAX {
            let (mut together, mut end) = ([0; TOGETHER_BYTES_MAX], 0);
            for part in bufs {
                together[end..end + part.len()].copy_from_slice(part);
                end += part.len();
            }
            self.inner()?.poll_write(cx, &together[..end])
        } else {
            self.inner()?.poll_write_vectored(cx, bufs)
        };
        self.watch(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(|(stream, _)| stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(cx))?;
        let polled = self.inner()?.poll_flush(cx);
        self.watch(cx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(cx))?;
        let polled = self.inner()?.poll_shutdown(cx);
        self.watch(cx, polled)
    }
}

//! Sends script calls over many connections, sixteen at a time on each, and counts the answers.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::contest::Round;
use crate::latency::Latency;
use crate::rivals::redis::resp::{self, Reply};

const CONNECTIONS: usize = 50;
const PIPELINE: usize = 16;

/// Appends the next call.
pub(super) trait Source: FnMut(&mut Vec<u8>) -> Result<()> {}
impl<T: FnMut(&mut Vec<u8>) -> Result<()>> Source for T {}

#[derive(Clone, Copy)]
pub(super) enum Limit {
    Time(Duration),
    /// So many calls in all.
    Calls(u64),
}

struct Load<S> {
    source: S,
    latency: Latency,
    sent: u64,
    done: u64,
    limit: Limit,
    yes: i64,
    started: Instant,
}

impl<S: Source> Load<S> {
    /// The next calls of one connection; none when it is enough.
    fn next(&mut self, into: &mut Vec<u8>) -> Result<usize> {
        into.clear();
        let left = match self.limit {
            Limit::Time(length) if self.started.elapsed() < length => PIPELINE,
            Limit::Time(_) => 0,
            Limit::Calls(calls) => PIPELINE.min((calls - self.sent) as usize),
        };
        (0..left).try_for_each(|_| (self.source)(into))?;
        self.sent += left as u64;
        Ok(left)
    }
}

/// `yes` is the number that an accepted call is answered with.
pub(super) fn run(address: SocketAddr, yes: i64, limit: Limit, source: impl Source) -> Result<Round> {
    let latency = Latency::new()?;
    let load = Load { source, latency, sent: 0, done: 0, limit, yes, started: Instant::now() };
    let load = RefCell::new(load);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..CONNECTIONS {
            let stream = TcpStream::connect(address).await.context("connecting to redis")?;
            stream.set_nodelay(true)?;
            streams.push(stream);
        }
        load.borrow_mut().started = Instant::now();
        let each = streams.into_iter().map(|stream| connection(stream, &load));
        futures_util::future::try_join_all(each).await
    })?;
    let load = load.into_inner();
    Ok(load.latency.round(load.done, load.started.elapsed()))
}

async fn connection<S: Source>(mut stream: TcpStream, load: &RefCell<Load<S>>) -> Result<()> {
    let (mut sending, mut buffer) = (Vec::new(), Vec::with_capacity(8_192));
    loop {
        let count = load.borrow_mut().next(&mut sending)?;
        if count == 0 {
            return Ok(());
        }
        let sent = Instant::now();
        stream.write_all(&sending).await.context("sending to redis")?;
        let (mut found, mut at) = (0, 0);
        while found < count {
            match resp::parse(&buffer[at..])? {
                Some((reply, length)) => {
                    (at, found) = (at + length, found + 1);
                    let mut load = load.borrow_mut();
                    check(&reply, load.yes)?;
                    load.latency.record(sent.elapsed());
                    load.done += 1;
                }
                None if stream.read_buf(&mut buffer).await.context("reading from redis")? == 0 => {
                    bail!("redis closed the connection")
                }
                None => {}
            }
        }
        buffer.clear();
    }
}

/// A load that is refused measures nothing.
fn check(reply: &Reply, yes: i64) -> Result<()> {
    let first = if let Reply::List(parts) = reply { parts.first().and_then(Reply::integer) } else { None };
    if first == Some(yes) { Ok(()) } else { bail!("not accepted: {reply:?}") }
}

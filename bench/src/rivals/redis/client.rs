//! Drives Redis with our own lean client: each connection locks a batch of fresh seats, then releases it.

use std::cell::RefCell;
use std::fmt::Write;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::instance::Scripts;
use super::resp::{self, Reply};
use super::{CONNECTIONS, Flush, Shared, subject};
use crate::contest::{Contestant, Round};
use crate::latency::Latency;

pub(super) struct OwnClient {
    instance: Shared,
    flush: Flush,
    pipeline: usize,
}

impl OwnClient {
    pub(super) fn new(instance: Shared, flush: Flush, pipeline: usize) -> Self {
        Self { instance, flush, pipeline }
    }
}

impl Contestant for OwnClient {
    fn subject(&self) -> String {
        subject(self.flush, self.pipeline)
    }

    fn driver(&self) -> Option<&'static str> {
        Some("client")
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.borrow_mut().start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let instance = self.instance.borrow();
        instance.clear()?;
        let (address, scripts) = (instance.address()?, instance.scripts()?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, all_connections(address, scripts, self.pipeline, length))
    }
}

struct ConnectionTally {
    latency: Latency,
    operations: u64,
}

async fn all_connections(
    address: SocketAddr,
    scripts: Scripts,
    pipeline: usize,
    length: Duration,
) -> Result<Round> {
    let seen = Rc::new(RefCell::new(ConnectionTally { latency: Latency::new()?, operations: 0 }));
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        let stream = TcpStream::connect(address).await.context("connecting to redis")?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let started = Instant::now();
    let tasks: Vec<_> = streams
        .into_iter()
        .enumerate()
        .map(|(number, stream)| {
            let buyer = Buyer {
                stream,
                scripts: scripts.clone(),
                number,
                sending: Vec::new(),
                buffer: Vec::with_capacity(8192),
                seen: Rc::clone(&seen),
            };
            tokio::task::spawn_local(buyer.run(pipeline, started + length))
        })
        .collect();
    for task in tasks {
        task.await.context("a connection's task")??;
    }
    let took = started.elapsed();
    let seen = seen.borrow();
    Ok(seen.latency.round(seen.operations, took))
}

/// One connection, which is one buyer.
struct Buyer {
    stream: TcpStream,
    scripts: Scripts,
    number: usize,
    sending: Vec<u8>,
    buffer: Vec<u8>,
    seen: Rc<RefCell<ConnectionTally>>,
}

impl Buyer {
    async fn run(mut self, pipeline: usize, until: Instant) -> Result<()> {
        let user = format!("usr_{}", self.number);
        let user_key = format!("user:locks:{{evt_1}}:{user}");
        let (mut next, mut fences) = (0_u64, Vec::with_capacity(pipeline));
        let mut seat = Seat::default();
        while Instant::now() < until {
            for offset in 0..pipeline as u64 {
                seat.set(self.number, next + offset);
                let words = [
                    "EVALSHA",
                    &self.scripts.acquire,
                    "5",
                    &seat.lock,
                    &seat.queue,
                    &user_key,
                    "seat:sold:{evt_1}",
                    "seat:fence:{evt_1}",
                    &user,
                    &seat.id,
                    "1800000000000",
                    "120000",
                ];
                resp::command(&mut self.sending, words);
            }
            fences.clear();
            self.exchange(pipeline, |reply| {
                let [Reply::Integer(1), Reply::Integer(fence), _] = reply else {
                    bail!("no lock: {reply:?}")
                };
                fences.push(*fence);
                Ok(())
            })
            .await?;
            for (offset, fence) in (0..).zip(&fences) {
                seat.set(self.number, next + offset);
                let fence = fence.to_string();
                let words = [
                    "EVALSHA",
                    &self.scripts.release,
                    "3",
                    &seat.lock,
                    &seat.queue,
                    &user_key,
                    &user,
                    &seat.id,
                    &fence,
                ];
                resp::command(&mut self.sending, words);
            }
            self.exchange(pipeline, |reply| {
                ensure!(*reply == [Reply::Integer(1)], "no release: {reply:?}");
                Ok(())
            })
            .await?;
            next += pipeline as u64;
        }
        Ok(())
    }

    /// Sends what was gathered and reads as many replies; each is an operation, timed from the sending.
    async fn exchange(&mut self, count: usize, mut see: impl FnMut(&[Reply]) -> Result<()>) -> Result<()> {
        let sent = Instant::now();
        self.stream.write_all(&self.sending).await.context("sending to redis")?;
        self.sending.clear();
        let (mut found, mut at) = (0, 0);
        while found < count {
            match resp::parse(&self.buffer[at..])? {
                Some((Reply::List(parts), length)) => {
                    see(&parts)?;
                    at += length;
                    found += 1;
                    let mut seen = self.seen.borrow_mut();
                    seen.latency.record(sent.elapsed());
                    seen.operations += 1;
                }
                Some((other, _)) => bail!("a script answered {other:?}"),
                None => {
                    if self.stream.read_buf(&mut self.buffer).await.context("reading from redis")? == 0 {
                        bail!("redis closed the connection");
                    }
                }
            }
        }
        self.buffer.clear();
        Ok(())
    }
}

/// The names of one seat, written into the same memory again and again.
#[derive(Default)]
struct Seat {
    id: String,
    lock: String,
    queue: String,
}

impl Seat {
    fn set(&mut self, connection: usize, number: u64) {
        for (text, prefix) in [
            (&mut self.id, ""),
            (&mut self.lock, "seat:lock:{evt_1}:"),
            (&mut self.queue, "seat:queue:{evt_1}:"),
        ] {
            text.clear();
            text.push_str(prefix);
            // Writing into a String cannot fail.
            let _ = write!(text, "S{connection}-{number}");
        }
    }
}

//! Drives many connections from a few threads, each with its own small runtime, and merges what they saw.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Answer, AnswerKind, Script};
use crate::latency::Latency;

/// Answers larger than this are not what a load is made of.
const ANSWER_MAX: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub address: SocketAddr,
    pub connections: usize,
    /// One is enough on two cores: the other belongs to the server.
    pub threads: usize,
    pub length: Duration,
}

#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub latency: Latency,
    /// Answers that counted.
    pub counted: u64,
    pub took: Duration,
}

/// Sends requests until the time is over; `script` makes the script of each connection.
pub(crate) fn drive<S: Script>(load: &Load, mut script: impl FnMut(usize) -> S) -> Result<Outcome> {
    let threads = load.threads.clamp(1, load.connections.max(1));
    let mut shares: Vec<Vec<S>> = (0..threads).map(|_| Vec::new()).collect();
    for connection in 0..load.connections {
        shares[connection % threads].push(script(connection));
    }
    let together = Arc::new(Barrier::new(threads));
    let workers: Vec<_> = shares
        .into_iter()
        .map(|scripts| {
            let (load, together) = (load.clone(), Arc::clone(&together));
            std::thread::spawn(move || worker(&load, scripts, &together))
        })
        .collect();
    let mut whole = Outcome { latency: Latency::new()?, counted: 0, took: Duration::ZERO };
    for worker in workers {
        let part = worker.join().map_err(|_| anyhow!("a client thread panicked"))??;
        whole.latency.add(&part.latency)?;
        whole.counted += part.counted;
        whole.took = whole.took.max(part.took);
    }
    Ok(whole)
}

fn worker<S: Script>(load: &Load, scripts: Vec<S>, together: &Barrier) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let mut streams = Vec::new();
        let mut refused = None;
        for script in scripts {
            match connect(load.address).await {
                Ok(stream) => streams.push((stream, script)),
                Err(error) => refused = Some(error),
            }
        }
        // Everybody meets here even if a connection failed, or the others would wait for ever.
        together.wait();
        if let Some(error) = refused {
            return Err(error);
        }
        let started = Instant::now();
        let seen =
            Rc::new(RefCell::new(Outcome { latency: Latency::new()?, counted: 0, took: Duration::ZERO }));
        let tasks: Vec<_> = streams
            .into_iter()
            .map(|(stream, script)| {
                tokio::task::spawn_local(connection(stream, script, started + load.length, Rc::clone(&seen)))
            })
            .collect();
        for task in tasks {
            task.await.context("a connection's task")??;
        }
        let mut outcome = seen.borrow().clone();
        outcome.took = started.elapsed();
        Ok(outcome)
    })
}

async fn connect(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).await.with_context(|| format!("connecting to {address}"))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn connection<S: Script>(
    mut stream: TcpStream,
    mut script: S,
    until: Instant,
    seen: Rc<RefCell<Outcome>>,
) -> Result<()> {
    let mut buffer: Vec<u8> = Vec::with_capacity(4096);
    let mut number = 0;
    let mut sent = Instant::now();
    while sent < until {
        stream.write_all(script.request(number)?).await.context("sending a request")?;
        number += 1;
        let kind = loop {
            if stream.read_buf(&mut buffer).await.context("reading an answer")? == 0 {
                bail!("the server closed a connection");
            }
            if let Some((answer, length)) = Answer::parse(&buffer)? {
                if length < buffer.len() {
                    bail!("the server answered twice");
                }
                break script.answer(&answer)?;
            }
            if buffer.len() > ANSWER_MAX {
                bail!("an answer of more than {ANSWER_MAX} bytes");
            }
        };
        buffer.clear();
        let now = Instant::now();
        if kind == AnswerKind::Yes {
            let mut seen = seen.borrow_mut();
            seen.latency.record(now - sent);
            seen.counted += 1;
        }
        sent = now;
    }
    Ok(())
}

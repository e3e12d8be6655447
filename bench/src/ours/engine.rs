//! Holds and releases in process, durable, with 1,024 commands in flight.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use onsale_domain::{BuyerId, ListingId, Outcome};
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine::{Answer, Engine, EngineError};

use super::hall;
use crate::contest::{Contestant, Round};
use crate::latency::Latency;

const LONG: Duration = Duration::from_secs(3);
const TEN_SECONDS: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct EngineHold {
    folder: PathBuf,
    subject: &'static str,
    /// Commands in one message; lanes × this are in flight.
    together: usize,
    lanes: usize,
    engine: Option<EmbeddedEngine>,
    next: Rc<Cell<u64>>,
}

/// The figure that counts, and the same with one command to a message.
pub(crate) fn contestants(folder: &Path) -> Vec<Box<dyn Contestant>> {
    let contestant = |subject: &'static str, together, lanes| -> Box<dyn Contestant> {
        let folder = folder.join(subject);
        Box::new(EngineHold { folder, subject, together, lanes, engine: None, next: Rc::default() })
    };
    vec![
        contestant("engine_hold", 32, 32),
        contestant("engine_hold_single", 1, 1_024),
        contestant("engine_hold_64_in_flight", 1, 64),
    ]
}

impl Contestant for EngineHold {
    fn subject(&self) -> String {
        self.subject.to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let engine = EmbeddedEngine::open(&self.folder, Options { shards: 1, ..Options::default() })?;
        block_on(engine.submit(hall::create(hall::event(1), 50_000)))?;
        self.engine = Some(engine);
        Ok(())
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let engine = self.engine.as_ref().context("not prepared")?;
        // The figure that counts is stated for ten seconds; a quick run keeps its short rounds.
        let length = if length >= LONG && self.subject == "engine_hold" { TEN_SECONDS } else { length };
        let load = Load { lanes: self.lanes, together: self.together, length, seats: 50_000 };
        let (count, took, latency) = run(engine, &load, &self.next, |_| hall::event(1))?;
        Ok(latency.round(count, took))
    }
}

pub(crate) struct Load {
    pub lanes: usize,
    pub together: usize,
    pub length: Duration,
    pub seats: u32,
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .map(|runtime| runtime.block_on(future))
        .expect("a runtime")
}

/// The same for what needs timers and sockets.
pub(crate) fn block_on_all<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// Each lane holds a few seats of its own and releases them again, until the time is over. Counts what was accepted.
pub(crate) fn run(
    engine: &EmbeddedEngine,
    load: &Load,
    next: &Rc<Cell<u64>>,
    event_of: impl Fn(u64) -> ListingId + Copy,
) -> Result<(u64, Duration, Latency)> {
    let started = Instant::now();
    let total = Rc::new(RefCell::new((0u64, Latency::new()?)));
    let lane = |lane: usize| {
        let (total, next) = (total.clone(), next.clone());
        async move {
            let buyers: Vec<BuyerId> = (0..load.together)
                .map(|n| BuyerId::parse(&format!("{}", lane * load.together + n)).context("a buyer"))
                .collect::<Result<_>>()?;
            let mut seat = (lane * load.together) as u32;
            while started.elapsed() < load.length {
                let first = next.get();
                next.set(first + load.together as u64);
                let number = |n: usize| first + n as u64;
                let holds = (0..load.together).map(|n| {
                    hall::hold(event_of(number(n)), number(n), (seat + n as u32) % load.seats, &buyers[n])
                });
                let held = timed(engine, holds.collect(), &total).await?;
                let releases = (0..load.together).map(|n| {
                    hall::release(event_of(number(n)), number(n), held[n].position.offset, &buyers[n])
                });
                timed(engine, releases.collect(), &total).await?;
                seat = (seat + (load.lanes * load.together) as u32) % load.seats;
            }
            Ok::<_, anyhow::Error>(())
        }
    };
    lanes(load.lanes, lane)?;
    let took = started.elapsed();
    let total = Rc::try_unwrap(total).map_err(|_| anyhow::anyhow!("every lane has ended"))?.into_inner();
    Ok((total.0, took, total.1))
}

/// Runs so many lanes on one thread, until all of them have ended.
pub(crate) fn lanes<F: Future<Output = Result<()>>>(count: usize, lane: impl Fn(usize) -> F) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let mut all = futures_util::stream::FuturesUnordered::from_iter((0..count).map(lane));
        while let Some(done) = futures_util::StreamExt::next(&mut all).await {
            done?;
        }
        Ok(())
    })
}

/// Submits commands together and counts them; a load that is refused measures nothing.
pub(crate) async fn timed(
    engine: &EmbeddedEngine,
    requests: Vec<onsale_engine::Request>,
    total: &Rc<RefCell<(u64, Latency)>>,
) -> Result<Vec<Answer>> {
    let begun = Instant::now();
    let count = requests.len() as u64;
    let answers = if count == 1 {
        let request = requests.into_iter().next().context("one")?;
        vec![engine.submit(request).await]
    } else {
        engine.submit_many(requests).await
    };
    let took = begun.elapsed();
    let answers: Vec<Answer> = answers.into_iter().collect::<Result<_, EngineError>>()?;
    for answer in &answers {
        ensure!(answer.outcome == Outcome::Done, "not accepted: {:?}", answer.outcome);
    }
    let mut total = total.borrow_mut();
    total.0 += count;
    total.1.record(took);
    Ok(answers)
}

//! Where the time of a durable command goes: the engine's stages driven one after the other on one thread.
//! For profiling; low quantiles over many batches, so that a busy machine spoils little.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use onsale_domain::{BuyerId, Outcome};
use onsale_engine::disk::FolderDisk;
use onsale_engine::embedded::recover::{self, CoreOptions};
use onsale_engine::embedded::work::{Decision, Work};
use onsale_engine::{Request, journal};
use tokio::sync::oneshot;

use super::hall;

const BATCHES: u64 = 4_000;
const IN_BATCH: u64 = 512;
const TOGETHER: u64 = 32;
const SEATS: usize = 50_000;

/// Prints nanoseconds a command for each stage, with so many events taking turns.
pub(crate) fn measure(folder: &Path, events: u64) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let disk = Arc::new(FolderDisk::open(folder)?);
    let options =
        CoreOptions { shards: 1, dedup_records_max: 10_000_000, journal: journal::Options::default() };
    let mut core = recover::open(disk, options, 1)?;
    let event_of = |number: u64| hall::event(number.wrapping_mul(7_919) % events);
    let seats = if events == 1 { SEATS } else { 1_000 };
    for event in 0..events {
        let mut work =
            vec![Work::SubmitMany(vec![hall::create(hall::event(event), seats)], oneshot::channel().0)];
        let batch = core.shards[0].decide(&mut work, 1);
        core.committer.commit(&mut vec![batch])?;
        core.committer.prepare();
    }
    let buyers: Vec<BuyerId> = (0..2 * IN_BATCH)
        .map(|n| BuyerId::parse(&n.to_string()).context("a buyer"))
        .collect::<Result<_>>()?;
    let mut stages: [Vec<f64>; 4] = Default::default();
    let mut now = 1_763_000_000_000;
    let mut offsets = vec![0; IN_BATCH as usize];
    for round in 0..BATCHES {
        let holds = round % 2 == 0;
        now += 1;
        let first = round / 2 * IN_BATCH;
        let begun = Instant::now();
        let mut waiting = Vec::new();
        let mut work: Vec<Work> = (0..IN_BATCH / TOGETHER)
            .map(|message| {
                let of = |n: u64| {
                    let number = first + message * TOGETHER + n;
                    let buyer = &buyers[(number % (2 * IN_BATCH)) as usize];
                    if holds {
                        hall::hold(event_of(number), number, (number % seats as u64) as u32, buyer)
                    } else {
                        let offset = offsets[(number % IN_BATCH) as usize];
                        hall::release(event_of(number), number, offset, buyer)
                    }
                };
                let requests: Vec<Request> = (0..TOGETHER).map(of).collect();
                let (reply, answers) = oneshot::channel();
                waiting.push(answers);
                Work::SubmitMany(requests, reply)
            })
            .collect();
        let built = Instant::now();
        let batch = core.shards[0].decide(&mut work, now);
        let decided = Instant::now();
        core.committer.commit(&mut vec![batch])?;
        let committed = Instant::now();
        let mut n = 0;
        for mut answers in waiting {
            let together = answers.try_recv()?;
            for answer in together.answers {
                let Decision::Verdict(answer) = answer? else { anyhow::bail!("a fresh key") };
                ensure!(answer.outcome == Outcome::Done, "not accepted: {:?}", answer.outcome);
                offsets[n] = answer.position.offset;
                n += 1;
            }
        }
        let heard = Instant::now();
        core.committer.prepare();
        let times = [built - begun, decided - built, committed - decided, heard - committed];
        for (stage, took) in stages.iter_mut().zip(times) {
            stage.push(took.as_nanos() as f64 / IN_BATCH as f64);
        }
    }
    for (name, mut stage) in ["ask", "decide", "commit", "hear"].into_iter().zip(stages) {
        stage.sort_by(f64::total_cmp);
        let at = |share: f64| stage[(stage.len() as f64 * share) as usize];
        println!("{name:>8} p10 {:>6.0} p50 {:>6.0} p99 {:>6.0} ns", at(0.1), at(0.5), at(0.99));
    }
    Ok(())
}

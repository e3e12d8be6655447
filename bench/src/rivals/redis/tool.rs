//! Drives Redis with its own redis-benchmark, which knows one command at a time: locks first, then releases.
//! Its figure is that of a load of equal parts, 2 / (1/locks + 1/releases).

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::instance::{Instance, exchange};
use super::resp::{self, Reply};
use super::{CONNECTIONS, Flush, Shared, subject};
use crate::contest::{Contestant, Round};
use crate::process;

/// redis-benchmark picks seats by chance; among so many a lock hardly ever meets a taken one.
const SEATS_TO_LOCK: &str = "1000000000";
/// Locks that wait for a release, five for each release, so that few are met twice. Those that are
/// met twice are answered more quickly, in favour of Redis.
const LOCKED_PER_RELEASE: u64 = 5;
/// The fence of all locks that wait for a release: redis-benchmark cannot remember what it was given.
const FENCE: &str = "7";

pub(super) struct RedisBenchmark {
    instance: Shared,
    flush: Flush,
    pipeline: usize,
    /// What the last round reached; a round's length is given in requests.
    locks_per_s: f64,
    releases_per_s: f64,
}

impl RedisBenchmark {
    pub(super) fn new(instance: Shared, flush: Flush, pipeline: usize) -> Self {
        Self { instance, flush, pipeline, locks_per_s: 15_000.0, releases_per_s: 20_000.0 }
    }
}

impl Contestant for RedisBenchmark {
    fn subject(&self) -> String {
        subject(self.flush, self.pipeline)
    }

    fn driver(&self) -> Option<&'static str> {
        Some("redis_benchmark")
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.borrow_mut().start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let instance = self.instance.borrow();
        let half = length.as_secs_f64() / 2.0;
        let locks = locks(&instance, self.pipeline, (self.locks_per_s * half) as u64)?;
        let releases = releases(&instance, self.pipeline, (self.releases_per_s * half) as u64)?;
        (self.locks_per_s, self.releases_per_s) = (locks.per_s, releases.per_s);
        Ok(vec![
            ("per_s", 2.0 / (1.0 / locks.per_s + 1.0 / releases.per_s)),
            ("locks_per_s", locks.per_s),
            ("releases_per_s", releases.per_s),
            ("p50_ms", (locks.p50_ms + releases.p50_ms) / 2.0),
            // The slower half of a mixed load decides its p99.
            ("p99_ms", locks.p99_ms.max(releases.p99_ms)),
        ])
    }
}

fn locks(instance: &Instance, pipeline: usize, requests: u64) -> Result<Line> {
    instance.clear()?;
    let scripts = instance.scripts()?;
    let words = [
        "EVALSHA",
        &scripts.acquire,
        "5",
        "seat:lock:{evt_1}:__rand_int__",
        "seat:queue:{evt_1}:__rand_int__",
        "user:locks:{evt_1}:usr_1",
        "seat:sold:{evt_1}",
        "seat:fence:{evt_1}",
        "usr_1",
        "__rand_int__",
        "1800000000000",
        "120000",
    ];
    let line = benchmark(instance, pipeline, requests, SEATS_TO_LOCK, &words)?;
    // Every lock raised the fence: what the tool calls a request was a hold.
    let fence = instance.ask(&["GET", "seat:fence:{evt_1}"])?.integer().context("no fence")?;
    ensure!(fence as f64 >= requests as f64 * 0.99, "{requests} requests made only {fence} locks");
    Ok(line)
}

fn releases(instance: &Instance, pipeline: usize, requests: u64) -> Result<Line> {
    instance.clear()?;
    let seats = requests * LOCKED_PER_RELEASE;
    fill(instance, seats)?;
    let scripts = instance.scripts()?;
    let words = [
        "EVALSHA",
        &scripts.release,
        "3",
        "seat:lock:{evt_1}:__rand_int__",
        "seat:queue:{evt_1}:__rand_int__",
        "user:locks:{evt_1}:usr_1",
        "usr_1",
        "__rand_int__",
        FENCE,
    ];
    let line = benchmark(instance, pipeline, requests, &seats.to_string(), &words)?;
    let left = instance.ask(&["DBSIZE"])?.integer().context("no size")?;
    let released = seats as f64 - left as f64;
    ensure!(released >= requests as f64 * 0.8, "{requests} requests made only {released} releases");
    Ok(line)
}

/// Locks seats as acquire_seat_lock would, under the numbers that redis-benchmark will ask for.
fn fill(instance: &Instance, seats: u64) -> Result<()> {
    let lock = format!(
        "{{\"user_id\":\"usr_1\",\"fence\":{FENCE},\"acquired_at\":1800000000000,\"expires_at\":1800000120000,\
         \"extension_count\":0,\"max_extensions\":1}}"
    );
    let mut commands = Vec::new();
    for seat in 0..seats {
        let id = format!("{seat:012}");
        let key = format!("seat:lock:{{evt_1}}:{id}");
        resp::command(&mut commands, ["SET", &key, &lock, "PX", "120000"]);
        resp::command(&mut commands, ["SADD", "user:locks:{evt_1}:usr_1", &id]);
    }
    let replies = exchange(instance.address()?, &commands, 2 * usize::try_from(seats)?)?;
    let good = |reply: &Reply| *reply == Reply::Integer(1) || *reply == Reply::Text("OK".to_owned());
    if let Some(other) = replies.iter().find(|reply| !good(reply)) {
        bail!("filling answered {other:?}");
    }
    Ok(())
}

/// What redis-benchmark prints with --csv.
#[derive(Debug, PartialEq)]
struct Line {
    per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
}

fn benchmark(
    instance: &Instance,
    pipeline: usize,
    requests: u64,
    random: &str,
    words: &[&str],
) -> Result<Line> {
    let mut command = Command::new("redis-benchmark");
    command.args(["-h", "127.0.0.1", "-p", &instance.address()?.port().to_string(), "--csv"]);
    command.args(["-c", &CONNECTIONS.to_string(), "-P", &pipeline.to_string()]);
    command.args(["-n", &requests.to_string(), "-r", random]).args(words);
    parse(&process::output(&mut command)?)
}

/// The last line: "command","rps","avg","min","p50","p95","p99","max".
fn parse(output: &str) -> Result<Line> {
    let line = output
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .context("redis-benchmark printed nothing")?;
    // The command itself may hold commas, so the figures are counted from the end.
    let mut fields = line.rsplit(',').map(|field| field.trim().trim_matches('"').parse::<f64>());
    let mut field = |skipped| fields.nth(skipped).and_then(Result::ok).with_context(|| format!("`{line}`"));
    let (p99_ms, p50_ms, per_s) = (field(1)?, field(1)?, field(2)?);
    Ok(Line { per_s, p50_ms, p99_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_line_is_read_from_its_end() {
        let output = "\"test\",\"rps\",\"avg_latency_ms\",\"min\",\"p50\",\"p95\",\"p99\",\"max\"\n\
            \"EVALSHA a 1, b\",\"18300.50\",\"2.700\",\"0.500\",\"2.600\",\"5.000\",\"6.400\",\"9.000\"\n";
        assert_eq!(parse(output).expect("a good line"), Line { per_s: 18300.5, p50_ms: 2.6, p99_ms: 6.4 });
    }
}

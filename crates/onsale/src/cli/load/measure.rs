//! What a run measures: latencies from the intended start, by verb and over time, and every kind of answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::buyer::Verb;

/// Longer than any answer may take; three digits are exact to a thousandth.
const MICROS_MAX: u64 = 120_000_000;
/// Points of the curves over time.
const WINDOWS: u32 = 60;

pub(super) struct Measure {
    verbs: Vec<Mutex<Tally>>,
    windows: Vec<Mutex<Window>>,
    window: Duration,
    answers: Mutex<BTreeMap<(u16, Arc<str>), u64>>,
}

struct Tally {
    latency: Histogram<u64>,
    yes: u64,
    no: u64,
    failed: u64,
}

struct Window {
    latency: Histogram<u64>,
    yes: u64,
    no: u64,
}

/// How one request ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    Yes(u16),
    No(u16, Arc<str>),
    /// No answer at all: what became of it is unknown.
    Failed,
}

/// A verb's line in the table.
#[derive(Debug, Serialize)]
pub(super) struct VerbLine {
    pub verb: &'static str,
    pub sent: u64,
    pub yes: u64,
    pub no: u64,
    pub failed: u64,
    pub p50_us: u64,
    pub p90_us: u64,
    pub p99_us: u64,
    pub p999_us: u64,
    pub max_us: u64,
}

/// One point of the curves.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Point {
    pub at_s: f64,
    pub p50_us: u64,
    pub p90_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
    pub yes_per_s: f64,
    pub no_per_s: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct AnswerLine {
    pub status: u16,
    pub code: String,
    pub count: u64,
}

fn histogram() -> Histogram<u64> {
    // These bounds are constants that the library accepts; a histogram that grows is as good.
    Histogram::new_with_bounds(1, MICROS_MAX, 3).unwrap_or_else(|_| unreachable!("the bounds are valid"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Measure {
    pub(super) fn new(duration: Duration) -> Measure {
        let tally = |_| Mutex::new(Tally { latency: histogram(), yes: 0, no: 0, failed: 0 });
        let window = |_| Mutex::new(Window { latency: histogram(), yes: 0, no: 0 });
        Measure {
            verbs: Verb::ALL.iter().map(tally).collect(),
            windows: (0..WINDOWS).map(window).collect(),
            window: (duration / WINDOWS).max(Duration::from_millis(1)),
            answers: Mutex::default(),
        }
    }

    /// `start` is when the request was meant to be sent, counted from the run's beginning.
    pub(super) fn note(&self, verb: Verb, start: Duration, latency: Duration, end: &End) {
        let micros = (latency.as_micros() as u64).clamp(1, MICROS_MAX);
        let mut tally = lock(&self.verbs[verb as usize]);
        let window = (start.as_nanos() / self.window.as_nanos()) as usize;
        let mut window = lock(&self.windows[window.min(self.windows.len() - 1)]);
        tally.latency.saturating_record(micros);
        window.latency.saturating_record(micros);
        let answer = match end {
            End::Yes(status) => {
                (tally.yes, window.yes) = (tally.yes + 1, window.yes + 1);
                (*status, "".into())
            }
            End::No(status, code) => {
                (tally.no, window.no) = (tally.no + 1, window.no + 1);
                (*status, code.clone())
            }
            End::Failed => {
                tally.failed += 1;
                (0, "no answer".into())
            }
        };
        drop((tally, window));
        *lock(&self.answers).entry(answer).or_default() += 1;
    }

    /// A line for each verb that was used, and one for all.
    pub(super) fn verbs(&self) -> Vec<VerbLine> {
        let mut lines = Vec::new();
        let mut all = Tally { latency: histogram(), yes: 0, no: 0, failed: 0 };
        for verb in Verb::ALL {
            let tally = lock(&self.verbs[verb as usize]);
            if tally.latency.is_empty() {
                continue;
            }
            lines.push(line(verb.as_str(), &tally));
            // Both have the same bounds.
            let _ = all.latency.add(&tally.latency);
            (all.yes, all.no) = (all.yes + tally.yes, all.no + tally.no);
            all.failed += tally.failed;
        }
        lines.push(line("all", &all));
        lines
    }

    pub(super) fn answers(&self) -> Vec<AnswerLine> {
        let answers = lock(&self.answers);
        let line = |((status, code), count): (&(u16, Arc<str>), &u64)| AnswerLine {
            status: *status,
            code: code.to_string(),
            count: *count,
        };
        answers.iter().map(line).collect()
    }

    pub(super) fn points(&self) -> Vec<Point> {
        let seconds = self.window.as_secs_f64();
        let mut points = Vec::new();
        for (index, window) in self.windows.iter().enumerate() {
            let window = lock(window);
            if window.latency.is_empty() {
                continue;
            }
            points.push(Point {
                at_s: (index as f64 + 0.5) * seconds,
                p50_us: window.latency.value_at_quantile(0.5),
                p90_us: window.latency.value_at_quantile(0.9),
                p99_us: window.latency.value_at_quantile(0.99),
                max_us: window.latency.max(),
                yes_per_s: window.yes as f64 / seconds,
                no_per_s: window.no as f64 / seconds,
            });
        }
        points
    }
}

fn line(verb: &'static str, tally: &Tally) -> VerbLine {
    let at = |quantile| tally.latency.value_at_quantile(quantile);
    VerbLine {
        verb,
        sent: tally.latency.len(),
        yes: tally.yes,
        no: tally.no,
        failed: tally.failed,
        p50_us: at(0.5),
        p90_us: at(0.9),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: tally.latency.max(),
    }
}

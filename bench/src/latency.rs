//! A histogram of latencies in nanoseconds, and the figures that are taken from it.

use std::time::Duration;

use anyhow::{Context, Result};
use hdrhistogram::Histogram;

use crate::contest::Round;

/// Longer than any answer we would wait for.
const LONGEST: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub(crate) struct Latency {
    histogram: Histogram<u64>,
}

impl Latency {
    pub(crate) fn new() -> Result<Self> {
        let longest = u64::try_from(LONGEST.as_nanos()).context("a minute in nanoseconds")?;
        Ok(Self { histogram: Histogram::new_with_bounds(1, longest, 3).context("making a histogram")? })
    }

    pub(crate) fn record(&mut self, took: Duration) {
        self.histogram.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(crate) fn add(&mut self, other: &Self) -> Result<()> {
        self.histogram.add(&other.histogram).context("adding histograms")
    }

    pub(crate) fn quantile_ms(&self, quantile: f64) -> f64 {
        self.histogram.value_at_quantile(quantile) as f64 / 1e6
    }

    /// The usual three figures of a measured load.
    pub(crate) fn round(&self, operations: u64, took: Duration) -> Round {
        vec![
            ("per_s", operations as f64 / took.as_secs_f64()),
            ("p50_ms", self.quantile_ms(0.50)),
            ("p99_ms", self.quantile_ms(0.99)),
        ]
    }
}

//! Counters and timings that stand on the page once something has happened: there are thousands of pairs of route and
//! status, and a running server sees a few dozen.

use std::sync::{Arc, OnceLock};

use metrics::{Counter, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::PrometheusRecorder;

pub(super) type Page = Arc<PrometheusRecorder>;

/// Nothing asks where a metric was made.
const METADATA: Metadata<'static> = Metadata::new("onsale", Level::INFO, None);

/// A counter that is made when it first counts.
pub struct LateCounter {
    page: Page,
    name: &'static str,
    labels: Labels,
    counter: OnceLock<Counter>,
}

type Labels = Vec<(&'static str, &'static str)>;

impl LateCounter {
    pub(super) fn new(page: &Page, name: &'static str, labels: &[(&'static str, &'static str)]) -> Self {
        Self { page: page.clone(), name, labels: labels.to_vec(), counter: OnceLock::new() }
    }

    pub fn increment(&self, by: u64) {
        let made = || self.page.register_counter(&key(self.name, &self.labels), &METADATA);
        self.counter.get_or_init(made).increment(by);
    }
}

/// Timings that are kept from the first one on.
pub(super) struct LateHistogram {
    page: Page,
    name: &'static str,
    labels: Labels,
    histogram: OnceLock<Histogram>,
}

impl LateHistogram {
    pub(super) fn new(page: &Page, name: &'static str, labels: &[(&'static str, &'static str)]) -> Self {
        Self { page: page.clone(), name, labels: labels.to_vec(), histogram: OnceLock::new() }
    }

    pub(super) fn record(&self, value: f64) {
        let made = || self.page.register_histogram(&key(self.name, &self.labels), &METADATA);
        self.histogram.get_or_init(made).record(value);
    }
}

fn key(name: &'static str, labels: &Labels) -> Key {
    let labels: Vec<Label> =
        labels.iter().map(|(name, value)| Label::from_static_parts(name, value)).collect();
    Key::from_parts(name, labels)
}

impl std::fmt::Debug for LateCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LateCounter").field("name", &self.name).field("labels", &self.labels).finish()
    }
}

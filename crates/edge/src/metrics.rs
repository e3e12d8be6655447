//! Counters and timings in Prometheus' conventions. Every series that a request touches is registered at start,
//! so that counting costs an atomic add and no look-up by name.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use metrics::{Counter, Gauge, Histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use onsale_domain::{Code, Command};
use onsale_engine::EngineStatus;

use crate::http::table::table;

/// Upper bounds of the request durations, in seconds: from a read in memory to the request timeout.
const SECONDS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 10.0];

/// Statuses that we send; anything else counts as the last, 0.
const STATUSES: [u16; 22] = [
    200, 201, 202, 303, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 429, 431, 500, 501, 503,
    0,
];

pub struct Metrics {
    handle: PrometheusHandle,
    routes: Vec<Route>,
    /// In the order of [`Command::verbs`].
    verbs: Vec<Verb>,
    refusals: Vec<(Code, Counter)>,
    gauges: Vec<(&'static str, Gauge)>,
    pub connections: Gauge,
    pub streams: Gauge,
    pub streams_cut: Counter,
}

struct Route {
    by_status: [Counter; STATUSES.len()],
    seconds: Histogram,
}

/// What became of commands of one verb.
#[derive(Debug)]
pub struct Verb {
    pub done: Counter,
    pub replayed: Counter,
    pub refused: Counter,
    pub failed: Counter,
}

impl Metrics {
    pub fn new() -> Metrics {
        let builder = PrometheusBuilder::new().set_buckets(&SECONDS);
        let recorder = builder.unwrap_or_else(|_| PrometheusBuilder::new()).build_recorder();
        let handle = recorder.handle();
        // A recorder of its own, not the process': two servers in one process count apart.
        metrics::with_local_recorder(&recorder, || Metrics::register(handle))
    }

    fn register(handle: PrometheusHandle) -> Metrics {
        describe();
        let route = |name: &'static str| {
            Route {
            by_status: STATUSES.map(|status| {
                metrics::counter!("onsale_requests_total", "route" => name, "status" => status.to_string())
            }),
            seconds: metrics::histogram!("onsale_request_duration_seconds", "route" => name),
        }
        };
        let outcome = |verb: &'static str, outcome: &'static str| metrics::counter!("onsale_commands_total", "verb" => verb, "outcome" => outcome);
        let verb = |verb: &'static str| Verb {
            done: outcome(verb, "done"),
            replayed: outcome(verb, "replayed"),
            refused: outcome(verb, "refused"),
            failed: outcome(verb, "failed"),
        };
        let refusal =
            |code: &Code| (*code, metrics::counter!("onsale_refusals_total", "code" => code.as_str()));
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        metrics::gauge!("process_start_time_seconds").set(started.as_secs_f64());
        Metrics {
            handle,
            routes: table().path_names().map(route).collect(),
            verbs: Command::verbs().map(|known| verb(known.name)).collect(),
            refusals: Code::ALL.iter().map(refusal).collect(),
            gauges: engine_gauges(&EngineStatus::default())
                .map(|(name, _)| (name, metrics::gauge!(name)))
                .into(),
            connections: metrics::gauge!("onsale_connections"),
            streams: metrics::gauge!("onsale_streams"),
            streams_cut: metrics::counter!("onsale_streams_cut_total"),
        }
    }

    /// Counts one answered request.
    pub fn request(&self, route: usize, status: u16, took: Duration) {
        let route = &self.routes[route];
        let place = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len() - 1);
        route.by_status[place].increment(1);
        route.seconds.record(took.as_secs_f64());
    }

    pub fn verb(&self, command: &Command) -> &Verb {
        let asked = command.verb();
        &self.verbs[Command::verbs().position(|known| known.name == asked.name).unwrap_or_default()]
    }

    pub fn refusal(&self, code: Code) -> &Counter {
        let place = self.refusals.binary_search_by_key(&code, |(known, _)| *known).unwrap_or(0);
        &self.refusals[place].1
    }

    /// Folds what was recorded into its buckets; called every few seconds, so that it never piles up.
    pub fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    /// The page that Prometheus reads.
    pub fn render(&self, status: &EngineStatus) -> String {
        for ((name, gauge), (known, value)) in self.gauges.iter().zip(engine_gauges(status)) {
            debug_assert_eq!(*name, known);
            gauge.set(value);
        }
        self.handle.render()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new()
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

fn engine_gauges(status: &EngineStatus) -> [(&'static str, f64); 18] {
    let flag = |on: bool| if on { 1.0 } else { 0.0 };
    [
        ("onsale_engine_poisoned", flag(status.poisoned.is_some())),
        ("onsale_engine_disk_full", flag(status.disk_full)),
        ("onsale_engine_stopping", flag(status.stopping)),
        ("onsale_engine_store_down", flag(status.store_down.is_some())),
        ("onsale_engine_damaged_listings", status.damaged.len() as f64),
        ("onsale_engine_listings", status.listings as f64),
        ("onsale_engine_waiting", status.waiting as f64),
        ("onsale_engine_commands", status.commands as f64),
        ("onsale_engine_refusals", status.refusals as f64),
        ("onsale_engine_facts", status.facts as f64),
        ("onsale_engine_frames", status.frames as f64),
        ("onsale_engine_syncs", status.syncs as f64),
        ("onsale_engine_journal_bytes", status.journal_bytes as f64),
        ("onsale_engine_dedup_records", status.dedup_records as f64),
        ("onsale_engine_dedup_forgotten", status.dedup_forgotten as f64),
        ("onsale_engine_history_bytes", status.history_bytes as f64),
        ("onsale_engine_history_max_bytes", status.history_max_bytes as f64),
        (
            "onsale_engine_dedup_window_seconds",
            status.dedup_window_ms.map_or(f64::NAN, |ms| ms as f64 / 1_000.0),
        ),
    ]
}

fn describe() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!("onsale_requests_total", "Requests answered, by route and status.");
    describe_histogram!(
        "onsale_request_duration_seconds",
        "Time from a request's head to its answer's head."
    );
    describe_counter!("onsale_commands_total", "Commands by verb and what became of them.");
    describe_counter!("onsale_refusals_total", "Refusals by public code.");
    describe_gauge!("process_start_time_seconds", "When the process started, in seconds since 1970.");
    describe_gauge!("onsale_connections", "Open connections.");
    describe_gauge!("onsale_streams", "Open event streams.");
    describe_counter!(
        "onsale_streams_cut_total",
        "Event streams refused or cut because the house was full or closing."
    );
    describe_gauge!("onsale_engine_waiting", "Commands waiting for their decision.");
    describe_gauge!(
        "onsale_engine_damaged_listings",
        "Listings that answer store_damaged; /readyz names them."
    );
    describe_gauge!("onsale_engine_store_down", "1 while the shared store, or a part of it, cannot be used.");
    describe_gauge!("onsale_engine_facts", "Facts written since the engine was opened.");
    describe_gauge!(
        "onsale_engine_dedup_forgotten",
        "Idempotency records forgotten before their time, to make room."
    );
    describe_gauge!(
        "onsale_engine_history_bytes",
        "What facts and remembered answers take on the fullest Redis master."
    );
    describe_gauge!(
        "onsale_engine_history_max_bytes",
        "What they may take there (redis.history_mb); over it the oldest are forgotten."
    );
    describe_gauge!(
        "onsale_engine_dedup_window_seconds",
        "Age of the youngest record forgotten early; NaN: none was."
    );
}

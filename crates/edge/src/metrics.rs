//! Counters and timings in Prometheus' conventions. A series begins with what it first counts; from then on
//! counting costs two atomic operations and no look-up by name.

mod late;
mod page;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use metrics::Gauge;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use onsale_domain::{Code, Command};
use onsale_engine::EngineStatus;

use crate::http::table::table;
use late::{LateCounter, LateHistogram, Page};

/// Upper bounds of the request durations, in seconds: from a read in memory to the request timeout.
const SECONDS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 10.0];

/// Statuses that we send, with their labels; anything else counts as the last.
const STATUSES: [(u16, &str); 22] = [
    (200, "200"),
    (201, "201"),
    (202, "202"),
    (303, "303"),
    (304, "304"),
    (400, "400"),
    (401, "401"),
    (403, "403"),
    (404, "404"),
    (405, "405"),
    (409, "409"),
    (410, "410"),
    (412, "412"),
    (413, "413"),
    (415, "415"),
    (422, "422"),
    (429, "429"),
    (431, "431"),
    (500, "500"),
    (501, "501"),
    (503, "503"),
    (0, "other"),
];

pub struct Metrics {
    handle: PrometheusHandle,
    /// In seconds since 1970.
    started: f64,
    routes: Vec<Route>,
    /// In the order of [`Command::verbs`].
    verbs: Vec<Verb>,
    refusals: Vec<(Code, LateCounter)>,
    pub connections: Gauge,
    pub streams: Gauge,
    pub streams_cut: LateCounter,
}

struct Route {
    by_status: [LateCounter; STATUSES.len()],
    seconds: LateHistogram,
}

/// What became of commands of one verb.
#[derive(Debug)]
pub struct Verb {
    pub done: LateCounter,
    pub replayed: LateCounter,
    pub refused: LateCounter,
    pub failed: LateCounter,
}

impl Metrics {
    pub fn new() -> Metrics {
        let builder = PrometheusBuilder::new().set_buckets(&SECONDS);
        let recorder = builder.unwrap_or_else(|_| PrometheusBuilder::new()).build_recorder();
        let handle = recorder.handle();
        // A recorder of its own, not the process': two servers in one process count apart.
        let (connections, streams) = metrics::with_local_recorder(&recorder, || {
            describe();
            (metrics::gauge!("onsale_connections"), metrics::gauge!("onsale_streams"))
        });
        let page: Page = Arc::new(recorder);
        let route = |name: &'static str| Route {
            by_status: STATUSES.map(|(_, status)| {
                LateCounter::new(&page, "onsale_requests_total", &[("route", name), ("status", status)])
            }),
            seconds: LateHistogram::new(&page, "onsale_request_duration_seconds", &[("route", name)]),
        };
        let outcome = |verb, outcome| {
            LateCounter::new(&page, "onsale_commands_total", &[("verb", verb), ("outcome", outcome)])
        };
        let verb = |verb| Verb {
            done: outcome(verb, "done"),
            replayed: outcome(verb, "replayed"),
            refused: outcome(verb, "refused"),
            failed: outcome(verb, "failed"),
        };
        let refusal = |code: &Code| {
            (*code, LateCounter::new(&page, "onsale_refusals_total", &[("code", code.as_str())]))
        };
        Metrics {
            handle,
            started: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            routes: table().path_names().map(route).collect(),
            verbs: Command::verbs().map(|known| verb(known.name)).collect(),
            refusals: Code::ALL.iter().map(refusal).collect(),
            connections,
            streams,
            streams_cut: LateCounter::new(&page, "onsale_streams_cut_total", &[]),
        }
    }

    /// Counts one answered request.
    pub fn request(&self, route: usize, status: u16, took: Duration) {
        let route = &self.routes[route];
        let place = STATUSES.iter().position(|(known, _)| *known == status).unwrap_or(STATUSES.len() - 1);
        route.by_status[place].increment(1);
        route.seconds.record(took.as_secs_f64());
    }

    pub fn verb(&self, command: &Command) -> &Verb {
        let asked = command.verb();
        &self.verbs[Command::verbs().position(|known| known.name == asked.name).unwrap_or_default()]
    }

    pub fn refusal(&self, code: Code) -> &LateCounter {
        let place = self.refusals.binary_search_by_key(&code, |(known, _)| *known).unwrap_or(0);
        &self.refusals[place].1
    }

    /// Folds what was recorded into its buckets; called every few seconds, so that it never piles up.
    pub fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    /// The page that Prometheus reads.
    pub fn render(&self, status: &EngineStatus) -> String {
        let mut text = self.handle.render();
        page::write(&mut text, status, self.started);
        text
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

fn describe() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!("onsale_requests_total", "Requests answered, by route and status.");
    describe_histogram!(
        "onsale_request_duration_seconds",
        "Time from a request's head to its answer's head."
    );
    describe_counter!("onsale_commands_total", "Commands by verb and what became of them.");
    describe_counter!("onsale_refusals_total", "Refusals by public code.");
    describe_gauge!("onsale_connections", "Open connections.");
    describe_gauge!("onsale_streams", "Open event streams.");
    describe_counter!(
        "onsale_streams_cut_total",
        "Event streams refused because as many were open as may be."
    );
}

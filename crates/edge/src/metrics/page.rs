//! Numbers that are read when the page is asked for, written in Prometheus' text format: the engine's, the process',
//! and which build this is.

use std::fmt::Write as _;

use onsale_engine::EngineStatus;

use crate::version;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
}

/// One number: its name, what kind it is, what it says.
struct Number(&'static str, Kind, &'static str, f64);

/// Everything that is not counted as it happens. `started` is in seconds since 1970.
pub(super) fn write(page: &mut String, status: &EngineStatus, started: f64) {
    for Number(name, kind, help, value) in engine(status).into_iter().chain(process(started)) {
        head(page, name, kind, help);
        line(page, name, value);
    }
    let (version, commit) = (version::VERSION, version::COMMIT);
    head(page, "onsale_build_info", Kind::Gauge, "Which build this is; always 1.");
    line(page, &format!("onsale_build_info{{version=\"{version}\",commit=\"{commit}\"}}"), 1.0);
}

fn head(page: &mut String, name: &str, kind: Kind, help: &str) {
    let kind = match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
    };
    // Writing to a `String` cannot fail.
    let _ = write!(page, "\n# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

fn line(page: &mut String, series: &str, value: f64) {
    let _ = writeln!(page, "{series} {value}");
}

fn engine(status: &EngineStatus) -> Vec<Number> {
    use Kind::{Counter, Gauge};
    let flag = |on: bool| if on { 1.0 } else { 0.0 };
    let mut all = vec![
        Number(
            "onsale_engine_poisoned",
            Gauge,
            "1 after a failed write or sync: nothing is decided until a restart.",
            flag(status.poisoned.is_some()),
        ),
        Number(
            "onsale_engine_disk_full",
            Gauge,
            "1 while commands are refused for want of disk space.",
            flag(status.disk_full),
        ),
        Number("onsale_engine_stopping", Gauge, "1 while the engine is being closed.", flag(status.stopping)),
        Number(
            "onsale_engine_store_down",
            Gauge,
            "1 while the shared store, or a part of it, cannot be used.",
            flag(status.store_down.is_some()),
        ),
        Number(
            "onsale_engine_damaged_listings",
            Gauge,
            "Listings that answer store_damaged; /readyz names them.",
            status.damaged.len() as f64,
        ),
        Number("onsale_engine_listings", Gauge, "Listings that the engine knows.", status.listings as f64),
        Number("onsale_engine_waiting", Gauge, "Commands waiting for their decision.", status.waiting as f64),
        Number(
            "onsale_engine_commands_total",
            Counter,
            "Commands decided since the engine was opened.",
            status.commands as f64,
        ),
        Number(
            "onsale_engine_refusals_total",
            Counter,
            "Commands refused since the engine was opened.",
            status.refusals as f64,
        ),
        Number(
            "onsale_engine_facts_total",
            Counter,
            "Facts written since the engine was opened.",
            status.facts as f64,
        ),
        Number(
            "onsale_engine_dedup_records",
            Gauge,
            "Idempotency records kept.",
            status.dedup_records as f64,
        ),
        Number(
            "onsale_engine_dedup_forgotten_total",
            Counter,
            "Idempotency records forgotten before their time, to make room.",
            status.dedup_forgotten as f64,
        ),
    ];
    if let Some(ms) = status.dedup_window_ms {
        let help = "How long the youngest idempotency record that was forgotten early had been kept.";
        all.push(Number("onsale_engine_dedup_window_seconds", Gauge, help, ms as f64 / 1_000.0));
    }
    match status.shared_store {
        Some(counts) => all.extend([
            Number(
                "onsale_engine_history_bytes",
                Gauge,
                "What facts and remembered answers take on the fullest master of the shared store.",
                status.history_bytes as f64,
            ),
            Number(
                "onsale_engine_history_max_bytes",
                Gauge,
                "What they may take there (redis.history_mb); over it the oldest are forgotten.",
                status.history_max_bytes as f64,
            ),
            Number(
                "onsale_engine_retries_total",
                Counter,
                "Commands sent to the shared store again because what this server knew was too old.",
                counts.retries as f64,
            ),
            Number(
                "onsale_engine_reloads_total",
                Counter,
                "Listings read from the shared store anew.",
                counts.reloads as f64,
            ),
            Number(
                "onsale_engine_wakes_total",
                Counter,
                "Times that another server's facts were announced to this one.",
                counts.wakes as f64,
            ),
            Number(
                "onsale_engine_sweeps_total",
                Counter,
                "Times that this server looked for deadlines and made them happen.",
                counts.sweeps as f64,
            ),
        ]),
        None => all.extend([
            Number(
                "onsale_engine_frames_total",
                Counter,
                "Frames written to the journal since the engine was opened.",
                status.frames as f64,
            ),
            Number(
                "onsale_engine_syncs_total",
                Counter,
                "Times that the journal was brought to the disk since the engine was opened.",
                status.syncs as f64,
            ),
            Number(
                "onsale_engine_journal_bytes",
                Gauge,
                "What the journal's segments hold.",
                status.journal_bytes as f64,
            ),
        ]),
    }
    all
}

/// Under the names that every Prometheus client uses; what this system does not tell is left out.
fn process(started: f64) -> Vec<Number> {
    let help = "When the process started, in seconds since 1970.";
    let mut all = vec![Number("process_start_time_seconds", Kind::Gauge, help, started)];
    let mut gauge = |name, help, value: Option<f64>| {
        all.extend(value.map(|value| Number(name, Kind::Gauge, help, value)));
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |name| first_number(&status, name).map(|kilobytes| kilobytes * 1_024.0);
    gauge("process_virtual_memory_bytes", "Address space of the process.", bytes("VmSize:"));
    gauge("process_resident_memory_bytes", "Memory that the process takes now.", bytes("VmRSS:"));
    let open = std::fs::read_dir("/proc/self/fd").ok().map(|open| open.count() as f64);
    gauge("process_open_fds", "File descriptors that are open.", open);
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    gauge("process_max_fds", "File descriptors that may be open.", first_number(&limits, "Max open files"));
    if let Some(seconds) = cpu_seconds() {
        let help = "Processor time that the process has taken, its own and the system's for it.";
        all.push(Number("process_cpu_seconds_total", Kind::Counter, help, seconds));
    }
    all
}

/// The number behind a name at the beginning of a line.
fn first_number(told: &str, name: &str) -> Option<f64> {
    told.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

fn cpu_seconds() -> Option<f64> {
    /// Linux counts so for every program, whatever its own clock does.
    const TICKS_A_SECOND: f64 = 100.0;
    let told = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name may hold anything, a blank or a bracket too; what follows its last bracket is plain.
    let (_, plain) = told.rsplit_once(") ")?;
    let mut fields = plain.split(' ').skip(11);
    let ticks = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / TICKS_A_SECOND)
}

#[cfg(test)]
mod tests {
    use onsale_engine::SharedStoreCounts;

    use super::*;

    fn names(status: &EngineStatus) -> String {
        let mut page = String::new();
        write(&mut page, status, 1.0);
        page
    }

    #[test]
    fn a_page_says_what_there_is_and_nothing_else() {
        let embedded = names(&EngineStatus::default());
        assert!(embedded.contains("\nonsale_engine_syncs_total 0\n"), "{embedded}");
        for absent in ["retries", "history", "dedup_window", "NaN"] {
            assert!(!embedded.contains(absent), "{absent} in {embedded}");
        }
        let counts = SharedStoreCounts { retries: 1, reloads: 2, wakes: 3, sweeps: 4 };
        let status = EngineStatus {
            shared_store: Some(counts),
            dedup_window_ms: Some(1_500),
            ..EngineStatus::default()
        };
        let shared = names(&status);
        for line in ["retries_total 1", "reloads_total 2", "wakes_total 3", "sweeps_total 4"] {
            assert!(shared.contains(&format!("\nonsale_engine_{line}\n")), "{line} in {shared}");
        }
        assert!(shared.contains("\nonsale_engine_dedup_window_seconds 1.5\n"), "{shared}");
        assert!(!shared.contains("syncs"), "{shared}");
    }

    #[test]
    fn a_process_tells_of_itself() {
        let told = names(&EngineStatus::default());
        for name in ["resident_memory_bytes", "open_fds", "max_fds", "cpu_seconds_total"] {
            let line = told.lines().find_map(|line| line.strip_prefix(&format!("process_{name} ")));
            assert!(line.and_then(|value| value.parse::<f64>().ok()).is_some(), "{name} in {told}");
        }
    }
}

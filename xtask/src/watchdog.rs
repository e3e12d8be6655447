//! No step goes on for ever: at twice its budget whatever it runs is ended, after a word on what that was doing.
//! A budget is for a busy machine, so that only what hangs is ever ended.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Processes end within milliseconds once they are told to; one that does not return after this is stuck by itself.
const GRACE: Duration = Duration::from_secs(60);
/// So much of the end of a log is shown: enough for the last words, too little to hide them.
const TAIL_LINES: usize = 40;

/// A step is over: every process of it is to be ended.
static OVER: AtomicBool = AtomicBool::new(false);
static JOBS: Mutex<Vec<Job>> = Mutex::new(Vec::new());

/// A process that is running now.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub pid: u32,
    pub what: String,
    /// Where it writes what it says, if we do not show it anyway.
    pub output: Option<PathBuf>,
    /// Where its servers keep their logs.
    pub folder: Option<PathBuf>,
    pub since: Instant,
}

/// Takes the job off the list when it is dropped.
#[derive(Debug)]
pub(crate) struct Entry(u32);

impl Drop for Entry {
    fn drop(&mut self) {
        jobs(|jobs| jobs.retain(|job| job.pid != self.0));
    }
}

pub(crate) fn enter(job: Job) -> Entry {
    let pid = job.pid;
    jobs(|jobs| jobs.push(job));
    Entry(pid)
}

/// Whether everything that runs is to be ended.
pub(crate) fn is_over() -> bool {
    OVER.load(Ordering::Relaxed)
}

/// Runs `work`; at twice the budget everything it has started is ended, and it has failed.
pub(crate) fn guard<T>(title: &str, budget: Duration, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let (done, waiting) = sync_channel::<()>(1);
    let (named, limit) = (title.to_owned(), 2 * budget);
    let dog = std::thread::spawn(move || {
        if waiting.recv_timeout(limit) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        println!("\n{named} is not done after {} s, twice its budget. It was busy with:", limit.as_secs());
        jobs(|jobs| jobs.iter().for_each(|job| println!("{}", job.report())));
        OVER.store(true, Ordering::Relaxed);
        if waiting.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
            println!("{named} does not end");
            onsale_reaper::end_all();
            std::process::exit(1);
        }
    });
    let outcome = work();
    drop(done);
    if dog.join().is_err() {
        bail!("the watchdog of {title} panicked");
    }
    if OVER.swap(false, Ordering::Relaxed) {
        let late = anyhow::anyhow!("ended after {} s, twice its budget", limit.as_secs());
        return Err(outcome.err().map_or(late, |error| error.context(format!("{title} was ended"))));
    }
    outcome
}

fn jobs<T>(look: impl FnOnce(&mut Vec<Job>) -> T) -> T {
    look(&mut JOBS.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Job {
    /// What it is, what it has said and what its servers have written.
    pub(crate) fn report(&self) -> String {
        let mut text = format!(
            "--- {} (process {}, for {:.0} s)",
            self.what,
            self.pid,
            self.since.elapsed().as_secs_f64()
        );
        if let Some(output) = &self.output {
            text += &format!("\n{}", tail(output));
        }
        for log in self.folder.as_deref().map(logs).unwrap_or_default() {
            text += &format!("\n--- {}\n{}", log.display(), tail(&log));
        }
        text
    }
}

/// Logs below a folder: what our tests and servers call so.
fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(logs(&path));
        } else if path.file_name().is_some_and(|name| is_log(&name.to_string_lossy())) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The embedded engine's journal is called so, too, and is nothing to read.
fn is_log(name: &str) -> bool {
    ["log", "words"].contains(&name) || (name.ends_with(".log") && !name.starts_with("journal-"))
}

fn tail(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

/// Tests that end programs come one after the other: the end of a step is everybody's.
#[cfg(test)]
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;
    use crate::step::Program;

    #[test]
    fn a_step_that_hangs_is_ended_at_twice_its_budget() {
        let _alone = alone();
        let begun = Instant::now();
        let hang = Program::new("sh -c").arg("sleep 600 & sleep 600");
        let error = guard("a long sleep", Duration::from_millis(100), || hang.run()).expect_err("it hangs");
        assert!(format!("{error:#}").contains("ended"), "{error:#}");
        assert!(begun.elapsed() < Duration::from_secs(300), "it was not waited for");
        assert!(!is_over(), "the next step starts afresh");
        assert!(guard("nothing", Duration::from_secs(60), || Program::new("true").run()).is_ok());
    }

    #[test]
    fn who_is_ended_says_what_it_did_and_what_its_servers_wrote() {
        let _alone = alone();
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("redis")).expect("a folder");
        std::fs::write(folder.path().join("redis/log"), "ready to accept connections\n").expect("written");
        std::fs::write(folder.path().join("journal-0000000001.log"), "frames\n").expect("written");
        let talks = Program::new("sh -c").arg("echo waiting for a failover; sleep 600");
        let ended = process::bounded(&talks, Duration::from_secs(2), Some(folder.path())).expect("it runs");
        let process::Exit { status: None, report, .. } = ended else { panic!("{ended:?}") };
        for words in ["waiting for a failover", "ready to accept connections"] {
            assert!(report.contains(words), "{report}");
        }
        assert!(!report.contains("frames"), "a journal is no log: {report}");
    }
}

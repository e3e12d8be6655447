//! Programs in process groups of their own: bounded in time, ended as a whole, and never longer alive than we are.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::step::Program;
use crate::watchdog::{self, Job};

/// How often we look whether a program has ended: most tests take milliseconds, others minutes.
const LOOK_FIRST: Duration = Duration::from_micros(500);
const LOOK_LAST: Duration = Duration::from_millis(20);

/// A program that ran to its end, or was ended.
#[derive(Debug)]
pub(crate) struct Exit {
    /// Nothing if its time was over.
    pub status: Option<ExitStatus>,
    pub output: String,
    pub took: Duration,
    /// What it was doing when its time was over; empty if it ended by itself.
    pub report: String,
}

/// Starts a program in its own group, with nothing to read.
pub(crate) fn start(program: &Program, stdout: Stdio, stderr: Stdio) -> Result<Child> {
    let mut command = program.command();
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).process_group(0);
    onsale_reaper::spawn(&mut command).with_context(|| format!("`{program}` could not be started"))
}

/// Waits for a program that shows its own output; nothing if the step's time is over.
pub(crate) fn wait(child: &mut Child, program: &Program) -> Result<Option<ExitStatus>> {
    let job =
        Job { pid: child.id(), what: program.to_string(), output: None, folder: None, since: Instant::now() };
    let _entry = watchdog::enter(job);
    until_end(child, None)
}

/// Runs a program without showing what it says. `folder` is where its servers keep their logs.
pub(crate) fn bounded(program: &Program, bound: Duration, folder: Option<&Path>) -> Result<Exit> {
    let log = tempfile::NamedTempFile::new().context("a file for the output")?;
    let since = Instant::now();
    // One place to write at for both: with one each they would write over each other's words.
    let output = log.reopen()?;
    let mut child = start(program, output.try_clone()?.into(), output.into())?;
    let job = Job {
        pid: child.id(),
        what: program.to_string(),
        output: Some(log.path().to_path_buf()),
        folder: folder.map(Path::to_path_buf),
        since,
    };
    let _entry = watchdog::enter(job.clone());
    let status = until_end(&mut child, Some(since + bound))?;
    let took = since.elapsed();
    let report = if status.is_none() { job.report() } else { String::new() };
    let output = std::fs::read(log.path()).context("reading the output")?;
    Ok(Exit { status, output: String::from_utf8_lossy(&output).into_owned(), took, report })
}

/// A program's two outputs, each for itself.
#[derive(Debug)]
pub(crate) struct Heard {
    /// Nothing if the step's time was over.
    pub status: Option<ExitStatus>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program whose standard output is an answer to be read, however it ends.
pub(crate) fn heard(program: &Program) -> Result<Heard> {
    let files = [tempfile::NamedTempFile::new()?, tempfile::NamedTempFile::new()?];
    let mut child = start(program, files[0].reopen()?.into(), files[1].reopen()?.into())?;
    let status = wait(&mut child, program)?;
    let [stdout, stderr] =
        files.map(|file| std::fs::read(file.path()).map(|told| String::from_utf8_lossy(&told).into_owned()));
    Ok(Heard { status, stdout: stdout?, stderr: stderr? })
}

fn until_end(child: &mut Child, deadline: Option<Instant>) -> Result<Option<ExitStatus>> {
    let mut pause = LOOK_FIRST;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if watchdog::is_over() || deadline.is_some_and(|deadline| Instant::now() > deadline) {
            end_group(child)?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK_LAST);
    }
}

fn end_group(child: &mut Child) -> Result<()> {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).status().context("ending a process group")?;
    child.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_are_heard_in_their_order() {
        let _alone = watchdog::alone();
        let talks = Program::new("sh -c").arg("echo one; echo two >&2; echo three; echo four >&2");
        let ended = bounded(&talks, Duration::from_secs(60), None).expect("it runs");
        assert_eq!(ended.output, "one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn an_answer_is_heard_apart_from_complaints_however_it_ends() {
        let _alone = watchdog::alone();
        let heard = heard(&Program::new("sh -c").arg("echo one; echo two >&2; exit 3")).expect("it runs");
        assert_eq!((heard.stdout.as_str(), heard.stderr.as_str()), ("one\n", "two\n"));
        assert_eq!(heard.status.and_then(|status| status.code()), Some(3));
    }

    #[test]
    fn whoever_hangs_is_ended_with_all_its_children() {
        let _alone = watchdog::alone();
        let hang = Program::new("sh -c").arg("sleep 600 & echo $!; sleep 600");
        let ended = bounded(&hang, Duration::from_secs(2), None).expect("the group is ended");
        assert!(ended.status.is_none());
        let child: u32 = ended.output.trim().parse().expect("the child's id");
        let gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z")
        };
        let begun = Instant::now();
        while !gone() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the child lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

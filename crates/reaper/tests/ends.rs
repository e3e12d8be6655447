//! A program that has started a server is ended in every way there is: the server ends, too.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Names the part that this test program plays when it starts itself.
const PART: &str = "ONSALE_REAPER_PART";
/// A signal arrives within milliseconds; a machine whose cores are all taken may need seconds.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_server_ends_with_the_program_that_started_it() {
    match std::env::var(PART).as_deref() {
        Ok("leave") => return leave(),
        Ok("stay") => stay(),
        _ => {}
    }
    for signal in [Signal::INT, Signal::TERM, Signal::KILL, Signal::ABORT] {
        ended_by("stay", Some(signal));
    }
    ended_by("leave", None);
}

#[test]
fn whoever_ends_all_has_no_server_left() {
    let mut server = onsale_reaper::spawn(&mut sleeper()).expect("it starts");
    let mut group = Command::new("sh");
    group
        .args(["-c", "sleep 600 & echo $!; wait"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0);
    let mut other = onsale_reaper::spawn(&mut group).expect("it starts");
    let mut line = String::new();
    BufReader::new(other.stdout.take().expect("its output")).read_line(&mut line).expect("text");
    let member: u32 = line.trim().parse().expect("a process id");
    onsale_reaper::end_all();
    assert!(!server.wait().expect("ended").success() && !other.wait().expect("ended").success());
    await_end(member, "a member of its group");
    // The next one gets a reaper of its own.
    let mut server = onsale_reaper::spawn(&mut sleeper()).expect("it starts");
    assert!(server.try_wait().expect("a child").is_none());
    onsale_reaper::end_all();
    assert!(!server.wait().expect("ended").success());
}

fn sleeper() -> Command {
    let mut command = Command::new("sleep");
    command.arg("600").stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn start_and_tell() {
    // Started by a thread that is gone when the signal comes: the server belongs to the program, not to the thread.
    let started = std::thread::spawn(|| onsale_reaper::spawn(&mut sleeper()).expect("it starts").id());
    println!("server {}", started.join().expect("no panic"));
}

fn stay() -> ! {
    start_and_tell();
    loop {
        std::thread::park();
    }
}

/// Ends well and forgets its server.
fn leave() {
    start_and_tell();
}

fn ended_by(part: &str, signal: Option<Signal>) {
    // Whoever starts a run in the background of a shell has Ctrl-C ignored, and programs inherit that; `env` undoes it
    // and becomes the program.
    let mut program = Command::new("env")
        .arg("--default-signal")
        .arg(std::env::current_exe().expect("our own path"))
        .args(["--exact", "a_server_ends_with_the_program_that_started_it", "--nocapture"])
        .env(PART, part)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(program.stdout.take().expect("its output")).lines();
    let server: u32 = lines
        .find_map(|line| line.expect("text").split_once("server ")?.1.trim().parse().ok())
        .expect("it says which server it has started");
    if let Some(signal) = signal {
        assert!(is_alive(server), "{signal:?} has not been sent yet");
        kill_process(Pid::from_child(&program), signal).expect("it is running");
    }
    program.wait().expect("it ends");
    await_end(server, &format!("{part}, {signal:?}: the server"));
}

fn await_end(pid: u32, who: &str) {
    let deadline = Instant::now() + PATIENCE;
    while is_alive(pid) {
        assert!(Instant::now() < deadline, "{who} {pid} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Nobody may have fetched its last word yet; that is dead, too.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !matches!(rest.trim_start().chars().next(), Some('Z' | 'X')))
}

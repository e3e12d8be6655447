//! The real binary as a child process on its own data folder: started, killed, interrupted, verified.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::wire::{Answer, Wire, request};

/// A start reads a small journal; in the dev profile on a busy machine that may take some seconds.
const START: Duration = Duration::from_secs(30);

pub(crate) struct Server {
    child: Child,
    pub address: SocketAddr,
}

/// The binary under test: `ONSALE_BIN`, or the one cargo built for this test.
fn binary() -> PathBuf {
    std::env::var_os("ONSALE_BIN").map_or_else(|| env!("CARGO_BIN_EXE_onsale").into(), PathBuf::from)
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(binary());
    // Nothing of the caller's configuration may reach the server.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ONSALE_") {
            command.env_remove(name);
        }
    }
    command.env("ONSALE_API_KEY", crate::KEY).env("NO_COLOR", "1").current_dir(folder);
    command
}

fn spawn(folder: &Path, log: &Path) -> Child {
    let log = File::create(log).expect("a log file");
    let mut command = command(folder);
    command.args(["serve", "--data", "data", "--listen", "127.0.0.1:0"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    onsale_reaper::spawn(&mut command).expect("the binary starts")
}

impl Server {
    /// Starts on `folder`/data and waits until it answers.
    pub(crate) fn start(folder: &Path) -> Server {
        let log = folder.join("server.log");
        let mut child = spawn(folder, &log);
        let deadline = Instant::now() + START;
        let address = loop {
            let text = fs::read_to_string(&log).unwrap_or_default();
            if let Some(address) = address_in(&text) {
                break address;
            }
            if let Some(status) = child.try_wait().expect("a child") {
                panic!("the server ended with {status}: {text}");
            }
            assert!(Instant::now() < deadline, "the server does not start: {text}");
            std::thread::sleep(Duration::from_millis(10));
        };
        let server = Server { child, address };
        while !server.is_ready() {
            assert!(Instant::now() < deadline, "the server does not get ready");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn is_ready(&self) -> bool {
        let wire = Wire::connect(self.address);
        let answer = wire.and_then(|mut wire| wire.exchange(&request("GET", "/readyz", &[], "")));
        answer.is_ok_and(|answer| answer.status == 200)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it is dead");
    }

    /// Ctrl-C; says how it ended and how long that took.
    pub(crate) fn interrupt(mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).expect("it is running");
        let status = self.child.wait().expect("it ends");
        (status, begun.elapsed())
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.exchange(&request("GET", path, &[], ""));
        assert_eq!(answer.status, 200, "GET {path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    pub(crate) fn exchange(&self, request: &[u8]) -> Answer {
        let answer = Wire::connect(self.address).and_then(|mut wire| wire.exchange(request));
        answer.expect("a healthy server answers")
    }
}

impl Drop for Server {
    /// A failed test leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts on `folder`/data where a start must be refused; says with which words.
pub(crate) fn refused_start(folder: &Path) -> String {
    let log = folder.join("refused.log");
    let mut child = spawn(folder, &log);
    let deadline = Instant::now() + START;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(!status.success(), "a refused start fails");
            return fs::read_to_string(&log).expect("its words");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("the start was not refused");
}

/// `onsale verify data --json`.
pub(crate) fn verify(folder: &Path) -> (Option<i32>, Value) {
    let Output { status, stdout, stderr } =
        command(folder).args(["verify", "data", "--json"]).output().expect("verify runs");
    let report = serde_json::from_slice(&stdout);
    let report = report.unwrap_or_else(|_| panic!("no report: {}", String::from_utf8_lossy(&stderr)));
    (status.code(), report)
}

fn address_in(log: &str) -> Option<SocketAddr> {
    let rest = &log[log.find("http://127.0.0.1:")? + "http://".len()..];
    let end = rest.find(|character: char| !(character.is_ascii_digit() || ".:".contains(character)))?;
    rest[..end].parse().ok()
}

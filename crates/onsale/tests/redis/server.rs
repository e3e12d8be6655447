//! The real binary on a deployment of Redis, as a child process.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use onsale_edge::http::time::Time;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::wire::{Answer, Wire, request};
use onsale_redis_servers::{Six, Trio};

/// Joining a deployment takes milliseconds; in the dev profile on a busy machine that may take some seconds.
const START: Duration = Duration::from_secs(30);

/// The milliseconds of an instant in an answer.
pub(crate) fn ms(told: &Value) -> i64 {
    let time = told.as_str().and_then(Time::parse);
    time.unwrap_or_else(|| panic!("{told} is no time")).ms()
}

/// How servers find their deployment, as the environment says it.
#[derive(Clone, Debug)]
pub(crate) struct Deployment(pub Vec<(&'static str, String)>);

impl Deployment {
    pub(crate) fn single(url: &str) -> Deployment {
        Deployment(vec![
            ("ONSALE_REDIS__URL", url.to_owned()),
            ("ONSALE_ENGINE", "redis".to_owned()),
            ("ONSALE_REDIS__DURABILITY", "redis".to_owned()),
            ("ONSALE_API_KEY", crate::KEY.to_owned()),
            ("ONSALE_HOUSE_KEY", "a house key for tests".to_owned()),
            // Several servers on one Redis have the same accounts or none.
            ("ONSALE_ACCESS__DATABASE", "none".to_owned()),
        ])
    }

    pub(crate) fn sentinel(trio: &Trio) -> Deployment {
        let mut all = Deployment::single(&trio.urls().join(","));
        all.0.push(("ONSALE_REDIS__TOPOLOGY", "sentinel".to_owned()));
        all.0.push(("ONSALE_REDIS__SENTINEL__MASTER", "onsale".to_owned()));
        all
    }

    pub(crate) fn cluster(six: &Six) -> Deployment {
        let mut all = Deployment::single(&six.urls().join(","));
        all.0.push(("ONSALE_REDIS__TOPOLOGY", "cluster".to_owned()));
        all
    }

    pub(crate) fn without(mut self, name: &str) -> Deployment {
        self.0.retain(|(known, _)| *known != name);
        self
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Deployment {
        self.0.push((name, value.to_owned()));
        self
    }

    /// The binary in a folder of its own, with this deployment in its environment.
    fn command(&self, folder: &TempDir) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_onsale"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ONSALE_") {
                command.env_remove(name);
            }
        }
        command.envs(self.0.iter().map(|(name, value)| (name, value))).current_dir(folder.path());
        command.env("NO_COLOR", "1");
        command
    }

    fn spawn(&self, folder: &TempDir) -> Child {
        let mut command = self.command(folder);
        let log = File::create(folder.path().join("log")).expect("a log file");
        command.args(["serve", "--data", "data", "--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        onsale_reaper::spawn(&mut command).expect("the binary starts")
    }

    pub(crate) fn start(&self) -> Server {
        self.begin().ready()
    }

    /// A server that may have to wait before it can be asked anything.
    pub(crate) fn begin(&self) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let child = self.spawn(&folder);
        Server { child, folder, address: SocketAddr::from(([127, 0, 0, 1], 0)) }
    }

    /// What `onsale doctor` finds, as it prints it for scripts, and whether it is content.
    pub(crate) fn doctor(&self) -> (Value, bool) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = self.command(&folder);
        let told = command.args(["doctor", "--json"]).output().expect("the binary starts");
        let report = serde_json::from_slice(&told.stdout);
        (report.unwrap_or_else(|error| panic!("{error}: {told:?}")), told.status.success())
    }

    /// The lines that `onsale facts` prints of a listing.
    pub(crate) fn facts(&self, server: &Server, listing: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = self.command(&folder);
        command.args(["facts", listing, "--json", "--server", &format!("http://{}", server.address)]);
        let told = command.output().expect("the binary starts");
        assert!(told.status.success(), "{told:?}");
        String::from_utf8(told.stdout).expect("text").lines().map(str::to_owned).collect()
    }

    /// A start that must be refused; says with which words.
    pub(crate) fn refused(&self) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = self.spawn(&folder);
        let deadline = Instant::now() + START;
        while child.try_wait().expect("a child").is_none() {
            assert!(Instant::now() < deadline, "the start was not refused");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!child.wait().expect("a child").success());
        fs::read_to_string(folder.path().join("log")).expect("its words")
    }
}

pub(crate) struct Server {
    child: Child,
    folder: TempDir,
    pub address: SocketAddr,
}

impl Server {
    /// Waits until it can be asked.
    pub(crate) fn ready(mut self) -> Server {
        let deadline = Instant::now() + START;
        while self.address.port() == 0 {
            self.lives();
            if let Some(address) = address_in(&self.log()) {
                self.address = address;
            }
            assert!(Instant::now() < deadline, "the server does not start: {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        self.until("it is ready", |server| server.try_get("/readyz").is_some_and(|told| told.status == 200));
        self
    }

    /// Fails if it has ended.
    pub(crate) fn lives(&mut self) {
        if let Some(status) = self.child.try_wait().expect("a child") {
            panic!("the server ended with {status}: {}", self.log());
        }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// It stands still with all its connections open.
    pub(crate) fn pause(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).expect("it is running");
    }

    pub(crate) fn resume(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).expect("it is running");
    }

    pub(crate) fn try_get(&self, path: &str) -> Option<Answer> {
        self.try_exchange(&request("GET", path, &[], ""))
    }

    pub(crate) fn try_exchange(&self, request: &[u8]) -> Option<Answer> {
        Wire::connect(self.address).and_then(|mut wire| wire.exchange(request)).ok()
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.try_get(path).expect("a living server answers");
        assert_eq!(
            answer.status,
            200,
            "GET {path}: {}\n{}",
            String::from_utf8_lossy(&answer.body),
            self.log()
        );
        answer.json()
    }

    pub(crate) fn until(&self, what: &str, mut done: impl FnMut(&Server) -> bool) -> Duration {
        let begun = Instant::now();
        while !done(self) {
            assert!(begun.elapsed() < START, "{what} does not happen: {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        begun.elapsed()
    }

    /// An event with one row of seats `A-1 …`; its id.
    pub(crate) fn create_event(&self, seats: usize) -> String {
        let seats: Vec<Value> = (1..=seats)
            .map(|n| json!({"id": format!("A-{n}"), "label": n.to_string(), "tier": 0, "x": n, "y": 0}))
            .collect();
        let layout = json!({"sections": [{"name": "stalls", "rows": [{"label": "A", "seats": seats}]}]});
        let body = json!({
            "name": "The Tempest", "starts_at": "2096-10-02T07:06:40Z", "ends_at": "2096-10-02T09:53:20Z",
            "currency": "EUR", "status": "on_sale", "layout": layout,
            "tiers": [{"name": "all", "price_minor": 1000}],
        });
        let event = self.post("/v1/events", &body.to_string());
        event["id"].as_str().expect("an id").to_owned()
    }

    /// On a busy machine an answer of Redis may be late; what the server then says to do is done.
    fn post(&self, path: &str, body: &str) -> Value {
        static POSTS: AtomicU64 = AtomicU64::new(1);
        let key = format!("post-{}", POSTS.fetch_add(1, Ordering::Relaxed));
        let request = request("POST", path, &[("idempotency-key", &key)], body);
        let mut last = None;
        self.until("the POST is answered", |one| {
            last = one.try_exchange(&request);
            last.as_ref().is_some_and(|answer| answer.status != 503)
        });
        let answer = last.expect("an answer");
        assert_eq!(answer.status, 201, "POST {path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }
}

impl Drop for Server {
    /// A failed test leaves no process behind; a stopped one dies of `kill -9` as well.
    fn drop(&mut self) {
        self.kill();
    }
}

fn address_in(log: &str) -> Option<SocketAddr> {
    let rest = &log[log.find("http://127.0.0.1:")? + "http://".len()..];
    let end = rest.find(|character: char| !(character.is_ascii_digit() || ".:".contains(character)))?;
    rest[..end].parse().ok()
}

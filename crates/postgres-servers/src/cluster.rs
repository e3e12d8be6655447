//! One private cluster as a child process: started, killed, stopped for a while, started again on the same folder.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

use crate::owner::{Owner, find, output};
use crate::template;
use crate::tls::Tls;

/// A copy is there in less than a second; on a machine whose cores are all taken it may need many.
const START: Duration = Duration::from_secs(60);
/// What is committed outlives `kill -9`, but not the machine's; and little of everything.
const SETTINGS: [&str; 8] = [
    "fsync=off",
    "full_page_writes=off",
    "autovacuum=off",
    "max_connections=200",
    "shared_buffers=16MB",
    "min_wal_size=2MB",
    "listen_addresses=",
    "unix_socket_permissions=0777",
];

/// Of tests that only need a database, for as long as one of them has one.
static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
static DATABASES: AtomicU32 = AtomicU32::new(1);

#[derive(Debug)]
pub struct Cluster {
    /// The data, the socket and the log.
    folder: TempDir,
    owner: Owner,
    tls: Option<Tls>,
    child: Mutex<Child>,
}

/// A fresh one, empty.
#[derive(Clone, Debug)]
pub struct Database {
    pub cluster: Arc<Cluster>,
    pub name: String,
}

impl Database {
    /// On a cluster that the tests of this program share.
    pub fn fresh() -> Database {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let cluster = shared.upgrade().unwrap_or_else(|| Arc::new(Cluster::start()));
        *shared = Arc::downgrade(&cluster);
        drop(shared);
        cluster.database()
    }

    pub fn url(&self) -> String {
        self.url_as("postgres")
    }

    /// For another user, `name` or `name:password`.
    pub fn url_as(&self, user: &str) -> String {
        let socket = self.cluster.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{user}@{socket}:{}/{}", self.cluster.port(), self.name)
    }

    /// Over TLS, and the file with the authority to believe; of a cluster that was started with it.
    pub fn tls_url(&self) -> (String, PathBuf) {
        let tls = self.cluster.tls.as_ref().expect("a cluster with TLS");
        let url = format!("postgres://postgres@127.0.0.1:{}/{}?sslmode=require", tls.port, self.name);
        (url, tls.authority.clone())
    }

    /// Runs statements as an administrator and returns what they answer, a line for each row.
    pub fn say(&self, text: &str) -> String {
        self.cluster.say(&self.name, text).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Cluster {
    /// One that its test may kill.
    pub fn start() -> Cluster {
        Cluster::with(|_, _| None)
    }

    /// One that also speaks TLS, on 127.0.0.1.
    pub fn start_with_tls() -> Cluster {
        Cluster::with(|folder, owner| Some(Tls::make(folder, owner)))
    }

    fn with(tls: impl FnOnce(&Path, Owner) -> Option<Tls>) -> Cluster {
        let folder = tempfile::Builder::new().prefix("onsale-postgres-").tempdir().expect("a folder");
        let owner = Owner::of(folder.path());
        owner.give(folder.path());
        template::copy_to(&folder.path().join("data"), owner);
        let tls = tls(folder.path(), owner);
        let child = spawn(folder.path(), owner, tls.as_ref());
        let cluster = Cluster { folder, owner, tls, child: Mutex::new(child) };
        cluster.wait_until_up();
        cluster
    }

    /// A fresh database on it.
    pub fn database(self: &Arc<Self>) -> Database {
        let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        self.say("postgres", &format!("create database {name} strategy file_copy"))
            .unwrap_or_else(|error| panic!("{error}"));
        Database { cluster: Arc::clone(self), name }
    }

    /// `kill -9`, all of it at once.
    pub fn kill(&self) {
        // Standing still, it starts nobody in place of those that die.
        self.signal_all(Signal::STOP);
        self.signal_all(Signal::KILL);
        self.child().wait().expect("a child");
    }

    /// Starts it again on the same folder and socket after it was killed.
    pub fn start_again(&self) {
        let deadline = Instant::now() + START;
        loop {
            *self.child() = spawn(self.folder.path(), self.owner, self.tls.as_ref());
            // Its old processes notice that they are orphans, and until then hold the memory that they shared.
            if self.is_up_soon() {
                return;
            }
            assert!(Instant::now() < deadline, "PostgreSQL does not start again: {}", self.log());
        }
    }

    /// It stands still with its connections open.
    pub fn pause(&self) {
        self.signal_all(Signal::STOP);
    }

    pub fn resume(&self) {
        self.signal_all(Signal::CONT);
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn say(&self, database: &str, text: &str) -> Result<String, String> {
        let mut psql = Command::new(find("psql"));
        psql.args(["-p", &self.port().to_string()]);
        psql.arg("-h").arg(self.folder.path()).args(["-U", "postgres", "-X", "-q", "-t", "-A"]);
        psql.args(["-v", "ON_ERROR_STOP=1", "-c", text, database]);
        output(psql)
    }

    /// It is in the name of the socket, too.
    fn port(&self) -> u16 {
        self.tls.as_ref().map_or(5432, |tls| tls.port)
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first process and those that it has started; each of them leads a group of its own.
    fn signal_all(&self, signal: Signal) {
        let first = self.child().id();
        let children = fs::read_to_string(format!("/proc/{first}/task/{first}/children")).unwrap_or_default();
        let numbers = children.split_whitespace().filter_map(|number| number.parse().ok());
        for number in numbers.chain([first.cast_signed()]) {
            let process = Pid::from_raw(number).expect("a process has a number");
            let _ = kill_process(process, signal);
        }
    }

    fn wait_until_up(&self) {
        assert!(self.is_up_soon(), "PostgreSQL does not start: {}", self.log());
    }

    fn is_up_soon(&self) -> bool {
        let deadline = Instant::now() + START;
        while Instant::now() < deadline {
            if self.child().try_wait().expect("a child").is_some() {
                return false;
            }
            let socket = self.folder.path().join(format!(".s.PGSQL.{}", self.port()));
            if socket.exists() && self.say("postgres", "select 1").is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for Cluster {
    /// A failed test leaves no process behind.
    fn drop(&mut self) {
        let mut child = self.child();
        // Asked to end at once: its helpers end with it, and the folder can be removed.
        let process = Pid::from_child(&child);
        let _ = kill_process(process, Signal::CONT);
        let _ = kill_process(process, Signal::QUIT);
        let deadline = Instant::now() + START;
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = kill_process_group(process, Signal::KILL);
        let _ = child.wait();
    }
}

fn spawn(folder: &Path, owner: Owner, tls: Option<&Tls>) -> Child {
    let mut server = owner.command("postgres");
    server.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
    let more = tls.map(Tls::settings).into_iter().flatten();
    for setting in SETTINGS.map(str::to_owned).into_iter().chain(more) {
        server.args(["-c", &setting]);
    }
    let log = File::create(folder.join("log")).expect("a file");
    server.stdin(Stdio::null()).stdout(log.try_clone().expect("a file")).stderr(log).process_group(0);
    onsale_reaper::spawn(&mut server).expect("the program starts")
}

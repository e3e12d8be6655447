//! The servers that clients and pages are tried on: demos on free ports, one alone or two on a private Redis, gone with
//! their folders when they are dropped.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::run::redis;
use crate::step::Program;
use crate::{process, programs, watchdog};

/// What every demo takes as its key, as `docs/clients.md` says.
const KEY: &str = "demo-key";
/// A demo makes 51,500 places before it answers.
const START: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);
const PATIENCE_MS: &str = "10000";
/// Where pages say that the first server, the second and their Redis are; those here have other ports.
const WRITTEN: [&str; 3] = ["127.0.0.1:7070", "127.0.0.1:7071", "127.0.0.1:6379"];
/// Where pages say that the first server's letters lie.
const WRITTEN_MAIL: &str = "data/mail";

/// What a page starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// One server with the engine inside.
    Demo,
    /// Two servers on a private Redis.
    Redis,
}

impl Start {
    /// The command line that starts it.
    pub(super) fn of(line: &str) -> Option<Self> {
        match line {
            "cargo xtask run" => Some(Self::Demo),
            "cargo xtask run --redis" => Some(Self::Redis),
            _ => None,
        }
    }
}

/// What one page's commands talk to.
#[derive(Debug)]
pub(crate) struct Servers {
    // The servers end before their Redis: they have a last word to say to it.
    servers: Vec<Server>,
    store: Option<Store>,
    folder: tempfile::TempDir,
}

impl Servers {
    pub(super) fn start(start: Start) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("onsale-page-").tempdir()?;
        match start {
            Start::Demo => Ok(Self { servers: vec![Server::start()?], store: None, folder }),
            Start::Redis => {
                let store = Store::start(folder.path())?;
                // A busy machine may stand still for longer than a command may usually take.
                let patient = |program: Program| program.env("ONSALE_REDIS__COMMAND_MS", PATIENCE_MS);
                let on_it = || Server::start_as(|program| patient(redis::on_redis(program, store.port)));
                Ok(Self { servers: vec![on_it()?, on_it()?], store: Some(store), folder })
            }
        }
    }

    /// Where the commands are typed, and nothing else lies.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn places(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        let servers = self.servers.iter().map(|server| server.address.clone());
        let second = servers.chain((self.servers.len() == 1).then(|| WRITTEN[1].to_owned()));
        let store = self.store.as_ref().map(|store| format!("127.0.0.1:{}", store.port));
        let mail = self.servers.first().map(|server| server.folder.path().join(WRITTEN_MAIL));
        let mail = mail.map(|mail| (WRITTEN_MAIL, mail.display().to_string()));
        WRITTEN.into_iter().zip(second.chain(store)).chain(mail)
    }

    /// The page with the addresses and the folder of these servers.
    pub(super) fn here(&self, page: &str) -> String {
        self.places().fold(page.to_owned(), |page, (written, here)| page.replace(written, &here))
    }

    /// The page with the addresses and the folder that it is read with.
    pub(super) fn written(&self, page: &str) -> String {
        self.places().fold(page.to_owned(), |page, (written, here)| page.replace(&here, written))
    }
}

#[derive(Debug)]
struct Store {
    child: Child,
    port: u16,
}

impl Store {
    fn start(folder: &Path) -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let program = redis::redis_server(port, folder);
        let mut store = Self { child: process::start(&program, Stdio::null(), Stdio::null())?, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = store.child.try_wait()? {
                bail!("`{program}` ended with {status}");
            }
            if begun.elapsed() > START || watchdog::is_over() {
                bail!("`{program}` does not start");
            }
            std::thread::sleep(LOOK);
        }
        Ok(store)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub folder: tempfile::TempDir,
    /// Host and port.
    pub address: String,
}

impl Server {
    pub(crate) fn start() -> Result<Self> {
        Self::start_as(|program| program)
    }

    fn start_as(adapt: impl FnOnce(Program) -> Program) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("onsale-clients-").tempdir()?;
        let log = folder.path().join("server.log");
        let output = std::fs::File::create(&log).context("a file for the server's words")?;
        let onsale = programs::binary("onsale").display().to_string();
        let program =
            Program::new("").arg(onsale).args(["demo", "--listen", "127.0.0.1:0", "--data", "data"]);
        // In a folder of its own, where no configuration file of somebody's lies.
        let program = adapt(program.folder(folder.path()));
        let child = process::start(&program, output.try_clone()?.into(), output.into())?;
        let mut server = Self { child, folder, address: String::new() };
        let begun = Instant::now();
        loop {
            let told = std::fs::read_to_string(&log)?;
            if let Some(address) = address_in(&told) {
                server.address = address.to_owned();
                return Ok(server);
            }
            if let Some(status) = server.child.try_wait()? {
                bail!("`{program}` ended with {status}\n{told}");
            }
            if begun.elapsed() > START || watchdog::is_over() {
                bail!("`{program}` does not start\n{told}");
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Tells a client where the server is.
    pub(crate) fn known_to(&self, program: Program) -> Program {
        program.env("ONSALE_URL", format!("http://{}", self.address)).env("ONSALE_API_KEY", KEY)
    }
}

/// The demo's first line says where it is; a line counts when it has its end.
fn address_in(told: &str) -> Option<&str> {
    let (_, rest) = told.split_once("serves http://")?;
    rest.contains('\n').then(|| rest.split(' ').next())?
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::process::Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .stderr(Stdio::null())
            .status();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_a_whole_line() {
        assert_eq!(address_in("Onsale serves http://127.0.0.1:80"), None);
        let told = "Onsale serves http://127.0.0.1:8017 from data, every route: …\n";
        assert_eq!(address_in(told), Some("127.0.0.1:8017"));
    }
}

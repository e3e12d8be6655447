//! Scale-out in one command: a private Redis and two servers on it, all of them ended together.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::step::Program;
use crate::workspace;

const ADDRESSES: [&str; 2] = ["127.0.0.1:7070", "127.0.0.1:7071"];
/// A demo signs its hold tokens with a key that everybody may know.
const HOUSE_KEY: &str = "a demo's house key, known to everybody";
const START: Duration = Duration::from_secs(30);

/// Children that do not outlive this command.
struct Family(Vec<(Program, Child)>);

impl Family {
    fn start(&mut self, program: Program, address: SocketAddr) -> Result<()> {
        println!("\nstart: {program}");
        let child = program.command().spawn().with_context(|| format!("`{program}` could not be started"))?;
        self.0.push((program, child));
        let deadline = Instant::now() + START;
        while TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_err() {
            self.check()?;
            if Instant::now() > deadline {
                bail!("nobody answers at {address}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Fails as soon as one of them has ended.
    fn check(&mut self) -> Result<()> {
        for (program, child) in &mut self.0 {
            if let Some(status) = child.try_wait()? {
                bail!("`{program}` ended with {status}");
            }
        }
        Ok(())
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        // The servers first: they have a last word to say to Redis.
        for (_, child) in self.0.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A private Redis with its data in `folder`.
pub(crate) fn redis_server(port: u16, folder: &Path) -> Program {
    Program::new("redis-server --bind 127.0.0.1 --appendonly yes --maxmemory-policy noeviction")
        .args(["--loglevel", "warning", "--save", ""])
        .args(["--port".to_owned(), port.to_string(), "--dir".to_owned(), folder.display().to_string()])
}

/// A server that decides on that Redis, with the keys of all its siblings.
pub(crate) fn on_redis(server: Program, port: u16) -> Program {
    server
        .env("ONSALE_ENGINE", "redis")
        .env("ONSALE_REDIS__URL", format!("redis://127.0.0.1:{port}"))
        .env("ONSALE_REDIS__DURABILITY", "redis")
        .env("ONSALE_API_KEY", "demo-key")
        .env("ONSALE_ACCESS__DATABASE", "none")
        .env("ONSALE_HOUSE_KEY", HOUSE_KEY)
}

pub(super) fn run(server: &Program, arguments: &[String]) -> Result<()> {
    let folder = workspace::root().join("data/redis");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut family = Family(Vec::new());
    family
        .start(redis_server(port, &folder), SocketAddr::from(([127, 0, 0, 1], port)))
        .context("redis-server is needed; `cargo xtask tools` installs it")?;
    for (address, name) in ADDRESSES.iter().zip(["one", "other"]) {
        let program = server
            .clone()
            .args(["demo", "--listen", address, "--data"])
            .arg(folder.join(name).display().to_string())
            .args(arguments.to_vec());
        family.start(on_redis(program, port), address.parse()?)?;
    }
    println!(
        "\nTwo servers, http://{0} and http://{1}, share redis://127.0.0.1:{port}: what one sells the other shows.\n\
         Watch the stream of one while you buy at the other:\n\n  \
         curl -sN -H 'Authorization: Bearer demo-key' http://{1}/v1/events/<event>/stream\n  \
         redis-cli -p {port} --scan --pattern 'onsale:event:*'\n\nCtrl-C stops all of them.",
        ADDRESSES[0], ADDRESSES[1]
    );
    loop {
        family.check()?;
        std::thread::sleep(Duration::from_millis(200));
    }
}

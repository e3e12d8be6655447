//! A private redis-server on a socket in a folder of its own; it ends with the value.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use onsale_engine_redis::Link;
use onsale_engine_redis::link::Config;
use tempfile::TempDir;

pub(crate) struct Server {
    child: Child,
    folder: TempDir,
}

impl Server {
    pub(crate) fn start() -> Server {
        let folder = tempfile::tempdir().expect("a private folder");
        let mut command = Command::new("redis-server");
        command
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(folder.path().join("redis.sock"))
            .arg("--dir")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = onsale_reaper::spawn(&mut command).expect("redis-server is installed");
        Server { child, folder }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}", self.folder.path().join("redis.sock").display())
    }

    /// A link to the server, as soon as it answers.
    pub(crate) async fn link(&self) -> Link {
        let started = Instant::now();
        loop {
            // An answer that is late on a busy machine would be asked for again, and come back as a replay.
            let patient = Config { command_ms: 30_000, ..Config::from(&self.url()) };
            match Link::open(patient).await {
                Ok(link) if link.query(&redis::cmd("PING")).await.is_ok() => return link,
                _ if started.elapsed() > Duration::from_secs(20) => panic!("redis-server does not answer"),
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

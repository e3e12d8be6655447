//! Programs that the bench starts for itself, and ends by their own id when it is done with them. A bench that is
//! interrupted or killed takes them along.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long a server may take to come up or to go down.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server of ours; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    /// The signal it takes as "please end": PostgreSQL waits for its clients at TERM, but not at INT.
    signal: &'static str,
}

impl Running {
    pub(crate) fn start(command: &mut Command, signal: &'static str) -> Result<Self> {
        let child =
            onsale_reaper::spawn(command).with_context(|| format!("starting {:?}", command.get_program()))?;
        Ok(Self { child, signal })
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `ready` says so; fails when the program ends or takes too long.
    pub(crate) fn wait_until(&mut self, mut ready: impl FnMut() -> bool) -> Result<()> {
        let started = Instant::now();
        while !ready() {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended with {status} before it was ready");
            }
            if started.elapsed() > PATIENCE {
                bail!("it was not ready after {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let asked = Command::new("kill").args([self.signal, &self.child.id().to_string()]).status();
        let started = Instant::now();
        while asked.is_ok() && started.elapsed() < PATIENCE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        // It would not go. There is nobody left to tell if this fails as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).context("asking for a free port")?;
    Ok(listener.local_addr()?.port())
}

/// PostgreSQL's own programs, where Debian keeps them, else whatever the PATH has.
pub(crate) fn find(program: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let files = versions.map(|version| version.path().join("bin").join(program));
    files.filter(|file| file.is_file()).max().unwrap_or_else(|| PathBuf::from(program))
}

/// Runs a program to its end and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("starting {name}"))?;
    if !output.status.success() {
        let trouble = String::from_utf8_lossy(&output.stderr);
        // Thirty clients say the same thing; the first lines are enough.
        let trouble: Vec<&str> = trouble.lines().take(3).collect();
        bail!("{name} ended with {}: {}", output.status, trouble.join(" / "));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

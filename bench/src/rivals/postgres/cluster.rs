//! A private PostgreSQL cluster, reached through a Unix socket only.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::CONNECTIONS;
use crate::process::{self, Running};

const SCHEMA: &str = include_str!("../../../rivals/postgres/schema.sql");

/// More holds than anybody makes in a second here, so that no client runs out of fresh rows.
const ROWS_PER_SECOND: u64 = 40_000;

#[derive(Debug)]
pub(super) struct Cluster {
    data: PathBuf,
    running: Option<Up>,
}

#[derive(Debug)]
struct Up {
    _server: Running,
    /// Of its own and short: the name of a Unix socket has at most 107 bytes.
    socket: TempDir,
}

impl Cluster {
    pub(super) fn new(data: PathBuf) -> Self {
        Self { data, running: None }
    }

    /// Makes and starts it unless somebody else already has.
    pub(super) fn start(&mut self) -> Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        let socket = tempfile::Builder::new().prefix("pg").tempdir().context("a folder for the socket")?;
        std::fs::create_dir_all(&self.data).context("PostgreSQL's folder")?;
        let owner = Owner::of(&self.data)?;
        owner.give(&self.data)?;
        owner.give(socket.path())?;
        let initdb = process::find("initdb");
        let mut made = owner.command(&initdb);
        made.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&self.data);
        process::output(&mut made)?;
        let mut server = owner.command(&process::find("postgres"));
        server.arg("-D").arg(&self.data).arg("-k").arg(socket.path()).args(["-c", "listen_addresses="]);
        server.stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Running::start(&mut server, "-INT")?;
        let ready = || sql(socket.path(), "select 1").is_ok();
        server.wait_until(ready).context("postgres")?;
        self.running = Some(Up { _server: server, socket });
        Ok(())
    }

    pub(super) fn socket(&self) -> Result<&Path> {
        Ok(self.running.as_ref().context("PostgreSQL is not running")?.socket.path())
    }

    /// Makes the table anew and returns how many rows each connection may take.
    pub(super) fn fill(&self, length: Duration) -> Result<u64> {
        let stride = (length.as_secs_f64().max(1.0) * ROWS_PER_SECOND as f64) as u64 / CONNECTIONS as u64 + 1;
        let rows = stride * CONNECTIONS as u64;
        sql(self.socket()?, &SCHEMA.replace("$rows", &rows.to_string()))?;
        sql(self.socket()?, "vacuum analyze seat")?;
        // What filling the table left to write is not the round's to pay.
        sql(self.socket()?, "checkpoint")?;
        Ok(stride)
    }

    /// What the driver calls a hold must be one.
    pub(super) fn check(&self, holds: u64) -> Result<()> {
        let held = sql(self.socket()?, "select count(*) from seat where status = 'held'")?;
        let held: u64 = held.trim().parse().context("a count")?;
        ensure!(held >= holds, "{holds} holds were counted, but {held} seats are held");
        Ok(())
    }
}

pub(super) fn sql(socket: &Path, text: &str) -> Result<String> {
    let mut psql = Command::new(process::find("psql"));
    psql.arg("-h").arg(socket).args([
        "-U",
        "postgres",
        "-X",
        "-q",
        "-t",
        "-A",
        "-v",
        "ON_ERROR_STOP=1",
        "-c",
        text,
        "postgres",
    ]);
    process::output(&mut psql)
}

/// PostgreSQL refuses to run as root, so root lends its folders to the user `postgres`.
enum Owner {
    Myself,
    Postgres { user: u32, group: u32 },
}

impl Owner {
    fn of(folder: &Path) -> Result<Self> {
        if std::fs::metadata(folder)?.uid() != 0 {
            return Ok(Self::Myself);
        }
        let users = std::fs::read_to_string("/etc/passwd").context("reading the list of users")?;
        let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let found = fields.into_iter().find(|fields| fields.first() == Some(&"postgres"));
        let found = found.context("PostgreSQL does not run as root, and there is no user `postgres`")?;
        let number = |place: usize| {
            found.get(place).and_then(|field| field.parse().ok()).context("the user `postgres`")
        };
        Ok(Self::Postgres { user: number(2)?, group: number(3)? })
    }

    /// Hands a folder over and lets its owner come to it.
    fn give(&self, folder: &Path) -> Result<()> {
        let Self::Postgres { user, group } = *self else { return Ok(()) };
        chown(folder, Some(user), Some(group))
            .with_context(|| format!("handing over {}", folder.display()))?;
        if let Some(above) = folder
            .parent()
            .filter(|above| std::fs::metadata(above).is_ok_and(|data| data.mode() & 0o777 == 0o700))
        {
            std::fs::set_permissions(above, std::fs::Permissions::from_mode(0o711))?;
        }
        Ok(())
    }

    /// `setpriv` becomes the program, so its process id is the server's own.
    fn command(&self, program: &Path) -> Command {
        match self {
            Self::Myself => Command::new(program),
            Self::Postgres { user, group } => {
                let mut command = Command::new("setpriv");
                command.args([
                    format!("--reuid={user}"),
                    format!("--regid={group}"),
                    "--clear-groups".to_owned(),
                ]);
                command.arg("--").arg(program).current_dir("/");
                command
            }
        }
    }
}

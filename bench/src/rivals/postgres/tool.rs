//! Drives PostgreSQL with its own pgbench and the script `bench/rivals/postgres/hold.pgbench.sql`.

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{CONNECTIONS, SUBJECT, Shared};
use crate::contest::{Contestant, Round};
use crate::process;

const SCRIPT: &str = include_str!("../../../rivals/postgres/hold.pgbench.sql");

pub(super) struct PgBench {
    pub cluster: Shared,
}

impl Contestant for PgBench {
    fn subject(&self) -> String {
        SUBJECT.to_owned()
    }

    fn driver(&self) -> Option<&'static str> {
        Some("pgbench")
    }

    fn prepare(&mut self) -> Result<()> {
        self.cluster.borrow_mut().start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let cluster = self.cluster.borrow();
        let seconds = length.as_secs().max(1);
        let stride = cluster.fill(Duration::from_secs(seconds))?;
        let mut script = tempfile::NamedTempFile::new().context("a file for the script")?;
        script.write_all(SCRIPT.as_bytes())?;
        let mut pgbench = Command::new(process::find("pgbench"));
        pgbench.arg("-h").arg(cluster.socket()?).args(["-U", "postgres", "-n", "-M", "prepared", "-j", "2"]);
        pgbench.args(["-c", &CONNECTIONS.to_string(), "-T", &seconds.to_string()]);
        pgbench
            .args(["-D", &format!("stride={stride}"), "-D", "next=0", "-f"])
            .arg(script.path())
            .arg("postgres");
        let output = process::output(&mut pgbench)?;
        let holds =
            after(&output, "number of transactions actually processed: ").context("pgbench's count")?;
        cluster.check(holds as u64)?;
        Ok(vec![("per_s", after(&output, "tps = ").context("pgbench's rate")?)])
    }
}

fn after(output: &str, label: &str) -> Option<f64> {
    let (_, rest) = output.split_once(label)?;
    rest.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_found_in_what_pgbench_prints() {
        let output = "number of transactions actually processed: 40123\nlatency average = 2.9 ms\n\
                      tps = 10812.500000 (without initial connection time)\n";
        assert_eq!(after(output, "number of transactions actually processed: "), Some(40_123.0));
        assert_eq!(after(output, "tps = "), Some(10_812.5));
    }
}

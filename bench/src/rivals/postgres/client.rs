//! Drives PostgreSQL with tokio-postgres: one statement, prepared once on each connection.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio_postgres::{Client, NoTls, Statement};

use super::{CONNECTIONS, SUBJECT, Shared};
use crate::contest::{Contestant, Round};
use crate::latency::Latency;

const HOLD: &str = include_str!("../../../rivals/postgres/hold.sql");

pub(super) struct OwnClient {
    pub cluster: Shared,
}

impl Contestant for OwnClient {
    fn subject(&self) -> String {
        SUBJECT.to_owned()
    }

    fn driver(&self) -> Option<&'static str> {
        Some("client")
    }

    fn prepare(&mut self) -> Result<()> {
        self.cluster.borrow_mut().start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let cluster = self.cluster.borrow();
        let stride = cluster.fill(length)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let local = tokio::task::LocalSet::new();
        let (latency, holds, took) =
            local.block_on(&runtime, all_connections(cluster.socket()?, stride, length))?;
        cluster.check(holds)?;
        Ok(latency.round(holds, took))
    }
}

async fn all_connections(socket: &Path, stride: u64, length: Duration) -> Result<(Latency, u64, Duration)> {
    let seen = Rc::new(RefCell::new((Latency::new()?, 0_u64)));
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut config = tokio_postgres::Config::new();
        config.host_path(socket).user("postgres").dbname("postgres");
        let (client, connection) = config.connect(NoTls).await.context("connecting to PostgreSQL")?;
        tokio::task::spawn_local(connection);
        let statement = client.prepare(HOLD).await.context("preparing the hold")?;
        clients.push((client, statement));
    }
    let started = Instant::now();
    let tasks: Vec<_> = (0..)
        .zip(clients)
        .map(|(number, (client, statement))| {
            let rows = number * stride..(number + 1) * stride;
            tokio::task::spawn_local(connection(client, statement, rows, started + length, Rc::clone(&seen)))
        })
        .collect();
    for task in tasks {
        task.await.context("a connection's task")??;
    }
    let took = started.elapsed();
    let (latency, holds) = seen.borrow().clone();
    Ok((latency, holds, took))
}

async fn connection(
    client: Client,
    statement: Statement,
    mut rows: std::ops::Range<u64>,
    until: Instant,
    seen: Rc<RefCell<(Latency, u64)>>,
) -> Result<()> {
    loop {
        let sent = Instant::now();
        if sent >= until {
            return Ok(());
        }
        let seat = i64::try_from(rows.next().context("no fresh row is left")?)?;
        let changed =
            client.execute(&statement, &[&seat, &"usr_0123456789abcdef", &1_800_000_000_000_i64]).await?;
        ensure!(changed == 1, "seat {seat} was not available");
        let mut seen = seen.borrow_mut();
        seen.0.record(sent.elapsed());
        seen.1 += 1;
    }
}

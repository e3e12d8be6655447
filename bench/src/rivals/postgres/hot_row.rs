//! Everybody takes one from the same row: what a shop does that keeps its stock in a column.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio_postgres::NoTls;

use super::Shared;
use super::cluster::sql;
use crate::contest::{Contestant, Round};
use crate::latency::Latency;

/// More only wait longer for the same row.
const CONNECTIONS: usize = 16;
const TAKE: &str = "update stock set n = n - 1 where n > 0";

pub(super) struct HotRow {
    pub cluster: Shared,
}

impl Contestant for HotRow {
    fn subject(&self) -> String {
        "postgres_hot_row".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.cluster.borrow_mut().start()
    }

    fn round(&mut self, length: Duration) -> Result<Round> {
        let cluster = self.cluster.borrow();
        let socket = cluster.socket()?;
        sql(
            socket,
            "drop table if exists stock; create table stock (n bigint); insert into stock values (100000000)",
        )?;
        sql(socket, "checkpoint")?;
        let seen = Rc::new(RefCell::new((Latency::new()?, 0_u64)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let local = tokio::task::LocalSet::new();
        let took = local.block_on(&runtime, async {
            let mut clients = Vec::new();
            for _ in 0..CONNECTIONS {
                let mut config = tokio_postgres::Config::new();
                config.host_path(socket).user("postgres").dbname("postgres");
                let (client, connection) = config.connect(NoTls).await.context("connecting to PostgreSQL")?;
                tokio::task::spawn_local(connection);
                let statement = client.prepare(TAKE).await.context("preparing the update")?;
                clients.push((client, statement));
            }
            let started = Instant::now();
            let each = clients.into_iter().map(|(client, statement)| {
                let seen = Rc::clone(&seen);
                async move {
                    while started.elapsed() < length {
                        let sent = Instant::now();
                        let changed = client.execute(&statement, &[]).await?;
                        ensure!(changed == 1, "nothing was left");
                        let mut seen = seen.borrow_mut();
                        seen.0.record(sent.elapsed());
                        seen.1 += 1;
                    }
                    anyhow::Ok(())
                }
            });
            futures_util::future::try_join_all(each).await?;
            anyhow::Ok(started.elapsed())
        })?;
        let (latency, taken) = seen.borrow().clone();
        let left = sql(socket, "select n from stock")?;
        ensure!(left.trim() == (100_000_000 - taken).to_string(), "{left} are left after {taken}");
        Ok(latency.round(taken, took))
    }
}

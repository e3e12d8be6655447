//! PostgreSQL: a bounded pool of connections, a schema of our own, every statement prepared once on each connection.

mod meaning;
mod migrate;
mod place;
mod tls;
mod types;

use std::time::Duration;

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use tokio_postgres::types::ToSql;

use crate::{Migrations, Query, Row, SqlError, Value};

/// Sixteen are enough to keep PostgreSQL busy, and seven servers fit into its default of a hundred.
const CONNECTIONS_MAX: usize = 16;
/// How many may wait for a connection; each is a request that somebody waits for.
const WAITING_MAX: usize = 1_024;
/// How long one of them waits.
const WAIT_MAX: Duration = Duration::from_secs(2);
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// PostgreSQL ends a statement after this time.
const STATEMENT_MAX: Duration = Duration::from_secs(5);
/// Longer than that: when PostgreSQL itself, or the network, says nothing any more.
const SILENCE_MAX: Duration = Duration::from_secs(7);

#[derive(Clone, Debug)]
pub(crate) struct Postgres {
    pool: Pool,
}

impl Postgres {
    pub(crate) async fn open(
        url: &str,
        schema: &str,
        migrations: &'static Migrations,
    ) -> Result<Postgres, SqlError> {
        let (config, tls) = place::read(url, schema)?;
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let limits = Timeouts { wait: Some(WAIT_MAX), create: Some(CONNECT_MAX), recycle: Some(CONNECT_MAX) };
        let pool = Pool::builder(Manager::from_config(config, tls, manager))
            .max_size(CONNECTIONS_MAX)
            .timeouts(limits)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| SqlError::Configuration(error.to_string()))?;
        let postgres = Postgres { pool };
        migrate::migrate(postgres.connection().await?, schema, migrations).await?;
        Ok(postgres)
    }

    async fn connection(&self) -> Result<Object, SqlError> {
        if self.pool.status().waiting >= WAITING_MAX {
            return Err(SqlError::Busy(format!("{WAITING_MAX} wait for a connection already")));
        }
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => meaning::of_connecting(&error),
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
                SqlError::Busy(format!("no free connection within {} s", WAIT_MAX.as_secs()))
            }
            PoolError::Timeout(_) => {
                SqlError::Unavailable(format!("no connection within {} s", CONNECT_MAX.as_secs()))
            }
            PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                SqlError::Unavailable(error.to_string())
            }
        })
    }

    pub(crate) async fn query(&self, query: &'static Query, params: &[Value]) -> Result<Vec<Row>, SqlError> {
        let mut borrowed = Borrowed::new(self.connection().await?);
        let answer = borrowed.query(query, params).await;
        borrowed.give_back();
        answer
    }

    pub(crate) async fn begin(&self) -> Result<PostgresTx, SqlError> {
        let mut borrowed = Borrowed::new(self.connection().await?);
        borrowed.run("begin").await?;
        Ok(PostgresTx { borrowed })
    }
}

/// A connection that goes back to the pool only when nothing is under way on it.
#[derive(Debug)]
struct Borrowed {
    /// Taken away when it is given back or ended.
    connection: Option<Object>,
    /// Says nothing any more, or is not ours any more.
    is_lost: bool,
}

impl Borrowed {
    fn new(connection: Object) -> Borrowed {
        Borrowed { connection: Some(connection), is_lost: false }
    }

    fn give_back(mut self) {
        if !self.is_lost {
            self.connection = None;
        }
    }

    async fn query(&mut self, query: &'static Query, params: &[Value]) -> Result<Vec<Row>, SqlError> {
        let rows = self
            .answer(async |connection| {
                let statement = connection.prepare_cached(query.text).await?;
                connection.query(&statement, &as_params(params)).await
            })
            .await
            .map_err(|error| error.in_statement(query.name))?;
        rows.into_iter().map(|row| types::row_of(query, &row)).collect()
    }

    async fn execute(&mut self, query: &'static Query, params: &[Value]) -> Result<u64, SqlError> {
        self.answer(async |connection| {
            let statement = connection.prepare_cached(query.text).await?;
            connection.execute(&statement, &as_params(params)).await
        })
        .await
        .map_err(|error| error.in_statement(query.name))
    }

    async fn run(&mut self, text: &str) -> Result<(), SqlError> {
        self.answer(async |connection| connection.batch_execute(text).await).await
    }

    async fn answer<T>(
        &mut self,
        work: impl AsyncFnOnce(&Object) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, SqlError> {
        let Some(connection) = &self.connection else {
            return Err(SqlError::Unavailable("the connection was lost".to_owned()));
        };
        match tokio::time::timeout(SILENCE_MAX, work(connection)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                self.is_lost |= connection.is_closed();
                Err(meaning::of(&error))
            }
            Err(_) => {
                self.is_lost = true;
                Err(SqlError::Unavailable(format!("no answer within {} s", SILENCE_MAX.as_secs())))
            }
        }
    }
}

impl Drop for Borrowed {
    /// What was begun is rolled back before another is given this connection. `RecyclingMethod::Fast` would not do that.
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        let runtime = tokio::runtime::Handle::try_current();
        match runtime {
            Ok(runtime) if !self.is_lost => {
                runtime.spawn(async move {
                    let rolled_back =
                        tokio::time::timeout(SILENCE_MAX, connection.batch_execute("rollback")).await;
                    if !matches!(rolled_back, Ok(Ok(()))) {
                        drop(Object::take(connection));
                    }
                });
            }
            // Ending the connection rolls back as well.
            Ok(_) | Err(_) => drop(Object::take(connection)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct PostgresTx {
    borrowed: Borrowed,
}

impl PostgresTx {
    pub(crate) async fn query(
        &mut self,
        query: &'static Query,
        params: &[Value],
    ) -> Result<Vec<Row>, SqlError> {
        self.borrowed.query(query, params).await
    }

    pub(crate) async fn execute(&mut self, query: &'static Query, params: &[Value]) -> Result<u64, SqlError> {
        self.borrowed.execute(query, params).await
    }

    pub(crate) async fn prepare(&mut self, text: &str) -> Result<(), SqlError> {
        self.borrowed.answer(async |connection| connection.prepare(text).await.map(drop)).await
    }

    pub(crate) async fn commit(mut self) -> Result<(), SqlError> {
        self.borrowed.run("commit").await.map_err(SqlError::of_commit)?;
        self.borrowed.give_back();
        Ok(())
    }
}

fn as_params(params: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

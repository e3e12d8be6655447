//! Makes the schema and brings its tables up to date, in one transaction; servers that start together take turns.

use deadpool_postgres::Object;
use tokio_postgres::Error;

use super::meaning;
use crate::migration::{self, Applied};
use crate::{Migrations, SqlError};

/// The first number of our advisory locks, so that other programs' are others; the second is made from the schema's name.
const LOCK: &str = "select pg_advisory_xact_lock(1869509985, hashtext($1))";
/// A table may be large when it is changed, and the other server may take as long before us.
const LIMIT: &str = "set local statement_timeout = '300s'";

pub(super) async fn migrate(
    mut connection: Object,
    schema: &str,
    migrations: &'static Migrations,
) -> Result<(), SqlError> {
    let failed = |error: Error| meaning::of(&error);
    // Dropped on any error below, and rolled back whole by that.
    let tx = connection.transaction().await.map_err(failed)?;
    tx.batch_execute(LIMIT).await.map_err(failed)?;
    tx.execute(LOCK, &[&schema]).await.map_err(failed)?;
    // `create schema if not exists` asks for the right to make one, even if it is there.
    let exists = tx.query_one("select to_regnamespace($1) is not null", &[&schema]).await.map_err(failed)?;
    if !exists.get::<_, bool>(0) {
        tx.batch_execute(&format!("create schema {schema}")).await.map_err(failed)?;
    }
    tx.batch_execute(migration::CREATE).await.map_err(failed)?;
    let rows = tx.query(migration::READ, &[]).await.map_err(failed)?;
    let applied: Vec<Applied> = rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    for step in migrations.missing(&applied)? {
        let in_step = |error: Error| meaning::of(&error).in_statement(step.name);
        tx.batch_execute(step.postgres).await.map_err(in_step)?;
        tx.execute(migration::WRITE, &[&step.number, &migrations.name, &step.name]).await.map_err(failed)?;
    }
    tx.commit().await.map_err(failed)
}

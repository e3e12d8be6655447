//! What is true of SQLite alone: one server for a file, foreign programs in the way, files that are none.

use std::task::{Context, Waker};
use std::time::Duration;

use onsale_sql::{Migration, Migrations, Place, Sql, SqlError};

use crate::home::{ADD, COUNT, FIRST, Home, TABLES, count};

fn path(home: &Home) -> std::path::PathBuf {
    match home.place() {
        Place::Sqlite(path) => path,
        Place::Postgres { .. } => panic!("a file was asked for"),
    }
}

#[tokio::test]
async fn a_second_server_on_the_same_file_is_refused_and_a_command_is_not() {
    let home = Home::sqlite();
    let first = home.open().await;
    let error = Sql::open(&home.place(), &TABLES).await.expect_err("one server for a file");
    assert!(matches!(&error, SqlError::InUse(_)) && error.to_string().contains("shop.sqlite"), "{error}");

    let command = Sql::open_shared(&home.place(), &TABLES).await.expect("a command runs beside it");
    let mut tx = command.begin().await.expect("a turn");
    tx.execute(&ADD, &["A1".into(), 1_i64.into(), onsale_sql::Value::Null, 5_i64.into()])
        .await
        .expect("added");
    tx.commit().await.expect("committed");
    assert_eq!(count(&first).await, 1, "the server sees what the command did");
    drop(first);
    home.open().await;
}

#[tokio::test]
async fn a_command_changes_no_tables_under_a_server() {
    static NEWER: Migrations = Migrations {
        name: "shop",
        list: &[FIRST, Migration { number: 2, name: "002", sqlite: "select 1", postgres: "select 1" }],
    };
    let home = Home::sqlite();
    let server = home.open().await;
    let error = Sql::open_shared(&home.place(), &NEWER).await.expect_err("not now");
    assert_eq!(error, SqlError::OlderSchema { found: 1, needed: 2 });
    drop(server);
    Sql::open_shared(&home.place(), &NEWER).await.expect("without the server it may");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_foreign_program_writes_it_is_busy_and_reads_go_on() {
    let home = Home::sqlite();
    let sql = home.open().await;
    let foreign = rusqlite::Connection::open(path(&home)).expect("a connection");
    foreign.execute_batch("begin immediate").expect("the lock");
    let error = sql.begin().await.expect_err("a foreign program has it");
    assert!(matches!(error, SqlError::Busy(_)) && error.is_retryable(), "{error:?}");
    assert_eq!(count(&sql).await, 0);
    foreign.execute_batch("rollback").expect("it ends");
    sql.begin().await.expect("it goes on");
}

#[tokio::test]
async fn a_transaction_that_says_nothing_gives_way() {
    let home = Home::sqlite();
    let sql = home.open().await;
    let mut silent = sql.begin().await.expect("a turn");
    let next = sql.begin().await.expect("the next waits until the silent one is rolled back");
    assert!(matches!(silent.query(&COUNT, &[]).await, Err(SqlError::Busy(_))));
    assert!(silent.commit().await.is_err());
    next.commit().await.expect("committed");
}

#[tokio::test]
async fn too_many_that_wait_to_write_are_told_at_once() {
    let home = Home::sqlite();
    let sql = home.open().await;
    let first = sql.begin().await.expect("a turn");
    let mut waiting: Vec<_> = (0..256).map(|_| Box::pin(sql.begin())).collect();
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.iter_mut().all(|one| one.as_mut().poll(&mut context).is_pending()));
    let at_once = tokio::time::timeout(Duration::from_secs(1), sql.begin()).await;
    assert!(matches!(at_once, Ok(Err(SqlError::Busy(_)))), "{at_once:?}");
    drop(first);
    for one in waiting {
        one.await.expect("whoever has a place in the queue gets a turn");
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_and_a_folder_that_is_not_there_say_what_to_do() {
    let home = Home::sqlite();
    std::fs::write(path(&home), [7_u8; 8_192]).expect("a file");
    let error = Sql::open(&home.place(), &TABLES).await.expect_err("no database");
    assert!(matches!(&error, SqlError::Damaged(_)) && error.to_string().contains("backup"), "{error}");

    let nowhere = Place::Sqlite(path(&home).join("below/a/file"));
    let error = Sql::open(&nowhere, &TABLES).await.expect_err("no folder");
    assert!(matches!(&error, SqlError::Configuration(_)) && error.to_string().contains("folder"), "{error}");
}

#[tokio::test]
async fn the_files_are_readable_by_their_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::sqlite();
    let sql = home.open().await;
    let mut tx = sql.begin().await.expect("a turn");
    tx.execute(&ADD, &["A1".into(), 1_i64.into(), onsale_sql::Value::Null, 5_i64.into()])
        .await
        .expect("added");
    tx.commit().await.expect("committed");
    let folder = path(&home).parent().expect("a folder").to_owned();
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let file = file.expect("a file");
        let mode = file.metadata().expect("its rights").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
        seen += 1;
    }
    assert!(seen >= 4, "the database, its log, its index and the lock");
}

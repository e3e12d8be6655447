//! What is true of PostgreSQL alone: it dies and comes back, lets not everybody in, and stands still.

use std::sync::Arc;

use onsale_postgres_servers::{Cluster, Database};
use onsale_sql::{Place, Sql, SqlError, Value};

use crate::home::{ADD, COUNT, TABLES, count};

fn place(url: String) -> Place {
    Place::Postgres { url, schema: "shop".to_owned() }
}

fn seat(name: &str) -> [Value; 4] {
    [name.into(), Value::Null, Value::Null, 10_i64.into()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_and_comes_back_is_used_again() {
    let database = Arc::new(Cluster::start()).database();
    let sql = Sql::open(&place(database.url()), &TABLES).await.expect("it opens");
    let mut kept = sql.begin().await.expect("a transaction");
    kept.execute(&ADD, &seat("A1")).await.expect("added");
    kept.commit().await.expect("committed");
    let mut lost = sql.begin().await.expect("a transaction");
    lost.execute(&ADD, &seat("A2")).await.expect("added");

    database.cluster.kill();
    let error = lost.commit().await.expect_err("nobody answers");
    assert!(matches!(error, SqlError::Unknown(_)) && !error.is_retryable(), "{error:?}");
    let error = sql.query(&COUNT, &[]).await.expect_err("nobody answers");
    assert!(matches!(error, SqlError::Unavailable(_)) && error.is_retryable(), "{error:?}");
    assert!(matches!(sql.begin().await, Err(SqlError::Unavailable(_))));

    database.cluster.start_again();
    assert_eq!(count(&sql).await, 1);
    let mut tx = sql.begin().await.expect("a transaction");
    tx.execute(&ADD, &seat("A3")).await.expect("added");
    tx.commit().await.expect("committed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stands_still_is_not_waited_for_without_end() {
    let database = Arc::new(Cluster::start()).database();
    let sql = Sql::open(&place(database.url()), &TABLES).await.expect("it opens");
    count(&sql).await;
    database.cluster.pause();
    let error = sql.query(&COUNT, &[]).await.expect_err("nobody answers");
    assert!(matches!(error, SqlError::Unavailable(_)), "{error:?}");
    database.cluster.resume();
    count(&sql).await;
}

#[tokio::test]
async fn who_is_not_let_in_is_told_why() {
    let database = Database::fresh();
    database.say("drop role if exists locked; drop role if exists poor");
    database.say("create role locked login password 'open'; create role poor login");
    let refused = async |url: String| {
        let error = Sql::open(&place(url), &TABLES).await.expect_err("it is refused");
        assert!(matches!(error, SqlError::Configuration(_)), "{error:?}");
        error.to_string()
    };
    let wrong = refused(database.url_as("locked:secret")).await;
    assert!(wrong.contains("password") && !wrong.contains("secret"), "{wrong}");
    let missing = refused(database.url().replace(&database.name, "nowhere")).await;
    assert!(missing.contains("make the database"), "{missing}");
    let poor = refused(database.url_as("poor")).await;
    assert!(poor.contains("grant create on database"), "{poor}");
    // A schema that somebody has made for this user is enough.
    database.say("create schema shop authorization poor");
    Sql::open(&place(database.url_as("poor")), &TABLES).await.expect("its own schema");
    database.say("drop owned by poor; drop role poor; drop role locked");
}

#[tokio::test]
async fn nobody_there_is_not_a_fault_of_how_it_was_set_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("postgres://ann@{}/shop", folder.path().display().to_string().replace('/', "%2F"));
    let error = Sql::open(&place(url), &TABLES).await.expect_err("nobody there");
    assert!(matches!(error, SqlError::Unavailable(_)), "{error:?}");
}

#[tokio::test]
async fn a_transaction_that_is_dropped_gives_its_connection_back_clean() {
    let database = Database::fresh();
    let sql = Sql::open(&place(database.url()), &TABLES).await.expect("it opens");
    // As many as there are connections, all at once, and none of them committed.
    let mut open = Vec::new();
    for number in 0..16 {
        let mut tx = sql.begin().await.expect("a transaction");
        tx.execute(&ADD, &seat(&format!("A{number}"))).await.expect("added");
        open.push(tx);
    }
    assert!(matches!(sql.begin().await, Err(SqlError::Busy(_))), "all connections are in use");
    drop(open);
    for number in 0..16 {
        let mut tx = sql.begin().await.expect("a transaction");
        assert_eq!(tx.execute(&ADD, &seat(&format!("A{number}"))).await, Ok(1));
        tx.commit().await.expect("committed");
    }
    assert_eq!(count(&sql).await, 16);
}

#[tokio::test]
async fn tls_believes_the_named_authority_and_nobody_else() {
    let database = Arc::new(Cluster::start_with_tls()).database();
    let (url, authority) = database.tls_url();
    let with = |file: &std::path::Path| place(format!("{url}&sslrootcert={}", file.display()));
    let sql = Sql::open(&with(&authority), &TABLES).await.expect("it opens");
    assert_eq!(count(&sql).await, 0);
    let users = database.say("select count(*) > 0 from pg_stat_ssl join pg_stat_activity using (pid) where ssl and application_name = 'onsale'");
    assert_eq!(users.trim(), "t", "it does speak TLS");

    let error = Sql::open(&place(url.clone()), &TABLES).await.expect_err("this machine does not know it");
    assert!(error.to_string().contains("certificate"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "nothing").expect("a file");
    for file in [&empty, &folder.path().join("missing.pem")] {
        let error = Sql::open(&with(file), &TABLES).await.expect_err("no certificate");
        assert!(matches!(&error, SqlError::Configuration(what) if what.contains("sslrootcert")), "{error:?}");
    }
}

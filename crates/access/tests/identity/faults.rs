//! Bad days: the database dies, stands still, is locked, or is in somebody else's hands.

use std::sync::Arc;

use onsale_access::directory::Denied;
use onsale_access::keys;
use onsale_access::principal::KeyKind;
use onsale_access::refusal::AccessError;
use onsale_access::tables::TABLES;
use onsale_domain::Tenant;
use onsale_postgres_servers::Cluster;
use onsale_sql::{Place, Sql, SqlError};

use crate::home::{Home, NOW, Server, commit, eventually, make_key, new_key};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_database_is_away_nothing_that_is_remembered_lets_anybody_in() {
    let home = Home::Database(Arc::new(Cluster::start()).database());
    let Home::Database(database) = &home else { panic!("a cluster of its own") };
    let server = Server::start(home.open().await).await;
    let (key, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    assert!(server.remembers(text.as_str()).await);
    let nobody = || server.directory.cached_nobody(Some("shop.example"), server.hand.now()).is_some();
    server.directory.resolve("", Some("shop.example"), NOW).await.expect("a tenant");

    database.cluster.kill();
    server.hand.advance(999);
    assert!(server.cached(text.as_str()).is_some(), "a second has not passed");
    server.hand.advance(1);
    assert!(server.cached(text.as_str()).is_none());
    for _ in 0..3 {
        assert_eq!(server.resolve(text.as_str()).await.err(), Some(Denied::Unavailable));
    }
    assert!(nobody(), "what everybody may see goes on");

    database.cluster.start_again();
    database.say(&format!(
        "set search_path = access;
         with next as (update counter set number = number + 1 where name = 'change' returning number)
         insert into change select number, 0, 'key', '{}' from next;
         update api_key set revoked = 0",
        key.id
    ));
    eventually("it is asked again", async || {
        server.hand.advance(10);
        server.resolve(text.as_str()).await.err() == Some(Denied::Revoked)
    })
    .await;
    assert!(server.cached(text.as_str()).is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_stands_still_is_a_quick_no() {
    let home = Home::Database(Arc::new(Cluster::start()).database());
    let Home::Database(database) = &home else { panic!("a cluster of its own") };
    let server = Server::start(home.open().await).await;
    let (_, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    assert!(server.remembers(text.as_str()).await);
    database.cluster.pause();
    server.hand.advance(1_000);
    for _ in 0..3 {
        assert_eq!(server.resolve(text.as_str()).await.err(), Some(Denied::Unavailable));
    }
    database.cluster.resume();
    eventually("it is let in again", async || {
        server.hand.advance(10);
        server.resolve(text.as_str()).await.is_ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_writer_stops_changes_and_nobody_who_is_known() {
    let home = Home::sqlite();
    let server = Server::start(home.open().await).await;
    let (key, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    let Place::Sqlite(file) = home.place() else { panic!("a file was asked for") };
    let foreign = rusqlite::Connection::open(file).expect("a connection");
    foreign.execute_batch("begin immediate").expect("the lock");
    let busy = server.sql.begin().await.expect_err("a foreign program has it");
    assert!(matches!(busy, SqlError::Busy(_)), "{busy:?}");
    assert!(server.resolve(text.as_str()).await.is_ok(), "reading goes on");
    foreign.execute_batch("rollback").expect("it ends");
    commit(&server.sql, async |tx| keys::revoke(tx, Tenant::DEFAULT, &key.id, NOW).await)
        .await
        .expect("revoked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_on_one_file_and_a_newer_schema_are_refused() {
    let home = Home::sqlite();
    let first = home.open().await;
    let second = Sql::open(&home.place(), &TABLES).await.expect_err("one server for a file");
    assert!(matches!(second, SqlError::InUse(_)), "{second:?}");
    drop(first);
    for home in [home, Home::postgres()] {
        drop(home.open().await);
        home.meddle("insert into migration (number, room, name) values (99, 'access', '099_later')");
        let newer = Sql::open(&home.place(), &TABLES).await.expect_err("a newer program's");
        assert!(matches!(newer, SqlError::NewerSchema { found: 99, .. }), "{newer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_dropped_or_refused_left_no_trace() {
    for home in [Home::sqlite(), Home::postgres()] {
        let server = Server::start(home.open().await).await;
        let (key, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
        assert!(server.remembers(text.as_str()).await);
        let mut tx = server.sql.begin().await.expect("a transaction");
        keys::revoke(&mut tx, Tenant::DEFAULT, &key.id, NOW).await.expect("revoked");
        drop(tx);
        let refused: Result<(), AccessError> = commit(&server.sql, async |tx| {
            keys::revoke(tx, Tenant::DEFAULT, &key.id, NOW).await?;
            keys::revoke(tx, Tenant::DEFAULT, "key_unknown", NOW).await
        })
        .await;
        assert!(refused.is_err());
        server.directory.refresh().await.expect("read");
        assert!(server.cached(text.as_str()).is_some());
        let listed = keys::list(&server.sql, Tenant::DEFAULT, "", 9).await.expect("a list");
        assert_eq!(listed[0].revoked_ms, None);
    }
}

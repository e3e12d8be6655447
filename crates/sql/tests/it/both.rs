//! What both databases promise.

use std::sync::Arc;

use onsale_sql::{SqlError, Value};

use crate::home::{ADD, COUNT, FIND, Home, LOCK, RAISE, WRONG, count};

macro_rules! on_both {
    ($($name:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::home::Home::sqlite()).await; })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::home::Home::postgres()).await; })*
        }
    };
}

on_both! {
    values_read_back_as_they_were_written,
    a_transaction_that_is_dropped_changes_nothing,
    after_an_error_a_transaction_does_nothing_more,
    errors_are_told_apart,
    many_writers_lose_no_change,
    a_statement_that_nobody_waits_for_ends_its_transaction,
    what_was_committed_is_there_after_opening_again,
}

fn seat(name: &str) -> [Value; 4] {
    [name.into(), Value::Null, Value::Null, 10_i64.into()]
}

async fn values_read_back_as_they_were_written(home: Home) {
    let sql = home.open().await;
    let mut tx = sql.begin().await.expect("a transaction");
    let photo: &[u8] = &[0, 255, 7];
    let full = ["Ä1\u{1f600}".into(), i64::MIN.into(), photo.into(), 11_i64.into()];
    assert_eq!(tx.execute(&ADD, &full).await, Ok(1));
    assert_eq!(tx.execute(&ADD, &seat("empty")).await, Ok(1));
    assert_eq!(
        tx.query(&FIND, &["empty".into()]).await.expect("rows").len(),
        1,
        "a transaction sees its own"
    );
    tx.commit().await.expect("committed");

    let rows = sql.query(&FIND, &["Ä1\u{1f600}".into()]).await.expect("rows");
    let [row] = rows.as_slice() else { panic!("one row, not {rows:?}") };
    assert_eq!(
        (row.text(0), row.int(1), row.blob(2)),
        (Ok("Ä1\u{1f600}"), Ok(i64::MIN), Ok(&[0, 255, 7][..]))
    );
    assert_eq!((row.int(3), row.flag(4), row.text(5)), (Ok(11), Ok(true), Ok("$1")));
    assert!(matches!(row.text(3), Err(SqlError::Damaged(_))), "a number is no text");
    assert!(matches!(row.int(6), Err(SqlError::Damaged(_))), "there is no such column");

    let rows = sql.query(&FIND, &["empty".into()]).await.expect("rows");
    assert_eq!(
        (rows[0].int_or_none(1), rows[0].blob_or_none(2), rows[0].flag(4)),
        (Ok(None), Ok(None), Ok(false))
    );
    assert!(rows[0].int(1).is_err(), "nothing is no number");
    assert_eq!(sql.query(&FIND, &["no one".into()]).await, Ok(Vec::new()));
}

async fn a_transaction_that_is_dropped_changes_nothing(home: Home) {
    let sql = home.open().await;
    // More often than there are connections: each of them is given back.
    for _ in 0..40 {
        let mut tx = sql.begin().await.expect("a transaction");
        tx.execute(&ADD, &seat("A1")).await.expect("added");
        assert_eq!(count(&sql).await, 0, "others do not see it");
        drop(tx);
    }
    let mut tx = sql.begin().await.expect("a transaction");
    assert_eq!(tx.query(&COUNT, &[]).await.expect("rows")[0].int(0), Ok(0));
}

async fn after_an_error_a_transaction_does_nothing_more(home: Home) {
    let sql = home.open().await;
    let mut tx = sql.begin().await.expect("a transaction");
    tx.execute(&ADD, &seat("A1")).await.expect("added");
    let error = tx.execute(&ADD, &seat("A1")).await.expect_err("it is there already");
    assert!(error.is_unique_violation() && !error.is_retryable(), "{error:?}");
    assert_eq!(tx.execute(&ADD, &seat("A2")).await, Err(error.clone()));
    assert_eq!(tx.commit().await, Err(error));
    assert_eq!(count(&sql).await, 0);
}

async fn errors_are_told_apart(home: Home) {
    let sql = home.open().await;
    let wrong = sql.query(&WRONG, &[]).await.expect_err("no such column");
    assert!(
        matches!(&wrong, SqlError::Statement(what) if what.contains("seats/wrong") && what.contains("colour")),
        "{wrong:?}"
    );
    let mut tx = sql.begin().await.expect("a transaction");
    let free = ["A1".into(), Value::Null, Value::Null, 0_i64.into()];
    let refused = tx.execute(&ADD, &free).await.expect_err("nothing is free");
    assert!(matches!(&refused, SqlError::Constraint(what) if what.contains("seats/add")), "{refused:?}");
    assert_eq!(count(&sql).await, 0, "a read works after a wrong one");
}

async fn many_writers_lose_no_change(home: Home) {
    let sql = home.open().await;
    let mut tx = sql.begin().await.expect("a transaction");
    tx.execute(&ADD, &seat("A1")).await.expect("added");
    tx.commit().await.expect("committed");
    let raised = Arc::new(std::sync::atomic::AtomicI64::new(0));
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (sql, raised) = (sql.clone(), Arc::clone(&raised));
            tokio::spawn(async move {
                for _ in 0..10 {
                    let mut tx = sql.begin().await.expect("a turn");
                    let before =
                        tx.query(&LOCK, &["A1".into()]).await.expect("a seat")[0].int(0).expect("a price");
                    tx.execute(&RAISE, &["A1".into(), 1_i64.into()]).await.expect("raised");
                    let after =
                        tx.query(&LOCK, &["A1".into()]).await.expect("a seat")[0].int(0).expect("a price");
                    assert_eq!(after, before + 1, "nobody writes in between");
                    tx.commit().await.expect("committed");
                    raised.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic");
    }
    assert_eq!(raised.load(std::sync::atomic::Ordering::Relaxed), 80);
    assert_eq!(sql.query(&FIND, &["A1".into()]).await.expect("rows")[0].int(3), Ok(90));
}

async fn a_statement_that_nobody_waits_for_ends_its_transaction(home: Home) {
    let sql = home.open().await;
    let mut tx = loop {
        let mut tx = sql.begin().await.expect("a transaction");
        let seat = seat("A1");
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let is_interrupted = std::pin::pin!(tx.execute(&ADD, &seat)).poll(&mut context).is_pending();
        // SQLite's thread may answer before anybody has looked.
        if is_interrupted {
            break tx;
        }
    };
    assert!(tx.execute(&ADD, &seat("A2")).await.is_err());
    assert!(tx.commit().await.is_err());
    assert_eq!(count(&sql).await, 0);
    let mut tx = sql.begin().await.expect("a turn");
    tx.execute(&ADD, &seat("A3")).await.expect("added");
    tx.commit().await.expect("committed");
    assert_eq!(count(&sql).await, 1);
}

async fn what_was_committed_is_there_after_opening_again(home: Home) {
    for expected in 1..4 {
        let sql = home.open().await;
        let mut tx = sql.begin().await.expect("a transaction");
        tx.execute(&ADD, &seat(&format!("A{expected}"))).await.expect("added");
        tx.commit().await.expect("committed");
        assert_eq!(count(&sql).await, expected);
    }
}

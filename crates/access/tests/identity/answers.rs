//! The same key, the same answer.

use onsale_access::answers::{Answers, Claim, KEPT_MS, Request};
use onsale_access::cleaning;
use onsale_access::tenants;
use onsale_sql::Sql;

use crate::home::{HOUSE_KEY, Home, NOW, on_both};

on_both! {
    the_same_request_is_answered_the_same_and_another_is_refused,
    an_answer_goes_with_what_was_done,
    of_two_requests_at_once_one_is_done,
    an_answer_is_forgotten_after_a_day,
    a_stored_answer_cannot_be_read_without_the_house_key,
}

fn request(fingerprint: u8) -> Request {
    Request { scope: [7; 32], fingerprint: [fingerprint; 32] }
}

fn answers() -> Answers {
    Answers::new(HOUSE_KEY)
}

/// Makes a tenant, unless that was done already.
async fn ask(sql: &Sql, request: Request, now_ms: i64) -> Claim {
    let mut tx = sql.begin().await.expect("a transaction");
    let claim = answers().claim(&mut tx, &request, now_ms).await.expect("a claim");
    if claim == Claim::New {
        let tenant = tenants::create(&mut tx, &format!("made at {now_ms}"), now_ms).await.expect("a tenant");
        let answer = format!("tenant {tenant}");
        answers().keep(&mut tx, &request, answer.as_bytes()).await.expect("kept");
        tx.commit().await.expect("committed");
    }
    claim
}

async fn tenants_made(sql: &Sql) -> usize {
    tenants::list(sql, None, 99).await.expect("a list").len() - 1
}

async fn the_same_request_is_answered_the_same_and_another_is_refused(home: Home) {
    let sql = home.open().await;
    assert_eq!(ask(&sql, request(1), NOW).await, Claim::New);
    for _ in 0..2 {
        assert_eq!(ask(&sql, request(1), NOW + 1).await, Claim::Done(b"tenant 1".to_vec()));
        assert_eq!(ask(&sql, request(2), NOW + 1).await, Claim::Reused);
    }
    assert_eq!(tenants_made(&sql).await, 1);
}

async fn an_answer_goes_with_what_was_done(home: Home) {
    let sql = home.open().await;
    let mut tx = sql.begin().await.expect("a transaction");
    assert_eq!(answers().claim(&mut tx, &request(1), NOW).await, Ok(Claim::New));
    tenants::create(&mut tx, "Opera", NOW).await.expect("a tenant");
    answers().keep(&mut tx, &request(1), b"never told").await.expect("kept");
    // The server is killed here.
    drop(tx);
    assert_eq!(tenants_made(&sql).await, 0);
    assert_eq!(ask(&sql, request(1), NOW).await, Claim::New);
    let mut tx = sql.begin().await.expect("a transaction");
    let strange = Request { scope: [8; 32], fingerprint: [1; 32] };
    assert!(answers().keep(&mut tx, &strange, b"nobody asked").await.is_err());
}

async fn of_two_requests_at_once_one_is_done(home: Home) {
    let sql = home.open().await;
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let sql = sql.clone();
            tokio::spawn(async move { ask(&sql, request(1), NOW).await })
        })
        .collect();
    let mut new = 0;
    for task in tasks {
        match task.await.expect("no panic") {
            Claim::New => new += 1,
            Claim::Done(answer) => assert_eq!(answer, b"tenant 1"),
            Claim::Reused => panic!("it is the same request"),
        }
    }
    assert_eq!((new, tenants_made(&sql).await), (1, 1));
}

async fn an_answer_is_forgotten_after_a_day(home: Home) {
    let sql = home.open().await;
    assert_eq!(ask(&sql, request(1), NOW).await, Claim::New);
    assert!(matches!(ask(&sql, request(1), NOW + KEPT_MS - 1).await, Claim::Done(_)));
    assert_eq!(ask(&sql, request(2), NOW + KEPT_MS).await, Claim::New, "the key is free again");
    assert_eq!(cleaning::clean(&sql, NOW + KEPT_MS).await, Ok(0));
    assert_eq!(cleaning::clean(&sql, NOW + 2 * KEPT_MS).await, Ok(1));
}

async fn a_stored_answer_cannot_be_read_without_the_house_key(home: Home) {
    let sql = home.open().await;
    assert_eq!(ask(&sql, request(1), NOW).await, Claim::New);
    let mut tx = sql.begin().await.expect("a transaction");
    let other = Answers::new(b"another house key");
    assert_eq!(other.claim(&mut tx, &request(1), NOW).await, Ok(Claim::Reused));
    drop(tx);
    home.meddle("update answer set answer = scope");
    assert_eq!(ask(&sql, request(1), NOW).await, Claim::Reused, "it was touched");
    assert_eq!(tenants_made(&sql).await, 1);
}

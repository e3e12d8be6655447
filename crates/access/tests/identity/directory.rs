//! The directory: what it remembers, and how it forgets.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use onsale_access::changes::{self, Subject, SubjectKind};
use onsale_access::directory::{Denied, FoundSession};
use onsale_access::keys;
use onsale_access::principal::{KeyKind, Who};
use onsale_access::role::{Role, Roles};
use onsale_access::scope::Scope;
use onsale_domain::{BuyerId, Tenant};
use sha2::{Digest, Sha256};

use crate::home::{Home, MINUTE, NOW, PATIENCE, Server, commit, eventually, make_key, new_key, on_both};

on_both! {
    what_a_server_revokes_another_forgets_by_itself,
    a_command_beside_the_server_reaches_it,
    a_session_is_remembered_until_it_its_user_or_its_time_changes,
    a_no_is_remembered_briefly,
    strange_credentials_are_refused_before_anything_is_asked,
    after_a_gap_in_the_feed_everything_is_forgotten,
    what_changes_while_it_is_read_is_not_remembered,
}

async fn what_a_server_revokes_another_forgets_by_itself(home: Home) {
    let (first, second) = (home.open().await, home.open_beside().await);
    let (first, second) = (Server::start(first).await, Server::start(second).await);
    let (key, text) = make_key(&first.sql, &new_key(KeyKind::Secret)).await;
    let (_, other) = make_key(&first.sql, &new_key(KeyKind::Secret)).await;
    assert!(first.remembers(text.as_str()).await && second.remembers(text.as_str()).await);
    assert!(second.remembers(other.as_str()).await);

    commit(&first.sql, async |tx| keys::revoke(tx, Tenant::DEFAULT, &key.id, NOW).await)
        .await
        .expect("revoked");
    first.directory.refresh().await.expect("read");
    assert!(first.cached(text.as_str()).is_none(), "its own changes hold at once");
    eventually("the other server forgets", async || second.cached(text.as_str()).is_none()).await;
    assert_eq!(second.resolve(text.as_str()).await.err(), Some(Denied::Revoked));
    assert!(second.cached(other.as_str()).is_some(), "nothing else is forgotten");
}

async fn a_command_beside_the_server_reaches_it(home: Home) {
    let server = Server::start(home.open().await).await;
    let (key, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    assert!(server.remembers(text.as_str()).await);
    let command = home.open_beside().await;
    commit(&command, async |tx| keys::revoke(tx, Tenant::DEFAULT, &key.id, NOW).await)
        .await
        .expect("revoked");
    drop(command);
    eventually("the server forgets", async || server.cached(text.as_str()).is_none()).await;
}

const TOKEN: &str = "ses_secret_0123456789abcdefghijkl";

fn session(roles: Roles, expires_ms: i64) -> FoundSession {
    FoundSession {
        tenant: Tenant::DEFAULT,
        user: BuyerId::parse("usr_ann").expect("a buyer"),
        session: "ses_1".into(),
        roles,
        is_guest: false,
        expires_ms,
    }
}

async fn a_session_is_remembered_until_it_its_user_or_its_time_changes(home: Home) {
    let server = Server::start(home.open().await).await;
    let put = |roles, expires_ms| {
        let hash: [u8; 32] = Sha256::digest(TOKEN).into();
        server.sessions.found.lock().expect("no panic").insert(hash, session(roles, expires_ms));
    };
    let asked = || server.sessions.asked.load(Ordering::Relaxed);
    let change = async |kind, id: &str| {
        let subject = Subject::new(kind, id);
        commit(&server.sql, async |tx| Ok(changes::record(tx, &subject, NOW).await?)).await.expect("noted");
        server.directory.refresh().await.expect("read");
    };
    put(Roles::BUYER, NOW + 60 * MINUTE);
    assert!(server.remembers(TOKEN).await);
    let principal = server.cached(TOKEN).expect("it is remembered");
    assert!(matches!(&principal.who, Who::Person(person) if &*person.session == "ses_1"));
    assert_eq!((&*principal.family, principal.may(Scope::Listings), asked()), ("usr_ann", false, 1));

    put(Roles::BUYER.with(Role::Seller), NOW + 60 * MINUTE);
    assert!(!server.cached(TOKEN).expect("still").may(Scope::Listings), "nobody has said so yet");
    change(SubjectKind::User, "usr_bob").await;
    assert!(server.cached(TOKEN).is_some(), "another user");
    change(SubjectKind::User, "usr_ann").await;
    assert!(server.cached(TOKEN).is_none());
    assert!(server.resolve(TOKEN).await.expect("it opens").may(Scope::Listings));
    change(SubjectKind::Session, "ses_1").await;
    assert!(server.cached(TOKEN).is_none());

    // It is read again now and then, as its end moves when it is used.
    assert!(server.remembers(TOKEN).await);
    server.hand.advance(10 * MINUTE);
    assert!(server.cached(TOKEN).is_none());
    put(Roles::BUYER, NOW + 10 * MINUTE + 500);
    assert!(server.remembers(TOKEN).await);
    server.hand.advance(500);
    assert!(server.cached(TOKEN).is_none());
    assert_eq!(server.resolve(TOKEN).await.err(), Some(Denied::Expired));
    server.directory.flush_uses().await.expect("written");
    let uses = server.sessions.uses.lock().expect("no panic").clone();
    assert!(uses.iter().all(|one| &*one.session == "ses_1" && one.used_ms >= NOW), "{uses:?}");
}

async fn a_no_is_remembered_briefly(home: Home) {
    let server = Server::start(home.open().await).await;
    let asked = || server.sessions.asked.load(Ordering::Relaxed);
    for _ in 0..5 {
        assert_eq!(server.resolve(TOKEN).await.err(), Some(Denied::Unknown));
    }
    assert_eq!(asked(), 1);
    server.hand.advance(1_000);
    assert_eq!(server.resolve(TOKEN).await.err(), Some(Denied::Unknown));
    assert_eq!(asked(), 2);
}

async fn strange_credentials_are_refused_before_anything_is_asked(home: Home) {
    let server = Server::start(home.open().await).await;
    let (_, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    let text = text.as_str();
    let long = "x".repeat(100_000);
    let doubled = format!("{text}{text}");
    let cut = &text[..text.len() - 1];
    let nul = format!("{TOKEN}\0");
    for strange in ["x", " ", &long, &doubled, cut, &nul, "onsale_live_sk_", "ünïcödé-ünïcödé-ünïcödé"]
    {
        assert_eq!(server.resolve(strange).await.err(), Some(Denied::Malformed), "{strange:.40}");
        assert!(server.cached(strange).is_none());
    }
    for unknown in ["onsale_bt_", "onsale_bt_AAAA", "onsale_bt_!"] {
        assert_eq!(server.resolve(unknown).await.err(), Some(Denied::Unknown), "{unknown}");
    }
    assert_eq!(server.sessions.asked.load(Ordering::Relaxed), 0);
}

async fn after_a_gap_in_the_feed_everything_is_forgotten(home: Home) {
    let server = Server::start(home.open().await).await;
    let (_, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
    assert!(server.remembers(text.as_str()).await);
    // As if it had slept for an hour, and what it has not read had been cleaned up.
    home.meddle("update counter set number = number + 5 where name = 'change'");
    eventually("it is forgotten", async || server.cached(text.as_str()).is_none()).await;
    assert!(server.remembers(text.as_str()).await, "it is read anew");
    // What a newer program changes may be anything, and so may what is missing between two numbers.
    for (number, kind) in [(6, "of a newer program"), (9, "key")] {
        home.meddle(&format!(
            "update counter set number = {number} where name = 'change';
             insert into change (number, at, kind, subject) values ({number}, 0, '{kind}', 'key_other')"
        ));
        eventually("it is forgotten", async || server.cached(text.as_str()).is_none()).await;
        assert!(server.remembers(text.as_str()).await, "it is read anew");
    }
}

/// Many look up and many revoke at once: when all is quiet nobody is let in.
async fn what_changes_while_it_is_read_is_not_remembered(home: Home) {
    let server = Arc::new(Server::start(home.open().await).await);
    for _ in 0..10 {
        let (key, text) = make_key(&server.sql, &new_key(KeyKind::Secret)).await;
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let (server, text) = (Arc::clone(&server), text.clone());
                tokio::spawn(async move {
                    while server.resolve(text.as_str()).await.is_ok() {
                        // An answer from memory is there at once, and gives way to nobody.
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        commit(&server.sql, async |tx| keys::revoke(tx, Tenant::DEFAULT, &key.id, NOW).await)
            .await
            .expect("revoked");
        server.directory.refresh().await.expect("read");
        for reader in readers {
            let refused = tokio::time::timeout(PATIENCE, reader).await;
            refused.expect("each of them is refused at last").expect("no panic");
        }
        assert!(server.cached(text.as_str()).is_none());
    }
}

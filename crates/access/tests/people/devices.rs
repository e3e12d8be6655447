//! Sessions on many devices: how long they live, and who ends them.

use onsale_access::accounts::{Refusal, SignInFrom};
use onsale_access::directory::{SessionUse, Sessions as _};
use onsale_access::sessions::{Device, SESSIONS_MAX};

use crate::shop::*;

on_both! {
    a_session_shows_its_device_and_ends_at_its_instants,
    a_use_is_noted_at_most_once_a_minute_and_never_backwards,
    a_device_more_than_twenty_ends_the_one_unused_for_longest,
    people_end_one_or_all_others_or_all,
    nobody_ends_the_session_of_somebody_else,
}

fn used(session: &str, used_ms: i64) -> SessionUse {
    SessionUse { session: session.into(), used_ms }
}

async fn a_session_shows_its_device_and_ends_at_its_instants(shop: Shop) {
    shop.account(ANN, T0 - DAY).await;
    let device = Device::new("mobile", "iPhone 15 Pro", "agent/1");
    let sign_in = async |is_remembered| {
        let from = SignInFrom { is_remembered, ..from(&device) };
        shop.accounts.sign_in(ANN, PASSWORD, from, &at(T0)).await.expect("in")
    };
    let (plain, remembered) = (sign_in(false).await, sign_in(true).await);
    let list = shop.sessions.list(&plain.user, T0 + SECOND).await.expect("a list");
    let entry = list.iter().find(|entry| entry.session == plain.session).expect("listed");
    assert_eq!((entry.device_type.as_str(), entry.device_name.as_str()), ("mobile", "iPhone 15 Pro"));
    assert_eq!((entry.address.as_str(), entry.user_agent.as_str()), ("192.0.2.7", "agent/1"));
    assert_eq!(
        (&*entry.roles, &*entry.permissions),
        (&["buyer"][..], &["view_listings", "book_tickets", "view_orders"][..])
    );
    assert_eq!((entry.created_ms, entry.last_used_ms, entry.is_remembered), (T0, T0, false));
    assert!(shop.find(&plain.token, T0 + DAY - 1).await.is_some());
    assert!(shop.find(&plain.token, T0 + DAY).await.is_none(), "nobody used it for a day");
    assert!(shop.find(&remembered.token, T0 + 30 * DAY - 1).await.is_some());
    for day in 1..=30 {
        let uses = [used(&plain.session, T0 + day * DAY - 1), used(&remembered.session, T0 + day * DAY - 1)];
        shop.sessions.note_uses(&uses).await.expect("noted");
    }
    assert!(shop.find(&plain.token, T0 + 30 * DAY - 1).await.is_some(), "it was used each day");
    for over in [&plain, &remembered] {
        assert!(shop.find(&over.token, T0 + 30 * DAY).await.is_none(), "thirty days are the end");
    }
    assert!(shop.sessions.list(&plain.user, T0 + 30 * DAY).await.expect("a list").is_empty());
}

async fn a_use_is_noted_at_most_once_a_minute_and_never_backwards(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let noted = async |used_ms| {
        shop.sessions.note_uses(&[used(&ann.session, used_ms)]).await.expect("noted");
        shop.sessions.list(&ann.user, T0).await.expect("a list")[0].last_used_ms
    };
    assert_eq!(noted(T0 + MINUTE - 1).await, T0);
    assert_eq!(noted(T0 + MINUTE).await, T0 + MINUTE);
    assert_eq!(noted(T0 - DAY).await, T0 + MINUTE, "a clock that went back");
    let many = (0..1_200).map(|number| used(&format!("ses_{number}"), T0)).collect::<Vec<_>>();
    shop.sessions.note_uses(&many).await.expect("unknown sessions are no matter");
}

async fn a_device_more_than_twenty_ends_the_one_unused_for_longest(shop: Shop) {
    let first = shop.account(ANN, T0).await;
    let mut sessions = Vec::new();
    for number in 1..SESSIONS_MAX as i64 {
        sessions.push(shop.sign_in(PASSWORD, T0 + number).await.expect("in"));
    }
    shop.sessions.note_uses(&[used(&first.session, T0 + HOUR)]).await.expect("noted");
    let now = T0 + HOUR;
    assert_eq!(shop.sessions.list(&first.user, now).await.expect("a list").len(), SESSIONS_MAX);
    let before = shop.changes(&first.user).await;
    shop.sign_in(PASSWORD, now).await.expect("in");
    assert_eq!(shop.sessions.list(&first.user, now).await.expect("a list").len(), SESSIONS_MAX);
    assert!(shop.find(&first.token, now).await.is_some(), "it was used a moment ago");
    assert!(shop.find(&sessions[0].token, now).await.is_none());
    assert!(shop.find(&sessions[1].token, now).await.is_some());
    assert_eq!(shop.changes(&first.user).await, before + 1, "servers forget the one that ended");
}

async fn people_end_one_or_all_others_or_all(shop: Shop) {
    let here = shop.account(ANN, T0).await;
    let there = shop.sign_in(PASSWORD, T0).await.expect("in");
    let third = shop.sign_in(PASSWORD, T0).await.expect("in");
    let before = shop.changes(&there.session).await;
    shop.sessions.end(&here.user, &there.session, &at(T0)).await.expect("ended");
    assert!(shop.find(&there.token, T0).await.is_none());
    assert_eq!(shop.changes(&there.session).await, before + 1);
    let again = shop.sessions.end(&here.user, &there.session, &at(T0)).await;
    assert_eq!(refusal(again), Refusal::SessionUnknown);
    let all = async |except| shop.sessions.end_all(&here.user, &here.user, except, &at(T0)).await;
    assert_eq!(all(Some(here.session.as_str())).await, Ok(1));
    assert!(shop.find(&third.token, T0).await.is_none() && shop.find(&here.token, T0).await.is_some());
    let before = shop.changes(&here.user).await;
    assert_eq!(all(None).await, Ok(1));
    assert!(shop.find(&here.token, T0).await.is_none());
    assert_eq!(shop.changes(&here.user).await, before + 1);
}

async fn nobody_ends_the_session_of_somebody_else(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let bob = shop.account("bob@example.org", T0).await;
    let answer = shop.sessions.end(&bob.user, &ann.session, &at(T0)).await;
    assert_eq!(refusal(answer), Refusal::SessionUnknown);
    assert_eq!(shop.sessions.end_all(&bob.user, &bob.user, None, &at(T0)).await, Ok(1));
    assert!(shop.find(&ann.token, T0).await.is_some());
    let device = Device::default();
    let from = SignInFrom { replaces: Some(&ann.session), ..from(&device) };
    shop.accounts.sign_in("bob@example.org", PASSWORD, from, &at(T0)).await.expect("in");
    assert!(shop.find(&ann.token, T0).await.is_some(), "replacing is for one's own");
}

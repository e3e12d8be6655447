//! Rotating tokens, and tokens that come back.

use onsale_access::accounts::Refusal;
use onsale_access::secrets::{Secret, SecretKind};
use onsale_access::sessions::ROTATION_GRACE_MS;

use crate::shop::*;

on_both! {
    a_rotated_token_works_a_little_longer_and_then_ends_the_session,
    a_rotation_asked_again_gives_the_same_token,
    a_rotation_by_an_old_token_ends_the_session,
    many_who_rotate_at_once_get_one_token,
    a_clock_that_jumps_back_makes_no_old_token_good,
    strangers_tokens_find_nothing,
}

async fn a_rotated_token_works_a_little_longer_and_then_ends_the_session(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let elsewhere = shop.sign_in(PASSWORD, T0).await.expect("in");
    let before = shop.changes(&ann.session).await;
    let next = shop.sessions.rotate(&ann.token, &at(T0)).await.expect("rotated");
    assert_eq!(shop.changes(&ann.session).await, before + 1, "servers learn that the old one ends");
    let last = T0 + ROTATION_GRACE_MS - 1;
    let old = shop.find(&ann.token, last).await.expect("on their way");
    assert_eq!(old.expires_ms, T0 + ROTATION_GRACE_MS, "nobody remembers it longer");
    assert!(shop.find(&next, last).await.is_some());
    assert!(shop.find(&ann.token, last + 1).await.is_none());
    assert!(shop.find(&next, last + 1).await.is_none(), "it ends for both");
    assert_eq!(shop.changes(&ann.session).await, before + 2, "and on every server");
    assert_eq!(shop.audited("session_token_reused", &ann.session).await, 1);
    assert!(shop.find(&elsewhere.token, last + 1).await.is_some(), "other devices go on");
}

async fn a_rotation_asked_again_gives_the_same_token(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let next = shop.sessions.rotate(&ann.token, &at(T0)).await.expect("rotated");
    let again = shop.sessions.rotate(&ann.token, &at(T0 + 9 * SECOND)).await.expect("the lost answer");
    assert_eq!(next, again);
    let third = shop.sessions.rotate(&next, &at(T0 + 9 * SECOND)).await.expect("rotated");
    assert_ne!(third, next);
    let late = shop.sessions.rotate(&ann.token, &at(T0 + 9 * SECOND)).await;
    assert_eq!(refusal(late), Refusal::TokenRotated, "its successor was replaced, too");
    assert!(shop.find(&third, T0 + 9 * SECOND).await.is_some());
    let other = shop.sessions.rotate(&third, &elsewhere(T0)).await;
    assert_eq!(refusal(other), Refusal::SessionUnknown, "of another tenant");
}

async fn a_rotation_by_an_old_token_ends_the_session(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let next = shop.sessions.rotate(&ann.token, &at(T0)).await.expect("rotated");
    let late = shop.sessions.rotate(&ann.token, &at(T0 + ROTATION_GRACE_MS)).await;
    assert_eq!(refusal(late), Refusal::SessionUnknown);
    assert!(shop.find(&next, T0 + ROTATION_GRACE_MS).await.is_none());
}

async fn many_who_rotate_at_once_get_one_token(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let rotations = (0..8).map(|_| {
        let (sessions, token) = (shop.sessions.clone(), ann.token.clone());
        tokio::spawn(async move { sessions.rotate(&token, &at(T0)).await.expect("rotated").text() })
    });
    let mut tokens = Vec::new();
    for rotation in rotations.collect::<Vec<_>>() {
        tokens.push(rotation.await.expect("it ends"));
    }
    tokens.dedup();
    assert_eq!(tokens.len(), 1);
}

async fn a_clock_that_jumps_back_makes_no_old_token_good(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let next = shop.sessions.rotate(&ann.token, &at(T0)).await.expect("rotated");
    assert!(shop.find(&ann.token, T0 - SECOND).await.is_some(), "another server's clock is a little behind");
    assert!(shop.find(&next, T0 - HOUR).await.is_some());
    assert!(shop.find(&ann.token, T0 - HOUR).await.is_none());
}

async fn strangers_tokens_find_nothing(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let text = ann.token.text();
    let forged = format!("{}{}", &text[..text.len() - 1], if text.ends_with('0') { '1' } else { '0' });
    assert!(Secret::parse(SecretKind::Session, &forged).is_none());
    let device = ann.device_token.expect("a new device");
    assert!(shop.find(&device, T0).await.is_none(), "a device's token opens nothing");
    assert!(shop.sessions.rotate(&device, &at(T0)).await.is_err());
}

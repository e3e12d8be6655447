//! Setting a new password by letter.

use onsale_access::accounts::{Refusal, SignInFrom};
use onsale_access::letters::LetterKind;
use onsale_access::sessions::Device;

use crate::shop::*;

on_both! {
    a_link_used_twice_at_once_sets_one_password,
    a_reset_ends_every_session_and_every_other_link,
    a_link_is_over_at_its_hour_and_elsewhere_it_opens_nothing,
    a_refused_password_leaves_the_link_good,
    an_unknown_address_is_answered_alike_and_gets_no_letter,
    who_guessed_does_not_slow_down_who_reads_the_mail,
    a_clock_that_jumps_back_brings_no_used_link_back,
}

async fn link(shop: &Shop, now: i64) -> String {
    shop.accounts.ask_for_reset(ANN, &at(now)).await.expect("asked");
    shop.token(LetterKind::Reset, now).await
}

async fn a_link_used_twice_at_once_sets_one_password(shop: Shop) {
    shop.account(ANN, T0).await;
    let link = link(&shop, T0).await;
    let tries = (0..8).map(|number| {
        let (accounts, link) = (shop.accounts.clone(), link.clone());
        tokio::spawn(async move {
            let password = format!("wombat number {number}");
            accounts.reset_password(&link, &password, &at(T0)).await.map(|_| password)
        })
    });
    let mut passwords = Vec::new();
    for one in tries.collect::<Vec<_>>() {
        match one.await.expect("it ends") {
            Ok(password) => passwords.push(password),
            Err(failure) => assert_eq!(refusal::<()>(Err(failure)), Refusal::TokenInvalid),
        }
    }
    assert_eq!(passwords.len(), 1);
    assert!(shop.sign_in(&passwords[0], T0).await.is_ok());
}

async fn a_reset_ends_every_session_and_every_other_link(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let device_token = ann.device_token.expect("a new device").text();
    let (first, second) = (link(&shop, T0).await, link(&shop, T0).await);
    let before = shop.changes(&ann.user).await;
    let user = shop.accounts.reset_password(&second, OTHER_PASSWORD, &at(T0)).await.expect("reset");
    assert_eq!(user, ann.user);
    assert!(shop.find(&ann.token, T0).await.is_none());
    assert_eq!(shop.changes(&ann.user).await, before + 1);
    assert_eq!(refusal(shop.accounts.reset_password(&first, PASSWORD, &at(T0)).await), Refusal::TokenInvalid);
    assert_eq!(shop.letter(LetterKind::PasswordChanged, T0).await.email, ANN);
    assert!(shop.sign_in(PASSWORD, T0).await.is_err());
    let device = Device::default();
    let from = SignInFrom { device_token: Some(&device_token), ..from(&device) };
    let back = shop.accounts.sign_in(ANN, OTHER_PASSWORD, from, &at(T0)).await.expect("in");
    assert!(back.device_token.is_some(), "the device is a new one again");
}

async fn a_link_is_over_at_its_hour_and_elsewhere_it_opens_nothing(shop: Shop) {
    shop.account(ANN, T0).await;
    let link = link(&shop, T0).await;
    for (text, context) in [
        (link.clone(), at(T0 + HOUR)),
        (link.clone(), elsewhere(T0)),
        (link.repeat(2), at(T0)),
        (link[1..].to_owned(), at(T0)),
        (link.replace("onsale_one_", "onsale_one_\0"), at(T0)),
    ] {
        let answer = shop.accounts.reset_password(&text, OTHER_PASSWORD, &context).await;
        assert_eq!(refusal(answer), Refusal::TokenInvalid, "{text:?}");
    }
    assert!(shop.accounts.reset_password(&link, OTHER_PASSWORD, &at(T0 + HOUR - 1)).await.is_ok());
}

async fn a_refused_password_leaves_the_link_good(shop: Shop) {
    shop.account(ANN, T0).await;
    let link = link(&shop, T0).await;
    for bad in ["short", "password1", &"p".repeat(300)] {
        let answer = refusal(shop.accounts.reset_password(&link, bad, &at(T0)).await);
        assert!(matches!(answer, Refusal::Field { field: "new_password", .. }), "{answer:?}");
    }
    assert!(shop.accounts.reset_password(&link, OTHER_PASSWORD, &at(T0)).await.is_ok());
}

async fn an_unknown_address_is_answered_alike_and_gets_no_letter(shop: Shop) {
    shop.accounts.ask_for_reset("nobody@example.org", &at(T0)).await.expect("the same yes");
    let ann = shop.account(ANN, T0).await;
    shop.accounts.disable(&ann.user, "usr_staff", &at(T0)).await.expect("disabled");
    shop.accounts.ask_for_reset(ANN, &at(T0)).await.expect("the same yes");
    assert!(shop.all_letters(T0).await.is_empty());
}

async fn who_guessed_does_not_slow_down_who_reads_the_mail(shop: Shop) {
    shop.account(ANN, T0).await;
    while refusal(shop.sign_in("wrong but long", T0).await) == Refusal::CredentialsWrong {}
    let link = link(&shop, T0).await;
    shop.accounts.reset_password(&link, OTHER_PASSWORD, &at(T0)).await.expect("reset");
    assert!(shop.sign_in(OTHER_PASSWORD, T0).await.is_ok());
}

async fn a_clock_that_jumps_back_brings_no_used_link_back(shop: Shop) {
    shop.account(ANN, T0).await;
    let link = link(&shop, T0).await;
    shop.accounts.reset_password(&link, OTHER_PASSWORD, &at(T0)).await.expect("reset");
    let earlier = at(T0 - DAY);
    assert_eq!(refusal(shop.accounts.reset_password(&link, PASSWORD, &earlier).await), Refusal::TokenInvalid);
}

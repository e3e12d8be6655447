//! Idempotency keys: a request that is sent again does nothing more, and is answered the same.

use onsale_access::accounts::Refusal;
use onsale_access::answers::{Answers, Request};
use onsale_access::context::Context;
use onsale_access::letters::LetterKind;
use onsale_access::once::Once;
use onsale_access::sessions::Device;

use crate::shop::*;

on_both! {
    a_request_sent_again_is_answered_the_same_and_done_once,
    two_equal_requests_at_once_make_one_guest,
    a_refusal_is_not_kept,
    a_key_for_another_request_is_refused,
    after_a_change_of_the_password_the_lost_answer_is_given_again,
}

fn once(answers: &Answers, key: u8, body: u8) -> Context<'_> {
    let request = Request { scope: [key; 32], fingerprint: [body; 32] };
    Context { once: Some(Once { answers, request }), ..at(T0) }
}

async fn a_request_sent_again_is_answered_the_same_and_done_once(shop: Shop) {
    let answers = Answers::new(b"house");
    for _ in 0..2 {
        shop.accounts.register(ANN, PASSWORD, None, &once(&answers, 1, 1)).await.expect("registered");
    }
    let letters = shop.all_letters(T0).await;
    let [letter] = letters.as_slice() else { panic!("one letter, not {letters:?}") };
    let token = letter.token.as_ref().expect("a token").text();
    let device = Device::default();
    let mut started = Vec::new();
    for _ in 0..2 {
        let context = once(&answers, 2, 1);
        let answer = shop.accounts.confirm_registration(&token, PASSWORD, from(&device), &context).await;
        started.push(answer.expect("an account"));
    }
    assert_eq!(started[0].token, started[1].token);
    assert_eq!(started[0].device_token, started[1].device_token);
    let before = shop.passwords.hashes();
    for _ in 0..2 {
        let answer = shop.accounts.sign_in(ANN, PASSWORD, from(&device), &once(&answers, 3, 1)).await;
        started.push(answer.expect("in"));
    }
    assert_eq!(shop.passwords.hashes(), before + 1);
    assert_eq!((&started[2].session, &started[2].token), (&started[3].session, &started[3].token));
    assert_eq!(shop.sessions.list(&started[0].user, T0).await.expect("a list").len(), 2);
    for _ in 0..2 {
        let ended = shop.sessions.end(&started[2].user, &started[2].session, &once(&answers, 4, 1)).await;
        assert_eq!(ended, Ok(()));
    }
}

async fn two_equal_requests_at_once_make_one_guest(shop: Shop) {
    let answers = Answers::new(b"house");
    let (device, context) = (Device::default(), once(&answers, 1, 1));
    let (one, other) = tokio::join!(
        shop.accounts.start_guest(&device, &context),
        shop.accounts.start_guest(&device, &context),
    );
    assert_eq!(one.expect("a guest").token, other.expect("a guest").token);
}

async fn a_refusal_is_not_kept(shop: Shop) {
    let answers = Answers::new(b"house");
    shop.account(ANN, T0).await;
    let device = Device::default();
    let sign_in =
        async |password| shop.accounts.sign_in(ANN, password, from(&device), &once(&answers, 1, 1)).await;
    assert_eq!(refusal(sign_in("wrong but long").await), Refusal::CredentialsWrong);
    assert!(sign_in(PASSWORD).await.is_ok());
}

async fn a_key_for_another_request_is_refused(shop: Shop) {
    let answers = Answers::new(b"house");
    shop.accounts.register(ANN, PASSWORD, None, &once(&answers, 1, 1)).await.expect("registered");
    let other = shop.accounts.register(ANN, OTHER_PASSWORD, None, &once(&answers, 1, 2)).await;
    assert_eq!(refusal(other), Refusal::KeyReused);
}

async fn after_a_change_of_the_password_the_lost_answer_is_given_again(shop: Shop) {
    let answers = Answers::new(b"house");
    let ann = shop.account(ANN, T0).await;
    let change = async || {
        let context = once(&answers, 1, 1);
        shop.accounts.change_password(&ann.user, &ann.session, PASSWORD, OTHER_PASSWORD, &context).await
    };
    let token = change().await.expect("changed");
    assert_eq!(change().await.expect("the same answer"), token);
    shop.accounts.ask_for_reset(ANN, &at(T0)).await.expect("asked");
    let link = shop.token(LetterKind::Reset, T0).await;
    for _ in 0..2 {
        let reset = shop.accounts.reset_password(&link, PASSWORD, &once(&answers, 2, 1)).await;
        assert_eq!(reset.expect("reset"), ann.user);
    }
}

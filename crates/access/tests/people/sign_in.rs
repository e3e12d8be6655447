//! Signing in: the same answer and the same work for everybody, and waits for those who guess.

use onsale_access::accounts::{Refusal, SignInFrom};
use onsale_access::letters::LetterKind;
use onsale_access::passwords::{PasswordCost, PasswordPool};
use onsale_access::sessions::Device;
use onsale_sql::Query;

use crate::shop::*;

on_both! {
    an_unknown_account_takes_the_same_work_and_gets_the_same_answer,
    after_five_failures_each_try_waits_longer,
    a_thousand_guesses_at_once_are_no_more_than_in_a_row,
    a_known_device_does_not_wait_for_strangers,
    a_clock_that_jumps_back_locks_nobody_out,
    a_weak_hash_becomes_stronger_with_the_next_sign_in,
    a_new_device_is_told_by_letter_and_a_known_one_is_not,
    a_changed_password_ends_all_other_sessions,
    who_is_disabled_is_told_so_only_with_the_right_password,
}

static HASH: Query =
    Query { name: "hash", text: "-- finds\n-- $1 user\nselect password_hash from person where user_id = $1" };

async fn an_unknown_account_takes_the_same_work_and_gets_the_same_answer(shop: Shop) {
    shop.account(ANN, T0).await;
    let mut answers = Vec::new();
    for email in [ANN, "nobody@example.org"] {
        for password in ["wrong but long", "", "\0", &"p".repeat(300)] {
            let before = shop.passwords.hashes();
            let answer = shop.accounts.sign_in(email, password, from(&Device::default()), &at(T0)).await;
            answers.push((refusal(answer), shop.passwords.hashes() - before));
        }
    }
    assert_eq!(answers[0], (Refusal::CredentialsWrong, 1));
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

async fn after_five_failures_each_try_waits_longer(shop: Shop) {
    shop.account(ANN, T0).await;
    for email in [ANN, "nobody@example.org"] {
        let sign_in = async |password, now| {
            refusal(shop.accounts.sign_in(email, password, from(&Device::default()), &at(now)).await)
        };
        for _ in 0..5 {
            assert_eq!(sign_in("wrong but long", T0).await, Refusal::CredentialsWrong);
        }
        let before = shop.passwords.hashes();
        let wait = Refusal::TooManyAttempts { retry_after_ms: 30 * SECOND };
        assert_eq!(sign_in(PASSWORD, T0).await, wait, "the right one is not looked at either");
        assert_eq!(shop.passwords.hashes(), before, "no work");
        let now = T0 + 30 * SECOND;
        assert_eq!(sign_in("wrong but long", now - 1).await, Refusal::TooManyAttempts { retry_after_ms: 1 });
        assert_eq!(sign_in("wrong but long", now).await, Refusal::CredentialsWrong);
        let longer = Refusal::TooManyAttempts { retry_after_ms: MINUTE };
        assert_eq!(sign_in("wrong but long", now).await, longer);
    }
    assert!(shop.sign_in(PASSWORD, T0 + 2 * MINUTE).await.is_ok(), "who waits gets in");
    assert!(shop.sign_in("wrong but long", T0 + 2 * MINUTE).await.is_err());
    assert!(shop.sign_in(PASSWORD, T0 + 2 * MINUTE).await.is_ok(), "a success begins the count anew");
}

async fn a_thousand_guesses_at_once_are_no_more_than_in_a_row(shop: Shop) {
    shop.account(ANN, T0).await;
    let before = shop.passwords.hashes();
    let guesses = (0..40).map(|_| {
        let accounts = shop.accounts.clone();
        tokio::spawn(async move {
            accounts.sign_in(ANN, "wrong but long", from(&Device::default()), &at(T0)).await.map(drop)
        })
    });
    for guess in guesses.collect::<Vec<_>>() {
        assert!(guess.await.expect("it ends").is_err());
    }
    assert_eq!(shop.passwords.hashes() - before, 5);
}

async fn a_known_device_does_not_wait_for_strangers(shop: Shop) {
    let owner = shop.account(ANN, T0).await;
    let device_token = owner.device_token.expect("a new device").text();
    while refusal(shop.sign_in("wrong but long", T0).await) == Refusal::CredentialsWrong {}
    let device = Device::default();
    let known = SignInFrom { device_token: Some(&device_token), ..from(&device) };
    let back = shop.accounts.sign_in(ANN, PASSWORD, known, &at(T0)).await.expect("the owner gets in");
    assert!(back.device_token.is_none() && !back.is_new_device);
    assert!(shop.find(&owner.token, T0).await.is_none(), "one session for each device");
    for _ in 0..5 {
        assert_eq!(
            refusal(shop.accounts.sign_in(ANN, "wrong but long", known, &at(T0)).await),
            Refusal::CredentialsWrong
        );
    }
    let waits = refusal(shop.accounts.sign_in(ANN, PASSWORD, known, &at(T0)).await);
    assert_eq!(waits, Refusal::TooManyAttempts { retry_after_ms: 30 * SECOND }, "it has a count of its own");
    let elses = shop.account("bob@example.org", T0).await.device_token.expect("a new device").text();
    let stolen = SignInFrom { device_token: Some(&elses), ..from(&device) };
    let answer = refusal(shop.accounts.sign_in(ANN, PASSWORD, stolen, &at(T0)).await);
    assert!(
        matches!(answer, Refusal::TooManyAttempts { .. }),
        "somebody else's device is not known: {answer:?}"
    );
}

async fn a_clock_that_jumps_back_locks_nobody_out(shop: Shop) {
    shop.account(ANN, T0).await;
    while refusal(shop.sign_in("wrong but long", T0).await) == Refusal::CredentialsWrong {}
    let earlier = T0 - 3 * DAY;
    let waits = refusal(shop.sign_in(PASSWORD, earlier).await);
    assert_eq!(waits, Refusal::TooManyAttempts { retry_after_ms: 30 * SECOND });
    let back = shop.sign_in(PASSWORD, earlier + 30 * SECOND).await.expect("the wait has passed");
    assert!(shop.find(&back.token, earlier + 30 * SECOND).await.is_some());
}

async fn a_weak_hash_becomes_stronger_with_the_next_sign_in(shop: Shop) {
    let user = shop.account(ANN, T0).await.user;
    let hash = async || {
        let rows = shop.sql.query(&HASH, &[user.as_str().into()]).await.expect("rows");
        rows[0].text(0).expect("a hash").to_owned()
    };
    assert!(hash().await.contains("t=1"));
    let cost = PasswordCost { passes: 2, ..PasswordCost::FOR_TESTS };
    let stronger = accounts(&shop.sql, &start(cost, PasswordPool { threads: 1, queue: 5 }));
    let wrong = stronger.sign_in(ANN, "wrong but long", from(&Device::default()), &at(T0)).await;
    assert_eq!(refusal(wrong), Refusal::CredentialsWrong);
    assert!(hash().await.contains("t=1"), "a wrong password changes nothing");
    stronger.sign_in(ANN, PASSWORD, from(&Device::default()), &at(T0)).await.expect("in");
    assert!(hash().await.contains("t=2"));
    assert!(shop.sign_in(PASSWORD, T0).await.is_ok(), "and it is the same password");
}

async fn a_new_device_is_told_by_letter_and_a_known_one_is_not(shop: Shop) {
    let first = shop.account(ANN, T0).await;
    assert!(!first.is_new_device && shop.all_letters(T0).await.is_empty(), "the first one is no news");
    let phone = Device::new("mobile", "iPhone 15 Pro", "agent");
    let second = shop.accounts.sign_in(ANN, PASSWORD, from(&phone), &at(T0)).await.expect("in");
    assert!(second.is_new_device);
    let letter = shop.letter(LetterKind::NewDevice, T0).await;
    assert_eq!((letter.details.as_str(), letter.email.as_str()), ("iPhone 15 Pro", ANN));
    let token = second.device_token.expect("a token").text();
    let known = SignInFrom { device_token: Some(&token), ..from(&phone) };
    assert!(!shop.accounts.sign_in(ANN, PASSWORD, known, &at(T0)).await.expect("in").is_new_device);
    assert!(shop.all_letters(T0).await.is_empty());
    assert_eq!(shop.sessions.list(&first.user, T0).await.expect("a list").len(), 2);
}

async fn a_changed_password_ends_all_other_sessions(shop: Shop) {
    let here = shop.account(ANN, T0).await;
    let there = shop.sign_in(PASSWORD, T0).await.expect("in");
    let change =
        async |old, new| shop.accounts.change_password(&here.user, &here.session, old, new, &at(T0)).await;
    assert_eq!(refusal(change("wrong but long", OTHER_PASSWORD).await), Refusal::CredentialsWrong);
    assert!(matches!(
        refusal(change(PASSWORD, "password1").await),
        Refusal::Field { field: "new_password", .. }
    ));
    assert!(shop.find(&there.token, T0).await.is_some(), "what was refused changes nothing");
    let before = shop.changes(&here.user).await;
    let token = change(PASSWORD, OTHER_PASSWORD).await.expect("changed");
    assert!(shop.find(&there.token, T0).await.is_none());
    let session = shop.find(&token, T0).await.expect("this one goes on");
    assert_eq!(&*session.session, here.session);
    assert_eq!(shop.changes(&here.user).await, before + 1);
    assert_eq!(shop.letter(LetterKind::PasswordChanged, T0).await.email, ANN);
    assert!(shop.sign_in(PASSWORD, T0).await.is_err() && shop.sign_in(OTHER_PASSWORD, T0).await.is_ok());
    for _ in 0..4 {
        assert_eq!(refusal(change("wrong but long", PASSWORD).await), Refusal::CredentialsWrong);
    }
    assert_eq!(refusal(change("wrong but long", PASSWORD).await), Refusal::CredentialsWrong);
    assert!(matches!(refusal(change(OTHER_PASSWORD, PASSWORD).await), Refusal::TooManyAttempts { .. }));
}

async fn who_is_disabled_is_told_so_only_with_the_right_password(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    shop.accounts.disable(&ann.user, "usr_staff", &at(T0)).await.expect("disabled");
    assert!(shop.find(&ann.token, T0).await.is_none());
    assert_eq!(refusal(shop.sign_in("wrong but long", T0).await), Refusal::CredentialsWrong);
    assert_eq!(refusal(shop.sign_in(PASSWORD, T0).await), Refusal::AccountDisabled);
    shop.accounts.enable(&ann.user, "usr_staff", &at(T0)).await.expect("enabled");
    assert!(shop.sign_in(PASSWORD, T0).await.is_ok());
    assert!(shop.find(&ann.token, T0).await.is_none(), "what has ended stays so");
}

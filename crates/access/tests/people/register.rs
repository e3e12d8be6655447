//! Registering: a letter, a link, an account; and nothing for strangers to learn.

use onsale_access::accounts::{AccountState, Refusal};
use onsale_access::letters::LetterKind;
use onsale_access::sessions::Device;
use onsale_sql::Query;

use crate::shop::*;

on_both! {
    an_account_begins_with_its_link_and_its_password,
    a_taken_address_is_answered_alike_and_its_owner_gets_a_letter,
    a_link_that_a_stranger_caused_makes_no_account_for_the_stranger,
    of_two_links_to_one_address_one_makes_the_account,
    a_registration_token_is_for_one_tenant_one_use_and_one_day,
    bad_fields_are_refused_by_name,
    strangers_fill_no_mailbox,
    an_address_is_one_in_each_tenant_however_it_is_written,
    every_statement_is_understood,
}

async fn every_statement_is_understood(shop: Shop) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    assert!(shop.sql.prepare_all(&folder).await.expect("all are prepared") > 50);
}

async fn an_account_begins_with_its_link_and_its_password(shop: Shop) {
    shop.accounts.register(ANN, PASSWORD, None, &at(T0)).await.expect("registered");
    assert_eq!(refusal(shop.sign_in(PASSWORD, T0).await), Refusal::CredentialsWrong);
    let letter = shop.letter(LetterKind::Verification, T0).await;
    assert_eq!((letter.email.as_str(), letter.user.as_deref()), (ANN, None));
    let token = letter.token.expect("a token").text();
    let device = Device::new("mobile", "iPhone", "agent");
    let started = shop.accounts.confirm_registration(&token, PASSWORD, from(&device), &at(T0)).await;
    let started = started.expect("an account");
    assert!(started.user.starts_with("usr_") && started.user.len() == 20, "{}", started.user);
    let account = shop.accounts.find(&started.user, &at(T0)).await.expect("the account");
    assert_eq!((account.state, account.email.as_deref()), (AccountState::Active, Some(ANN)));
    assert_eq!(account.roles.to_string(), "buyer");
    let found = shop.find(&started.token, T0).await.expect("a session");
    assert_eq!((found.user.as_str(), found.is_guest), (started.user.as_str(), false));
    assert!(shop.sign_in(PASSWORD, T0).await.is_ok());
    assert_eq!(shop.audited("account_made", &started.user).await, 1);
}

async fn a_taken_address_is_answered_alike_and_its_owner_gets_a_letter(shop: Shop) {
    let owner = shop.account("Ann@example.org", T0).await;
    shop.all_letters(T0).await;
    let before = shop.passwords.hashes();
    shop.accounts.register("free@example.org", OTHER_PASSWORD, None, &at(T0)).await.expect("a yes");
    let free = shop.passwords.hashes() - before;
    shop.accounts.register("ANN@example.org", OTHER_PASSWORD, None, &at(T0)).await.expect("the same yes");
    assert_eq!(shop.passwords.hashes() - before, 2 * free, "the same work");
    let letters = shop.all_letters(T0).await;
    let told = letters.iter().find(|letter| letter.user.is_some()).expect("the owner is told");
    assert_eq!((told.kind, told.token.is_none()), (LetterKind::AlreadyRegistered, true));
    assert_eq!(told.email, "Ann@example.org", "as its owner wrote it");
    assert_eq!(told.user.as_deref(), Some(owner.user.as_str()));
    assert!(shop.accounts.sign_in(ANN, OTHER_PASSWORD, from(&Device::default()), &at(T0)).await.is_err());
}

async fn a_link_that_a_stranger_caused_makes_no_account_for_the_stranger(shop: Shop) {
    shop.accounts.register(ANN, OTHER_PASSWORD, None, &at(T0)).await.expect("by a stranger");
    let theirs = shop.token(LetterKind::Verification, T0).await;
    shop.accounts.register(ANN, PASSWORD, None, &at(T0)).await.expect("by its owner");
    let own = shop.token(LetterKind::Verification, T0).await;
    let device = Device::default();
    let opened = shop.accounts.confirm_registration(&theirs, PASSWORD, from(&device), &at(T0)).await;
    assert_eq!(refusal(opened), Refusal::CredentialsWrong);
    let opened = shop.accounts.confirm_registration(&own, PASSWORD, from(&device), &at(T0)).await;
    assert!(opened.is_ok());
    let late = shop.accounts.confirm_registration(&theirs, OTHER_PASSWORD, from(&device), &at(T0)).await;
    assert_eq!(refusal(late), Refusal::TokenInvalid, "the account's links are all used with the first");
}

async fn of_two_links_to_one_address_one_makes_the_account(shop: Shop) {
    let mut tokens = Vec::new();
    for _ in 0..2 {
        shop.accounts.register(ANN, PASSWORD, None, &at(T0)).await.expect("registered");
        tokens.push(shop.token(LetterKind::Verification, T0).await);
    }
    let (device, context) = (Device::default(), at(T0));
    let (one, other) = tokio::join!(
        shop.accounts.confirm_registration(&tokens[0], PASSWORD, from(&device), &context),
        shop.accounts.confirm_registration(&tokens[1], PASSWORD, from(&device), &context),
    );
    assert!(one.is_ok() ^ other.is_ok(), "{one:?} {other:?}");
    assert_eq!(shop.accounts.list("", 10, &at(T0)).await.expect("accounts").len(), 1);
}

async fn a_registration_token_is_for_one_tenant_one_use_and_one_day(shop: Shop) {
    shop.accounts.register(ANN, PASSWORD, None, &at(T0)).await.expect("registered");
    let token = shop.token(LetterKind::Verification, T0).await;
    let device = Device::default();
    for (text, context) in [
        (token.clone(), elsewhere(T0)),
        (token.clone(), at(T0 + DAY)),
        (format!("{token}{token}"), at(T0)),
        (token[..token.len() - 1].to_owned(), at(T0)),
        (format!("{token}\0"), at(T0)),
        (String::new(), at(T0)),
    ] {
        let answer = shop.accounts.confirm_registration(&text, PASSWORD, from(&device), &context).await;
        assert_eq!(refusal(answer), Refusal::TokenInvalid, "{text:?}");
        let answer = shop.accounts.reset_password(&text, PASSWORD, &context).await;
        assert_eq!(refusal(answer), Refusal::TokenInvalid, "for another purpose");
    }
    let last = at(T0 + DAY - 1);
    assert!(shop.accounts.confirm_registration(&token, PASSWORD, from(&device), &last).await.is_ok());
    let again = shop.accounts.confirm_registration(&token, PASSWORD, from(&device), &last).await;
    assert_eq!(refusal(again), Refusal::TokenInvalid);
}

async fn bad_fields_are_refused_by_name(shop: Shop) {
    let long_email = format!("ann@{}.org", "a.".repeat(147));
    let long_password = "p".repeat(150) + &"q".repeat(150);
    let cases = [
        (long_email.as_str(), PASSWORD, "email"),
        ("ann", PASSWORD, "email"),
        ("ann\0@example.org", PASSWORD, "email"),
        (ANN, long_password.as_str(), "password"),
        (ANN, "short", "password"),
        (ANN, "password123", "password"),
        ("annika@example.org", "annika-0815", "password"),
    ];
    for (email, password, expected) in cases {
        let answer = refusal(shop.accounts.register(email, password, None, &at(T0)).await);
        let Refusal::Field { field, problem } = answer else { panic!("{answer:?}") };
        assert_eq!(field, expected);
        assert!(problem.len() > 10);
    }
    assert!(shop.all_letters(T0).await.is_empty());
    shop.accounts.register("jörg+tickets@münchen.example", PASSWORD, None, &at(T0)).await.expect("taken");
    assert_eq!(shop.letter(LetterKind::Verification, T0).await.email, "jörg+tickets@münchen.example");
}

async fn strangers_fill_no_mailbox(shop: Shop) {
    for _ in 0..8 {
        shop.accounts.register(ANN, PASSWORD, None, &at(T0)).await.expect("the same yes");
        shop.accounts.ask_for_reset(ANN, &at(T0)).await.expect("the same yes");
    }
    assert!(shop.all_letters(T0).await.len() <= 5);
    shop.accounts.register(ANN, PASSWORD, None, &at(T0 + HOUR)).await.expect("a yes");
    assert_eq!(shop.all_letters(T0 + HOUR).await.len(), 1, "an hour later there may be more");
}

async fn an_address_is_one_in_each_tenant_however_it_is_written(shop: Shop) {
    static TENANT: Query = Query {
        name: "tenant",
        text: "-- adds\n-- none\ninsert into tenant (tenant_number, name, created) values (7, 'other', 0)",
    };
    let mut tx = shop.sql.begin().await.expect("a transaction");
    tx.execute(&TENANT, &[]).await.expect("added");
    tx.commit().await.expect("committed");
    let roles = onsale_access::role::Roles::BUYER;
    let add = async |email, context| shop.accounts.add(email, PASSWORD, roles, &context).await;
    let here = add("jörg@münchen.example", at(T0)).await.expect("added");
    assert_eq!(refusal(add("JÖRG@xn--mnchen-3ya.example", at(T0)).await), Refusal::EmailTaken);
    let there = add("jörg@münchen.example", elsewhere(T0)).await.expect("another tenant's");
    assert_ne!(here, there);
    assert_eq!(refusal(shop.accounts.find(&here, &elsewhere(T0)).await), Refusal::UserUnknown);
}

//! Another address for an account.

use onsale_access::accounts::Refusal;
use onsale_access::letters::LetterKind;

use crate::shop::*;

on_both! {
    a_new_address_proves_itself_and_the_old_one_is_told,
    a_taken_address_is_answered_alike_and_its_owner_gets_a_letter,
    a_link_to_the_old_address_opens_nothing_after_the_change,
    of_two_who_want_one_address_the_first_to_prove_it_has_it,
}

const NEW: &str = "ann@elsewhere.example";

async fn a_new_address_proves_itself_and_the_old_one_is_told(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let ask =
        async |password, email| shop.accounts.ask_for_email_change(&ann.user, password, email, &at(T0)).await;
    assert_eq!(refusal(ask("wrong but long", NEW).await), Refusal::CredentialsWrong);
    assert!(matches!(refusal(ask(PASSWORD, "ann").await), Refusal::Field { field: "new_email", .. }));
    ask(PASSWORD, NEW).await.expect("asked");
    let letter = shop.letter(LetterKind::EmailChange, T0).await;
    assert_eq!(letter.email, NEW);
    assert!(shop.sign_in(PASSWORD, T0).await.is_ok(), "until then the old one counts");
    let token = letter.token.expect("a token").text();
    let late = shop.accounts.confirm_email_change(&token, &at(T0 + DAY)).await;
    assert_eq!(refusal(late), Refusal::TokenInvalid);
    let (context, elsewhere) = (at(T0), elsewhere(T0));
    assert_eq!(refusal(shop.accounts.confirm_email_change(&token, &elsewhere).await), Refusal::TokenInvalid);
    let (one, other) = tokio::join!(
        shop.accounts.confirm_email_change(&token, &context),
        shop.accounts.confirm_email_change(&token, &context)
    );
    assert!(one.is_ok() ^ other.is_ok(), "used twice at once: {one:?} {other:?}");
    assert_eq!(shop.letter(LetterKind::EmailChanged, T0).await.email, ANN, "the old one is told");
    assert!(shop.sign_in(PASSWORD, T0).await.is_err());
    let device = onsale_access::sessions::Device::default();
    assert!(shop.accounts.sign_in(NEW, PASSWORD, from(&device), &at(T0)).await.is_ok());
    assert!(shop.find(&ann.token, T0).await.is_some(), "sessions go on");
}

async fn a_taken_address_is_answered_alike_and_its_owner_gets_a_letter(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let bob = shop.account(NEW, T0).await;
    shop.accounts.ask_for_email_change(&ann.user, PASSWORD, NEW, &at(T0)).await.expect("the same yes");
    let letter = shop.letter(LetterKind::AlreadyRegistered, T0).await;
    assert_eq!((letter.user.as_deref(), letter.email.as_str()), (Some(bob.user.as_str()), NEW));
    assert!(letter.token.is_none());
}

async fn a_link_to_the_old_address_opens_nothing_after_the_change(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    shop.accounts.ask_for_reset(ANN, &at(T0)).await.expect("asked");
    let reset = shop.token(LetterKind::Reset, T0).await;
    shop.accounts.ask_for_email_change(&ann.user, PASSWORD, NEW, &at(T0)).await.expect("asked");
    let change = shop.token(LetterKind::EmailChange, T0).await;
    shop.accounts.confirm_email_change(&change, &at(T0)).await.expect("changed");
    let opened = shop.accounts.reset_password(&reset, OTHER_PASSWORD, &at(T0)).await;
    assert_eq!(refusal(opened), Refusal::TokenInvalid);
}

async fn of_two_who_want_one_address_the_first_to_prove_it_has_it(shop: Shop) {
    let mut tokens = Vec::new();
    for email in [ANN, "bob@example.org"] {
        let user = shop.account(email, T0).await.user;
        shop.accounts.ask_for_email_change(&user, PASSWORD, NEW, &at(T0)).await.expect("asked");
        tokens.push(shop.token(LetterKind::EmailChange, T0).await);
    }
    assert!(shop.accounts.confirm_email_change(&tokens[0], &at(T0)).await.is_ok());
    let late = refusal(shop.accounts.confirm_email_change(&tokens[1], &at(T0)).await);
    assert_eq!(late, Refusal::EmailTaken);
}

//! Guests, who may become accounts.

use onsale_access::accounts::{AccountState, Refusal, SignInFrom};
use onsale_access::letters::LetterKind;
use onsale_access::role::Role;
use onsale_access::sessions::Device;
use onsale_domain::{ListingId, ListingKind, Tenant};

use crate::shop::*;

on_both! {
    a_guest_becomes_an_account_with_the_same_id_and_all_it_has,
    a_guest_whose_address_has_an_account_signs_in_and_stays_two,
    a_guest_becomes_one_account_only,
    a_guest_has_no_password_to_change_and_no_roles,
    guests_without_a_session_are_swept_after_their_time,
}

const CONCERT: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };

async fn a_guest_becomes_an_account_with_the_same_id_and_all_it_has(shop: Shop) {
    let guest = shop.accounts.start_guest(&Device::default(), &at(T0)).await.expect("a guest");
    assert!(shop.find(&guest.token, T0).await.expect("a session").is_guest);
    shop.accounts.add_favourite(&guest.user, &CONCERT, &at(T0)).await.expect("added");
    shop.accounts.register(ANN, PASSWORD, Some(&guest.user), &at(T0)).await.expect("registered");
    assert!(shop.find(&guest.token, T0).await.expect("a session").is_guest, "nothing has changed yet");
    let token = shop.token(LetterKind::Verification, T0).await;
    let phone = Device::new("mobile", "phone", "");
    let account = shop.accounts.confirm_registration(&token, PASSWORD, from(&phone), &at(T0)).await;
    let account = account.expect("an account");
    assert_eq!(account.user, guest.user);
    assert!(shop.changes(&guest.user).await >= 1, "every server reads the guest's session anew");
    let session = shop.find(&guest.token, T0).await.expect("the laptop with the seats goes on");
    assert!(!session.is_guest);
    let state = shop.accounts.find(&guest.user, &at(T0)).await.expect("found");
    assert_eq!((state.state, state.email.as_deref()), (AccountState::Active, Some(ANN)));
    assert_eq!(shop.accounts.favourites(&guest.user, &at(T0)).await.expect("a list").len(), 1);
}

async fn a_guest_whose_address_has_an_account_signs_in_and_stays_two(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let guest = shop.accounts.start_guest(&Device::default(), &at(T0)).await.expect("a guest");
    shop.accounts.register(ANN, OTHER_PASSWORD, Some(&guest.user), &at(T0)).await.expect("the same yes");
    let letter = shop.letter(LetterKind::AlreadyRegistered, T0).await;
    assert_eq!(letter.user.as_deref(), Some(ann.user.as_str()));
    let device = Device::default();
    let from = SignInFrom { replaces: Some(&guest.session), ..from(&device) };
    let back = shop.accounts.sign_in(ANN, PASSWORD, from, &at(T0)).await.expect("in");
    assert_eq!(back.user, ann.user);
    let left = shop.find(&guest.token, T0).await.expect("what the guest holds can still be paid for");
    assert!(left.is_guest && left.user.as_str() == guest.user);
    let from = SignInFrom { replaces: Some(&back.session), ..from };
    shop.accounts.sign_in(ANN, PASSWORD, from, &at(T0)).await.expect("in again");
    assert!(shop.find(&back.token, T0).await.is_none(), "one's own session is replaced");
}

async fn a_guest_becomes_one_account_only(shop: Shop) {
    let guest = shop.accounts.start_guest(&Device::default(), &at(T0)).await.expect("a guest");
    let mut users = Vec::new();
    for email in [ANN, "other@example.org"] {
        shop.accounts.register(email, PASSWORD, Some(&guest.user), &at(T0)).await.expect("registered");
    }
    for letter in shop.all_letters(T0).await {
        let token = letter.token.expect("a token").text();
        let device = Device::default();
        let account = shop.accounts.confirm_registration(&token, PASSWORD, from(&device), &at(T0)).await;
        users.push(account.expect("an account").user);
    }
    assert_eq!(users.iter().filter(|user| **user == guest.user).count(), 1, "{users:?}");
    assert_ne!(users[0], users[1]);
}

async fn a_guest_has_no_password_to_change_and_no_roles(shop: Shop) {
    let guest = shop.accounts.start_guest(&Device::default(), &at(T0)).await.expect("a guest");
    let (user, session) = (&guest.user, &guest.session);
    let answer = shop.accounts.change_password(user, session, PASSWORD, OTHER_PASSWORD, &at(T0)).await;
    assert_eq!(refusal(answer), Refusal::NotAnAccount);
    let answer = shop.accounts.ask_for_email_change(user, PASSWORD, ANN, &at(T0)).await;
    assert_eq!(refusal(answer), Refusal::NotAnAccount);
    let answer = shop.accounts.give_role(user, Role::Admin, "usr_staff", &at(T0)).await;
    assert_eq!(refusal(answer), Refusal::NotAnAccount);
    assert_eq!(refusal(shop.accounts.disable(user, "usr_staff", &at(T0)).await), Refusal::NotAnAccount);
}

async fn guests_without_a_session_are_swept_after_their_time(shop: Shop) {
    let guest = shop.accounts.start_guest(&Device::default(), &at(T0)).await.expect("a guest");
    shop.accounts.add_favourite(&guest.user, &CONCERT, &at(T0)).await.expect("added");
    let swept = shop.accounts.sweep(T0 + DAY - 1).await.expect("swept");
    assert_eq!((swept.sessions, swept.guests), (0, 0));
    let swept = shop.accounts.sweep(T0 + DAY).await.expect("swept");
    assert_eq!((swept.sessions, swept.guests), (1, 0), "the session is over, the guest is still known");
    let swept = shop.accounts.sweep(T0 + 61 * DAY).await.expect("swept");
    assert_eq!((swept.sessions, swept.guests), (0, 1));
    assert_eq!(refusal(shop.accounts.find(&guest.user, &at(T0)).await), Refusal::UserUnknown);
}

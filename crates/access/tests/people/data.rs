//! What people like, what is stored of them, and what is left when they go.

use onsale_access::accounts::{AccountState, FAVOURITES_MAX, Preferences, Refusal};
use onsale_access::letters::LetterKind;
use onsale_access::role::Role;
use onsale_domain::{ListingId, ListingKind, Tenant};
use onsale_sql::Query;

use crate::shop::*;

on_both! {
    preferences_read_back_and_bad_ones_change_nothing,
    favourites_are_bounded_and_of_one_tenant,
    an_export_has_everything_of_its_person,
    a_deletion_empties_what_is_personal_and_keeps_the_id,
    a_deleted_address_may_register_again_under_a_new_id,
    a_sweep_removes_what_is_over_and_nothing_else,
}

fn listing(number: u64) -> ListingId {
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number }
}

fn some_preferences() -> Preferences {
    Preferences {
        preferred_categories: vec!["jazz".into(), "théâtre".into()],
        preferred_locations: vec!["Berlin".into()],
        interests: vec![],
        price_range_min: Some(1_000),
        price_range_max: None,
        notification_settings: [("seat_offered".to_owned(), true), ("news".to_owned(), false)].into(),
    }
}

async fn preferences_read_back_and_bad_ones_change_nothing(shop: Shop) {
    let user = shop.account(ANN, T0).await.user;
    let read = async || shop.accounts.preferences(&user, &at(T0)).await.expect("preferences");
    assert_eq!(read().await, Preferences::default());
    for preferences in [some_preferences(), Preferences::default(), some_preferences()] {
        shop.accounts.set_preferences(&user, &preferences, &at(T0)).await.expect("set");
        assert_eq!(read().await, preferences);
    }
    let bad = Preferences { price_range_max: Some(999), ..some_preferences() };
    let answer = refusal(shop.accounts.set_preferences(&user, &bad, &at(T0)).await);
    assert!(matches!(answer, Refusal::Field { field: "price_range_max", .. }));
    assert_eq!(read().await, some_preferences());
    let answer = shop.accounts.preferences(&user, &elsewhere(T0)).await;
    assert_eq!(refusal(answer), Refusal::UserUnknown);
}

async fn favourites_are_bounded_and_of_one_tenant(shop: Shop) {
    let user = shop.account(ANN, T0).await.user;
    let add = async |listing: ListingId, now| shop.accounts.add_favourite(&user, &listing, &at(now)).await;
    for number in 0..FAVOURITES_MAX as u64 {
        add(listing(number), T0 + number as i64).await.expect("added");
    }
    assert_eq!(refusal(add(listing(9_999), T0).await), Refusal::FavouritesFull { most: FAVOURITES_MAX });
    add(listing(0), T0).await.expect("it is there already");
    shop.accounts.remove_favourite(&user, &listing(0), &at(T0)).await.expect("removed");
    shop.accounts.remove_favourite(&user, &listing(0), &at(T0)).await.expect("removed already");
    add(listing(9_999), T0 + DAY).await.expect("there is room");
    let list = shop.accounts.favourites(&user, &at(T0)).await.expect("a list");
    assert_eq!((list.len(), list[0].listing.as_str()), (FAVOURITES_MAX, &*listing(9_999).text()));
    let theirs = ListingId { tenant: Tenant::new(7).expect("a tenant"), ..listing(1) };
    assert!(matches!(refusal(add(theirs, T0).await), Refusal::Field { field: "listing", .. }));
}

async fn an_export_has_everything_of_its_person(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    shop.accounts.set_preferences(&ann.user, &some_preferences(), &at(T0)).await.expect("set");
    shop.accounts.add_favourite(&ann.user, &listing(7), &at(T0)).await.expect("added");
    shop.accounts.ask_for_reset(ANN, &at(T0)).await.expect("asked");
    let exported = shop.accounts.export(&ann.user, &at(T0)).await.expect("exported");
    assert_eq!(exported["account"]["email"], ANN);
    assert_eq!(exported["account"]["roles"], serde_json::json!(["buyer"]));
    assert_eq!(exported["preferences"]["preferred_locations"][0], "Berlin");
    assert_eq!(exported["favourites"][0]["listing"], &*listing(7).text());
    assert_eq!(exported["sessions"][0]["session"], ann.session.as_str());
    assert_eq!(exported["letters"][0]["kind"], "reset");
    let text = exported.to_string();
    assert!(!text.contains("argon2") && !text.contains(&ann.token.text()), "no secrets: {text}");
}

async fn a_deletion_empties_what_is_personal_and_keeps_the_id(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let (user, context) = (ann.user.as_str(), at(T0));
    shop.accounts.give_role(user, Role::Seller, "usr_staff", &context).await.expect("given");
    shop.accounts.set_preferences(user, &some_preferences(), &context).await.expect("set");
    shop.accounts.add_favourite(user, &listing(7), &context).await.expect("added");
    shop.accounts.ask_for_reset(ANN, &context).await.expect("asked");
    let link = shop.token(LetterKind::Reset, T0).await;
    assert_eq!(refusal(shop.accounts.delete(user, None, &context).await), Refusal::CredentialsWrong);
    let wrong = shop.accounts.delete(user, Some("wrong but long"), &context).await;
    assert_eq!(refusal(wrong), Refusal::CredentialsWrong);
    assert!(shop.find(&ann.token, T0).await.is_some());
    let before = shop.changes(user).await;
    shop.accounts.delete(user, Some(PASSWORD), &context).await.expect("deleted");
    assert_eq!(shop.changes(user).await, before + 1);
    let left = shop.accounts.find(user, &context).await.expect("the id stays");
    assert_eq!((left.user.as_str(), left.state, left.email), (user, AccountState::Deleted, None));
    assert_eq!(left.roles.to_string(), "buyer");
    assert!(shop.find(&ann.token, T0).await.is_none());
    assert!(shop.accounts.favourites(user, &context).await.expect("a list").is_empty());
    assert_eq!(shop.accounts.preferences(user, &context).await.expect("preferences"), Preferences::default());
    let reset = shop.accounts.reset_password(&link, OTHER_PASSWORD, &context).await;
    assert_eq!(refusal(reset), Refusal::TokenInvalid);
    assert!(shop.sign_in(PASSWORD, T0).await.is_err());
    assert_eq!(refusal(shop.accounts.delete(user, None, &context).await), Refusal::UserUnknown);
    assert_eq!(
        refusal(shop.accounts.set_preferences(user, &some_preferences(), &context).await),
        Refusal::UserUnknown
    );
    static LEFT: Query = Query {
        name: "left",
        text: "-- counts what still names the address\n-- $1 address\n\
            select (select count(*) from person where email = $1) + (select count(*) from letter where email = $1)\n\
            + (select count(*) from one_time_token where email = $1)",
    };
    assert_eq!(shop.number(&LEFT, &[ANN.into()]).await, 0);
}

async fn a_deleted_address_may_register_again_under_a_new_id(shop: Shop) {
    let first = shop.account(ANN, T0).await.user;
    shop.accounts.delete_by_staff(&first, "usr_staff", &at(T0)).await.expect("deleted");
    let second = shop.account(ANN, T0).await.user;
    assert_ne!(first, second);
}

async fn a_sweep_removes_what_is_over_and_nothing_else(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    shop.accounts.ask_for_reset(ANN, &at(T0)).await.expect("asked");
    shop.letter(LetterKind::Reset, T0).await;
    assert!(shop.sign_in("wrong but long", T0).await.is_err());
    let swept = shop.accounts.sweep(T0 + HOUR - 1).await.expect("swept");
    assert_eq!(swept, onsale_access::accounts::Swept::default());
    let swept = shop.accounts.sweep(T0 + HOUR + 1).await.expect("swept");
    assert_eq!((swept.tokens, swept.letters, swept.sessions), (1, 0, 0));
    assert!(swept.attempts >= 1);
    assert!(shop.find(&ann.token, T0 + HOUR).await.is_some());
    let swept = shop.accounts.sweep(T0 + 8 * DAY).await.expect("swept");
    assert_eq!((swept.sessions, swept.letters, swept.guests), (1, 2, 0));
    assert!(shop.accounts.find(&ann.user, &at(T0)).await.is_ok());
}

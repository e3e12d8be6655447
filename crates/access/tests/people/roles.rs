//! Roles: what every server learns at once.

use onsale_access::accounts::Refusal;
use onsale_access::role::{Role, Roles};

use crate::shop::*;

on_both! {
    a_changed_role_is_seen_by_every_session_and_told_to_every_server,
    roles_given_at_once_are_all_given,
}

async fn a_changed_role_is_seen_by_every_session_and_told_to_every_server(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let roles = async || shop.find(&ann.token, T0).await.expect("a session").roles;
    assert_eq!(roles().await, Roles::BUYER);
    let before = shop.changes(&ann.user).await;
    let given = shop.accounts.give_role(&ann.user, Role::Seller, "usr_staff", &at(T0)).await;
    assert_eq!(given, Ok(Roles::BUYER.with(Role::Seller)));
    assert_eq!(roles().await, Roles::BUYER.with(Role::Seller));
    assert_eq!(shop.changes(&ann.user).await, before + 1);
    shop.accounts.give_role(&ann.user, Role::Seller, "usr_staff", &at(T0)).await.expect("given already");
    assert_eq!(shop.changes(&ann.user).await, before + 1, "nothing changed, nothing is told");
    shop.accounts.take_role(&ann.user, Role::Seller, "usr_staff", &at(T0)).await.expect("taken");
    assert_eq!(roles().await, Roles::BUYER);
    assert_eq!(shop.changes(&ann.user).await, before + 2);
    assert_eq!(shop.audited("roles_changed", &ann.user).await, 2);
    let answer = shop.accounts.give_role(&ann.user, Role::Admin, "usr_staff", &elsewhere(T0)).await;
    assert_eq!(refusal(answer), Refusal::UserUnknown, "of another tenant");
}

async fn roles_given_at_once_are_all_given(shop: Shop) {
    let ann = shop.account(ANN, T0).await;
    let gifts = Role::ALL.map(|role| {
        let (accounts, user) = (shop.accounts.clone(), ann.user.clone());
        tokio::spawn(async move { accounts.give_role(&user, role, "usr_staff", &at(T0)).await })
    });
    for gift in gifts {
        assert!(gift.await.expect("it ends").is_ok());
    }
    assert_eq!(shop.find(&ann.token, T0).await.expect("a session").roles.iter().count(), Role::ALL.len());
}

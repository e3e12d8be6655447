//! The whole way of somebody who buys: signing up, holding, paying, signing out.

use serde_json::json;

use super::{PASSWORD, Person, account, ask, register, sign_in};
use crate::house::House;
use crate::orders::{key, shown, to_order};

#[test]
fn somebody_signs_up_holds_pays_and_signs_out() {
    let house = House::with_accounts();
    let event = house.event();
    let token = register(&house, "ann@example.org");
    sign_in(&house, "ann@example.org", PASSWORD).problem(401, "credentials_wrong");
    let verified = ask(&house, "/v1/accounts/verify", json!({"token": token, "password": PASSWORD}));
    let first = Person::of(&house, &verified);
    let ann = Person::of(&house, &sign_in(&house, "ann@example.org", PASSWORD));
    assert_eq!(ann.user, first.user);
    assert!(ann.user.starts_with("usr_"), "{}", ann.user);
    let me = ann.get("/v1/me").json();
    assert_eq!((&me["kind"], &me["buyer"]), (&json!("person"), &json!(ann.user)));

    let hold = ann.hold(&event, "A-1-1");
    assert_eq!(hold["buyer"], ann.user, "{hold}");
    let opens = ("hold-token", hold["token"].as_str().expect("a token"));
    let placed = ann.send("POST", &to_order(&hold), &[opens], Some(json!({})));
    assert_eq!(placed.status, 201, "{placed:?}");
    let order = placed.json();
    let path = format!("/v1/orders/{}", order["id"].as_str().expect("an id"));
    let paid = ann.send("POST", &format!("{path}/pay"), &[key(&order)], Some(json!({})));
    assert_eq!(paid.status, 202, "{paid:?}");
    shown(&house, &order, "confirmed");

    let seen = ann.get(&path);
    assert_eq!((seen.status, &seen.json()["buyer"]), (200, &json!(ann.user)));
    let mine = ann.get(&format!("/v1/buyers/{}/orders", ann.user)).json();
    assert_eq!(mine["data"][0]["id"], order["id"]);
    let bob = account(&house, "bob@example.org");
    bob.get(&path).problem(404, "order_unknown");
    house.send_bare("GET", &path, &[], None).problem(401, "unauthenticated");

    assert_eq!(ann.delete(&format!("/v1/sessions/{}", ann.session)).status, 204);
    ann.is_out_soon();
    assert_eq!(first.get("/v1/me").status, 200, "the other device is still in");
}

#[test]
fn an_address_that_has_an_account_is_answered_as_any_other_and_its_owner_is_told() {
    let house = House::with_accounts();
    account(&house, "ann@example.org");
    let again = ask(&house, "/v1/accounts", json!({"email": "Ann@Example.org", "password": PASSWORD}));
    let other = ask(&house, "/v1/accounts", json!({"email": "Bob@Example.org", "password": PASSWORD}));
    assert_eq!((again.status, other.status), (202, 202));
    let names = |answer: &crate::house::Answer| {
        answer.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&again), names(&other));
    super::letter(&house, "already_registered", "ann@example.org");
}

#[test]
fn signing_up_under_one_key_writes_one_letter() {
    let house = House::with_accounts();
    let wish = json!({"email": "ann@example.org", "password": PASSWORD}).to_string();
    let ask = |key: &str, wish: &str| {
        house.send_bare("POST", "/v1/accounts", &[("idempotency-key", key)], Some(wish))
    };
    assert_eq!(ask("k-1", &wish).status, 202);
    assert_eq!(ask("k-1", &wish).status, 202);
    ask("k-1", &wish.replace("ann@", "bob@")).problem(422, "key_reused");
    assert_eq!(ask("k-2", &wish.replace("ann@", "eve@")).status, 202);
    super::letter(&house, "verification", "ann@example.org");
    // The oldest letter is sent first, so that of the second request would lie there, too.
    super::letter(&house, "verification", "eve@example.org");
    let left: Vec<_> = std::fs::read_dir(house.mail()).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_server_without_accounts_says_how_to_have_them() {
    let house = House::open();
    for (path, body) in [
        ("/v1/accounts", json!({"email": "ann@example.org", "password": PASSWORD})),
        ("/v1/sessions", json!({"email": "ann@example.org", "password": PASSWORD})),
        ("/v1/guests", json!({})),
    ] {
        let told = ask(&house, path, body).problem(503, "access_off");
        assert!(told["detail"].as_str().is_some_and(|detail| detail.contains("access.database")), "{told}");
    }
    let me = house.get("/v1/me").json();
    assert_eq!(me["kind"], "key", "and the key still is who it is");
}

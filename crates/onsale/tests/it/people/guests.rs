//! Guests: they hold and pay without an account, and keep everything when they sign up.

use serde_json::json;

use super::{PASSWORD, Person, ask, letter_token};
use crate::house::House;

#[test]
fn a_guest_who_signs_up_keeps_the_hold_and_the_name() {
    let house = House::with_accounts();
    let event = house.event();
    let guest = Person::of(&house, &ask(&house, "/v1/guests", json!({"device_name": "Ann's phone"})));
    assert_eq!(guest.get("/v1/me").json()["kind"], "guest");
    let hold = guest.hold(&event, "A-1-1");
    let path = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));

    let asked = guest.post("/v1/accounts", json!({"email": "ann@example.org", "password": PASSWORD}));
    assert_eq!(asked.status, 202, "{asked:?}");
    let token = letter_token(&house, "verification", "ann@example.org");
    let verified = ask(&house, "/v1/accounts/verify", json!({"token": token, "password": PASSWORD}));
    let ann = Person::of(&house, &verified);
    assert_eq!(ann.user, guest.user, "the account has the guest's id");
    let kept = ann.get(&path);
    assert_eq!((kept.status, &kept.json()["seats"][0]["seat"]), (200, &json!("A-1-1")), "{kept:?}");
    super::soon(|| (guest.get("/v1/me").json()["kind"] == "person").then_some(()));
}

#[test]
fn two_guests_are_two_people() {
    let house = House::with_accounts();
    let event = house.event();
    let one = Person::of(&house, &ask(&house, "/v1/guests", json!({})));
    let other = Person::of(&house, &ask(&house, "/v1/guests", json!({})));
    assert_ne!(one.user, other.user);
    let hold = one.hold(&event, "A-1-1");
    let path = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    other.get(&path).problem(404, "hold_unknown");
    other
        .post("/v1/me/email", json!({"password": PASSWORD, "new_email": "x@example.org"}))
        .problem(409, "not_an_account");
}

#[test]
fn a_guest_leaves_without_a_password() {
    let house = House::with_accounts();
    let guest = Person::of(&house, &ask(&house, "/v1/guests", json!({})));
    assert_eq!(guest.send("DELETE", "/v1/me", &[], Some(json!({}))).status, 204);
    guest.is_out_soon();
}

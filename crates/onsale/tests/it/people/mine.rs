//! What a person says of themselves, changes, takes along and deletes; and their devices.

use serde_json::{Value, json};

use super::{OTHER_PASSWORD, PASSWORD, Person, account, letter, letter_token, sign_in};
use crate::house::House;

#[test]
fn preferences_and_favourites_are_kept_and_taken_along() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    let empty = ann.get("/v1/me/preferences").json();
    assert_eq!(empty["interests"], json!([]));
    let wish = json!({
        "preferred_categories": ["jazz"], "preferred_locations": ["Lisbon"], "interests": [],
        "price_range_min": 1000, "price_range_max": 9000, "notification_settings": {"seat_offered": true},
    });
    assert_eq!(ann.put("/v1/me/preferences", wish.clone()).json(), wish);
    assert_eq!(ann.get("/v1/me/preferences").json(), wish);
    let told = ann.put("/v1/me/preferences", json!({"price_range_min": 2, "price_range_max": 1}));
    assert_eq!(told.problem(422, "invalid")["pointer"], "/price_range_max");

    let event = house.event();
    let path = format!("/v1/me/favourites/{event}");
    for _ in 0..2 {
        assert_eq!(ann.send("PUT", &path, &[], None).status, 204);
    }
    let listings = |told: &Value| {
        told["data"].as_array().expect("a page").iter().map(|one| one["listing"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listings(&ann.get("/v1/me/favourites").json()), [json!(event)]);
    ann.send("PUT", "/v1/me/favourites/evt_0000000000000", &[], None).problem(404, "listing_unknown");

    let hold = ann.hold(&event, "A-1-1");
    let token = ("hold-token", hold["token"].as_str().expect("a token"));
    let order = ann.send("POST", &crate::orders::to_order(&hold), &[token], Some(json!({}))).json();
    let all = ann.get("/v1/me/export").json();
    assert_eq!(all["account"]["email"], "ann@example.org");
    assert_eq!((&all["preferences"], &all["favourites"][0]["listing"]), (&wish, &json!(event)));
    assert_eq!(
        (&all["sessions"][0]["session"], &all["orders"][0]["id"]),
        (&json!(ann.session), &order["id"])
    );
    let text = all.to_string();
    assert!(!text.contains("argon2") && !text.contains("onsale_ses_"), "{text}");

    assert_eq!(ann.delete(&path).status, 204);
    assert_eq!(listings(&ann.get("/v1/me/favourites").json()), Vec::<Value>::new());
}

#[test]
fn another_password_ends_the_other_sessions_and_gives_this_one_a_new_token() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    let other = Person::of(&house, &sign_in(&house, "ann@example.org", PASSWORD));
    let wrong = json!({"old_password": OTHER_PASSWORD, "new_password": OTHER_PASSWORD});
    ann.put("/v1/me/password", wrong).problem(401, "credentials_wrong");
    let wish = json!({"old_password": PASSWORD, "new_password": OTHER_PASSWORD});
    let first = ann.send("PUT", "/v1/me/password", &[("idempotency-key", "once")], Some(wish.clone()));
    assert_eq!(first.status, 200, "{first:?}");
    let again = ann.send("PUT", "/v1/me/password", &[("idempotency-key", "once")], Some(wish));
    assert_eq!(again.json(), first.json(), "done once, told twice");
    let token = first.json()["token"].as_str().expect("a token").to_owned();
    let ann = Person { token, ..ann };
    assert_eq!(ann.get("/v1/me").status, 200);
    other.is_out_soon();
    let text = letter(&house, "password_changed", "ann@example.org");
    assert!(text.contains("/forgot-password"), "{text}");
    assert_eq!(sign_in(&house, "ann@example.org", OTHER_PASSWORD).status, 201);
    sign_in(&house, "ann@example.org", PASSWORD).problem(401, "credentials_wrong");
}

#[test]
fn another_address_is_the_accounts_once_it_is_proved_and_the_old_one_is_told() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    let wish = json!({"password": PASSWORD, "new_email": "ann@example.com"});
    assert_eq!(ann.post("/v1/me/email", wish).status, 202);
    let token = letter_token(&house, "email_change", "ann@example.com");
    assert_eq!(sign_in(&house, "ann@example.org", PASSWORD).status, 201, "until then it is the old one");
    let used = super::ask(&house, "/v1/email-changes/use", json!({"token": token}));
    assert_eq!(used.status, 204, "{used:?}");
    let told = letter(&house, "email_changed", "ann@example.org");
    assert!(told.contains("ann@example.com"), "{told}");
    sign_in(&house, "ann@example.org", PASSWORD).problem(401, "credentials_wrong");
    assert_eq!(sign_in(&house, "ann@example.com", PASSWORD).status, 201);
}

#[test]
fn a_deleted_account_is_gone_and_its_orders_stay() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    let event = house.event();
    let hold = ann.hold(&event, "A-1-1");
    let token = ("hold-token", hold["token"].as_str().expect("a token"));
    let order = ann.send("POST", &crate::orders::to_order(&hold), &[token], Some(json!({}))).json();
    let leave = |body: Value| ann.send("DELETE", "/v1/me", &[], Some(body));
    leave(json!({})).problem(401, "credentials_wrong");
    leave(json!({"password": OTHER_PASSWORD})).problem(401, "credentials_wrong");
    assert_eq!(leave(json!({"password": PASSWORD})).status, 204);
    ann.is_out_soon();
    sign_in(&house, "ann@example.org", PASSWORD).problem(401, "credentials_wrong");
    let kept = house.get(&format!("/v1/orders/{}", order["id"].as_str().expect("an id"))).json();
    assert_eq!(kept["buyer"], ann.user);
    let left = house.get(&format!("/v1/users/{}", ann.user)).json();
    assert_eq!((&left["state"], &left["email"]), (&json!("deleted"), &Value::Null));
}

#[test]
fn devices_are_listed_and_ended_one_by_one_and_all_at_once() {
    let house = House::with_accounts();
    let first = account(&house, "ann@example.org");
    let device = |name: &str| {
        let wish = json!({"email": "ann@example.org", "password": PASSWORD, "device_name": name});
        Person::of(&house, &super::ask(&house, "/v1/sessions", wish))
    };
    let (phone, tablet) = (device("phone"), device("tablet"));
    let told = letter(&house, "new_device", "ann@example.org");
    assert!(told.contains("phone") || told.contains("tablet"), "{told}");
    let list = phone.get("/v1/sessions").json();
    let all = list["data"].as_array().expect("a page");
    assert_eq!(all.len(), 3);
    let current: Vec<_> = all.iter().filter(|one| one["current"] == true).collect();
    assert_eq!((current.len(), &current[0]["device_name"]), (1, &json!("phone")));
    assert_eq!(phone.delete(&format!("/v1/sessions/{}", tablet.session)).status, 204);
    tablet.is_out_soon();
    phone.delete(&format!("/v1/sessions/{}", tablet.session)).problem(404, "session_unknown");
    assert_eq!(phone.delete("/v1/sessions?except=current").status, 204);
    first.is_out_soon();
    assert_eq!(phone.get("/v1/me").status, 200);
    assert_eq!(phone.delete("/v1/sessions").status, 204);
    phone.is_out_soon();
}

#[test]
fn a_rotation_whose_answer_was_lost_is_told_again() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    let next = ann.send("POST", "/v1/sessions/rotate", &[], None);
    let again = ann.send("POST", "/v1/sessions/rotate", &[], None);
    assert_eq!((next.status, again.json()), (200, next.json()), "a lost answer is told again");
    let token = next.json()["token"].as_str().expect("a token").to_owned();
    assert_ne!(token, ann.token);
    let ann = Person { token, ..ann };
    assert_eq!(ann.get("/v1/me").json()["session"], ann.session);
}

//! What is another's is not there; and nobody speaks for somebody else.

use serde_json::json;

use super::account;
use crate::house::House;

#[test]
fn anothers_hold_order_checkout_and_entry_are_not_there() {
    let house = House::with_accounts();
    let (ann, bob) = (account(&house, "ann@example.org"), account(&house, "bob@example.org"));
    let event = house.event();
    let hold = ann.hold(&event, "A-1-1");
    let id = |told: &serde_json::Value| told["id"].as_str().expect("an id").to_owned();
    let token = ("hold-token", hold["token"].as_str().expect("a token"));
    let order = ann.send("POST", &format!("/v1/holds/{}/order", id(&hold)), &[token], Some(json!({})));
    let order = order.json();

    let sale = house.post(
        "/v1/sales",
        &[],
        json!({"name": "Shirts", "currency": "EUR", "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2096-01-01T00:00:00Z",
            "skus": [{"id": "tee", "name": "Tee", "price_minor": 1500, "stock": 5}]}),
    );
    assert_eq!(sale.status, 201, "{sale:?}");
    let wish = json!({"lines": [{"sku": "tee", "count": 1}]});
    let checkout = ann.post(&format!("/v1/sales/{}/checkouts", id(&sale.json())), wish);
    assert_eq!(checkout.status, 201, "{checkout:?}");
    let registration = house.post(
        "/v1/registrations",
        &[],
        json!({"name": "Choir", "currency": "EUR", "opens_at": "2020-01-01T00:00:00Z", "starts_at": "2096-01-01T00:00:00Z",
            "capacity": 5, "price_minor": 1000}),
    );
    assert_eq!(registration.status, 201, "{registration:?}");
    let entry = ann.post(&format!("/v1/registrations/{}/entries", id(&registration.json())), json!({}));
    assert_eq!(entry.status, 201, "{entry:?}");

    for (path, code) in [
        (format!("/v1/holds/{}", id(&hold)), "hold_unknown"),
        (format!("/v1/orders/{}", id(&order)), "order_unknown"),
        (format!("/v1/checkouts/{}", id(&checkout.json())), "checkout_unknown"),
        (format!("/v1/entries/{}", id(&entry.json())), "entry_unknown"),
    ] {
        assert_eq!(ann.get(&path).status, 200, "{path}");
        bob.get(&path).problem(404, code);
    }
    for what in ["holds", "orders"] {
        assert_eq!(ann.get(&format!("/v1/buyers/{}/{what}", ann.user)).status, 200);
        bob.get(&format!("/v1/buyers/{}/{what}", ann.user)).problem(403, "other_buyer");
    }
    let theirs = format!("/v1/sessions/{}", ann.session);
    bob.get(&theirs).problem(404, "session_unknown");
    bob.delete(&theirs).problem(404, "session_unknown");
    assert_eq!(ann.get("/v1/me").status, 200);
}

#[test]
fn a_session_names_no_other_buyer() {
    let house = House::with_accounts();
    let (ann, bob) = (account(&house, "ann@example.org"), account(&house, "bob@example.org"));
    let path = format!("/v1/events/{}/holds", house.event());
    let wish = || Some(json!({"seats": ["A-1-1"]}));
    for other in [bob.user.as_str(), "bob"] {
        ann.send("POST", &path, &[("onsale-buyer", other)], wish()).problem(403, "other_buyer");
    }
    let own = ann.send("POST", &path, &[("onsale-buyer", &ann.user)], wish());
    assert_eq!((own.status, &own.json()["buyer"]), (201, &json!(ann.user)));
    // And a merchant's server speaks for its own buyers, never for a person of this server.
    let named = house.post(&path, &[("onsale-buyer", &ann.user)], json!({"seats": ["A-1-2"]}));
    assert_eq!(named.problem(422, "invalid")["field"], "Onsale-Buyer");
}

#[test]
fn what_is_a_persons_own_is_for_no_key() {
    let house = House::with_accounts();
    for path in ["/v1/sessions", "/v1/me/preferences", "/v1/me/favourites", "/v1/me/export"] {
        house.get(path).problem(403, "person_needed");
        house.send_bare("GET", path, &[], None).problem(401, "unauthenticated");
    }
}

//! Whoever changes something is answered with the whole of it, as `GET` shows it; and a deadline is told as an instant and as
//! how long that is, wherever it is told.

use onsale_edge::http::time::Time;
use onsale_engine::Engine;
use serde_json::{Value, json};

use crate::auctions::hall::{HOUR, Hall, START};
use crate::house::{Answer, House, ms};
use crate::orders::{key, ordered, pay, to_order};
use crate::sales::shop::Shop;

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

/// Without what tells when it was asked, and what only the answer to a change has.
fn steady(mut told: Value) -> Value {
    let Value::Object(fields) = &mut told else { return told };
    fields.retain(|name, _| name != "expires_in_seconds" && name != "position");
    for field in fields.values_mut() {
        if let Value::Array(items) = field {
            items.iter_mut().for_each(|item| *item = steady(item.take()));
        } else {
            *field = steady(field.take());
        }
    }
    told
}

fn is_the_whole(house: &House, order: &Value, answer: &Answer, status: u16) -> Value {
    let (told, shown) = (answer.json(), house.get(&format!("/v1/orders/{}", text(order, "id"))).json());
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("onsale-position"), told["position"].as_str(), "{told}");
    assert_eq!(steady(told.clone()), steady(shown));
    told
}

#[test]
fn a_change_of_an_order_is_answered_with_the_whole_order() {
    let house = House::open();
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let paying = pay(&house, &order, json!({"method": "silent"}));
    let told = is_the_whole(&house, &order, &paying, 202);
    assert_eq!((&told["status"], &told["payment"]), (&json!("paying"), &told["payments"][0]["id"]));

    let order = ordered(&house, &event, "A-1-3");
    let settled = pay(&house, &order, json!({"paid_elsewhere": true}));
    let told = is_the_whole(&house, &order, &settled, 200);
    assert_eq!((&told["status"], told.get("payment")), (&json!("confirmed"), None));
    let refund = format!("/v1/orders/{}/refund", text(&order, "id"));
    let headers = [("idempotency-key", "back")];
    let back = house.post(&refund, &headers, json!({"reason": "ill"}));
    let told = is_the_whole(&house, &order, &back, 200);
    assert_eq!((&told["status"], &told["returned_minor"]), (&json!("refunded"), &json!(4500)));
    let again = house.post(&refund, &headers, json!({"reason": "ill"}));
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &back.body));

    let order = ordered(&house, &event, "A-1-5");
    let path = format!("/v1/orders/{}/cancel", text(&order, "id"));
    let headers = [key(&order), ("idempotency-key", "away")];
    let cancelled = house.post(&path, &headers, json!({}));
    assert_eq!(is_the_whole(&house, &order, &cancelled, 200)["status"], "cancelled");
    let again = house.post(&path, &headers, json!({}));
    assert_eq!((again.status, again.body), (200, cancelled.body));
}

/// A place that was paid directly is told whole, too, when it is given back.
#[test]
fn a_refunded_place_is_answered_with_its_order() {
    let house = House::open();
    let now = house.engine.now();
    let run = json!({"name": "Run", "opens_at": Time(now - 1), "starts_at": Time(now + 720 * HOUR), "capacity": 1,
                     "currency": "EUR", "price_minor": 500});
    let run = house.post("/v1/registrations", &[], run).json();
    let entries = format!("/v1/registrations/{}/entries", text(&run, "id"));
    let entry = house.post(&entries, &[("onsale-buyer", "ann")], json!({})).json();
    let path = format!("/v1/entries/{}/confirm", text(&entry, "id"));
    let paid = house.post(&path, &[("onsale-buyer", "ann")], json!({"paid_elsewhere": true})).json();
    let path = format!("/v1/orders/{}", text(&paid, "order"));
    let before = house.get(&path).json();
    let told = house.post(&format!("{path}/refund"), &[], json!({"reason": "ill"})).json();
    assert_eq!((&told["status"], &told["returned_minor"]), (&json!("refunded"), &json!(500)), "{told}");
    for same in ["id", "buyer", "entry", "total_minor", "paid_elsewhere"] {
        assert_eq!(told[same], before[same], "{same}");
    }
}

#[test]
fn a_change_of_a_sku_is_answered_with_the_sku_as_its_sale_shows_it() {
    let shop = Shop::open();
    let path = format!("/v1/sales/{}/skus", shop.sale);
    shop.checkout("ann", &[("tee", 2)]);
    let cap = json!({"id": "cap", "name": "Cap", "price_minor": 5, "stock": 7, "picture": "<svg></svg>"});
    let added = shop.house.post(&path, &[("idempotency-key", "cap")], cap.clone());
    assert_eq!((added.status, added.json()), (201, shop.sale()["skus"][2].clone()));
    let patch = |body: Value| {
        let headers = [("idempotency-key", text(&body, "key"))];
        let mut change = body.clone();
        change.as_object_mut().expect("an object").remove("key");
        shop.house.send("PATCH", &format!("{path}/tee"), &headers, Some(&change.to_string()))
    };
    for (change, stock, price_minor) in [
        (json!({"add": 5, "key": "a"}), 15, 1900),
        (json!({"withdraw": 3, "key": "b"}), 12, 1900),
        (json!({"price_minor": 1500, "key": "c"}), 12, 1500),
        (json!({"add": 5, "key": "a"}), 12, 1500),
    ] {
        let told = patch(change.clone());
        assert_eq!((told.status, told.json()), (200, shop.sale()["skus"][0].clone()), "{change}");
        assert_eq!(
            (&told.json()["stock"], &told.json()["price_minor"]),
            (&json!(stock), &json!(price_minor))
        );
        assert_eq!(told.header("onsale-position"), shop.sale()["position"].as_str());
    }
    let again = shop.house.post(&path, &[("idempotency-key", "cap")], cap);
    assert_eq!((again.status, again.body), (201, added.body));
}

#[test]
fn calling_an_auction_off_is_answered_with_the_auction() {
    let hall = Hall::open();
    let auction = hall.auction(json!({"reserve_minor": 3_000}));
    let path = format!("/v1/auctions/{auction}");
    let told = hall.house.post(&format!("{path}/cancel"), &[], json!({"reason": "broken"}));
    let mut shown = hall.house.get(&path).json();
    assert_eq!((told.status, &shown["status"]), (200, &json!("cancelled")));
    // Whoever may call it off may know its reserve.
    shown["reserve_minor"] = json!(3_000);
    assert_eq!(told.json(), shown);
}

/// `expires_in_seconds` beside `expires_at`, so that nobody needs a clock that is right.
fn is_told_both_ways(told: &Value, now: i64) {
    let left = (ms(&told["expires_at"]) - now) / 1_000;
    let seconds = told["expires_in_seconds"].as_i64().unwrap_or_else(|| panic!("no seconds in {told}"));
    // Between the answer and the look at the clock a second may end.
    assert!((left..=left + 2).contains(&seconds), "{left} {told}");
}

#[test]
fn a_deadline_is_told_as_an_instant_and_as_how_long_that_is() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let order = house.post(&to_order(&hold), &[("hold-token", text(&hold, "token"))], json!({})).json();
    assert_eq!(order["expires_at"], hold["expires_at"], "an order lives as long as its hold");
    is_told_both_ways(&order, house.engine.now());
    let paying = pay(&house, &order, json!({"method": "silent"})).json();
    is_told_both_ways(&paying, house.engine.now());
    is_told_both_ways(&paying["payments"][0], house.engine.now());

    let taken = house.hold(&event, "ann", &["A-1-3"]);
    let take = json!({"hold": taken["id"], "reason": "wheelchair", "to": {"buyer": "bob"}});
    let told = house.post(&format!("/v1/events/{event}/overrides"), &[], take).json();
    is_told_both_ways(&told["to"], house.engine.now());

    let hall = Hall::open();
    let auction = hall.auction(json!({"buy_now": {"price_minor": 5_000, "policy": "always"}}));
    let path = format!("/v1/auctions/{auction}");
    let currency = Some("{\"currency\": \"EUR\"}");
    let bought = hall.as_buyer("POST", &format!("{path}/buy-now"), "ann", currency).json();
    is_told_both_ways(&bought, START);
    hall.clock.set(START + HOUR);
    let shown = hall.as_buyer("GET", &path, "ann", None).json();
    for award in [&shown["result"]["awards"][0], &shown["you"]["award"]] {
        is_told_both_ways(award, START + HOUR);
        assert_eq!((&award["status"], award.get("state")), (&json!("pending"), None));
    }
    let order = hall.as_buyer("POST", &format!("{path}/order"), "ann", Some("{}")).json();
    assert_eq!(order["expires_at"], bought["expires_at"]);
    is_told_both_ways(&order, START + HOUR);
}

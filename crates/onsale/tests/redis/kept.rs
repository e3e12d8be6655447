//! What is kept for days, ordered and paid over HTTP on Redis with two servers: an auction's win and a paid place. And a
//! place whose buyer's bank said no, which goes on to the next in line.

use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use crate::server::{Deployment, Server};
use crate::wire::{Answer, request};
use onsale_redis_servers::{Brand, Server as Redis};

fn ask(server: &Server, method: &str, path: &str, buyer: &str, body: &Value) -> Answer {
    let headers: &[(&str, &str)] = if buyer.is_empty() { &[] } else { &[("onsale-buyer", buyer)] };
    send(server, method, path, headers, body)
}

fn send(server: &Server, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    server.try_exchange(&request(method, path, headers, &body)).expect("an answer")
}

/// What must be granted.
fn post(server: &Server, path: &str, buyer: &str, body: &Value) -> Value {
    let told = ask(server, "POST", path, buyer, body);
    assert!((200..300).contains(&told.status), "POST {path}: {}", told.json());
    told.json()
}

fn refused(server: &Server, path: &str, buyer: &str, body: &Value) -> (u16, Value) {
    let told = ask(server, "POST", path, buyer, body);
    (told.status, told.json()["code"].clone())
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value}")).to_owned()
}

fn pay(server: &Server, order: &Value, buyer: &str, method: &str) {
    let (path, key) = (format!("/v1/orders/{}/pay", text(order, "id")), text(order, "key"));
    let headers = [("onsale-buyer", buyer), ("order-key", &key)];
    let told = send(server, "POST", &path, &headers, &json!({"method": method}));
    assert_eq!(told.status, 202, "{}", told.json());
}

/// Waits until an order is so; the order then.
fn becomes(server: &Server, order: &Value, status: &str) -> Value {
    let path = format!("/v1/orders/{}", text(order, "id"));
    server.until(status, |it| it.get(&path)["status"] == status);
    server.get(&path)
}

/// Waits until the bank has said no to an order's first payment.
fn declined(server: &Server, order: &Value) {
    let path = format!("/v1/orders/{}", text(order, "id"));
    server.until("the bank says no", |it| {
        let order = it.get(&path);
        order["status"] == "pending" && order["payments"].as_array().is_some_and(|all| all.len() == 1)
    });
}

/// Captured and paid back, over all payments of an order.
fn money(order: &Value) -> (i64, i64) {
    let payments = order["payments"].as_array().expect("payments");
    let captured = payments.iter().filter_map(|payment| payment["captured_minor"].as_i64()).sum();
    let refunds = payments.iter().flat_map(|payment| payment["refunds"].as_array().into_iter().flatten());
    (captured, refunds.filter_map(|refund| refund["amount_minor"].as_i64()).sum())
}

#[test]
fn a_win_is_ordered_and_paid_on_redis() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let time: (i64, i64) = redis.say("TIME").expect("a time");
    let deployment = Deployment::single(&redis.url()).with("ONSALE_PAYMENTS__FEE_PER_ORDER_MINOR", "150");
    let servers = [deployment.start(), deployment.start()];
    let [one, other] = &servers;
    let wish = json!({
        "name": "Chair", "seller": "sam", "currency": "EUR", "start_minor": 1_000, "increment": 100,
        "starts_at": Time(time.0 * 1_000 - 1_000), "ends_at": Time(time.0 * 1_000 + 3_600_000),
        "buy_now": {"price_minor": 9_000, "policy": "always"},
    });
    let auction = text(&post(one, "/v1/auctions", "", &wish), "id");
    let (goods, nothing) = (format!("/v1/auctions/{auction}/order"), json!({}));
    assert_eq!(refused(one, &goods, "cem", &nothing), (404, json!("award_unknown")));
    post(one, &format!("/v1/auctions/{auction}/buy-now"), "cem", &json!({"currency": "EUR"}));
    let order = post(other, &goods, "cem", &nothing);
    assert_eq!((&order["total_minor"], &order["auction"]), (&json!(9_150), &json!(auction)), "{order}");
    assert_eq!(refused(one, &goods, "cem", &nothing), (409, json!("already_ordered")));
    // The bank says no, and the buyer tries again.
    pay(one, &order, "cem", "decline");
    declined(other, &order);
    pay(other, &order, "cem", "succeed");
    let bought = becomes(one, &order, "completed");
    assert_eq!(money(&bought), (9_150, 0), "{bought}");
    assert_eq!(refused(other, &goods, "cem", &nothing), (409, json!("award_settled")));
    other.until("it shows the award as settled", |it| {
        it.get(&format!("/v1/auctions/{auction}")).to_string().contains("settled")
    });
    let all = other.get("/v1/buyers/cem/orders");
    assert_eq!(all["data"][0]["id"], order["id"], "{all}");

    // In part, and then all that is left, fees too.
    let refunds = format!("/v1/orders/{}/refund", text(&order, "id"));
    let part = post(one, &refunds, "", &json!({"amount_minor": 2_000, "reason": "a scratch"}));
    assert_eq!(part["returned_minor"], 2_000, "{part}");
    let rest = post(other, &refunds, "", &json!({"reason": "broken"}));
    assert_eq!((&rest["returned_minor"], &rest["status"]), (&json!(9_150), &json!("refunded")), "{rest}");
    assert_eq!(money(&becomes(one, &order, "refunded")), (9_150, 9_150));
    let broken = json!({"reason": "broken"});
    assert_eq!(refused(one, &refunds, "", &broken), (409, json!("not_refundable")));
    one.until("the money is back", |it| {
        let order = it.get(&format!("/v1/orders/{}", text(&order, "id")));
        let payment = order["payments"].as_array().and_then(|all| all.last().cloned()).expect("a payment");
        (0..2).all(|n| payment["refunds"][n]["paid"] == true)
    });
}

#[test]
fn a_paid_place_is_ordered_and_one_that_is_not_paid_goes_to_the_next_on_redis() {
    let _alone = crate::alone();
    let redis = Redis::start(Brand::Redis);
    let time: (i64, i64) = redis.say("TIME").expect("a time");
    let deployment = Deployment::single(&redis.url());
    let servers = [deployment.start(), deployment.start()];
    let [one, other] = &servers;
    let wish = json!({
        "name": "Course", "opens_at": Time(0), "starts_at": Time(time.0 * 1_000 + 10 * 86_400_000), "currency": "EUR",
        "price_minor": 500, "capacity": 2,
    });
    let course = text(&post(one, "/v1/registrations", "", &wish), "id");
    let entries = format!("/v1/registrations/{course}/entries");
    other.until("it knows the registration", |it| {
        it.try_get(&format!("/v1/registrations/{course}")).is_some_and(|told| told.status == 200)
    });
    let [ann, bob, cem] =
        ["ann", "bob", "cem"].map(|buyer| text(&post(one, &entries, buyer, &json!({})), "id"));

    let to_order = |entry: &str| format!("/v1/entries/{entry}/order");
    let kept = post(other, &to_order(&ann), "ann", &json!({}));
    pay(other, &kept, "ann", "succeed");
    let bought = becomes(one, &kept, "confirmed");
    assert_eq!(money(&bought), (500, 0), "{bought}");

    let lost = post(one, &to_order(&bob), "bob", &json!({}));
    assert_eq!(refused(other, &to_order(&cem), "cem", &json!({})), (409, json!("not_offered")));
    pay(one, &lost, "bob", "decline");
    declined(other, &lost);
    let left = ask(other, "DELETE", &format!("/v1/entries/{bob}"), "bob", &Value::Null);
    assert_eq!(left.status, 200, "{}", left.json());
    becomes(one, &lost, "cancelled");
    let passed_on = post(other, &to_order(&cem), "cem", &json!({}));
    pay(one, &passed_on, "cem", "succeed");
    assert_eq!(money(&becomes(other, &passed_on, "confirmed")), (500, 0));

    // What was bought is given back, and the money with it.
    let path = format!("/v1/orders/{}/refund", text(&kept, "id"));
    post(other, &path, "", &json!({"reason": "ill"}));
    let returned = becomes(one, &kept, "refunded");
    assert_eq!(money(&returned), (500, 500), "{returned}");
    one.until("the money is back", |it| {
        it.get(&format!("/v1/orders/{}", text(&kept, "id")))["payments"][0]["refunds"][0]["paid"] == true
    });
    // Of what was refunded, and of what was never paid, there is nothing to refund; and what is over names its order.
    for order in [&kept, &lost] {
        let path = format!("/v1/orders/{}/refund", text(order, "id"));
        assert_eq!(refused(other, &path, "", &json!({"reason": "ill"})), (409, json!("not_refundable")));
    }
    for (entry, order) in [(&ann, &kept), (&bob, &lost)] {
        let told = one.get(&format!("/v1/entries/{entry}"));
        assert_eq!((&told["status"], &told["order"]), (&json!("released"), &order["id"]), "{told}");
    }
}

//! `/v1/orders` and `/v1/payments`: from a hold or a code to a sale, through a provider that may misbehave.

use crate::house::ms;
use onsale_edge::http::time::Time;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use onsale::config::EngineKind;
use onsale_payments::signature;
use serde_json::{Value, json};

use crate::house::{Answer, House};

/// Nothing here takes a second; a machine that is busy with other things may take longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The secret with which the house's simulated provider signs.
const SECRET: &[u8] = b"webhooks:house";

/// Asks until the answer is as wished; the worker is quick, but it is another task.
pub(crate) fn until(house: &House, path: &str, wished: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let last = house.get(path).json();
        if wished(&last) {
            return last;
        }
        assert!(begun.elapsed() < PATIENCE, "{path} never became as it should: {last}");
        std::thread::yield_now();
    }
}

/// A hold of one seat, 4500, and an order for it.
pub(crate) fn ordered(house: &House, event: &str, seat: &str) -> Value {
    let hold = house.hold(event, "ann", &[seat]);
    let answer = place(house, &hold);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()
}

/// Where an order is placed for a hold.
pub(crate) fn to_order(hold: &Value) -> String {
    format!("/v1/holds/{}/order", hold["id"].as_str().expect("an id"))
}

fn place(house: &House, hold: &Value) -> Answer {
    let token = hold["token"].as_str().expect("a token");
    house.post(&to_order(hold), &[("onsale-buyer", "ann"), ("hold-token", token)], json!({}))
}

pub(crate) fn pay(house: &House, order: &Value, body: Value) -> Answer {
    house.post(&way(order, "pay"), &[("onsale-buyer", "ann"), key(order)], body)
}

/// The header that opens an order.
pub(crate) fn key(order: &Value) -> (&str, &str) {
    ("order-key", order["key"].as_str().expect("a key"))
}

fn way(order: &Value, verb: &str) -> String {
    format!("/v1/orders/{}/{verb}", order["id"].as_str().expect("an id"))
}

pub(crate) fn shown(house: &House, order: &Value, status: &str) -> Value {
    let path = format!("/v1/orders/{}", order["id"].as_str().expect("an id"));
    until(house, &path, |order| order["status"] == status)
}

#[test]
fn a_hold_is_ordered_paid_and_sold() {
    let house = House::open_with(|config| config.payments.fee_per_order_minor = 100);
    let event = house.event();
    let order = ordered(&house, &event, "A-1-3");
    assert_eq!(
        (&order["goods_minor"], &order["fee_minor"], &order["total_minor"]),
        (&json!(4500), &json!(100), &json!(4600))
    );
    let answer = pay(&house, &order, json!({}));
    assert_eq!(answer.status, 202, "{answer:?}");
    let paying = answer.json();
    assert_eq!((&paying["id"], &paying["total_minor"]), (&order["id"], &json!(4600)));
    let order = shown(&house, &order, "confirmed");
    assert_eq!(order["payments"][0]["captured_minor"], 4600);
    assert_eq!(order["seats"][0]["seat"], "A-1-3");
    let payment = format!("/v1/payments/{}", paying["payment"].as_str().expect("an id"));
    let payment =
        until(&house, &payment, |payment| payment["events"].as_array().is_some_and(|all| !all.is_empty()));
    assert_eq!((&payment["status"], &payment["order"]), (&json!("captured"), &order["id"]));
    assert_eq!(payment["events"][0]["provider"], "simulated");
    let seat = house.post(
        &format!("/v1/events/{event}/holds"),
        &[("onsale-buyer", "bob")],
        json!({"seats": ["A-1-3"]}),
    );
    seat.problem(409, "seat_sold");
    let mine = house.get("/v1/buyers/ann/orders").json();
    assert_eq!(mine["data"][0]["id"], order["id"]);
    assert_eq!(house.get("/v1/buyers/bob/orders").json()["data"], json!([]));
}

#[test]
fn the_same_key_gets_the_same_answer_and_asks_once() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let token = hold["token"].as_str().expect("a token");
    let headers = [("onsale-buyer", "ann"), ("hold-token", token), ("idempotency-key", "place")];
    let first = house.post(&to_order(&hold), &headers, json!({}));
    let again = house.post(&to_order(&hold), &headers, json!({}));
    assert_eq!((first.status, &first.body), (201, &again.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let order = first.json();
    assert_eq!(place(&house, &hold).problem(409, "already_ordered")["order"], order["id"]);
    let path = way(&order, "pay");
    let headers = [("onsale-buyer", "ann"), ("idempotency-key", "pay"), key(&order)];
    let first = house.post(&path, &headers, json!({"method": "silent"}));
    let again = house.post(&path, &headers, json!({"method": "silent"}));
    assert_eq!((first.status, again.status), (202, 202));
    assert_eq!(
        (&first.json()["payment"], &first.json()["position"]),
        (&again.json()["payment"], &again.json()["position"])
    );
    house.post(&path, &headers, json!({"method": "decline"})).problem(422, "key_reused");
    pay(&house, &order, json!({})).problem(409, "order_paying");
    let release = format!("/v1/holds/{}", hold["id"].as_str().expect("an id"));
    let headers = [("onsale-buyer", "ann"), ("hold-token", token)];
    let told = house.send("DELETE", &release, &headers, None).problem(409, "hold_paying");
    assert_eq!(told["order"], order["id"]);
}

#[test]
fn a_decline_lets_the_buyer_try_again_or_give_up() {
    let house = House::open();
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    assert_eq!(pay(&house, &order, json!({"method": "decline"})).status, 202);
    let pending = until(&house, &format!("/v1/orders/{}", order["id"].as_str().expect("an id")), |order| {
        order["payments"][0]["status"] == "declined"
    });
    assert_eq!(
        (&pending["status"], &pending["payments"][0]["declined"]),
        (&json!("pending"), &json!("card declined"))
    );
    let cancelled = house.post(&way(&order, "cancel"), &[("onsale-buyer", "ann"), key(&order)], json!({}));
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")));
    pay(&house, &order, json!({})).problem(409, "order_cancelled");
}

#[test]
fn a_refund_pays_back_what_was_paid() {
    let house = House::open_with(|config| config.payments.fee_per_unit_minor = 10);
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1", "A-1-2"]);
    let order = place(&house, &hold).json();
    pay(&house, &order, json!({}));
    shown(&house, &order, "confirmed");
    let path = format!("/v1/orders/{}/refund", order["id"].as_str().expect("an id"));
    let part = house.post(&path, &[], json!({"seats": ["A-1-1"], "reason": "cannot come"}));
    assert_eq!(part.status, 200, "{part:?}");
    assert_eq!(
        (&part.json()["returned_minor"], &part.json()["payments"][0]["refunds"][0]["amount_minor"]),
        (&json!(4500), &json!(4500))
    );
    house.post(&path, &[], json!({"seats": ["A-1-1"], "reason": "x"})).problem(409, "not_refundable");
    let rest = house.post(&path, &[], json!({"reason": "cannot come"}));
    let rest = &rest.json()["payments"][0]["refunds"][1];
    assert_eq!(rest["amount_minor"], 4520, "the fees with the last");
    let order = until(&house, &format!("/v1/orders/{}", order["id"].as_str().expect("an id")), |order| {
        let refunds = order["payments"][0]["refunds"].as_array();
        refunds
            .is_some_and(|refunds| refunds.len() == 2 && refunds.iter().all(|refund| refund["paid"] == true))
    });
    assert_eq!(order["status"], "refunded");
}

#[test]
fn a_code_is_ordered_paid_and_bought() {
    let house = House::open();
    let sale = house.post(
        "/v1/sales",
        &[],
        json!({
            "name": "Flash", "starts_at": Time(0), "ends_at": Time(4_000_000_000_000), "currency": "EUR",
            "skus": [{"id": "mug", "name": "Mug", "price_minor": 700, "stock": 3}],
        }),
    );
    assert_eq!(sale.status, 201, "{sale:?}");
    let sale = sale.json()["id"].as_str().expect("an id").to_owned();
    let lines = json!({"lines": [{"sku": "mug", "count": 2}]});
    let reserved =
        house.post(&format!("/v1/sales/{sale}/checkouts"), &[("onsale-buyer", "ann")], lines).json();
    let code = ("checkout-code", reserved["code"].as_str().expect("a code"));
    let path = format!("/v1/checkouts/{}/order", reserved["id"].as_str().expect("an id"));
    house.post(&path, &[("onsale-buyer", "ann")], json!({})).problem(412, "wrong_token");
    let order = house.post(&path, &[("onsale-buyer", "ann"), code], json!({}));
    assert_eq!(order.status, 201, "{order:?}");
    let order = order.json();
    assert_eq!((&order["total_minor"], &order["lines"][0]["sku"]), (&json!(1400), &json!("mug")));
    pay(&house, &order, json!({"method": "duplicate"}));
    shown(&house, &order, "confirmed");
    let path = format!("/v1/orders/{}/refund", order["id"].as_str().expect("an id"));
    house.post(&path, &[], json!({"seats": ["A"], "reason": "x"})).problem(422, "invalid");
    let back = house.post(&path, &[], json!({"lines": [{"sku": "mug", "count": 1}], "reason": "broken"}));
    assert_eq!(back.json()["payments"][0]["refunds"][0]["amount_minor"], 700);
}

#[test]
fn nothing_to_pay_or_taken_elsewhere_is_confirmed_at_once() {
    let house = House::open();
    let free = json!([{"name": "Stalls", "price_minor": 0}, {"name": "Floor", "price_minor": 0}]);
    let event = house.event_with(json!({"tiers": free}));
    let order = ordered(&house, &event, "A-1-1");
    let answer = pay(&house, &order, json!({}));
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("confirmed")));
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let answer = pay(&house, &order, json!({"paid_elsewhere": true}));
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("confirmed")));
    assert_eq!(shown(&house, &order, "confirmed")["paid_elsewhere"], true);
}

#[test]
fn an_order_opens_to_its_key_only() {
    let house = House::open();
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let (id, secret) = (order["id"].as_str().expect("an id"), key(&order).1);
    assert!(id.len() <= 34 && secret.len() <= 44 && !secret.contains(&id[4..]), "{id} {secret}");
    let (pay, cancel) = (way(&order, "pay"), way(&order, "cancel"));
    let told = house.post(&pay, &[("onsale-buyer", "ann")], json!({})).problem(412, "wrong_token");
    assert_eq!(told["detail"], "the header Order-Key is missing");
    house.post(&pay, &[("onsale-buyer", "bob"), key(&order)], json!({})).problem(412, "wrong_token");
    let wrong = format!("{}{}", &secret[..secret.len() - 1], if secret.ends_with('0') { '1' } else { '0' });
    for wrong in [&wrong, secret.trim_start_matches("ok_"), id, ""] {
        house.post(&cancel, &[("order-key", wrong)], json!({})).problem(412, "wrong_token");
    }
    // A secret in a path stands in logs of servers between us and its buyer.
    let in_path = format!("/v1/orders/{id}.{secret}/pay");
    house.post(&in_path, &[key(&order)], json!({})).problem(404, "order_unknown");
    for nothing in ["x", "ord_0000000000000000e0000000000000", &id.replacen('e', "s", 1), &id[..33]] {
        house.get(&format!("/v1/orders/{nothing}")).problem(404, "order_unknown");
    }
    house.get("/v1/payments/pay_0000000000000000e0000000000000").problem(404, "payment_unknown");
    house.get("/v1/payments/x").problem(404, "payment_unknown");
    house.post("/v1/holds/x/order", &[], json!({})).problem(404, "hold_unknown");
    // Whoever has the key acts for its buyer.
    assert_eq!(house.post(&pay, &[key(&order)], json!({})).status, 202);
}

fn webhook(house: &House, seconds: i64, body: &str, secret: &[u8]) -> Answer {
    let signature = signature::header(seconds, body.as_bytes(), secret);
    let text = format!(
        "POST /v1/payments/webhooks/simulated HTTP/1.1\r\nhost: x\r\nconnection: close\r\nsimulated-signature: \
         {signature}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    house.raw(text.as_bytes())
}

#[test]
fn a_webhook_is_stored_whatever_the_length_of_its_reason() {
    let house = House::open();
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let paying = pay(&house, &order, json!({"method": "action"})).json();
    let payment = paying["payment"].as_str().expect("an id");
    let path = format!("/v1/payments/{payment}");
    until(&house, &path, |payment| payment["status"] == "needs_action");
    let now = ms(&house.get("/v1/time").json()["now"]) / 1_000;
    let reason = format!("first line\nsecond {}", "é".repeat(5_000));
    let body = json!({"id": "e1", "payment": payment, "status": "failed", "reason": reason}).to_string();
    let told = webhook(&house, now, &body, SECRET);
    assert_eq!(told.status, 200, "{told:?}");
    let shown = until(&house, &path, |payment| payment["status"] == "declined");
    let declined = shown["declined"].as_str().expect("a reason");
    assert!(declined.starts_with("first line second é") && declined.chars().count() == 200, "{declined}");
    let empty = json!({"id": "e2", "payment": payment, "status": "failed", "reason": ""}).to_string();
    assert_eq!(webhook(&house, now, &empty, SECRET).status, 200);
}

/// On a store that servers share, the others see a listing a moment after its own.
#[test]
fn an_order_of_a_listing_that_another_server_has_just_made_is_looked_up() {
    let house = House::open_with(|config| config.engine.kind = EngineKind::Redis);
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let token = [("hold-token", hold["token"].as_str().expect("a token"))];
    house.engine.unseen.store(true, Ordering::Relaxed);
    let order = house.post(&to_order(&hold), &token, json!({}));
    assert_eq!(order.status, 201, "{order:?}");
    house.engine.unseen.store(true, Ordering::Relaxed);
    let shown = house.get(&format!("/v1/orders/{}", order.json()["id"].as_str().expect("an id")));
    assert_eq!(shown.status, 200, "{shown:?}");
}

#[test]
fn a_webhook_is_believed_only_with_a_fresh_signature_and_counts_once() {
    let house = House::open();
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let paying = pay(&house, &order, json!({"method": "action"})).json();
    let payment = paying["payment"].as_str().expect("an id");
    let path = format!("/v1/payments/{payment}");
    let needs = until(&house, &path, |payment| payment["status"] == "needs_action");
    assert!(needs["action_url"].as_str().is_some_and(|url| url.contains(payment)), "{needs}");
    let now = ms(&house.get("/v1/time").json()["now"]) / 1_000;
    let body = json!({"id": "e1", "payment": payment, "status": "done", "amount_minor": 4500}).to_string();
    webhook(&house, now, &body, b"another").problem(400, "webhook_signature");
    webhook(&house, now - 400, &body, SECRET).problem(400, "webhook_signature");
    webhook(&house, now + 400, &body, SECRET).problem(400, "webhook_signature");
    webhook(&house, now, "{}", SECRET).problem(400, "malformed");
    assert_eq!(house.get(&path).json()["status"], "needs_action");
    let late = json!({"id": "e2", "payment": payment, "status": "failed", "reason": "late"}).to_string();
    for _ in 0..2 {
        assert_eq!(webhook(&house, now, &body, SECRET).status, 200);
    }
    assert_eq!(webhook(&house, now, &late, SECRET).status, 200, "stored, and of no effect");
    let unknown = json!({"id": "e3", "payment": "nobody's", "status": "waiting"}).to_string();
    assert_eq!(webhook(&house, now, &unknown, SECRET).status, 200);
    shown(&house, &order, "confirmed");
    let events = house.get(&path).json()["events"].clone();
    let told: Vec<_> =
        events.as_array().expect("a list").iter().map(|one| (&one["id"], &one["counted"])).collect();
    assert_eq!(told, [(&json!("e1"), &json!(true)), (&json!("e2"), &json!(false))]);
    let other = house.post("/v1/payments/webhooks/stripe", &[], json!({}));
    other.problem(404, "route_unknown");
}

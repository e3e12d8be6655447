//! Stripe as the provider: against `localstripe`, which plays it over HTTP, and against a scripted one for what that
//! cannot play (keys, versions, bad days).

mod asks;
mod localstripe;
mod scripted;
mod settings;

use crate::house::ms;
use std::sync::atomic::Ordering;

use onsale::config::{ProviderName, Secret, Stripe};
use onsale_payments::signature;
use serde_json::{Value, json};

use crate::house::{Answer, House};
use crate::orders::{ordered, pay, shown, until};
use localstripe::Localstripe;

const SECRET_KEY: &str = "sk_test_of_the_house";
const WEBHOOK_SECRET: &str = "whsec_of_the_house";

/// A server that takes its money through whoever is at this address.
fn house(base_url: &str) -> House {
    House::open_with(|config| {
        config.payments.provider = ProviderName::Stripe;
        config.stripe = Some(Stripe {
            secret_key: Some(Secret::new(SECRET_KEY)),
            webhook_secret: Some(Secret::new(WEBHOOK_SECRET)),
            base_url: Some(base_url.to_owned()),
            ..Stripe::default()
        });
    })
}

fn payment_path(paying: &Answer) -> String {
    assert_eq!(paying.status, 202, "{paying:?}");
    format!("/v1/payments/{}", paying.json()["payment"].as_str().expect("an id"))
}

fn id(shown: &Value) -> &str {
    shown["id"].as_str().expect("an id")
}

#[test]
fn an_order_is_paid_and_refunded_and_its_events_are_shown() {
    let stripe = Localstripe::start();
    let house = house(&stripe.base_url);
    let address = format!("http://{}/v1/payments/webhooks/stripe", house.address);
    stripe.post("/_config/webhooks/house", &[("url", &address), ("secret", WEBHOOK_SECRET)]);
    let event = house.event();
    let order = ordered(&house, &event, "A-1-3");
    let path = payment_path(&pay(&house, &order, json!({"method": "pm_card_visa"})));
    shown(&house, &order, "confirmed");
    let payment = until(&house, &path, |payment| payment["events"][0]["kind"].is_string());
    assert_eq!(payment["status"], "captured");
    let event = &payment["events"][0];
    assert_eq!(
        (&event["provider"], &event["kind"]),
        (&json!("stripe"), &json!("payment_intent.succeeded")),
        "{payment}"
    );
    let intent =
        stripe.get(&format!("/v1/payment_intents/{}", payment["reference"].as_str().expect("a name")));
    assert_eq!((&intent["amount"], &intent["currency"]), (&json!(4500), &json!("eur")));
    assert_eq!(intent["metadata"]["payment"].as_str(), path.strip_prefix("/v1/payments/"));
    let refunds = format!("/v1/orders/{}/refund", id(&order));
    let refund = house.post(&refunds, &[], json!({"seats": ["A-1-3"], "reason": "cannot come"}));
    assert_eq!(refund.status, 200, "{refund:?}");
    let payment = until(&house, &path, |payment| payment["refunds"][0]["status"] == "paid");
    assert_eq!(payment["refunds"][0]["amount_minor"], 4500);
    let refunds =
        stripe.get(&format!("/v1/refunds?payment_intent={}", intent["id"].as_str().expect("an id")));
    assert_eq!(refunds["data"].as_array().map(Vec::len), Some(1), "{refunds}");
    assert_eq!(refunds["data"][0]["amount"], 4500);
    shown(&house, &order, "refunded");
}

#[test]
fn a_declined_card_is_an_answer_and_another_card_may_pay() {
    let stripe = Localstripe::start();
    let house = house(&stripe.base_url);
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let path = payment_path(&pay(&house, &order, json!({"method": "pm_card_chargeCustomerFail"})));
    let payment = until(&house, &path, |payment| payment["status"] == "declined");
    assert_eq!(payment["declined"], "card_declined: Your card was declined.", "{payment}");
    shown(&house, &order, "pending");
    let path = payment_path(&pay(&house, &order, json!({"method": "pm_card_nobody_has"})));
    until(&house, &path, |payment| payment["status"] == "declined");
    shown(&house, &order, "pending");
    assert_eq!(pay(&house, &order, json!({"method": "pm_card_visa"})).status, 202);
    let order = shown(&house, &order, "confirmed");
    let told: Vec<_> =
        order["payments"].as_array().expect("a list").iter().map(|one| &one["status"]).collect();
    assert_eq!(told, ["declined", "declined", "captured"]);
}

/// No webhook is registered: what the buyer did is found by asking.
#[test]
fn a_buyer_who_must_do_something_is_told_what_and_is_asked_about() {
    let stripe = Localstripe::start();
    let house = house(&stripe.base_url);
    let event = house.event();
    for (seat, success, ends) in [("A-1-1", "true", "captured"), ("A-1-2", "false", "declined")] {
        let order = ordered(&house, &event, seat);
        let path = payment_path(&pay(&house, &order, json!({"method": stripe.careful_card()})));
        let payment = until(&house, &path, |payment| payment["client_secret"].is_string());
        assert_eq!(payment["status"], "needs_action");
        let secret = payment["client_secret"].as_str().expect("text");
        let intent = payment["reference"].as_str().expect("a name");
        stripe.post(
            &format!("/v1/payment_intents/{intent}/_authenticate"),
            &[("client_secret", secret), ("success", success)],
        );
        let payment = until(&house, &path, |payment| payment["status"] == ends);
        assert_eq!(payment["client_secret"], Value::Null, "no longer of use: {payment}");
        shown(&house, &order, if ends == "captured" { "confirmed" } else { "pending" });
    }
}

#[test]
fn without_a_card_the_buyer_names_one_in_stripes_own_form() {
    let stripe = Localstripe::start();
    let house = house(&stripe.base_url);
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let path = payment_path(&pay(&house, &order, json!({})));
    let payment = until(&house, &path, |payment| payment["client_secret"].is_string());
    assert_eq!((&payment["status"], &payment["action_url"]), (&json!("needs_action"), &Value::Null));
}

#[test]
fn a_payment_whose_goods_are_let_go_is_called_off() {
    let stripe = Localstripe::start();
    let house = house(&stripe.base_url);
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let path = payment_path(&pay(&house, &order, json!({"method": stripe.careful_card()})));
    until(&house, &path, |payment| payment["status"] == "needs_action");
    house.engine.ahead_ms.store(700_000, Ordering::SeqCst);
    let payment = until(&house, &path, |payment| payment["status"] == "declined");
    assert_eq!(payment["declined"], "called off: not paid in time");
    let intent =
        stripe.get(&format!("/v1/payment_intents/{}", payment["reference"].as_str().expect("a name")));
    assert_eq!(intent["status"], "canceled");
}

#[test]
fn an_event_of_stripe_is_believed_only_with_a_fresh_signature_and_the_last_word_wins() {
    let stripe = Localstripe::start();
    let house = house(&stripe.base_url);
    let event = house.event();
    let order = ordered(&house, &event, "A-1-1");
    let path = payment_path(&pay(&house, &order, json!({"method": stripe.careful_card()})));
    let payment = until(&house, &path, |payment| payment["status"] == "needs_action");
    let name = path.strip_prefix("/v1/payments/").expect("a payment");
    let told = |event: &str, kind: &str, status: &str, payment_key: &str| {
        json!({"id": event, "object": "event", "type": kind, "data": {"object": {
            "id": payment["reference"], "object": "payment_intent", "status": status, "amount": 4500,
            "amount_received": 4500, "currency": "eur", "metadata": {"payment": payment_key},
            "last_payment_error": {"code": "card_declined"}}}})
        .to_string()
    };
    let now = ms(&house.get("/v1/time").json()["now"]) / 1_000;
    let paid = told("evt_1", "payment_intent.succeeded", "succeeded", name);
    let wrong = [
        (now, "whsec_another", "the signature is wrong: another secret, or another body"),
        (now - 400, WEBHOOK_SECRET, "the signature is more than 300 seconds old"),
        (now + 400, WEBHOOK_SECRET, "the signature is more than 300 seconds ahead of our clock"),
    ];
    for (seconds, secret, why) in wrong {
        let problem = receive(&house, seconds, &paid, secret).problem(400, "webhook_signature");
        assert_eq!(problem["detail"], why);
    }
    let unsigned =
        house.post("/v1/payments/webhooks/stripe", &[], json!({})).problem(400, "webhook_signature");
    assert_eq!(unsigned["detail"], "there is no signature of the form t=<seconds>,v1=<hex>");
    receive(&house, now, "{}", WEBHOOK_SECRET).problem(400, "malformed");
    assert_eq!(house.get(&path).json()["status"], "needs_action");
    let late = told("evt_0", "payment_intent.payment_failed", "requires_payment_method", name);
    let others = told("evt_2", "payment_intent.succeeded", "succeeded", "somebody else's");
    let customer =
        json!({"id": "evt_3", "type": "customer.created", "data": {"object": {"object": "customer"}}});
    for body in [&paid, &paid, &late, &others, &customer.to_string()] {
        let answer = receive(&house, now, body, WEBHOOK_SECRET);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    shown(&house, &order, "confirmed");
    let payment = house.get(&path).json();
    let events: Vec<_> = payment["events"].as_array().expect("a list").iter().collect();
    let events: Vec<_> = events.iter().map(|one| (&one["id"], &one["counted"])).collect();
    assert_eq!(events, [(&json!("evt_1"), &json!(true)), (&json!("evt_0"), &json!(false))]);
    assert_eq!(payment["status"], "captured");
    let other = house.post("/v1/payments/webhooks/simulated", &[], json!({}));
    other.problem(404, "route_unknown");
}

fn receive(house: &House, seconds: i64, body: &str, secret: &str) -> Answer {
    let signature = signature::header(seconds, body.as_bytes(), secret.as_bytes());
    let text = format!(
        "POST /v1/payments/webhooks/stripe HTTP/1.1\r\nhost: x\r\nconnection: close\r\nstripe-signature: \
         {signature}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    house.raw(text.as_bytes())
}

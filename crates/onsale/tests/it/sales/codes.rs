//! Whose code it is, how often it buys, and until when.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::shop::{Shop, text};

#[test]
fn another_buyers_code_does_nothing_before_and_after_its_purchase() {
    let shop = Shop::open();
    let checkout = shop.checkout("ann", &[("tee", 1)]);
    shop.purchase(&checkout, &[("onsale-buyer", "bob")]).problem(403, "not_yours");
    shop.cancel(&checkout, &[("onsale-buyer", "bob")]).problem(403, "not_yours");
    assert_eq!(shop.levels("tee"), (9, 1, 0));
    assert_eq!(shop.purchase(&checkout, &[("onsale-buyer", "ann")]).status, 200);
    shop.purchase(&checkout, &[("onsale-buyer", "bob")]).problem(403, "not_yours");
}

#[test]
fn a_code_that_the_house_did_not_make_opens_nothing() {
    let shop = Shop::open();
    let (checkout, other) = (shop.checkout("ann", &[("tee", 1)]), shop.checkout("ann", &[("mug", 1)]));
    let (id, code) = (text(&checkout, "id"), text(&checkout, "code"));
    let last = if code.ends_with('0') { "1" } else { "0" };
    let forged = format!("{}{last}", &code[..code.len() - 1]);
    let ann = [("onsale-buyer", "ann")];
    for wrong in [forged.as_str(), text(&other, "code"), id, "cc_", "x", ""] {
        for headers in [&ann[..], &[]] {
            for verb in ["purchase", "cancel"] {
                let told = shop.with_code(&checkout, wrong, verb, headers, json!({}));
                told.problem(412, "wrong_token");
            }
        }
        let headers = [("checkout-code", wrong)];
        let path = format!("/v1/checkouts/{id}");
        shop.house.send("GET", &path, &headers, None).problem(412, "wrong_token");
    }
    let told = shop.house.post(&format!("/v1/checkouts/{id}/purchase"), &ann, json!({}));
    assert_eq!(told.problem(412, "wrong_token")["detail"], "the header Checkout-Code is missing");
    assert_eq!((shop.levels("tee"), shop.levels("mug")), ((9, 1, 0), (2, 1, 0)));
}

/// A secret in a path stands in logs of servers between us and its buyer.
#[test]
fn a_code_is_taken_from_its_header_only() {
    let shop = Shop::open();
    let checkout = shop.checkout("ann", &[("tee", 1)]);
    let (id, code) = (text(&checkout, "id"), text(&checkout, "code"));
    assert!(id.len() <= 34 && code.len() <= 44 && !code.contains(&id[4..]), "{id} {code}");
    let ann = [("onsale-buyer", "ann")];
    for path in [format!("/v1/checkouts/{id}.{code}"), format!("/v1/checkouts/{code}")] {
        shop.house.send("GET", &path, &ann, None).problem(404, "checkout_unknown");
        shop.house.post(&format!("{path}/purchase"), &ann, json!({})).problem(404, "checkout_unknown");
    }
    for elsewhere in [shop.another(json!({})), "sal_000000000000000u".to_owned()] {
        let unknown = format!("/v1/checkouts/{}", id.replace(&shop.sale[4..], &elsewhere[4..]));
        let headers = [("checkout-code", code)];
        shop.house.send("GET", &unknown, &headers, None).problem(404, "checkout_unknown");
        let buy = format!("{unknown}/purchase");
        shop.house.post(&buy, &headers, json!({})).problem(404, "checkout_unknown");
    }
    assert_eq!(shop.levels("tee"), (9, 1, 0));
}

/// Nobody but its buyer is told what became of a checkout who shows a code.
#[test]
fn a_forged_code_of_an_ended_checkout_opens_nothing() {
    let shop = Shop::with(json!({"checkout_seconds": 30}));
    let (lapsed, cancelled) = (shop.checkout("ann", &[("tee", 1)]), shop.checkout("bob", &[("tee", 1)]));
    assert_eq!(shop.cancel(&cancelled, &[]).status, 200);
    shop.house.engine.ahead_ms.fetch_add(30_000, Ordering::Relaxed);
    for (checkout, why) in [(&lapsed, "expired"), (&cancelled, "released")] {
        let (path, code) = (format!("/v1/checkouts/{}", text(checkout, "id")), text(checkout, "code"));
        // In the fence, in what it says of the buyer, and in the proof.
        for at in [3, 13, 14, 17, 18, 43] {
            let other = if code.as_bytes()[at] == b'0' { "1" } else { "0" };
            let forged = format!("{}{other}{}", &code[..at], &code[at + 1..]);
            for headers in [&[][..], &[("onsale-buyer", "ann")], &[("idempotency-key", "forged")]] {
                for verb in ["purchase", "cancel"] {
                    let told = shop.with_code(checkout, &forged, verb, headers, json!({}));
                    told.problem(412, "wrong_token");
                }
                let headers = [headers, &[("checkout-code", forged.as_str())]].concat();
                shop.house.send("GET", &path, &headers, None).problem(412, "wrong_token");
            }
        }
        // Whoever has the true one hears why.
        shop.purchase(checkout, &[]).problem(410, why);
        shop.cancel(checkout, &[("idempotency-key", "late")]).problem(410, why);
        assert_eq!(shop.show(checkout).json()["status"], why);
    }
}

#[test]
fn the_code_is_shown_to_its_buyer_only() {
    let shop = Shop::open();
    let checkout = shop.checkout("ann", &[("tee", 1)]);
    let path = format!("/v1/checkouts/{}", text(&checkout, "id"));
    let seen = |headers: &[(&str, &str)]| shop.house.send("GET", &path, headers, None).json();
    assert_eq!(seen(&[("onsale-buyer", "ann")])["code"], checkout["code"]);
    assert!(seen(&[("onsale-buyer", "bob")]).get("code").is_none());
    assert!(seen(&[]).get("code").is_none());
    let by_code = shop.show(&checkout).json();
    assert_eq!((&by_code["code"], &by_code["status"]), (&checkout["code"], &json!("reserved")));
}

#[test]
fn a_code_is_over_at_its_deadline_and_its_stock_returns() {
    let shop = Shop::with(json!({"checkout_seconds": 30}));
    let checkout = shop.checkout("ann", &[("mug", 3)]);
    shop.house.engine.ahead_ms.fetch_add(30_000, Ordering::Relaxed);
    shop.purchase(&checkout, &[("onsale-buyer", "ann")]).problem(410, "expired");
    assert_eq!(shop.show(&checkout).json()["status"], "expired");
    shop.checkout("bob", &[("mug", 3)]);
    // Remembered for an hour, then unknown.
    shop.house.engine.ahead_ms.fetch_add(3_600_000, Ordering::Relaxed);
    shop.purchase(&checkout, &[("onsale-buyer", "ann")]).problem(404, "checkout_unknown");
}

#[test]
fn a_code_outlives_its_sale_and_what_returns_then_is_not_sold() {
    let shop = Shop::open();
    let (kept, let_go) = (shop.checkout("ann", &[("tee", 1)]), shop.checkout("bob", &[("tee", 1)]));
    let path = format!("/v1/sales/{}", shop.sale);
    assert_eq!(shop.house.send("PATCH", &path, &[], Some("{\"status\":\"ended\"}")).status, 200);
    assert_eq!(shop.purchase(&kept, &[]).status, 200);
    assert_eq!(shop.cancel(&let_go, &[]).status, 200);
    shop.try_checkout("zoe", json!({"lines": [{"sku": "tee", "count": 1}]})).problem(409, "sale_closed");
}

#[test]
fn a_cancelled_sale_sells_nothing_more() {
    let shop = Shop::open();
    let checkout = shop.checkout("ann", &[("tee", 1)]);
    let path = format!("/v1/sales/{}", shop.sale);
    assert_eq!(shop.house.send("PATCH", &path, &[], Some("{\"status\":\"cancelled\"}")).status, 200);
    shop.purchase(&checkout, &[]).problem(409, "sale_cancelled");
    shop.try_checkout("bob", json!({"lines": [{"sku": "tee", "count": 1}]})).problem(409, "sale_cancelled");
}

#[test]
fn a_code_tried_by_many_at_once_buys_once() {
    let shop = Shop::open();
    let checkout = shop.checkout("ann", &[("tee", 2)]);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..8).map(|_| scope.spawn(|| shop.purchase(&checkout, &[]))).collect();
        tries.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    for answer in &answers {
        assert_eq!((answer.status, answer.json()), (200, answers[0].json()), "one purchase, told to all");
    }
    assert_eq!(shop.levels("tee"), (8, 0, 2));
    let facts = shop.house.get(&format!("/v1/sales/{}/facts", shop.sale)).json();
    let bought = facts["data"].as_array().expect("facts").iter().filter(|fact| fact["kind"] == "purchased");
    assert_eq!(bought.count(), 1);
}

#[test]
fn the_buyer_himself_buys_only_what_costs_nothing() {
    let free = json!([{"id": "pin", "name": "Pin", "price_minor": 0, "stock": 1},
                      {"id": "tee", "name": "Shirt", "price_minor": 1, "stock": 1}]);
    let shop = Shop::with(json!({"skus": free}));
    let buy = |sku: &str| {
        let checkout = shop.checkout("ann", &[(sku, 1)]);
        shop.with_code(&checkout, text(&checkout, "code"), "purchase", &[], json!({}))
    };
    assert_eq!(buy("pin").status, 200);
    buy("tee").problem(409, "payment_required");
}

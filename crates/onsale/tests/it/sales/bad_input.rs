//! Tables of what cannot be: each is refused, the field named, and nothing is recorded.

use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use super::shop::Shop;

fn line(sku: &str, count: Value) -> Value {
    json!({"sku": sku, "count": count})
}

#[test]
fn wrong_checkouts_are_refused_by_field_and_leave_no_trace() {
    let shop = Shop::open();
    let one = || line("tee", json!(1));
    for (body, status, code, field) in [
        (json!({"lines": [line("tee", json!(0))]}), 422, "invalid", "lines[0].count"),
        (json!({"lines": [line("tee", json!(-1))]}), 422, "invalid", "lines[0].count"),
        (json!({"lines": [line("tee", json!(1.5))]}), 422, "invalid", "lines[0].count"),
        (json!({"lines": [line("tee", json!(101))]}), 422, "invalid", "lines[0].count"),
        (json!({"lines": [line("tee", json!(4_294_967_296u64))]}), 422, "invalid", "lines[0].count"),
        (json!({"lines": [line("tee", json!("1"))]}), 422, "invalid", "lines[0].count"),
        (json!({"lines": [one(), line("mug", json!(0))]}), 422, "invalid", "lines[1].count"),
        (json!({"lines": []}), 422, "invalid", "lines"),
        (json!({"lines": vec![one(); 21]}), 422, "invalid", "lines"),
        (json!({"lines": [{"sku": "tee"}]}), 422, "invalid", "lines[0].count"),
        (json!({"lines": [{"sku": 7, "count": 1}]}), 422, "invalid", "lines[0].sku"),
        (json!({"lines": [one()], "checkout_seconds": 29}), 422, "invalid", "checkout_seconds"),
        (json!({"lines": [one()], "checkout_seconds": 3_601}), 422, "invalid", "checkout_seconds"),
        (json!({"lines": [one()], "checkout_seconds": i64::MAX}), 422, "invalid", "checkout_seconds"),
        (json!({"lines": [one()], "price_minor": 1}), 422, "invalid", "price_minor"),
        (json!([]), 422, "invalid", "body"),
    ] {
        let told = shop.try_checkout("ann", body.clone()).problem(status, code);
        assert_eq!(told["field"], field, "{body}: {told}");
    }
    shop.house
        .post(&format!("/v1/sales/{}/checkouts", shop.sale), &[], json!({"lines": [one()]}))
        .problem(422, "invalid");
    let path = format!("/v1/sales/{}/checkouts", shop.sale);
    let broken = shop.house.send("POST", &path, &[("onsale-buyer", "ann")], Some("{\"lines\":"));
    broken.problem(400, "malformed");
    let large = format!("{{\"lines\": [], \"x\": \"{}\"}}", "x".repeat(70_000));
    shop.house.send("POST", &path, &[("onsale-buyer", "ann")], Some(&large)).problem(413, "too_large");
    assert_eq!(shop.levels("tee"), (10, 0, 0));
    let facts = shop.house.get(&format!("/v1/sales/{}/facts", shop.sale)).json();
    assert_eq!(facts["data"].as_array().expect("facts").len(), 2, "created and opened: {facts}");
    let attempts = shop.house.get(&format!("/v1/sales/{}/attempts", shop.sale)).json();
    assert_eq!(attempts["counts"], json!({}), "what is wrong in itself is no attempt");
}

#[test]
fn a_sku_that_comes_twice_in_one_basket_is_summed() {
    let shop = Shop::open();
    let body = json!({"lines": [line("tee", json!(1)), line("mug", json!(1)), line("tee", json!(2))]});
    let answer = shop.try_checkout("ann", body);
    let tee = json!({"sku": "tee", "count": 3, "price_minor": 1900});
    assert_eq!(answer.json()["lines"], json!([tee, {"sku": "mug", "count": 1, "price_minor": 900}]));
    // Together they are more than there are, though each line alone is not.
    let body = json!({"lines": [line("mug", json!(1)), line("mug", json!(2))]});
    let told = shop.try_checkout("bob", body).problem(409, "not_enough_stock");
    assert_eq!(told["lines"], json!([{"sku": "mug", "code": "not_enough_stock"}]));
    let body = json!({"lines": [line("hat", json!(1)), line("hat", json!(1)), line("cap", json!(1))]});
    let told = shop.try_checkout("bob", body).problem(404, "sku_unknown");
    let unknown = |sku: &str| json!({"sku": sku, "code": "sku_unknown"});
    assert_eq!(told["lines"], json!([unknown("hat"), unknown("cap")]));
}

#[test]
fn wrong_sales_are_refused_by_field() {
    let shop = Shop::open();
    let sku = |change: Value| {
        let mut sku = json!({"id": "tee", "name": "Shirt", "price_minor": 1, "stock": 1});
        sku.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        json!({"skus": [sku]})
    };
    for (change, field) in [
        (sku(json!({"price_minor": -1})), "skus[0].price_minor"),
        (sku(json!({"price_minor": 1_000_000_000_001i64})), "skus[0].price_minor"),
        (sku(json!({"price_minor": 0.5})), "skus[0].price_minor"),
        (sku(json!({"stock": -1})), "skus[0].stock"),
        (sku(json!({"stock": 10_000_001})), "skus[0].stock"),
        (sku(json!({"id": ""})), "skus[0].id"),
        (sku(json!({"id": "a\nb"})), "skus[0].id"),
        (sku(json!({"name": ""})), "skus[0].name"),
        (sku(json!({"colour": "red"})), "skus[0].colour"),
        (json!({"skus": []}), "skus"),
        (json!({"skus": vec![sku(json!({}))["skus"][0].clone(); 2]}), "skus[1].id"),
        (json!({"buyer_limit": 0}), "buyer_limit"),
        (json!({"buyer_limit": 101}), "buyer_limit"),
        (json!({"checkout_seconds": 0}), "checkout_seconds"),
        (json!({"ends_at": Time(5)}), "ends_at"),
        (json!({"ends_at": 5}), "ends_at"),
        (json!({"starts_at": Time(5), "ends_at": Time(6)}), "ends_at"),
        (json!({"starts_at": "1969-12-31T23:59:59Z"}), "starts_at"),
        (json!({"starts_at": -1}), "starts_at"),
        (json!({"currency": "XXX"}), "currency"),
        (json!({"currency": "EURO"}), "currency"),
        (json!({"name": ""}), "name"),
    ] {
        let told = shop.house.post("/v1/sales", &[], shop.drop(change.clone())).problem(422, "invalid");
        assert_eq!(told["field"], field, "{change}: {told}");
    }
    assert_eq!(shop.house.get("/v1/sales").json()["data"].as_array().expect("sales").len(), 1);
}

#[test]
fn a_total_above_the_bound_is_refused() {
    let dear = json!([{"id": "crown", "name": "Crown", "price_minor": 1_000_000_000_000i64, "stock": 5}]);
    let shop = Shop::with(json!({"skus": dear}));
    assert_eq!(shop.try_checkout("ann", json!({"lines": [line("crown", json!(1))]})).status, 201);
    let told = shop.try_checkout("ann", json!({"lines": [line("crown", json!(2))]})).problem(422, "invalid");
    assert_eq!(told["field"], "lines");
}

#[test]
fn routes_of_sales_know_only_sales() {
    let shop = Shop::open();
    let event = shop.house.event();
    for path in
        [format!("/v1/sales/{event}"), format!("/v1/sales/{event}/facts"), "/v1/sales/x/attempts".into()]
    {
        shop.house.get(&path).problem(404, "listing_unknown");
    }
    let unknown = format!("/v1/sales/sal_{}", "0".repeat(16));
    shop.house.get(&unknown).problem(404, "listing_unknown");
    shop.house.get(&format!("{unknown}/facts")).problem(404, "listing_unknown");
    shop.house.get(&format!("{unknown}/stream")).problem(404, "listing_unknown");
    shop.house.get(&format!("/v1/events/{}", shop.sale)).problem(404, "listing_unknown");
    let body = json!({"lines": [{"sku": "tee", "count": 1}]});
    let path = format!("{unknown}/checkouts");
    shop.house.post(&path, &[("onsale-buyer", "ann")], body).problem(404, "listing_unknown");
    let wrong_key = [("authorization", "Bearer wrong")];
    shop.house.send("GET", "/v1/sales", &wrong_key, None).problem(401, "unauthenticated");
    shop.house
        .send("POST", "/v1/checkouts/x/purchase", &wrong_key, Some("{}"))
        .problem(401, "unauthenticated");
}

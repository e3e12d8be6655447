//! Sales over HTTP: stock is reserved by a checkout, bought by its code, or returns.

mod bad_input;
mod codes;
mod pictures;
pub(crate) mod shop;
mod tools;

use crate::house::ms;
use std::sync::atomic::Ordering;

use serde_json::json;

use self::shop::{Shop, text};

#[test]
fn a_unit_is_checked_out_and_bought_once() {
    let shop = Shop::open();
    let checkout = shop.checkout("ann", &[("tee", 2), ("mug", 1)]);
    assert_eq!(checkout["buyer"], "ann");
    assert_eq!(checkout["total_minor"], 2 * 1900 + 900);
    assert_eq!(checkout["lines"][0], json!({"sku": "tee", "count": 2, "price_minor": 1900}));
    let (placed, until) = (ms(&checkout["placed_at"]), ms(&checkout["expires_at"]));
    assert_eq!(until - placed, 600_000);
    assert_eq!(shop.levels("tee"), (8, 2, 0));

    let bought = shop.purchase(&checkout, &[("onsale-buyer", "ann")]);
    assert_eq!(bought.status, 200, "{bought:?}");
    assert!(text(&bought.json(), "order").starts_with("ord_0000"));
    assert_eq!((shop.levels("tee"), shop.levels("mug")), ((8, 0, 2), (2, 0, 1)));

    let again = shop.purchase(&checkout, &[]);
    assert_eq!((again.status, again.json()), (200, bought.json()), "the owner's retry");
    assert_eq!(shop.levels("tee"), (8, 0, 2));
    let shown = shop.show(&checkout).json();
    assert_eq!((&shown["status"], &shown["order"]), (&json!("purchased"), &bought.json()["order"]));
    shop.cancel(&checkout, &[]).problem(409, "checkout_purchased");
}

#[test]
fn a_cancelled_checkout_returns_its_stock_and_its_buyers_limit() {
    let shop = Shop::open();
    let checkout = shop.checkout("ann", &[("mug", 3)]);
    let told = shop.try_checkout("bob", json!({"lines": [{"sku": "mug", "count": 1}]}));
    let told = told.problem(409, "sold_out_for_now");
    assert_eq!(told["lines"], json!([{"sku": "mug", "code": "sold_out_for_now"}]));
    assert_eq!(shop.sale()["skus"][1]["sold_out"], "for_now");
    assert_eq!(shop.cancel(&checkout, &[("onsale-buyer", "ann")]).status, 200);
    shop.cancel(&checkout, &[]).problem(410, "released");
    shop.purchase(&checkout, &[]).problem(410, "released");
    let bought = shop.checkout("bob", &[("mug", 3)]);
    assert_eq!(shop.purchase(&bought, &[]).status, 200);
    assert_eq!(shop.sale()["skus"][1]["sold_out"], "for_good");
    let told =
        shop.try_checkout("ann", json!({"lines": [{"sku": "tee", "count": 1}, {"sku": "mug", "count": 1}]}));
    assert_eq!(told.problem(409, "sold_out")["lines"], json!([{"sku": "mug", "code": "sold_out"}]));
}

#[test]
fn the_limit_sums_what_is_reserved_and_what_is_bought() {
    let shop = Shop::with(json!({"buyer_limit": 3}));
    let checkout = shop.checkout("ann", &[("tee", 2)]);
    shop.purchase(&checkout, &[]);
    let told = shop.try_checkout("ann", json!({"lines": [{"sku": "tee", "count": 2}]}));
    let told = told.problem(409, "buyer_limit");
    assert_eq!((&told["limit"], &told["taken"]), (&json!(3), &json!(2)));
    shop.checkout("ann", &[("mug", 1)]);
}

#[test]
fn the_same_key_gets_the_same_code() {
    let shop = Shop::open();
    let path = format!("/v1/sales/{}/checkouts", shop.sale);
    let headers = [("onsale-buyer", "ann"), ("idempotency-key", "one")];
    let body = json!({"lines": [{"sku": "tee", "count": 1}]});
    let first = shop.house.post(&path, &headers, body.clone());
    let again = shop.house.post(&path, &headers, body);
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.body, again.body, "byte for byte");
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(shop.levels("tee"), (9, 1, 0));
    let other = json!({"lines": [{"sku": "tee", "count": 2}]});
    shop.house.post(&path, &headers, other).problem(422, "key_reused");

    let checkout = first.json();
    let cancelled = shop.cancel(&checkout, &[("idempotency-key", "two")]);
    let replayed = shop.cancel(&checkout, &[("idempotency-key", "two")]);
    assert_eq!((cancelled.status, cancelled.body), (200, replayed.body));
}

#[test]
fn staff_changes_a_sale_and_its_stock() {
    let shop = Shop::open();
    let path = format!("/v1/sales/{}", shop.sale);
    let patch =
        |path: &str, body: serde_json::Value| shop.house.send("PATCH", path, &[], Some(&body.to_string()));
    let changed = patch(&path, json!({"name": "Late drop", "buyer_limit": 4})).json();
    assert_eq!((&changed["name"], &changed["buyer_limit"]), (&json!("Late drop"), &json!(4)));
    assert_eq!(patch(&path, json!({"name": "Late drop"})).json(), changed);
    assert_eq!(shop.house.get(&path).json(), changed);
    patch(&path, json!({})).problem(422, "invalid");
    assert_eq!(
        patch(&path, json!({"name": "x", "status": "ended"})).problem(422, "invalid")["field"],
        "status"
    );

    let tee = format!("{path}/skus/tee");
    assert_eq!(patch(&tee, json!({"add": 5})).json()["stock"], 15);
    assert_eq!(patch(&tee, json!({"withdraw": 3})).json()["available"], 12);
    assert_eq!(shop.levels("tee"), (12, 0, 0));
    let told = patch(&tee, json!({"withdraw": 13})).problem(409, "not_enough_stock");
    assert_eq!(told["lines"], json!([{"sku": "tee", "code": "not_enough_stock"}]));
    assert_eq!(patch(&tee, json!({"price_minor": 1500})).json()["price_minor"], 1500);
    patch(&format!("{path}/skus/hat"), json!({"add": 1})).problem(404, "sku_unknown");
    patch(&tee, json!({"add": 1, "withdraw": 1})).problem(422, "invalid");
    let hat = json!({"id": "hat", "name": "Hat", "price_minor": 700, "stock": 1});
    assert_eq!(shop.house.post(&format!("{path}/skus"), &[], hat.clone()).status, 201);
    let twice = shop.house.post(&format!("{path}/skus"), &[], hat).problem(422, "invalid");
    assert_eq!(twice["field"], "id");
    shop.checkout("ann", &[("hat", 1)]);

    assert_eq!(patch(&path, json!({"status": "ended"})).json()["status"], "ended");
    let late = shop.try_checkout("bob", json!({"lines": [{"sku": "tee", "count": 1}]}));
    late.problem(409, "sale_closed");
    patch(&tee, json!({"add": 1})).problem(409, "sale_closed");
}

#[test]
fn a_sale_opens_and_ends_by_the_clock_and_its_tag_follows() {
    let shop = Shop::with(json!({"starts_in_ms": 60_000}));
    let path = format!("/v1/sales/{}", shop.sale);
    let early = shop.house.get(&path);
    assert_eq!(early.json()["status"], "scheduled");
    let tag = early.header("etag").expect("a tag").to_owned();
    assert_eq!(shop.house.send("GET", &path, &[("if-none-match", &tag)], None).status, 304);
    let told = shop.try_checkout("ann", json!({"lines": [{"sku": "tee", "count": 1}]}));
    told.problem(409, "sale_not_started");
    shop.house.engine.ahead_ms.fetch_add(60_000, Ordering::Relaxed);
    let open = shop.house.send("GET", &path, &[("if-none-match", &tag)], None);
    assert_eq!((open.status, &open.json()["status"]), (200, &json!("open")), "no fact has said so yet");
    shop.checkout("ann", &[("tee", 1)]);
    shop.house.engine.ahead_ms.fetch_add(3_600_000, Ordering::Relaxed);
    assert_eq!(shop.sale()["status"], "ended");
    let late = shop.try_checkout("ann", json!({"lines": [{"sku": "tee", "count": 1}]}));
    late.problem(409, "sale_closed");
}

#[test]
fn facts_tell_what_happened_and_no_code() {
    let shop = Shop::open();
    let checkout = shop.checkout("ann", &[("tee", 1)]);
    shop.purchase(&checkout, &[]);
    let secret = text(&checkout, "code").to_owned();
    let facts = shop.house.get(&format!("/v1/sales/{}/facts", shop.sale));
    assert!(!String::from_utf8_lossy(&facts.body).contains(&secret));
    let kinds: Vec<_> = facts.json()["data"].as_array().expect("facts").clone();
    let kinds: Vec<_> = kinds.iter().map(|fact| text(fact, "kind").to_owned()).collect();
    assert_eq!(kinds, ["sale_created", "sale_status_changed", "checked_out", "purchased"]);
    let told = &facts.json()["data"][2];
    assert_eq!(told["checkout"], checkout["id"]);
    assert_eq!(told["lines"], json!([{"sku": "tee", "count": 1, "price_minor": 1900}]));

    let stream = format!("/v1/sales/{}/stream?after=0", shop.sale);
    let mut reader = std::io::BufReader::new(shop.house.connect());
    let head =
        format!("GET {stream} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n", crate::house::KEY);
    std::io::Write::write_all(reader.get_mut(), head.as_bytes()).expect("sent");
    assert_eq!(crate::house::read_head(&mut reader).0, 200);
    let mut heard = String::new();
    while !heard.contains("event: purchased") {
        let chunk = crate::house::read_chunk(&mut reader).expect("the stream goes on");
        heard += &String::from_utf8(chunk).expect("text");
    }
    assert!(heard.contains("event: checked_out") && !heard.contains(&secret), "{heard}");
}

#[test]
fn sales_are_listed_page_by_page() {
    let shop = Shop::open();
    let second = shop.another(json!({}));
    let page = shop.house.get("/v1/sales?limit=1").json();
    let next = text(&page, "next").to_owned();
    let rest = shop.house.get(&format!("/v1/sales?after={next}")).json();
    let mut found = vec![text(&page["data"][0], "id").to_owned(), text(&rest["data"][0], "id").to_owned()];
    found.sort();
    let mut made = vec![shop.sale.clone(), second];
    made.sort();
    assert_eq!(found, made);
    shop.house.get("/v1/sales?after=evt_0").problem(422, "invalid");
}

#[test]
fn a_buyer_sees_his_checkouts_over_all_sales_and_his_last_purchase() {
    let shop = Shop::open();
    let second = shop.another(json!({}));
    let first = shop.checkout("ann", &[("tee", 1)]);
    shop.purchase(&first, &[]);
    let path = format!("/v1/sales/{second}/checkouts");
    let body = json!({"lines": [{"sku": "mug", "count": 1}]});
    let other = shop.house.post(&path, &[("onsale-buyer", "ann")], body).json();
    let mine =
        |headers: &[(&str, &str)]| shop.house.send("GET", "/v1/buyers/ann/checkouts", headers, None).json();
    let seen = mine(&[("onsale-buyer", "ann")]);
    assert_eq!(seen["data"].as_array().expect("sales").len(), 1, "{seen}");
    assert_eq!(seen["data"][0]["code"], other["code"]);
    assert_eq!(seen["last_purchase"]["id"], first["id"]);
    let staff = mine(&[]);
    assert!(staff["data"][0].get("code").is_none(), "a code is its buyer's: {staff}");
    let nobody = shop.house.get("/v1/buyers/zoe/checkouts").json();
    assert_eq!(nobody, json!({"data": [], "last_purchase": null}));
}

#[test]
fn a_buyers_checkouts_are_found_without_asking_every_sale_that_has_sold_something() {
    let shop = Shop::open();
    for number in 0..100 {
        let path = format!("/v1/sales/{}/checkouts", shop.another(json!({})));
        let body = json!({"lines": [{"sku": "mug", "count": 1}]});
        let buyer = format!("guest-{number}");
        assert_eq!(shop.house.post(&path, &[("onsale-buyer", &buyer)], body).status, 201);
    }
    shop.checkout("ann", &[("tee", 1)]);
    let (asked, viewed) = (&shop.house.engine.asked, &shop.house.engine.viewed);
    asked.store(0, Ordering::Relaxed);
    viewed.store(0, Ordering::Relaxed);
    let seen = shop.house.get("/v1/buyers/ann/checkouts").json();
    assert_eq!(seen["data"].as_array().expect("sales").len(), 1, "{seen}");
    let cost = (asked.load(Ordering::Relaxed), viewed.load(Ordering::Relaxed));
    assert_eq!(cost, (0, 1), "sales asked one by one, and views looked at");
}

#[test]
fn refused_attempts_are_counted_and_the_last_are_kept() {
    let shop = Shop::with(json!({"buyer_limit": 1}));
    let checkout = shop.checkout("ann", &[("tee", 1)]);
    shop.try_checkout("ann", json!({"lines": [{"sku": "tee", "count": 1}]})).problem(409, "buyer_limit");
    shop.try_checkout("bob", json!({"lines": [{"sku": "hat", "count": 1}]})).problem(404, "sku_unknown");
    shop.try_checkout("bob", json!({"lines": []})).problem(422, "invalid");
    shop.purchase(&checkout, &[("onsale-buyer", "bob")]).problem(403, "not_yours");
    let path = format!("/v1/sales/{}/attempts", shop.sale);
    let told = shop.house.get(&path).json();
    assert_eq!(told["counts"], json!({"buyer_limit": 1, "not_yours": 1, "sku_unknown": 1}));
    let second = &told["data"][1];
    assert_eq!((&second["buyer"], &second["verb"]), (&json!("bob"), &json!("checkout")));
    assert_eq!((told["data"].as_array().map(Vec::len), told.get("next")), (Some(3), None));
    let page = shop.house.get(&format!("{path}?limit=1")).json();
    let page = shop.house.get(&format!("{path}?after={}&limit=1", text(&page, "next"))).json();
    assert_eq!(page["data"][0]["number"], 1);
    let page = shop.house.get(&format!("{path}?after={}&limit=1", text(&page, "next"))).json();
    assert_eq!((&page["data"][0]["number"], page.get("next")), (&json!(2), None));
    shop.house.get(&format!("{path}?limit=0")).problem(422, "invalid");
}

//! `/v1/orders` for what is kept for days: an auction's win and a paid place of a registration. And what the book of orders
//! never saw.

use crate::house::ms;
use onsale_edge::http::time::Time;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::house::{Answer, House};
use crate::orders::{key, pay, shown, until};

fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().expect("an id").to_owned()
}

fn order(house: &House, buyer: &str, of: &str, id: &str) -> Answer {
    house.post(&format!("/v1/{of}/{id}/order"), &[("onsale-buyer", buyer)], json!({}))
}

fn now(house: &House) -> i64 {
    ms(&house.get("/v1/time").json()["now"])
}

#[test]
fn a_win_is_ordered_and_paid_and_an_unpaid_one_goes_to_the_next() {
    let house = House::open();
    let ends_at = now(&house) + 3_600_000;
    let body = json!({"name": "Vase", "seller": "sam", "currency": "EUR", "starts_at": Time(ends_at - 7_200_000),
                      "ends_at": Time(ends_at), "start_minor": 100, "increment": 10});
    let auction = id(&house.post("/v1/auctions", &[], body));
    for (bidder, max_minor) in [("bob", 300), ("ann", 500)] {
        let bid = json!({"max_minor": max_minor, "currency": "EUR"});
        let answer = house.post(&format!("/v1/auctions/{auction}/bids"), &[("onsale-buyer", bidder)], bid);
        assert!(answer.status < 300, "{answer:?}");
    }
    order(&house, "ann", "auctions", &auction).problem(404, "award_unknown");
    order(&house, "ann", "auctions", "auc_0000000000000000").problem(404, "listing_unknown");
    house.engine.ahead_ms.store(3_600_000, Ordering::SeqCst);
    order(&house, "bob", "auctions", &auction).problem(404, "award_unknown");
    let lost = order(&house, "ann", "auctions", &auction);
    let lost = (id(&lost), lost.json());
    assert_eq!((&lost.1["total_minor"], &lost.1["auction"]), (&json!(310), &json!(auction)));
    // Two days later the next bidder has a chance.
    house.engine.ahead_ms.store(3_600_000 + 172_800_000, Ordering::SeqCst);
    let won = order(&house, "bob", "auctions", &auction).json();
    assert_eq!(won["total_minor"], 300);
    shown(&house, &lost.1, "expired");
    let pay = format!("/v1/orders/{}/pay", won["id"].as_str().expect("an id"));
    let paying = house.post(&pay, &[("onsale-buyer", "bob"), key(&won)], json!({}));
    assert_eq!(paying.status, 202, "{paying:?}");
    let paid = shown(&house, &won, "completed");
    assert_eq!(paid["payments"][0]["captured_minor"], 300);
    let sold = house.get(&format!("/v1/auctions/{auction}")).json();
    assert!(sold.to_string().contains("settled"), "{sold}");
    let refunds = format!("/v1/orders/{}/refund", won["id"].as_str().expect("an id"));
    house.post(&refunds, &[], json!({"seats": ["A"], "reason": "broken"})).problem(422, "invalid");
    house.post(&refunds, &[], json!({"amount_minor": 301, "reason": "broken"})).problem(422, "invalid");
    let back = house.post(&refunds, &[], json!({"amount_minor": 120, "reason": "a chip"}));
    assert_eq!((back.status, &back.json()["returned_minor"]), (200, &json!(120)), "{back:?}");
    assert_eq!(back.json()["payments"][0]["refunds"][0]["amount_minor"], 120, "{back:?}");
    shown(&house, &won, "completed");
    let back = house.post(&refunds, &[], json!({"reason": "broken"})).json();
    let refund = &back["payments"][0]["refunds"][1];
    assert_eq!((&back["returned_minor"], &refund["amount_minor"]), (&json!(300), &json!(180)), "{back}");
    assert_eq!((&refund["why"], &back["status"]), (&json!("returned"), &json!("refunded")), "{back}");
    let returned = shown(&house, &won, "refunded");
    assert_eq!(returned["payments"][0]["refunds"][1]["amount_minor"], 180, "{returned}");
    house.post(&refunds, &[], json!({"reason": "broken"})).problem(409, "not_refundable");
    let sold = house.get(&format!("/v1/auctions/{auction}")).json();
    assert!(sold.to_string().contains("\"refunded\"") && sold["status"] == "closed", "{sold}");
    let all = house.get("/v1/buyers/bob/orders").json();
    assert_eq!(all["data"][0]["id"], won["id"], "{all}");
}

#[test]
fn a_paid_place_is_ordered_bought_and_given_back() {
    let house = House::open();
    let starts_at = now(&house) + 10 * 86_400_000;
    let body = json!({"name": "Course", "opens_at": Time(0), "starts_at": Time(starts_at), "currency": "EUR",
                      "price_minor": 500, "capacity": 2});
    let course = id(&house.post("/v1/registrations", &[], body));
    let register = |buyer: &str| {
        let path = format!("/v1/registrations/{course}/entries");
        let answer = house.post(&path, &[("onsale-buyer", buyer)], json!({}));
        assert!(answer.status < 300, "{answer:?}");
        answer.json()["id"].as_str().expect("an id").to_owned()
    };
    let entry = register("ann");
    order(&house, "bob", "entries", &entry).problem(403, "not_yours");
    order(&house, "ann", "entries", "ent_x").problem(404, "entry_unknown");
    let bought = order(&house, "ann", "entries", &entry).json();
    assert_eq!((&bought["total_minor"], &bought["entry"]), (&json!(500), &json!(entry)));
    order(&house, "ann", "entries", &entry).problem(409, "already_ordered");
    assert_eq!(pay(&house, &bought, json!({})).status, 202);
    shown(&house, &bought, "confirmed");
    let refunds = format!("/v1/orders/{}/refund", bought["id"].as_str().expect("an id"));
    house.post(&refunds, &[], json!({"seats": ["A"], "reason": "ill"})).problem(422, "invalid");
    house.post(&refunds, &[], json!({"amount_minor": 5, "reason": "ill"})).problem(422, "invalid");
    let back = house.post(&refunds, &[], json!({"reason": "ill"}));
    assert_eq!((back.status, &back.json()["returned_minor"]), (200, &json!(500)), "{back:?}");
    let path = format!("/v1/orders/{}", bought["id"].as_str().expect("an id"));
    let order = until(&house, &path, |order| order["payments"][0]["refunds"][0]["paid"] == true);
    assert_eq!(order["status"], "refunded");
}

#[test]
fn an_order_that_was_confirmed_or_purchased_directly_is_shown_too() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1", "A-1-2"]);
    let token = hold["token"].as_str().expect("a token");
    let path = format!("/v1/holds/{}/confirm", hold["id"].as_str().expect("an id"));
    let confirmed = house
        .post(&path, &[("onsale-buyer", "ann"), ("hold-token", token)], json!({"paid_elsewhere": true}))
        .json();
    let order = house.get(&format!("/v1/orders/{}", confirmed["order"].as_str().expect("an order"))).json();
    assert_eq!((&order["status"], &order["total_minor"]), (&json!("confirmed"), &json!(9000)), "{order}");
    assert_eq!((&order["seats"][1]["seat"], &order["paid_elsewhere"]), (&json!("A-1-2"), &json!(true)));
    let sale = json!({"name": "Drop", "starts_at": Time(0), "ends_at": Time(4_000_000_000_000), "currency": "EUR",
                      "skus": [{"id": "tee", "name": "Tee", "price_minor": 2500, "stock": 5},
                               {"id": "pin", "name": "Pin", "price_minor": 0, "stock": 5}]});
    let sale = id(&house.post("/v1/sales", &[], sale));
    let code = |sku: &str| {
        let lines = json!({"lines": [{"sku": sku, "count": 2}]});
        let answer = house.post(&format!("/v1/sales/{sale}/checkouts"), &[("onsale-buyer", "ann")], lines);
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    };
    let buy = |checkout: &Value, body: Value| {
        let path = format!("/v1/checkouts/{}/purchase", checkout["id"].as_str().expect("an id"));
        let code = ("checkout-code", checkout["code"].as_str().expect("a code"));
        house.post(&path, &[("onsale-buyer", "ann"), code], body)
    };
    // Who does not say that it was paid elsewhere may take only what costs nothing.
    let tee = code("tee");
    buy(&tee, json!({})).problem(409, "payment_required");
    assert_eq!(buy(&code("pin"), json!({})).status, 200);
    let bought = buy(&tee, json!({"paid_elsewhere": true})).json();
    let order = house.get(&format!("/v1/orders/{}", bought["order"].as_str().expect("an order"))).json();
    assert_eq!((&order["status"], &order["total_minor"]), (&json!("confirmed"), &json!(5000)), "{order}");
    assert_eq!((&order["lines"][0]["sku"], &order["payments"]), (&json!("tee"), &json!([])));
}

#[test]
fn a_place_that_was_confirmed_directly_has_its_order_shown_too() {
    let house = House::open();
    let now = now(&house);
    let course = json!({"name": "Evening run", "opens_at": Time(now - 1), "starts_at": Time(now + 2_592_000_000),
                        "capacity": 2, "currency": "EUR", "price_minor": 500});
    let course = id(&house.post("/v1/registrations", &[], course));
    let path = format!("/v1/registrations/{course}/entries");
    let entry = house.post(&path, &[("onsale-buyer", "ann")], json!({})).json()["id"].clone();
    let entry = format!("/v1/entries/{}", entry.as_str().expect("an id"));
    let confirm = |body: Value| house.post(&format!("{entry}/confirm"), &[("onsale-buyer", "ann")], body);
    confirm(json!({})).problem(409, "payment_required");
    let confirmed = confirm(json!({"paid_elsewhere": true})).json();
    let order = format!("/v1/orders/{}", confirmed["order"].as_str().expect("an order"));
    let shown = house.get(&order).json();
    let told = |field: &str| shown[field].clone();
    assert_eq!(
        (told("status"), told("buyer"), told("listing")),
        (json!("confirmed"), json!("ann"), json!(course))
    );
    assert_eq!(
        (told("total_minor"), told("currency"), told("paid_elsewhere")),
        (json!(500), json!("EUR"), json!(true))
    );
    assert_eq!((told("entry"), told("payments")), (confirmed["id"].clone(), json!([])), "{shown}");
    house.send("DELETE", &entry, &[("onsale-buyer", "ann")], None);
    let shown = house.get(&order).json();
    assert_eq!((&shown["status"], &shown["returned_minor"]), (&json!("refunded"), &json!(500)), "{shown}");
}

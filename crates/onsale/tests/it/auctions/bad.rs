//! What bad input gets: the field by name, nothing recorded.

use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use super::hall::{HOUR, Hall, START};

#[test]
fn a_wrong_auction_is_named_by_its_field() {
    let hall = Hall::open();
    let table = [
        ("name", json!(""), "name"),
        ("name", json!(7), "name"),
        ("seller", json!(""), "seller"),
        ("seller", json!("a\u{7}"), "seller"),
        ("currency", json!("euro"), "currency"),
        ("currency", json!("XXX"), "currency"),
        ("currency", json!("XAU"), "currency"),
        ("ends_at", json!(Time(START)), "ends_at"),
        ("ends_at", json!(Time(START - HOUR)), "ends_at"),
        ("ends_at", json!(Time(START + 400 * 24 * HOUR)), "ends_at"),
        ("starts_at", json!(-1), "starts_at"),
        ("starts_at", json!("now"), "starts_at"),
        ("start_minor", json!(0), "start_minor"),
        ("start_minor", json!(-1), "start_minor"),
        ("start_minor", json!(10.5), "start_minor"),
        ("start_minor", json!("1000"), "start_minor"),
        ("start_minor", json!(1_000_000_000_001i64), "start_minor"),
        ("tick_minor", json!(0), "tick_minor"),
        ("tick_minor", json!(7), "start_minor"),
        ("increment", json!(0), "increment"),
        ("increment", json!(0.5), "increment"),
        ("increment", json!("ebay_uk"), "increment"),
        ("increment", json!([]), "increment"),
        ("increment", json!([{"from_minor": 5, "step_minor": 1}]), "increment[0].from_minor"),
        ("increment", json!([{"from_minor": 0, "step_minor": 0}]), "increment[0].step_minor"),
        ("reserve_minor", json!(999), "reserve_minor"),
        ("reserve_minor", json!(0), "reserve_minor"),
        ("buy_now", json!({"price_minor": 1_000, "policy": "always"}), "buy_now.price_minor"),
        ("buy_now", json!({"price_minor": 5_000, "policy": "never"}), "buy_now.policy"),
        ("buy_now", json!({"price_minor": 5_000}), "buy_now.policy"),
        ("soft_close", json!({"window_ms": 0}), "soft_close.window_ms"),
        ("soft_close", json!({"extensions_ms": []}), "soft_close.extensions_ms"),
        ("soft_close", json!({"cap_ms": -1}), "soft_close.cap_ms"),
        ("soft_close", json!({"mode": "stop"}), "soft_close.mode"),
        ("surprise", json!(1), "surprise"),
    ];
    for (name, value, field) in table {
        let told = hall.house.post("/v1/auctions", &[], hall.wish(json!({name: value})));
        assert_eq!(told.problem(422, "invalid")["field"], field, "{name}={value}");
    }
    assert_eq!(hall.house.get("/v1/auctions").json()["data"], json!([]), "nothing is recorded");
    let missing = hall.house.post("/v1/auctions", &[], json!({"name": "x"}));
    assert!(missing.problem(422, "invalid")["detail"].as_str().is_some_and(|why| why.contains("seller")));
    hall.house.send("POST", "/v1/auctions", &[], Some("{")).problem(400, "malformed");
    let long = hall.wish(json!({"description": "x".repeat(1 << 20)})).to_string();
    hall.house.send("POST", "/v1/auctions", &[], Some(&long)).problem(413, "too_large");
}

#[test]
fn an_amount_that_cannot_be_is_refused_before_anything_else() {
    let hall = Hall::open();
    let auction = hall.auction(json!({}));
    let bid = |body: Value| hall.bid_in(&auction, "ann", body);
    for amount in [
        json!(0),
        json!(-1),
        json!(i64::MIN),
        json!(10.5),
        json!(1_500.0),
        json!("1500"),
        json!(1_000_000_000_001i64),
        json!(1e30),
        json!(null),
        json!(true),
    ] {
        let told = bid(json!({"max_minor": amount, "currency": "EUR"})).problem(422, "invalid");
        assert_eq!(told["field"], "max_minor", "{amount}");
    }
    assert_eq!(
        bid(json!({"max_minor": 2_000, "currency": "euro"})).problem(422, "invalid")["field"],
        "currency"
    );
    assert_eq!(
        bid(json!({"max_minor": 2_000, "currency": "EUR", "min": 1})).problem(422, "invalid")["field"],
        "min"
    );
    bid(json!({"max_minor": 2_000})).problem(422, "invalid");
    bid(json!({"max_minor": 2_000, "currency": "USD"})).problem(409, "currency");
    let path = format!("/v1/auctions/{auction}/bids");
    let anonymous = hall.house.post(&path, &[], json!({"max_minor": 2_000, "currency": "EUR"}));
    assert_eq!(anonymous.problem(422, "invalid")["field"], "Onsale-Buyer");
    hall.house
        .send("POST", &path, &[("authorization", "Bearer wrong")], Some("{}"))
        .problem(401, "unauthenticated");
    for id in ["auc_0000000000000000", "evt_0000000000000000", "x"] {
        hall.bid(id, "ann", 2_000).problem(404, "listing_unknown");
    }
    assert_eq!(
        bid(json!({"max_minor": 1_000_000_000_000i64, "currency": "EUR"})).status,
        201,
        "the bound itself"
    );
    assert_eq!(hall.facts(&auction).len(), 2, "of all that, one fact");
    let ticks = hall.auction(json!({"tick_minor": 50, "start_minor": 1_000, "increment": 100}));
    hall.bid(&ticks, "ann", 1_025).problem(409, "off_tick");
}

#[test]
fn every_currency_is_bid_in_its_own_minor_units() {
    let hall = Hall::open();
    // Yen have no decimals, euros two, dinars three: what is sent is what is kept, without a point anywhere.
    for (code, start, increment, first, second, price) in [
        ("JPY", 900, json!("yahoo_jp"), 5_000, 4_999, 5_000),
        ("EUR", 990, json!("ebay_us"), 5_001, 2_499, 2_549),
        ("KWD", 1_500, json!(250), 12_345, 11_111, 11_361),
    ] {
        let wish = json!({"currency": code, "start_minor": start, "increment": increment});
        let auction = hall.auction(wish);
        let bid = |who, max| hall.bid_in(&auction, who, json!({"max_minor": max, "currency": code}));
        let told = bid("ann", first).json();
        assert_eq!((&told["price_minor"], &told["currency"]), (&json!(start), &json!(code)), "{told}");
        assert_eq!(bid("bob", second).json()["price_minor"], price, "{code}");
        let shown = hall.house.get(&format!("/v1/auctions/{auction}")).json();
        assert_eq!((&shown["currency"], &shown["price_minor"]), (&json!(code), &json!(price)));
        let other = if code == "EUR" { "USD" } else { "EUR" };
        hall.bid_in(&auction, "cem", json!({"max_minor": 900_000, "currency": other}))
            .problem(409, "currency");
    }
}

#[test]
fn sellers_and_the_banned_do_not_bid() {
    let hall = Hall::open();
    let auction = hall.auction(json!({}));
    hall.bid(&auction, "sam", 5_000).problem(403, "seller");
    assert_eq!(hall.bid(&auction, "eve", 9_000).status, 201);
    assert_eq!(hall.bid(&auction, "ann", 2_000).json()["price_minor"], 2_100);
    let bans = format!("/v1/auctions/{auction}/bans");
    let ban = |body| hall.house.post(&bans, &[], body);
    assert_eq!(ban(json!({"bidder": "", "reason": "x"})).problem(422, "invalid")["field"], "bidder");
    let staff = json!({"bidder": "eve", "staff": "Mia", "reason": "x"});
    assert_eq!(ban(staff).problem(422, "invalid")["field"], "staff", "who acts is no field of a body");
    assert_eq!(ban(json!({"bidder": "eve", "reason": ""})).problem(422, "invalid")["field"], "reason");
    let told = ban(json!({"bidder": "eve", "reason": "shill"})).json();
    assert_eq!((&told["after"]["leader"], &told["after"]["price_minor"]), (&json!("ann"), &json!(1_000)));
    hall.bid(&auction, "eve", 20_000).problem(403, "banned");
    let again = ban(json!({"bidder": "eve", "reason": "shill"})).json();
    assert_eq!(again["changed"], false);
    let unban = hall.house.send("DELETE", &format!("{bans}/eve"), &[], None);
    assert_eq!((unban.status, &unban.json()["changed"]), (200, &json!(true)), "{unban:?}");
    assert_eq!(hall.bid(&auction, "eve", 20_000).status, 201);
    let unknown = hall.house.send("DELETE", &format!("{bans}/zoe"), &[], None);
    assert_eq!((unknown.status, &unknown.json()["changed"]), (200, &json!(false)));
}

#[test]
fn a_bid_is_taken_back_by_the_rules() {
    let hall = Hall::open();
    let end = START + 20 * HOUR;
    let auction = hall.auction(json!({"bidders_may_retract": true, "ends_at": Time(end)}));
    let retract = |auction: &str, headers: &[(&str, &str)], body: Value| {
        hall.house.post(&format!("/v1/auctions/{auction}/retractions"), headers, body)
    };
    let (ann, bob) = ([("onsale-buyer", "ann")], [("onsale-buyer", "bob")]);
    let own = |bid: u32| json!({"bid": bid, "reason": "a slip"});
    assert_eq!(hall.bid(&auction, "ann", 5_000).status, 201);
    assert_eq!(hall.bid(&auction, "bob", 3_000).status, 201);
    assert_eq!(hall.bid(&auction, "ann", 6_000).status, 201);
    retract(&auction, &bob, own(1)).problem(404, "bid_unknown");
    retract(&auction, &ann, own(99)).problem(404, "bid_unknown");
    retract(&auction, &ann, own(1)).problem(409, "bid_not_latest");
    assert_eq!(
        retract(&auction, &ann, json!({"bid": 3, "reason": ""})).problem(422, "invalid")["field"],
        "reason"
    );
    assert_eq!(
        retract(&auction, &ann, json!({"bid": -1, "reason": "x"})).problem(422, "invalid")["field"],
        "bid"
    );
    assert_eq!(
        retract(&auction, &ann, json!({"bid": 4_294_967_296u64, "reason": "x"})).problem(422, "invalid")["field"],
        "bid"
    );
    let told = retract(&auction, &ann, own(3)).json();
    assert_eq!((&told["changed"], &told["after"]["leader"]), (&json!(true), &json!("ann")));
    assert_eq!(retract(&auction, &ann, own(3)).json()["changed"], false);
    hall.clock.set(START + HOUR + 1);
    retract(&auction, &ann, own(1)).problem(409, "retraction_late");
    assert_eq!(hall.bid(&auction, "ann", 7_000).status, 201);
    hall.clock.set(end - 12 * HOUR + 1);
    retract(&auction, &ann, own(4)).problem(409, "retraction_late");
    let staff = json!({"bid": 4, "reason": "agreed"});
    assert_eq!(retract(&auction, &[], staff.clone()).json()["changed"], true);
    let history = hall.house.get(&format!("/v1/auctions/{auction}/history")).json();
    assert_eq!(
        (&history["data"][0]["retracted"], &history["data"][0]["amount_minor"]),
        (&json!(true), &json!(null))
    );
    let strict = hall.auction(json!({"ends_at": Time(end)}));
    assert_eq!(hall.bid(&strict, "ann", 5_000).status, 201);
    retract(&strict, &ann, own(1)).problem(403, "retraction_not_allowed");
    hall.clock.set(end);
    retract(&auction, &[], staff).problem(409, "over");
}

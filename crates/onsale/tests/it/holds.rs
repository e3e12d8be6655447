//! Holding, extending, dropping, releasing and confirming over HTTP.

use crate::house::ms;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::house::{Answer, House};

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn patch(house: &House, hold: &Value, body: Value) -> Answer {
    let path = format!("/v1/holds/{}", text(hold, "id"));
    house.send("PATCH", &path, &[("hold-token", text(hold, "token"))], Some(&body.to_string()))
}

fn release(house: &House, hold: &Value, headers: &[(&str, &str)]) -> Answer {
    house.send("DELETE", &format!("/v1/holds/{}", text(hold, "id")), headers, None)
}

fn confirm(house: &House, hold: &Value, headers: &[(&str, &str)]) -> Answer {
    house.post(&format!("/v1/holds/{}/confirm", text(hold, "id")), headers, json!({"paid_elsewhere": true}))
}

#[test]
fn a_seat_is_held_extended_and_confirmed() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1", "A-1-2"]);
    assert_eq!(hold["total_minor"], 9000);
    assert_eq!(hold["buyer"], "ann");
    assert_eq!(hold["seats"][1], json!({"seat": "A-1-2", "price_minor": 4500}));
    let until = ms(&hold["expires_at"]);
    assert_eq!(until - ms(&hold["placed_at"]), 120_000);
    assert_eq!(hold["expires_in_seconds"], 120);

    let extended = patch(&house, &hold, json!({"extend_seconds": 60}));
    assert_eq!((extended.status, ms(&extended.json()["expires_at"])), (200, until + 60_000));
    patch(&house, &hold, json!({"extend": true})).problem(409, "extensions_used");

    let token = [("hold-token", text(&hold, "token")), ("onsale-buyer", "ann")];
    let sold = confirm(&house, &hold, &token);
    assert_eq!(sold.status, 200, "{sold:?}");
    assert!(text(&sold.json(), "order").starts_with("ord_0000"));
    let again = confirm(&house, &hold, &token);
    assert_eq!((again.status, again.body), (200, sold.body), "asked again it is answered the same");
    let path = format!("/v1/events/{event}/holds");
    let told = house.post(&path, &[("onsale-buyer", "bob")], json!({"seats": ["A-1-1", "A-1-3"]}));
    assert_eq!(told.problem(409, "seat_sold")["seats"], json!([{"seat": "A-1-1", "code": "seat_sold"}]));
}

#[test]
fn asking_again_returns_the_same_hold_to_its_own_buyer_only() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/holds");
    let again = house.post(&path, &[("onsale-buyer", "ann")], json!({"seats": ["A-1-1"]}));
    assert_eq!(again.status, 200);
    assert_eq!((&again.json()["token"], &again.json()["already_yours"]), (&hold["token"], &json!(true)));
    house.post(&path, &[("onsale-buyer", "bob")], json!({"seats": ["A-1-1"]})).problem(409, "seat_held");
    let mixed = house.post(&path, &[("onsale-buyer", "ann")], json!({"seats": ["A-1-1", "A-1-2"]}));
    mixed.problem(409, "already_yours");
}

#[test]
fn a_hold_is_released_once_and_then_gone() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let token = [("hold-token", text(&hold, "token"))];
    assert_eq!(release(&house, &hold, &token).status, 200);
    release(&house, &hold, &token).problem(410, "released");
    let shown = house.get(&format!("/v1/holds/{}", text(&hold, "id")));
    assert_eq!(shown.json(), json!({"id": hold["id"], "listing": event, "status": "released"}));
    house.hold(&event, "bob", &["A-1-1"]);
}

#[test]
fn a_hold_is_over_at_its_deadline() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    house.engine.ahead_ms.store(120_001, Ordering::Relaxed);
    let with_buyer = [("hold-token", text(&hold, "token")), ("onsale-buyer", "ann")];
    release(&house, &hold, &with_buyer).problem(410, "expired");
    release(&house, &hold, &with_buyer[..1]).problem(410, "expired");
    house.hold(&event, "bob", &["A-1-1"]);
}

#[test]
fn only_the_right_token_opens_a_hold() {
    let house = House::open();
    let event = house.event();
    let (ann, bob) = (house.hold(&event, "ann", &["A-1-1"]), house.hold(&event, "bob", &["A-1-2"]));
    let (token, foreign) = (text(&ann, "token"), text(&bob, "token"));
    let id = text(&ann, "id");
    assert!(id.len() <= 34 && token.len() <= 44 && !token.contains(&id[4..]), "{id} {token}");
    let last = if token.ends_with('0') { "1" } else { "0" };
    let forged = format!("{}{last}", &token[..token.len() - 1]);
    for headers in [
        vec![],
        vec![("hold-token", foreign)],
        vec![("hold-token", "nonsense")],
        vec![("hold-token", forged.as_str())],
        vec![("hold-token", token), ("onsale-buyer", "bob")],
    ] {
        release(&house, &ann, &headers).problem(412, "wrong_token");
    }
    let other = house.event();
    let elsewhere = id.replacen(&event[4..], &other[4..], 1);
    let token_of_ann = [("hold-token", token)];
    let path = format!("/v1/holds/{elsewhere}");
    house.send("DELETE", &path, &token_of_ann, None).problem(404, "hold_unknown");
    house.get("/v1/holds/hld_nonsense").problem(404, "hold_unknown");
    let seen = house.get(&format!("/v1/holds/{}", text(&ann, "id")));
    assert_eq!((seen.status, seen.json().get("token")), (200, None));
    let own = [("onsale-buyer", "ann")];
    let seen = house.send("GET", &format!("/v1/holds/{}", text(&ann, "id")), &own, None);
    assert_eq!(seen.json()["token"], ann["token"]);
}

#[test]
fn a_buyer_is_told_as_it_was_sent_and_is_no_account() {
    let house = House::open();
    let event = house.event();
    for (n, name) in ["ann", "ext:default:ann", "a:b_c-d|{e}", "Zoë"].into_iter().enumerate() {
        assert_eq!(house.hold(&event, name, &[&format!("A-2-{}", n + 1)])["buyer"], name);
    }
    let path = format!("/v1/events/{event}/holds");
    for account in ["usr_1", "usr_"] {
        let answer = house.post(&path, &[("onsale-buyer", account)], json!({"seats": ["A-1-1"]}));
        let told = answer.problem(422, "invalid");
        assert_eq!(told["field"], "Onsale-Buyer");
        assert!(told["detail"].as_str().is_some_and(|why| why.contains("not beginning with usr_")), "{told}");
        // To look at an account's holds is not to be that account.
        assert_eq!(house.get(&format!("/v1/buyers/{account}/holds")).json(), json!({"data": []}));
    }
}

#[test]
fn seats_and_places_may_be_dropped() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}/holds");
    let body = json!({"seats": ["A-1-1", "A-1-2"], "areas": [{"area": "floor", "count": 3}]});
    let hold = house.post(&path, &[("onsale-buyer", "ann")], body).json();
    assert_eq!(hold["total_minor"], 15_000);
    let body = json!({"drop_seats": ["A-1-2"], "drop_areas": [{"area": "floor", "count": 1}]});
    let dropped = patch(&house, &hold, body).json();
    // The whole hold, as it is asked for; only the clock has gone on.
    let own = format!("/v1/holds/{}", text(&hold, "id"));
    let mut whole = house.send("GET", &own, &[("onsale-buyer", "ann")], None).json();
    whole["expires_in_seconds"] = dropped["expires_in_seconds"].clone();
    assert_eq!(dropped, whole);
    assert_eq!(dropped["seats"], json!([{"seat": "A-1-1", "price_minor": 4500}]));
    assert_eq!(dropped["areas"], json!([{"area": "floor", "count": 2, "price_minor": 2000}]));
    assert_eq!((&dropped["total_minor"], &dropped["token"]), (&json!(8_500), &hold["token"]));
    patch(&house, &hold, json!({"drop_seats": ["A-1-2"]})).problem(409, "seat_not_in_hold");
    let both = json!({"add_seats": ["A-1-3"], "drop_seats": ["A-1-1"]});
    assert_eq!(patch(&house, &hold, both).problem(422, "invalid")["field"], "drop_seats");
    let both = json!({"extend": true, "add_areas": [{"area": "floor", "count": 1}]});
    assert_eq!(patch(&house, &hold, both).problem(422, "invalid")["field"], "add_seats");
    let both = json!({"extend": true, "drop_seats": ["A-1-1"]});
    assert_eq!(patch(&house, &hold, both).problem(422, "invalid")["field"], "drop_seats");
    assert_eq!(patch(&house, &hold, json!({})).problem(422, "invalid")["field"], "body");
}

#[test]
fn a_hold_grows_and_its_token_with_it() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    house.hold(&event, "bob", &["A-1-4"]);
    let body = json!({"add_seats": ["A-1-1", "A-1-2"], "add_areas": [{"area": "floor", "count": 2}]});
    let path = format!("/v1/holds/{}", text(&hold, "id"));
    let keyed = [("hold-token", text(&hold, "token")), ("idempotency-key", "more")];
    let first = house.send("PATCH", &path, &keyed, Some(&body.to_string()));
    let grown = first.json();
    assert_eq!((first.status, &grown["already_yours"]), (200, &json!(false)), "{first:?}");
    let seat = |seat: &str| json!({"seat": seat, "price_minor": 4500});
    assert_eq!(grown["seats"], json!([seat("A-1-1"), seat("A-1-2")]));
    assert_eq!(grown["areas"], json!([{"area": "floor", "count": 2, "price_minor": 2000}]));
    assert_eq!(grown["total_minor"], 13_000);
    assert!(grown["fence"].as_u64() > hold["fence"].as_u64(), "{grown}");

    patch(&house, &hold, json!({"extend": true})).problem(412, "stale_fence");
    // Nor is whoever has the older token told the newer one for it.
    house.send("GET", &path, &keyed[..1], None).problem(412, "stale_fence");
    let own = house.send("GET", &path, &[("onsale-buyer", "ann")], None).json();
    assert_eq!((&own["token"], &own["expires_at"]), (&grown["token"], &hold["expires_at"]));
    assert_eq!((own["total_minor"].as_i64(), own["seats"].as_array().map(Vec::len)), (Some(13_000), Some(2)));

    let yes = patch(&house, &grown, json!({"add_seats": ["A-1-2"]})).json();
    assert_eq!((&yes["already_yours"], &yes["token"]), (&json!(true), &grown["token"]));
    assert_eq!((&yes["seats"], &yes["total_minor"]), (&grown["seats"], &json!(13_000)));
    for (body, field) in [
        (json!({"add_seats": ["A-1-3", "A-1-3"]}), "add_seats[1]"),
        (json!({"add_areas": [{"area": "floor", "count": 0}]}), "add_areas[0]"),
    ] {
        assert_eq!(patch(&house, &grown, body).problem(422, "invalid")["field"], field);
    }
    let told = patch(&house, &grown, json!({"add_seats": ["A-1-3", "A-1-4"]}));
    assert_eq!(told.problem(409, "seat_held")["seats"], json!([{"seat": "A-1-4", "code": "seat_held"}]));
    patch(&house, &grown, json!({"add_areas": [{"area": "pit", "count": 1}]})).problem(404, "area_unknown");

    let again = patch(&house, &grown, json!({"add_seats": ["A-1-3"]})).json();
    let replayed = house.send("PATCH", &path, &keyed, Some(&body.to_string()));
    assert_eq!((replayed.header("idempotent-replayed"), &replayed.json()), (Some("true"), &grown));
    release(&house, &grown, &[("hold-token", text(&grown, "token"))]).problem(412, "stale_fence");
    assert_eq!(release(&house, &again, &[("hold-token", text(&again, "token"))]).status, 200);
    let replayed = house.send("PATCH", &path, &keyed, Some(&body.to_string()));
    assert_eq!(replayed.json(), grown, "the answer is the fact's, whatever became of the hold");
}

#[test]
fn best_available_takes_neighbours() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}/holds");
    let buyer = [("onsale-buyer", "ann")];
    let hold = house.post(&path, &buyer, json!({"best_available": {"count": 4, "section": "A"}}));
    assert_eq!((hold.status, &hold.json()["pieces"]), (201, &json!(1)), "{hold:?}");
    assert_eq!(hold.json()["seats"].as_array().map(Vec::len), Some(4));
    for (wish, field) in [
        (json!({"count": 1, "section": "Z"}), "best_available.section"),
        (json!({"count": 1, "tier": "Z"}), "best_available.tier"),
        (json!({"count": -1}), "best_available.count"),
    ] {
        let told = house.post(&path, &buyer, json!({"best_available": wish}));
        assert_eq!(told.problem(422, "invalid")["field"], field);
    }
    let far = json!({"best_available": {"count": 1, "accessible": true}});
    house.post(&path, &buyer, far).problem(409, "not_enough_seats");
}

#[test]
fn a_replay_is_the_same_byte_for_byte() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}/holds");
    let headers = [("onsale-buyer", "ann"), ("idempotency-key", "\"one\"")];
    let body = json!({"seats": ["A-1-1"]});
    let first = house.post(&path, &headers, body.clone());
    let again = house.post(&path, &headers, body);
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(first.header("onsale-position"), again.header("onsale-position"));
    assert_eq!(
        (first.header("idempotent-replayed"), again.header("idempotent-replayed")),
        (None, Some("true"))
    );
    house.post(&path, &headers, json!({"seats": ["A-1-2"]})).problem(422, "key_reused");
    // Spelling and order do not matter, only what was asked.
    let spelled = house.send("POST", &path, &headers, Some("{ \"areas\": [],\n \"seats\": [\"A-1-1\"] }"));
    assert_eq!(spelled.body, first.body);

    let hold = first.json();
    let token = text(&hold, "token");
    let headers = [("hold-token", token), ("idempotency-key", "two")];
    let confirmed = confirm(&house, &hold, &headers);
    assert_eq!(confirmed.status, 200, "{confirmed:?}");
    let again = confirm(&house, &hold, &headers);
    let first_confirmed = confirmed.json();
    assert_eq!((again.status, again.body), (200, confirmed.body));
    let other = [("hold-token", token), ("onsale-buyer", "ann"), ("idempotency-key", "three")];
    assert_eq!(confirm(&house, &hold, &other).json(), first_confirmed);
}

/// The hold itself is forgotten by then; the key of a confirmation lives for a day.
#[test]
fn a_confirmation_is_repeated_by_its_token_alone_after_an_hour() {
    let house = House::open();
    let event = house.event();
    let hold = house.hold(&event, "ann", &["A-1-1"]);
    let headers = [("hold-token", text(&hold, "token")), ("idempotency-key", "one")];
    let confirmed = confirm(&house, &hold, &headers);
    assert_eq!(confirmed.status, 200, "{confirmed:?}");
    house.engine.ahead_ms.store(2 * 3_600_000, Ordering::Relaxed);
    let again = confirm(&house, &hold, &headers);
    assert_eq!((again.status, again.header("idempotent-replayed")), (200, Some("true")), "{again:?}");
    assert_eq!(again.body, confirmed.body);
    // Under another key, or with another token, nothing is known of it any more.
    let fresh = [headers[0], ("idempotency-key", "two")];
    confirm(&house, &hold, &fresh).problem(404, "hold_unknown");
    confirm(&house, &hold, &headers[..1]).problem(404, "hold_unknown");
    let token = text(&hold, "token");
    let last = if token.ends_with('0') { "1" } else { "0" };
    let forged = format!("{}{last}", &token[..token.len() - 1]);
    let forged = [("hold-token", forged.as_str()), headers[1]];
    confirm(&house, &hold, &forged).problem(422, "key_reused");
}

#[test]
fn a_refused_hold_is_noted_as_an_attempt() {
    let house = House::open();
    let event = house.event();
    house.hold(&event, "ann", &["A-1-1"]);
    let path = format!("/v1/events/{event}/holds");
    let body = json!({"seats": ["A-1-1", "A-1-2"]});
    house.post(&path, &[("onsale-buyer", "bob")], body).problem(409, "seat_held");
    let bad = json!({"seats": ["A-1-1"], "hold_seconds": 1});
    house.post(&path, &[("onsale-buyer", "bob")], bad).problem(422, "invalid");
    let shown = house.get(&format!("/v1/events/{event}/attempts"));
    assert_eq!(shown.status, 200, "{shown:?}");
    let shown = shown.json();
    assert_eq!(shown["counts"], json!({"seat_held": 1}));
    let attempt = &shown["data"][0];
    assert_eq!(
        (&attempt["buyer"], &attempt["verb"], &attempt["code"], &attempt["seats"]),
        (
            &json!("bob"),
            &json!("place_hold"),
            &json!("seat_held"),
            &json!([{"seat": "A-1-1", "code": "seat_held"}])
        )
    );
    assert_eq!(shown.get("next"), None);
    house.get("/v1/events/evt_0000000000000000/attempts").problem(404, "listing_unknown");
}

#[test]
fn wrong_wishes_are_named() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}/holds");
    let many: Vec<String> = (1..=21).map(|n| format!("X-{n}")).collect();
    let table = [
        (json!({"seats": []}), 422, "invalid", "seats"),
        (json!({"seats": many}), 422, "invalid", "seats"),
        (json!({"seats": ["A-1-1", "A-1-1"]}), 422, "invalid", "seats[1]"),
        (json!({"seats": ["A-1-1"], "hold_seconds": 29}), 422, "invalid", "hold_seconds"),
        (json!({"seats": ["A-1-1"], "hold_seconds": -120}), 422, "invalid", "hold_seconds"),
        (json!({"seats": ["A-1-1"], "hold_seconds": i64::MAX}), 422, "invalid", "hold_seconds"),
        (json!({"seats": ["A-1-1"], "hold_seconds": 1e30}), 422, "invalid", "hold_seconds"),
        (json!({"seats": ["A-1-1"], "hold_seconds": "120"}), 422, "invalid", "hold_seconds"),
        (json!({"seats": "A-1-1"}), 422, "invalid", "seats"),
        (json!({"seats": ["A-1-1", 7]}), 422, "invalid", "seats[1]"),
        (json!({"seats": ["A-1-1"], "colour": 1}), 422, "invalid", "colour"),
        (json!({"areas": [{"area": "floor", "count": 0}]}), 422, "invalid", "areas[0].count"),
        (json!({"areas": [{"area": "floor"}]}), 422, "invalid", "areas[0].count"),
        (json!({"areas": [{"area": "moon", "count": 1}]}), 404, "area_unknown", "areas[0].area"),
    ];
    for (body, status, code, field) in table {
        let answer = house.post(&path, &[("onsale-buyer", "ann")], body.clone());
        assert_eq!(answer.problem(status, code)["field"], field, "{body}");
    }
    let unknown = house.post(&path, &[("onsale-buyer", "ann")], json!({"seats": ["A-1-1", "A-9-9", "é"]}));
    let told = unknown.problem(404, "seat_unknown");
    assert_eq!(told["seats"][1], json!({"seat": "é", "code": "seat_unknown"}));
    let none = house.post(&path, &[], json!({"seats": ["A-1-1"]}));
    assert_eq!(none.problem(422, "invalid")["field"], "Onsale-Buyer");
    let limit = house.event_with(json!({"buyer_limit": 2}));
    let path = format!("/v1/events/{limit}/holds");
    let told = house.post(&path, &[("onsale-buyer", "ann")], json!({"seats": ["A-1-1", "A-1-2", "A-1-3"]}));
    let told = told.problem(409, "buyer_limit");
    assert_eq!((&told["limit"], &told["taken"]), (&json!(2), &json!(0)));
}

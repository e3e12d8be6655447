//! What a merchant says of a listing of any kind, by which name it is found again, when it was made, and how it is deleted.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use onsale_edge::http::table::table;
use onsale_edge::http::time::Time;
use onsale_engine::Engine;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::{Value, json};

use crate::house::{Answer, House, layout, ms, night};

/// Every kind that a merchant makes: the path of its list, the word in paths for one, and what is asked for.
pub(crate) fn kinds() -> [(&'static str, &'static str, Value); 6] {
    let (starts_at, ends_at) = ("2096-10-02T07:06:40Z", "2096-10-02T09:53:20Z");
    let skus = json!([{"id": "tee", "name": "Tee", "price_minor": 100, "stock": 1}]);
    let items = json!([{"price_minor": 900, "stock": 5}]);
    [
        ("/v1/events", "event", night()),
        ("/v1/venues", "venue", json!({"name": "Hall", "layout": layout()})),
        (
            "/v1/sales",
            "sale",
            json!({"name": "Drop", "starts_at": starts_at, "ends_at": ends_at, "currency": "EUR", "skus": skus}),
        ),
        (
            "/v1/series",
            "series",
            json!({"name": "Hourly", "currency": "EUR", "items": items, "from": starts_at}),
        ),
        (
            "/v1/registrations",
            "registration",
            json!({"name": "Run", "starts_at": starts_at, "capacity": 1, "currency": "EUR"}),
        ),
        (
            "/v1/auctions",
            "auction",
            json!({"name": "Vase", "seller": "sam", "currency": "EUR", "starts_at": starts_at, "ends_at": ends_at,
                   "start_minor": 100, "increment": 10, "reserve_minor": 500}),
        ),
    ]
}

fn with(body: &Value, more: Value) -> Value {
    let mut body = body.clone();
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

fn card() -> Value {
    json!({
        "category": "Music", "tags": ["brass", "open air"], "city": "Lisbon", "country": "PT",
        "coordinates": {"latitude": 38.716667, "longitude": -9.139337},
        "picture": "https://example.org/night.png", "organiser": "Teatro Velho", "virtual": false,
    })
}

fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().expect("an id").to_owned()
}

fn patch(house: &House, path: &str, body: &Value) -> Answer {
    house.send("PATCH", path, &[], Some(&body.to_string()))
}

fn delete(house: &House, path: &str) -> Answer {
    house.send("DELETE", path, &[], None)
}

#[test]
fn what_is_said_of_a_listing_is_told_back_and_the_listing_is_found_by_its_name() {
    let house = House::open();
    for (path, _, body) in kinds() {
        let metadata = json!({"internal": {"id": 7, "notes": ["é", null, 1.5]}});
        let said = json!({"external_id": "shop 7/é", "metadata": metadata, "card": card()});
        let made = house.post(path, &[], with(&body, said.clone()));
        let one = format!("{path}/{}", id(&made));
        let of_name = format!("{path}?external_id=shop%207/%C3%A9");
        let shown = house.get(&one);
        let listed = house.get(&of_name).json();
        assert_eq!(listed["data"].as_array().map(Vec::len), Some(1), "{path}: {listed}");
        assert_eq!(listed["next"], Value::Null);
        for told in [&made.json(), &shown.json(), &listed["data"][0], &house.get(path).json()["data"][0]] {
            for (name, value) in said.as_object().expect("an object") {
                assert_eq!(&told[name], value, "{path} {name}");
            }
        }
        for nobody in ["shop 8", "SHOP 7/é", "x"] {
            let found = house.get(&format!("{path}?external_id={}", nobody.replace(' ', "%20"))).json();
            assert_eq!(found, json!({"data": []}), "{path} {nobody}");
        }
    }
    // The same name of another kind is another listing; each was made above under one name.
    let ids: BTreeSet<String> = kinds()
        .iter()
        .map(|(path, _, _)| house.get(path).json()["data"][0]["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(ids.len(), 6);
}

#[test]
fn a_name_is_given_once_and_the_problem_names_who_has_it() {
    let house = House::open();
    for (path, _, body) in kinds() {
        let wish = with(&body, json!({"external_id": "shop-7"}));
        let first = house.post(path, &[("idempotency-key", "one")], wish.clone());
        let again = house.post(path, &[("idempotency-key", "one")], wish.clone());
        assert_eq!((again.status, again.json()), (201, first.json()));
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{path}");
        for key in [&[][..], &[("idempotency-key", "two")]] {
            let told = house.post(path, key, wish.clone()).problem(409, "listing_exists");
            assert_eq!(told["listing"], first.json()["id"], "{path}: {told}");
        }
        let other = with(&wish, json!({"name": "Other"}));
        house.post(path, &[("idempotency-key", "one")], other).problem(422, "key_reused");
        // It never changes.
        let one = format!("{path}/{}", id(&first));
        let told = patch(&house, &one, &json!({"external_id": "shop-8"})).problem(422, "invalid");
        assert_eq!((&told["field"], &told["pointer"]), (&json!("external_id"), &json!("/external_id")));
        assert_eq!(house.get(&one).json()["external_id"], "shop-7");
    }
}

#[test]
fn metadata_and_card_are_changed_as_a_whole_and_the_answer_is_what_get_tells() {
    let house = House::open();
    for (path, _, body) in kinds() {
        let made =
            house.post(path, &[], with(&body, json!({"external_id": "a", "metadata": {"a": 1, "b": 2}})));
        let one = format!("{path}/{}", id(&made));
        house.engine.ahead_ms.fetch_add(5_000, Ordering::Relaxed);
        let told = patch(&house, &one, &json!({"metadata": {"a": 2}, "card": card()}));
        assert_eq!(told.status, 200, "{told:?}");
        assert_eq!(told.header("content-type"), Some("application/json"));
        let (told, shown) = (told.json(), house.get(&one).json());
        assert_eq!((&told["metadata"], &told["card"]), (&json!({"a": 2}), &card()), "{path}");
        // Whoever may change an auction may know its reserve, too.
        let told_without = |mut told: Value| {
            told.as_object_mut().expect("an object").remove("reserve_minor");
            told
        };
        assert_eq!(told_without(told.clone()), told_without(shown), "{path}");
        assert_eq!(told["created_at"], made.json()["created_at"], "{path}");
        assert_eq!(made.json()["last_updated"], made.json()["created_at"], "{path}");
        assert!(ms(&told["last_updated"]) >= ms(&told["created_at"]) + 5_000, "{told}");
        let told = patch(&house, &one, &json!({"metadata": null, "card": null})).json();
        assert_eq!((&told["metadata"], &told["card"]), (&Value::Null, &Value::Null), "{path}");
        assert_eq!(told["external_id"], "a");
        patch(&house, &one, &json!({})).problem(422, "invalid");
        if path != "/v1/venues" {
            let both = patch(&house, &one, &json!({"metadata": {}, "name": "x"})).problem(422, "invalid");
            assert_eq!(both["field"], "metadata", "{path}");
        }
    }
}

#[test]
fn what_is_out_of_bounds_names_its_field_and_makes_nothing() {
    let house = House::open();
    let wide = |bytes: usize| json!({"metadata": {"a": "x".repeat(bytes - 8)}});
    for (path, _, body) in kinds() {
        for (more, pointer) in [
            (json!({"external_id": "x".repeat(256)}), "/external_id"),
            (json!({"external_id": ""}), "/external_id"),
            (json!({"external_id": "a\u{0}"}), "/external_id"),
            (wide(2_049), "/metadata"),
            (json!({"card": {"tags": ["x", ""]}}), "/card/tags/1"),
            (json!({"card": {"country": "Portugal"}}), "/card/country"),
            (
                json!({"card": {"coordinates": {"latitude": 90.1, "longitude": 0}}}),
                "/card/coordinates/latitude",
            ),
            (
                json!({"card": {"coordinates": {"latitude": 1e300, "longitude": 0}}}),
                "/card/coordinates/latitude",
            ),
            (json!({"card": {"picture": "javascript:alert(1)"}}), "/card/picture"),
        ] {
            let told = house.post(path, &[], with(&body, more)).problem(422, "invalid");
            assert_eq!(told["pointer"], pointer, "{path}: {told}");
        }
        for more in [
            json!({"metadata": [1]}),
            json!({"metadata": "x"}),
            json!({"card": {"category": 1}}),
            json!({"card": {"colour": "red"}}),
            json!({"card": {"coordinates": {"latitude": 1}}}),
        ] {
            house.post(path, &[], with(&body, more)).problem(422, "invalid");
        }
        let told = house.post(path, &[], with(&body, wide(1 << 20)));
        assert!([413, 422].contains(&told.status), "{path}: {}", told.status);
        assert_eq!(told.header("content-type"), Some("application/problem+json"));
        assert_eq!(house.get(path).json(), json!({"data": []}), "{path}");
        house.post(path, &[], with(&body, wide(2_048)));
        house.post(path, &[], with(&body, json!({"external_id": "é".repeat(255)})));
        assert_eq!(house.get(path).json()["data"].as_array().map(Vec::len), Some(2), "{path}");
    }
}

#[test]
fn listings_are_found_by_when_they_were_made() {
    let house = House::open();
    for (path, _, body) in kinds() {
        let first = house.post(path, &[], body.clone());
        let at = ms(&first.json()["created_at"]);
        house.engine.ahead_ms.fetch_add(10_000, Ordering::Relaxed);
        let second = house.post(path, &[], body.clone());
        let found = |filter: &str| {
            let told = house.get(&format!("{path}?{filter}"));
            assert_eq!(told.status, 200, "{told:?}");
            let data = told.json()["data"].as_array().expect("a list").clone();
            data.iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
        };
        let between = Time(at + 5_000);
        assert_eq!(found(&format!("created_before={between}")), [first.json()["id"].clone()], "{path}");
        assert_eq!(found(&format!("created_after={between}")), [second.json()["id"].clone()], "{path}");
        assert_eq!(
            found(&format!("created_after={}&created_before={between}", Time(at))).len(),
            1,
            "half open"
        );
        assert_eq!(found(&format!("created_before={}", Time(at))).len(), 0, "half open");
        for (after, before) in [(at, at), (at + 1, at)] {
            let must = |name: &str| json!(format!("must be later than `{name}`"));
            let filter = format!("created_after={}&created_before={}", Time(after), Time(before));
            let told = house.get(&format!("{path}?{filter}")).problem(422, "invalid");
            assert_eq!((&told["field"], &told["detail"]), (&json!("created_before"), &must("created_after")));
            if path != "/v1/venues" {
                let filter = filter.replace("created", "starts");
                let told = house.get(&format!("{path}?{filter}")).problem(422, "invalid");
                assert_eq!(
                    (&told["field"], &told["detail"]),
                    (&json!("starts_before"), &must("starts_after"))
                );
            }
        }
    }
}

#[test]
fn an_event_has_a_time_zone() {
    let house = House::open();
    let usual = house.event();
    assert_eq!(house.get(&format!("/v1/events/{usual}")).json()["time_zone"], "UTC");
    let event = house.event_with(json!({"time_zone": "Europe/Lisbon"}));
    let path = format!("/v1/events/{event}");
    assert_eq!(house.get(&path).json()["time_zone"], "Europe/Lisbon");
    assert_eq!(patch(&house, &path, &json!({"time_zone": "Asia/Tokyo"})).json()["time_zone"], "Asia/Tokyo");
    for wrong in ["Europe/Nowhere", "", "+02:00", "Europe/Lisbon "] {
        let told = patch(&house, &path, &json!({"time_zone": wrong})).problem(422, "invalid");
        assert_eq!(told["field"], "time_zone", "{wrong}");
        let told = house.post("/v1/events", &[], with(&night(), json!({"time_zone": wrong})));
        assert_eq!(told.problem(422, "invalid")["field"], "time_zone", "{wrong}");
    }
}

/// Every route that names the listing, by the table.
fn routes_of<'a>(word: &'a str) -> impl Iterator<Item = (String, String)> + 'a {
    let place = format!("{{{word}}}");
    let all = table().routes.iter().filter(move |route| route.described && route.path.contains(&place));
    all.map(|route| (route.method.to_string(), route.path.clone()))
}

#[test]
fn a_deleted_listing_is_unknown_to_every_route_in_no_list_and_its_id_stays_taken() {
    let house = House::open();
    for (path, word, body) in kinds() {
        let wish = with(&body, json!({"external_id": "shop-7", "metadata": {"a": 1}}));
        let made = house.post(path, &[("idempotency-key", "made")], wish.clone());
        let listing = id(&made);
        let one = format!("{path}/{listing}");
        let gone = house.send("DELETE", &one, &[("idempotency-key", "gone")], None);
        assert_eq!((gone.status, gone.body.len()), (204, 0), "{path}: {gone:?}");
        let again = house.send("DELETE", &one, &[("idempotency-key", "gone")], None);
        assert_eq!((again.status, again.header("idempotent-replayed")), (204, Some("true")), "{path}");
        delete(&house, &one).problem(404, "listing_unknown");
        assert_eq!(house.get(path).json(), json!({"data": []}), "{path}");
        assert_eq!(house.get(&format!("{path}?external_id=shop-7")).json(), json!({"data": []}), "{path}");
        let told = house.post(path, &[], wish.clone()).problem(409, "listing_exists");
        assert_eq!(told["listing"], listing.as_str());
        let again = house.post(path, &[("idempotency-key", "made")], wish);
        assert_eq!((again.status, again.json()), (201, made.json()), "{path}");
        let mut asked = 0;
        for (method, route) in routes_of(word) {
            // What is inside of it was never there.
            let place = route.replace(&format!("{{{word}}}"), &listing);
            let place = place.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
            let place = place.collect::<Vec<_>>().join("/");
            let headers = [("onsale-buyer", "ann"), ("hold-token", "x"), ("checkout-code", "x")];
            let body = fitting(&method, &route);
            let told = house.send(&method, &place, &headers, body.as_deref());
            assert_eq!(told.status, 404, "{method} {place}: {told:?}");
            asked += 1;
        }
        assert!(asked >= 3, "{word}: {asked} routes");
    }
}

/// A body that the route takes, as its example in the document has it.
fn fitting(method: &str, route: &str) -> Option<String> {
    let told = &onsale_edge::http::document::document()["paths"][route][method.to_lowercase()];
    let example = &told["requestBody"]["content"]["application/json"]["example"];
    (!example.is_null()).then(|| example.to_string())
}

#[test]
fn what_somebody_has_is_not_deleted() {
    let house = House::open();
    let event = house.event();
    let path = format!("/v1/events/{event}");
    house.hold(&event, "ann", &["A-1-1"]);
    delete(&house, &path).problem(409, "listing_in_use");
    assert_eq!(house.get(&path).status, 200);

    let now = house.engine.now();
    let registration = json!({"name": "Run", "opens_at": Time(now - 1), "starts_at": Time(now + 30 * 86_400_000),
                              "capacity": 1, "currency": "EUR"});
    let path = format!("/v1/registrations/{}", id(&house.post("/v1/registrations", &[], registration)));
    let entry = house.post(&format!("{path}/entries"), &[("onsale-buyer", "ann")], json!({}));
    assert_eq!(entry.status, 201, "{entry:?}");
    delete(&house, &path).problem(409, "listing_in_use");
}

#[test]
fn a_deletion_outlives_the_server_and_the_facts_are_still_in_the_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
    let mut kept = Vec::new();
    let engine = open();
    let house = House::serve(|_| {}, engine.clone());
    for (path, _, body) in kinds() {
        let wish = with(&body, json!({"external_id": "shop-7", "metadata": {"a": 1}}));
        let gone = id(&house.post(path, &[], wish.clone()));
        assert_eq!(house.send("DELETE", &format!("{path}/{gone}"), &[], None).status, 204);
        let stays = house.post(path, &[], with(&wish, json!({"external_id": "shop-8"})));
        kept.push((path, gone, id(&stays), wish));
    }
    drop(house);
    engine.close();
    drop(engine);

    let engine = open();
    let house = House::serve(|_| {}, engine.clone());
    for (path, gone, stays, wish) in &kept {
        assert_eq!(house.get(&format!("{path}/{gone}")).status, 404);
        let told = house.post(path, &[], wish.clone()).problem(409, "listing_exists");
        assert_eq!(told["listing"], gone.as_str());
        let listed = house.get(path).json();
        assert_eq!((&listed["data"][0]["id"], &listed["data"][1]), (&json!(stays), &Value::Null), "{path}");
        assert_eq!(listed["data"][0]["external_id"], "shop-8");
    }
    drop(house);
    engine.close();
    drop(engine);

    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_onsale")).args(args).output().expect("the binary runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let data = folder.path().to_str().expect("a plain path");
    run(&["verify", data]);
    for (path, gone, _, _) in &kept {
        let told = run(&["facts", gone, "--data", data]);
        assert!(told.contains("listing_described") && told.contains("shop-7"), "{path}: {told}");
        let last = told.trim_end().lines().last().unwrap_or_default();
        assert!(last.contains("listing_deleted"), "{path}: {told}");
    }
}

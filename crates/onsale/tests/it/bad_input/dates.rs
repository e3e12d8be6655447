//! Times that are none, or none that anything can happen at: in every field and parameter that is a time.

use serde_json::{Value, json};

use super::fields::{Schema, of_body, with};
use super::{Wish, before_each, body_of, problem_of, wrong_parameters};
use crate::document::operation;
use crate::examples::player::{Asked, Player};
use crate::house::{House, night};

/// What the answer shows of how a time is written.
const SHOWN: &str = "\"2027-03-01T19:30:00Z\"";
/// 2030, in seconds and in milliseconds.
const INTEGERS: [i64; 2] = [1_893_456_000, 1_893_456_000_000];
const MEANT: &str = "\"2030-01-01T00:00:00.000Z\"";

/// Texts that are no time.
const NO_TIMES: [&str; 12] = [
    "",
    "tomorrow",
    "2027-03-01",
    "2027-03-01T19:30:00",
    "2027-03-01 19:30:00Z",
    "2027-03-01T24:00:00Z",
    "2026-12-31T23:59:60Z",
    "2016-12-31T23:59:60Z",
    "2027-02-29T12:00:00Z",
    "2027-03-01T19:30:00+25:00",
    "2027-03-01T19:30:00Z[Europe/Berlin]",
    "1893456000000",
];

/// Times at which nothing of ours can be: before 1970 and after 2200. The years from 2262 on do not fit into 64 bits of
/// nanoseconds.
const NOT_OURS: [&str; 6] = [
    "0000-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999Z",
    "1970-01-01T00:30:00+01:00",
    "2262-04-11T23:47:16.854Z",
    "2262-04-11T23:47:16.855Z",
    "9999-12-31T23:59:59.999Z",
];

#[test]
fn a_time_without_offset_or_that_no_clock_shows_is_refused_with_the_form_it_should_have() {
    let mut fields = 0;
    each_time(|ask| {
        fields += 1;
        for text in NO_TIMES {
            let detail = ask(json!(text));
            assert!(detail.starts_with("must be a time") && detail.contains(SHOWN), "{text}: {detail}");
        }
    });
    assert!(fields >= 18, "{fields}");
}

#[test]
fn a_client_that_still_sends_integers_is_told_what_to_write() {
    each_time(|ask| {
        for number in INTEGERS {
            let detail = ask(json!(number));
            assert_eq!(detail, format!("a number is not taken as a time; write {MEANT}"));
        }
        for number in [json!(0), json!(-1), json!(1.5), json!(u64::MAX), json!(1e300)] {
            let detail = ask(number.clone());
            assert!(detail.contains(SHOWN), "{number}: {detail}");
        }
    });
    // The same as whoever wrote a client for integers sees it.
    let house = House::open();
    let mut old = night();
    old["starts_at"] = json!(4_000_000_000_000_i64);
    let told = house.post("/v1/events", &[], old).problem(422, "invalid");
    assert_eq!((&told["field"], &told["pointer"]), (&json!("starts_at"), &json!("/starts_at")));
    assert_eq!(told["detail"], "a number is not taken as a time; write \"2096-10-02T07:06:40.000Z\"");
}

#[test]
fn a_time_at_which_nothing_of_ours_can_be_is_refused_by_name() {
    each_time(|ask| {
        for text in NOT_OURS {
            let detail = ask(json!(text));
            assert!(
                ["a time between 1970 and 2200", "status_conflict"].contains(&&*detail),
                "{text}: {detail}"
            );
        }
    });
    // 1970 itself is a time: what cannot have ended then is refused for that.
    let house = House::open();
    let mut past = night();
    (past["starts_at"], past["ends_at"]) = (json!("1970-01-01T00:00:00Z"), json!("1970-01-01T00:00:00.001Z"));
    let made = house.post("/v1/events", &[], past);
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.json()["starts_at"], "1970-01-01T00:00:00.000Z");
}

#[test]
fn a_query_takes_the_same_times_as_a_body() {
    let mut asked_for = 0;
    before_each(|player, route, asked| {
        for parameter in operation(route)["parameters"].as_array().into_iter().flatten() {
            let schema = Schema::of(&parameter["schema"]);
            if !schema.is_time() {
                continue;
            }
            asked_for += 1;
            let name = parameter["name"].as_str().expect("a name");
            for (asked, wish) in wrong_parameters(route, asked, name, parameter, &schema) {
                assert!(matches!(wish, Wish::Named));
                let told = problem_of(&player.ask(route, &asked), &asked.path).expect("a problem");
                assert_eq!(told["field"], name, "{told}");
                assert!(told["detail"].as_str().is_some_and(|detail| detail.contains(SHOWN)), "{told}");
            }
        }
    });
    assert!(asked_for >= 10, "{asked_for}");
}

/// In a query `+` says a space, and `20:00:00 01:00` can only be a time whose `+` was not escaped.
#[test]
fn a_query_takes_the_plus_of_an_offset_as_it_is() {
    let mut asked_for = 0;
    before_each(|player, route, asked| {
        for parameter in operation(route)["parameters"].as_array().into_iter().flatten() {
            if !Schema::of(&parameter["schema"]).is_time() {
                continue;
            }
            asked_for += 1;
            let name = parameter["name"].as_str().expect("a name");
            let path = asked.path.split('?').next().unwrap_or_default();
            let ask = |time: &str| {
                let answer =
                    player.ask(route, &Asked { path: format!("{path}?{name}={time}"), ..asked.clone() });
                (answer.status, answer.json())
            };
            // An hour apart, one side of the start of what the examples have made, or the other.
            for hour in ["1970-01-01T20:00:00", "2027-02-14T20:00:00.5", "2190-02-14T23:30:00"] {
                let meant = ask(&format!("{hour}%2B01:00"));
                assert_eq!(meant.0, 200, "{name} {hour}: {meant:?}");
                for written in ["+01:00", "%2b01%3A00", "+01%3a00", "%2001:00"] {
                    assert_eq!(
                        ask(&format!("{hour}{written}")),
                        meant,
                        "{} {name} {written}",
                        route.operation
                    );
                }
            }
            assert_eq!(ask("2027-02-14+20:00:00Z").0, 422);
        }
    });
    assert!(asked_for >= 10, "{asked_for}");
}

/// Lets `probe` put values into every field of every body that is a time; it is told what the refusal says of the field.
fn each_time(mut probe: impl FnMut(&dyn Fn(Value) -> String)) {
    before_each(|player: &Player, route, asked| {
        let Some((schema, example)) = body_of(route, asked) else { return };
        for field in of_body(schema, example).0.iter().filter(|field| field.schema.is_time()) {
            let at = field.pointer.as_str();
            let ask = |value: Value| {
                let tries = field.bodies.each_ref().map(|body| {
                    let body = with(body, at, value.clone());
                    let answer = player.ask(route, &Asked { body: Some(body), ..asked.clone() });
                    problem_of(&answer, &format!("{} {at} = {value}", route.operation)).expect("a problem")
                });
                // What may not be changed any more is refused for that, whatever it would be.
                let named =
                    tries.iter().find(|told| told["pointer"] == at || told["code"] == "status_conflict");
                let named = named.unwrap_or_else(|| panic!("{} {at} = {value}: {tries:?}", route.operation));
                let detail = if named["pointer"] == at { &named["detail"] } else { &named["code"] };
                detail.as_str().expect("a text").to_owned()
            };
            probe(&ask);
        }
    });
}

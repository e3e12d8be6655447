//! What is wrong with a request is told by name and in plain words. What may be wrong is found from the document: every
//! field of every body and every parameter is given what it cannot be, each at the moment at which its operation would
//! otherwise be done.

mod bytes;
mod cursors;
mod dates;
mod fields;
mod numbers;
mod queries;
mod shapes;
mod under_a_key;
mod unknown;

use onsale_edge::http::problem::catalog;
use onsale_edge::http::table::{Route, Scope};
use serde_json::{Value, json};

use crate::document::operation;
use crate::examples::player::{Asked, Player, steps};
use crate::house::{Answer, House, KEY};
use fields::{Field, Schema, of_body, with, without};

/// What says more of the server's insides than of the request.
const FORBIDDEN: [&str; 30] = [
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "usize",
    "f32",
    "f64",
    "struct",
    "enum",
    "variant",
    "tuple",
    "untagged",
    "serde",
    "option",
    "none(",
    "invalid type",
    "invalid value",
    "invalid length",
    "expected",
    "unit value",
    "not map",
    "not sequence",
    "he",
    "his",
    "him",
    "house",
];
/// What the state says before anybody asks whether a number is within its bounds.
const BEFORE_BOUNDS: [&str; 5] =
    ["status_conflict", "not_refundable", "area_full", "seat_not_in_hold", "bid_unknown"];
/// A name that is looked up and cannot be anybody's is as unknown as any other: the answer says so, and not how long it may be.
const LOOKED_UP: [&str; 3] = ["seat_unknown", "area_unknown", "sku_unknown"];
/// Longer lists are not sent: they would be too large before they are too long.
const LIST_MAX: i64 = 2_000;

/// A problem of this server, told as every problem is: with its request, and in words for people.
fn problem_of(answer: &Answer, asked: &str) -> Result<Value, String> {
    if !(400..500).contains(&answer.status) {
        return Err(format!("{asked}: {} {}", answer.status, text(answer)));
    }
    let code = answer.json()["code"].as_str().unwrap_or_default().to_owned();
    let told = answer.problem(answer.status, &code);
    for member in ["title", "detail"] {
        is_plain(told[member].as_str().unwrap_or_default()).map_err(|why| format!("{asked}: {why}"))?;
    }
    Ok(told)
}

/// What a stranger understands who knows nothing of how the server is made.
fn is_plain(said: &str) -> Result<(), String> {
    if said.is_empty() || said.chars().count() > 400 {
        return Err(format!("{said:?} is no sentence"));
    }
    // What is quoted is the caller's own, or a name of the interface.
    let own: String = said.split(['`', '"']).step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    let words: Vec<&str> = own.split(|sign: char| !sign.is_alphanumeric() && sign != '(').collect();
    for bad in FORBIDDEN {
        if if bad.contains(' ') { own.contains(bad) } else { words.contains(&bad) } {
            return Err(format!("{bad:?} in {said:?}"));
        }
    }
    Ok(())
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).chars().take(400).collect()
}

/// Plays all examples, and lets `probe` ask beforehand what must be refused: once for each operation.
fn before_each(mut probe: impl FnMut(&Player, &'static Route, &Asked)) -> usize {
    let (mut player, mut seen) = (Player::open(), Vec::new());
    for step in &steps() {
        if let Some((route, asked)) = player.about(step)
            && step["aside"] != true
            && !seen.contains(&route.operation)
        {
            seen.push(route.operation);
            probe(&player, route, &asked);
        }
        player.play(step);
    }
    seen.len()
}

/// What a JSON body is by the document, and what was asked in the example.
fn body_of<'a>(route: &Route, asked: &'a Asked) -> Option<(&'static Value, &'a Value)> {
    // What a provider sends is checked by its signature.
    if route.scope == Scope::Provider {
        return None;
    }
    let schema = operation(route)["requestBody"]["content"]["application/json"].get("schema")?;
    Some((schema, asked.body.as_ref()?))
}

/// What a value of this kind cannot be, whatever it means.
fn of_another_kind(schema: &Schema) -> Vec<Value> {
    let mut wrong = match schema.kind() {
        "string" => vec![json!(7), json!({}), json!(["one"])],
        "integer" => vec![json!("seven"), json!(1.5), json!(1e300), json!({}), json!(true)],
        "boolean" => vec![json!("yes"), json!(1)],
        "array" => vec![json!({}), json!("one"), json!(7)],
        "object" => {
            // What stands in it, without the names.
            let nameless: Vec<Value> =
                schema.sample().as_object().into_iter().flatten().map(|(_, value)| value.clone()).collect();
            vec![json!("one"), json!(7), json!([]), json!([1]), json!(nameless)]
        }
        _ => vec![json!(true)],
    };
    if !schema.nullable {
        wrong.push(Value::Null);
    }
    wrong
}

/// What is of the right kind and outside the bounds that the document tells.
fn out_of_bounds(field: &Field) -> Vec<Value> {
    let own = field.bodies[0].pointer(&field.pointer).and_then(|list| list.get(0)).cloned();
    let choices = field.schema.choices();
    let mut wrong = outside(&field.schema, own);
    wrong.extend(choices.iter().flat_map(|one| outside(one, one.sample().get(0).cloned())));
    wrong
}

/// The same of one shape; `own` is something that may stand in it, if it is a list.
fn outside(schema: &Schema, own: Option<Value>) -> Vec<Value> {
    let mut wrong = Vec::new();
    wrong.extend(schema.number("minimum").map(|least| json!(least - 1)));
    wrong.extend(schema.number("maximum").map(|most| json!(most + 1)));
    wrong.extend(schema.number("minLength").filter(|least| *least > 0).map(|_| json!("")));
    wrong.extend(schema.number("maxLength").map(|most| json!("x".repeat(most as usize + 1))));
    wrong.extend(schema.number("minItems").filter(|least| *least > 0).map(|_| json!([])));
    let most = schema.number("maxItems").filter(|most| *most <= LIST_MAX);
    wrong.extend(most.zip(own).map(|(most, one)| json!(vec![one; most as usize + 1])));
    if schema.words.contains_key("enum") {
        wrong.push(json!("gone"));
    }
    if schema.words.contains_key("pattern") {
        wrong.extend([json!("eur"), json!("EURO"), json!("XXX")]);
    }
    wrong
}

#[test]
fn every_field_of_every_body_is_named_when_it_is_wrong() {
    let (mut sent, mut wrong) = (0, Vec::new());
    before_each(|player, route, asked| {
        let Some((schema, example)) = body_of(route, asked) else { return };
        let mut ask = |body: Value, at: &str| {
            sent += 1;
            let said = format!("{} {at} in {body:.300}", route.operation);
            problem_of(&player.ask(route, &Asked { body: Some(body), ..asked.clone() }), &said)
        };
        let (fields, objects) = of_body(schema, example);
        let mut misread = Vec::new();
        for field in &fields {
            let at = field.pointer.as_str();
            let values = of_another_kind(&field.schema).into_iter();
            misread.extend(values.map(|value| (at.to_owned(), with(&field.bodies[0], at, value))));
            if field.required {
                misread.push((at.to_owned(), without(&field.bodies[0], at)));
            }
            for value in out_of_bounds(field) {
                let tries = field.bodies.each_ref().map(|body| ask(with(body, at, value.clone()), at));
                // Of a list, or of what stands in one, the list or the thing in it may be told.
                let names = |told: &Value| {
                    let pointer = told["pointer"].as_str().unwrap_or_default();
                    let is_part = |whole: &str, part: &str| part.starts_with(&format!("{whole}/"));
                    let is_near = at == pointer || is_part(at, pointer) || is_part(pointer, at);
                    told["status"] == 422 && !pointer.is_empty() && is_near
                        || BEFORE_BOUNDS.iter().any(|code| told["code"] == *code)
                        || value.is_string() && LOOKED_UP.iter().any(|code| told["code"] == *code)
                };
                let is_named = tries.iter().flatten().any(names);
                if !is_named || tries.iter().any(Result::is_err) {
                    wrong.push(format!("{} {at} = {value:.40}: {tries:?}", route.operation));
                }
            }
        }
        for (at, body) in objects {
            let unknown = format!("{at}/nobody_knows_it");
            let body = with(&body, &unknown, json!(1));
            misread.push((unknown, body));
        }
        misread.extend([json!([]), json!("one"), json!(null), json!(7)].map(|body| (String::new(), body)));
        for (at, body) in misread {
            let told = ask(body.clone(), &at);
            let names = |told: &Value| told["code"] == "invalid" && told["pointer"] == at;
            if !told.as_ref().is_ok_and(names) {
                wrong.push(format!("{} {at} in {body:.300}: {told:?}", route.operation));
            }
        }
    });
    assert!(sent > 1_000, "{sent}");
    assert!(wrong.is_empty(), "{} are not told as they should be:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_parameter_is_named_when_it_is_wrong() {
    let (mut probed, mut wrong) = (0, Vec::new());
    before_each(|player, route, asked| {
        for parameter in operation(route)["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().expect("a name");
            let schema = Schema::of(&parameter["schema"]);
            for (asked, wish) in wrong_parameters(route, asked, name, parameter, &schema) {
                probed += 1;
                let said = format!("{} {} {:?}", route.operation, asked.path, asked.headers);
                let told = problem_of(&player.ask(route, &asked), &said);
                let names = |told: &Value| {
                    let is_unknown = told["status"] == 404 && told["field"].is_null();
                    let is_named = match wish {
                        Wish::Named => told["field"] == name && says_what_must_be(told),
                        Wish::NamedOrUnknown => told["field"] == name || is_unknown,
                        Wish::Missing => told["field"] == name && says(told, &["missing"]),
                    };
                    // A parameter is no part of a body.
                    is_named && told["pointer"].is_null()
                };
                if !told.as_ref().is_ok_and(names) {
                    wrong.push(format!("{said}: {told:?}"));
                }
            }
        }
    });
    assert!(probed > 150, "{probed}");
    assert!(wrong.is_empty(), "{} are not told as they should be:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_code_is_explained_in_plain_words() {
    for entry in catalog::all() {
        for said in [entry.title, entry.next] {
            assert_eq!(is_plain(said), Ok(()), "{}", entry.code);
        }
    }
}

/// Whether one of these words stands in what is told.
fn says(told: &Value, words: &[&str]) -> bool {
    let detail = told["detail"].as_str().unwrap_or_default();
    detail.split(|sign: char| !sign.is_alphanumeric()).any(|word| words.contains(&word))
}

/// What a value must be is a sentence: whoever reads only that knows what to change.
fn says_what_must_be(told: &Value) -> bool {
    told["status"] != 422 || says(told, &["must", "is"])
}

/// What the answer must say of a wrong parameter.
enum Wish {
    Named,
    /// That it is not there, though it must be.
    Missing,
    /// An id of something that is nowhere: its code says what.
    NamedOrUnknown,
}

fn wrong_parameters(
    route: &Route,
    asked: &Asked,
    name: &str,
    parameter: &Value,
    schema: &Schema,
) -> Vec<(Asked, Wish)> {
    let is_person = matches!(name, "buyer" | "bidder" | "user_id");
    let long = "x".repeat(300);
    match parameter["in"].as_str().expect("a place") {
        "path" => {
            let Some(own) = asked.parameters.get(name) else { return Vec::new() };
            let values = match name {
                _ if is_person => vec!["%07", long.as_str()],
                // Any other word could be one.
                "host" => vec!["no%20host", &long],
                _ => vec!["nothing", &long],
            };
            // The place of this word in the path.
            let place = route.path.split('/').position(|word| word == format!("{{{name}}}"));
            let place = place.expect("a word of the path");
            let put = |value: &str| {
                let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
                let mut words: Vec<&str> = path.split('/').collect();
                assert_eq!(words[place], own, "{path}");
                words[place] = value;
                let joint = if query.is_empty() { "" } else { "?" };
                Asked { path: format!("{}{joint}{query}", words.join("/")), ..asked.clone() }
            };
            let wish = || if is_person { Wish::Named } else { Wish::NamedOrUnknown };
            let mut all: Vec<(Asked, Wish)> = values.into_iter().map(|value| (put(value), wish())).collect();
            all.push((put("%ff"), Wish::Named));
            all
        }
        "query" => {
            let bounds = outside(schema, None);
            let texts: Vec<String> =
                bounds.iter().map(|value| value.as_str().map_or(value.to_string(), str::to_owned)).collect();
            let values: &[&str] = match (schema.kind(), name) {
                ("integer", _) => &["", "x", "-1", "1.5", "4000000000", "99999999999999999999"],
                (_, _) if schema.is_time() => &["2027-01-01", "1893456000000", "2027-01-01T00:00:00"],
                (_, _) if schema.words.contains_key("enum") => &["", "gone"],
                // Of facts it is a position: any number could be one.
                (_, "after") if route.path.ends_with("/facts") || route.path.ends_with("/stream") => {
                    &["nothing", "1-x"]
                }
                (_, "after") => &["nothing", "000000000000"],
                (_, "listing") => &["", "nothing", &long],
                // Of a chart it only says how long the answer may be kept.
                (_, "version") => &[],
                _ if !texts.is_empty() => &[],
                _ => panic!("{}: what is wrong with {name}?", route.operation),
            };
            let values = values.iter().copied().chain(texts.iter().map(String::as_str));
            let wish = || if name == "listing" { Wish::NamedOrUnknown } else { Wish::Named };
            let put = |value: &str| {
                let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
                let kept = query.split('&').filter(|pair| !pair.is_empty());
                let kept = kept.filter(|pair| pair.split('=').next() != Some(name));
                let words: Vec<String> = kept.map(str::to_owned).chain([format!("{name}={value}")]).collect();
                (Asked { path: format!("{path}?{}", words.join("&")), ..asked.clone() }, wish())
            };
            values.map(put).collect()
        }
        _ => {
            let values: &[&str] = match name {
                "Onsale-Buyer" => &["", "usr_1", &long],
                "Idempotency-Key" => &["", "\"open", &long],
                "Last-Event-ID" => &["nothing"],
                // What opens other things than the one that is asked for is not looked at.
                "Hold-Token" | "Checkout-Code" | "Order-Key" => match asked.parameters.contains_key(name) {
                    true => &["nothing"],
                    false => &[],
                },
                // A version that nobody has told is none that the caller could have.
                "If-None-Match" => &[],
                _ => panic!("{}: what is wrong with {name}?", route.operation),
            };
            let mut others = asked.headers.clone();
            others.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            let put = |value: &&str| {
                let headers = [&others[..], &[(name.to_owned(), (*value).to_owned())]].concat();
                (Asked { headers, ..asked.clone() }, Wish::Named)
            };
            let mut all: Vec<(Asked, Wish)> = values.iter().map(put).collect();
            if parameter["required"] == true {
                all.push((Asked { headers: others, ..asked.clone() }, Wish::Missing));
            }
            all
        }
    }
}

/// What a generated client lets through, the server should take: a bound that is missing cannot be probed above.
#[test]
fn every_text_and_every_list_that_is_asked_for_has_a_most() {
    // What another thing is called is looked up, and then is unknown; a method is the provider's, a cron line is parsed.
    const NAMES: [&str; 13] = [
        "area", "section", "tier", "sections", "rows", "row", "venue", "sku", "event", "hold", "method",
        "cron", "zone",
    ];
    let (mut seen, mut without) = (0, Vec::new());
    before_each(|_, route, asked| {
        let Some((schema, example)) = body_of(route, asked) else { return };
        for field in of_body(schema, example).0 {
            let name = field.pointer.split('/').rfind(|word| *word != "0").unwrap_or_default();
            // Seats and areas stand there by name, too.
            let is_name = NAMES.contains(&name) || field.pointer.ends_with("seats/0");
            let choices = field.schema.choices();
            for schema in choices.iter().chain([&field.schema]) {
                seen += 1;
                let says = |word: &str| schema.words.contains_key(word);
                let is_bounded = match schema.kind() {
                    "string" => is_name || ["maxLength", "format", "enum", "pattern"].into_iter().any(says),
                    "array" => is_name || says("maxItems"),
                    "integer" => choices.is_empty() || says("minimum") && says("maximum"),
                    _ => true,
                };
                if !is_bounded {
                    without.push(format!("{} {}", route.operation, field.pointer));
                }
            }
        }
    });
    assert!(seen > 200, "{seen}");
    assert!(without.is_empty(), "without a most: {without:?}");
}

#[test]
fn a_body_that_is_not_unicode_cannot_be_read() {
    let house = House::open();
    let ask = |body: &[u8]| {
        let head = format!(
            "POST /v1/venues HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        house.raw(&[head.as_bytes(), body].concat())
    };
    for wrong in [&b"\xff"[..], b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc3"] {
        for (before, after) in [
            (&b"{\"name\":\""[..], &b"\"}"[..]),
            (b"{\"na", b"me\":\"x\"}"),
            (b"{\"name\":", b"}"),
            (b"{\"metadata\":{\"a\":\"", b"\"}}"),
            (b"{\"layout\":{\"sections\":[{\"name\":\"", b"\"}]}}"),
            (b"", b""),
        ] {
            let told = ask(&[before, wrong, after].concat()).problem(400, "malformed");
            assert_eq!(told["pointer"], Value::Null, "{told}");
            is_plain(told["detail"].as_str().unwrap_or_default()).expect("plain words");
        }
    }
    // Half a character, written as an escape, is a field's own mistake.
    let told = ask(br#"{"name":"\ud800"}"#).problem(422, "invalid");
    assert_eq!(
        (&told["pointer"], &told["detail"]),
        (&json!("/name"), &json!("has half a character, such as \\ud800"))
    );
}

#[test]
fn a_seat_without_a_name_is_unknown_and_named_like_any_other() {
    let house = House::open();
    let path = format!("/v1/events/{}/holds", house.event());
    for name in ["", "Z-9", &"x".repeat(200), "a\nb"] {
        let told = house.post(&path, &[("onsale-buyer", "ann")], json!({"seats": ["A-1-1", name]}));
        let told = told.problem(404, "seat_unknown");
        assert_eq!(told["seats"], json!([{"seat": name, "code": "seat_unknown"}]), "{told}");
    }
}

/// Also what is answered before anybody knows which route is meant.
#[test]
fn a_problem_before_any_route_is_told_like_any_other() {
    let house = House::open();
    let told = |bytes: &str, status: u16| {
        let answer = house.raw(bytes.as_bytes());
        assert_eq!(answer.status, status, "{bytes:.80}: {answer:?}");
        problem_of(&answer, bytes).expect("a problem like any other");
        assert_eq!(answer.header("x-request-id").map(str::len), Some(16));
    };
    told("GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n", 404);
    told("GET /v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n", 404);
    told("DELETE /livez HTTP/1.1\r\nhost: x\r\n\r\n", 405);
    told("OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n", 404);
    told("POST /v1/events HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n", 401);
    told("GET /problems/%ff HTTP/1.1\r\nhost: x\r\n\r\n", 400);
    let webhook =
        "POST /v1/payments/webhooks/simulated HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n\r\n";
    told(&format!("{webhook}{}", "x".repeat(3_000_000)), 413);
    told("nothing\r\n\r\n", 400);
    told(&format!("GET /livez HTTP/1.1\r\nhost: x\r\nx-long: {}\r\n\r\n", "x".repeat(40_000)), 431);
    told(&format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "x".repeat(100_000)), 431);
}

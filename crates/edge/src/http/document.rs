//! The OpenAPI document, assembled from the table of routes and the types that handlers read and write. What follows from
//! a rule (statuses, headers, parameters, bounds) is put in here, in one place, and never written beside a handler.

mod bounds;
mod examples;
pub mod headers;
mod parameters;
pub mod place;
mod problems;
mod security;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use axum::http::Method;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;
use utoipa::openapi::path::Operation;

use super::fact::schema::spread;
use super::table::{Route, RouteDescription, described};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Onsale",
        description = "Seats, stock and auctions, sold exactly once. Times are RFC 3339 with milliseconds and `Z`; requests \
                       may have any offset. Money is in minor units. Every answer that is not a yes is \
                       `application/problem+json`. Send `Idempotency-Key` with any mutation: the same key gets the same \
                       answer. Lists are `data` and `next`: \
                       go on with `after` as long as there is `next`. A read with the header `Onsale-Stale: true` may be older than what was answered: the store \
                       that servers share is away.",
        contact(name = "Whoever runs this server"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(super::problem::ProblemBody, super::fact::FactHead)),
    security(("api_key" = [])),
    tags(
        (name = "holds", description = "Hold, extend, grow, release, confirm"),
        (name = "seats", description = "The chart, the status of every seat, what is left"),
        (name = "queue", description = "Wait for a seat that another holds"),
        (name = "facts", description = "What happened, as pages and live"),
        (name = "sales", description = "Stock on sale for a while"),
        (name = "checkouts", description = "Reserve stock, buy it or give it back"),
        (name = "series", description = "Sales by a schedule"),
        (name = "registrations", description = "Places with a waiting list"),
        (name = "events", description = "What seats and places are sold for"),
        (name = "venues", description = "Places with layouts that events share"),
        (name = "auctions", description = "Bid, buy at once, retract, watch; a maximum is its bidder's own"),
        (name = "orders", description = "Pay for what is held or reserved, and give it back"),
        (name = "payments", description = "What a provider was asked and what it said"),
        (name = "accounts", description = "Sign up, prove an address, set a new password"),
        (name = "sessions", description = "Sign in and out, on each device"),
        (name = "me", description = "Who am I, what do I prefer, what is stored of me"),
        (name = "users", description = "People and their roles"),
        (name = "staff", description = "Blocks and overrides"),
        (name = "keys", description = "Keys, tokens for buyers, and who did what with them"),
        (name = "tenants", description = "Merchants that share this deployment, for its operator"),
        (name = "operating", description = "Health, metrics, time; without a key"),
    )
)]
struct Api;

static DOCUMENT: LazyLock<Value> = LazyLock::new(assemble);

/// The description of all routes.
pub fn document() -> &'static Value {
    &DOCUMENT
}

fn assemble() -> Value {
    let mut document = json_of(&Api::openapi());
    let mut schemas = object(document["components"]["schemas"].take());
    let mut paths = Map::new();
    for RouteDescription { route, operation, schemas: own } in described() {
        own.iter().for_each(|(name, schema)| add(name, json_of(schema), &mut schemas));
        let methods = paths.entry(route.path.clone()).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_lowercase()] = complete(&route, &operation);
    }
    spread(&mut schemas);
    schemas.values_mut().chain(paths.values_mut()).for_each(name_lists);
    bounds::apply(&mut schemas);
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        ask_for_body(operation, &schemas);
    }
    drop_unused(&mut schemas, &paths);
    document["paths"] = Value::Object(paths);
    document["servers"] = json!([{"url": "/", "description": "This server"}]);
    document["components"] = json!({
        "schemas": schemas,
        "responses": problems::responses(),
        "headers": headers::components(),
        "securitySchemes": security::schemes(),
    });
    document
}

/// What a handler says of its operation, with what follows from its line in the table.
fn complete(route: &Route, operation: &Operation) -> Value {
    let mut whole = json_of(operation);
    whole["operationId"] = json!(route.operation);
    whole["x-onsale-scope"] = json!(route.scope.as_str());
    whole["x-onsale-rate"] = json!(format!("{:?}", route.rate).to_lowercase());
    whole["x-onsale-idempotent"] = json!(route.keyed);
    whole["security"] = security::of(route.scope);
    let given = whole["parameters"].take();
    whole["parameters"] = parameters::of(route, &given);
    let told = object(whole["responses"].take());
    let answer = |status: &u16| {
        let status_text = status.to_string();
        let own = told.get(&status_text).cloned().unwrap_or_default();
        (status_text, if *status < 400 { yes(route, *status, own) } else { problems::refer(*status, &own) })
    };
    whole["responses"] = Value::Object(route.statuses.iter().map(answer).collect());
    examples::add(route.operation, &mut whole);
    whole
}

/// An answer that is no problem.
fn yes(route: &Route, status: u16, mut answer: Value) -> Value {
    if answer["description"].as_str().is_none_or(str::is_empty) {
        answer["description"] = json!(match status {
            201 => "Made",
            304 => "Nothing has changed",
            _ if route.method == Method::GET => "As it is now",
            _ => "Done",
        });
    }
    if let Some(stream) = answer.pointer_mut("/content/text~1event-stream") {
        // A schema of the stream itself could only say that it is text.
        stream["x-onsale-event-data"] = json!({"$ref": "#/components/schemas/Fact"});
    }
    for header in headers::of(route, status) {
        answer["headers"][header.name] = header.refer();
    }
    answer
}

/// A body that needs no field may be left out: nothing counts as `{}`.
fn ask_for_body(operation: &mut Value, schemas: &Map<String, Value>) {
    let Some(body) = operation.get_mut("requestBody") else { return };
    let schema = &body["content"]["application/json"]["schema"];
    let named = schema["$ref"].as_str().and_then(|name| schemas.get(name.rsplit('/').next()?));
    let needs = |schema: &Value| {
        schema["required"].as_array().is_some_and(|required| !required.is_empty())
            || schema["minProperties"].as_u64().is_some_and(|least| least > 0)
    };
    body["required"] = json!(named.is_none_or(needs));
}

/// What was only a part of others is no schema of its own any more.
fn drop_unused(schemas: &mut Map<String, Value>, paths: &Map<String, Value>) {
    // Every answer that is no yes is one of these.
    let mut used = BTreeSet::from(["Problem".to_owned()]);
    let mut open: Vec<String> = used.iter().cloned().collect();
    let mut look = |value: &Value, open: &mut Vec<String>| {
        each_reference(value, &mut |name| {
            if used.insert(name.to_owned()) {
                open.push(name.to_owned());
            }
        });
    };
    paths.values().for_each(|methods| look(methods, &mut open));
    while let Some(name) = open.pop() {
        look(schemas.get(&name).unwrap_or(&Value::Null), &mut open);
    }
    schemas.retain(|name, _| used.contains(name));
}

fn each_reference(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            if let Some(name) = fields.get("$ref").and_then(Value::as_str)
                && let Some(name) = name.strip_prefix("#/components/schemas/")
            {
                found(name);
            }
            fields.values().for_each(|value| each_reference(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| each_reference(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Adds a schema. A page of a list has its entries' schema inside: that becomes one of its own, so that a client has one
/// type for an event, shown or listed.
fn add(name: &str, mut schema: Value, schemas: &mut Map<String, Value>) {
    if let Some(entry) = name.strip_prefix(LIST)
        && let Some(items) = schema.pointer_mut("/properties/data/items")
        && items.get("$ref").is_none()
    {
        let reference = json!({"$ref": format!("#/components/schemas/{entry}")});
        let inner = std::mem::replace(items, reference);
        schemas.entry(entry).or_insert(inner);
    }
    schemas.insert(list_name(name), schema);
}

/// What the names of schemas of generic lists begin with.
const LIST: &str = "List_";

/// A page of a list is called after what is in it: `EventList`.
fn list_name(name: &str) -> String {
    name.strip_prefix(LIST).map_or_else(|| name.to_owned(), |entry| format!("{entry}List"))
}

fn name_lists(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(name)) = fields.get_mut("$ref")
                && let Some(own) = name.strip_prefix("#/components/schemas/")
            {
                *name = format!("#/components/schemas/{}", list_name(own));
            }
            fields.values_mut().for_each(name_lists);
        }
        Value::Array(values) => values.iter_mut().for_each(name_lists),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn json_of(part: &impl serde::Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(fields) = value { fields } else { Map::new() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::http::table::table;

    fn operation(route: &Route) -> &'static Value {
        &document()["paths"][&route.path][route.method.as_str().to_lowercase()]
    }

    #[test]
    fn every_operation_says_what_it_is_and_what_its_parameters_mean() {
        for route in table().routes.iter().filter(|route| route.described) {
            let told = operation(route);
            assert_eq!(told["operationId"], route.operation);
            for word in ["summary", "description"] {
                let text = told[word].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{} has no {word}", route.operation);
            }
            for parameter in told["parameters"].as_array().into_iter().flatten() {
                let text = parameter["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{} does not say what {} is", route.operation, parameter["name"]);
                let schema = &parameter["schema"];
                let is_one_kind = schema["type"].is_string() || schema["$ref"].is_string();
                assert!(is_one_kind, "{}: {parameter}", route.operation);
            }
        }
    }

    #[test]
    fn what_a_route_may_answer_is_in_the_table_and_in_the_document() {
        for route in table().routes.iter().filter(|route| route.described) {
            let told = operation(route)["responses"].as_object().cloned().unwrap_or_default();
            let told: BTreeSet<u16> = told.keys().filter_map(|status| status.parse().ok()).collect();
            assert_eq!(told, route.statuses, "{}", route.operation);
            for status in told.iter().filter(|status| **status >= 400) {
                let name = operation(route)["responses"][status.to_string()]["$ref"].as_str();
                let found = name.and_then(|name| document().pointer(name.strip_prefix('#')?));
                let code = found.map(|found| &found["content"]["application/problem+json"]["examples"]);
                assert!(code.is_some_and(Value::is_object), "no problem of ours has the status {status}");
            }
        }
    }

    /// A type of the language is no name that a client should be given.
    #[test]
    fn a_schema_is_called_after_what_it_is() {
        for name in
            document()["components"]["schemas"].as_object().into_iter().flatten().map(|(name, _)| name)
        {
            assert!(name.starts_with(|sign: char| sign.is_ascii_uppercase()), "{name}");
        }
    }

    /// A word of the document without a value is a mistake in its assembly.
    #[test]
    fn nothing_is_null_but_in_examples() {
        fn check(value: &Value, at: &str) {
            assert!(!value.is_null(), "{at} is null");
            for (name, inner) in value.as_object().into_iter().flatten() {
                if !matches!(name.as_str(), "example" | "examples" | "default" | "enum") {
                    check(inner, &format!("{at}/{name}"));
                }
            }
            for (place, inner) in value.as_array().into_iter().flatten().enumerate() {
                check(inner, &format!("{at}/{place}"));
            }
        }
        check(document(), "");
    }

    #[test]
    fn a_body_is_needed_where_a_field_of_it_is() {
        let needed = |operation: &str| {
            let route = table().routes.iter().find(|route| route.operation == operation);
            route.map(|route| self::operation(route)["requestBody"]["required"].clone())
        };
        for (operation, is_needed) in [
            ("events.create", true),
            ("holds.change", true),
            ("venues.publish_layout", true),
            ("holds.confirm", false),
            ("entries.create", false),
            ("orders.pay", false),
        ] {
            assert_eq!(needed(operation), Some(json!(is_needed)), "{operation}");
        }
    }
}

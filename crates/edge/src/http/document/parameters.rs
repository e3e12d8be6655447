//! Parameters: those of a path and the idempotency key follow from the table, all others a handler names. What they mean
//! is said here once for all routes.

use onsale_domain::limits::{BUYER_CHARS_MAX, EXTERNAL_ID_CHARS_MAX};
use serde_json::{Value, json};

use crate::http::list;
use crate::http::table::Route;
use crate::idempotency::KEY_CHARS_MAX;

/// All parameters of a route.
pub(super) fn of(route: &Route, given: &Value) -> Value {
    let given = given.as_array().cloned().unwrap_or_default();
    let in_path = route.path.split('/').filter_map(|word| word.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Value> = in_path
        .filter(|name| !given.iter().any(|known| known["name"] == *name))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    all.extend(given);
    if route.keyed {
        let schema = json!({"type": "string", "minLength": 1, "maxLength": KEY_CHARS_MAX});
        all.push(json!({"name": "Idempotency-Key", "in": "header", "required": false, "schema": schema}));
    }
    for one in &mut all {
        let name = one["name"].as_str().unwrap_or_default().to_owned();
        if one["description"].as_str().is_none_or(str::is_empty) {
            one["description"] = json!(about(&name));
        }
        not_null(&mut one["schema"]);
        bound(&name, &mut one["schema"]);
    }
    Value::Array(all)
}

/// What a parameter means, wherever it stands.
fn about(name: &str) -> &'static str {
    match name {
        "user_id" => "Who buys, by the merchant's own name of that person",
        "Onsale-Buyer" => "The buyer for whom the merchant asks, by the merchant's own name of that person",
        "Hold-Token" => "The newest `token` of the hold, which its buyer was given",
        "Checkout-Code" => "The `code` of the checkout, which its buyer was given",
        "Order-Key" => "The `key` of the order, which its buyer was given",
        "Idempotency-Key" => "The same key for the same request gets the same answer, and it is done once",
        "If-None-Match" => "The `ETag` of the version that the caller has",
        "Last-Event-ID" => "The id of the last event that was read: all that was missed is sent first",
        "limit" => "How many at most",
        "after" => "Go on behind this: `next` of the page before",
        "status" => "Only those that stand there now",
        "starts_after" => "Only those that start then or later",
        "starts_before" => "Only those that start before then",
        "listing" => "The id of the event, the sale, the registration or the auction",
        "created_after" => "Only those that were made then or later",
        "created_before" => "Only those that were made before then",
        "external_id" => "Only the one that its merchant calls so",
        "event" => "The event's id",
        "venue" => "The venue's id",
        "sale" => "The sale's id",
        "series" => "The series' id",
        "registration" => "The registration's id",
        "auction" => "The auction's id",
        "hold" => "The hold's id",
        "order" => "The order's id",
        "entry" => "The entry's id",
        "payment" => "The payment's id",
        "checkout" => "The checkout's id",
        "code" => "The checkout's id and its code, joined by a dot",
        "seat" => "The seat's id in the chart",
        "sku" => "The SKU's id in the sale",
        "item" => "The item's picture",
        "buyer" => "Whose they are, by the merchant's own name of that person",
        "bidder" => "Who was banned, by the merchant's own name of that person",
        "key" => "The key's id",
        "tenant" => "The tenant's id",
        "host" => "The host's name, without a port",
        "provider" => "The payment provider that sends it",
        "version" => "The version that is wanted",
        "user" => "The person's id",
        "session" => "The session's id",
        "role" => "The role's name",
        "except" => "`current`: all but the session that asks",
        "format" => "In which form the answer is wanted",
        _ => "",
    }
}

/// A header or a word in a query is there or not; it is never `null`.
fn not_null(schema: &mut Value) {
    if let Some(kinds) = schema["type"].as_array()
        && let Some(kind) = kinds.iter().find(|kind| **kind != "null")
    {
        schema["type"] = kind.clone();
    }
    if let Some(inner) =
        schema["oneOf"].as_array().and_then(|all| all.iter().find(|one| one["type"] != "null"))
    {
        *schema = inner.clone();
    }
}

fn bound(name: &str, schema: &mut Value) {
    match name {
        "limit" => {
            *schema = json!({
                "type": "integer", "minimum": 1, "maximum": list::LIMIT_MAX, "default": list::LIMIT_DEFAULT,
            });
        }
        "Onsale-Buyer" | "buyer" | "bidder" | "user_id" => {
            (schema["minLength"], schema["maxLength"]) = (json!(1), json!(BUYER_CHARS_MAX));
        }
        "except" => schema["enum"] = json!(["current"]),
        "external_id" => {
            (schema["minLength"], schema["maxLength"]) = (json!(1), json!(EXTERNAL_ID_CHARS_MAX));
        }
        _ => {}
    }
}

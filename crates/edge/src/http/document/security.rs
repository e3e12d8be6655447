//! Which credentials open a route: it follows from whom the route is for.

use serde_json::{Value, json};

use crate::http::gate::SESSION_COOKIE;
use crate::http::table::Scope;

/// Every way to say who one is.
pub(super) fn schemes() -> Value {
    json!({
        "api_key": {
            "type": "http", "scheme": "bearer",
            "description": "A key of the merchant: secret, restricted or publishable. What it may do is chosen when it is made.",
        },
        "session": {
            "type": "http", "scheme": "bearer",
            "description": "The token of a person who is signed in, for programs.",
        },
        "session_cookie": {
            "type": "apiKey", "in": "cookie", "name": SESSION_COOKIE,
            "description": "The same for browsers.",
        },
        "buyer_token": {
            "type": "http", "scheme": "bearer",
            "description": "A token with which a merchant vouches for one buyer, from POST /v1/buyer-tokens.",
        },
        "buyer_token_beside_key": {
            "type": "apiKey", "in": "header", "name": "Onsale-Buyer-Token",
            "description": "The same token beside a publishable key.",
        },
    })
}

/// The ways that may open a route; an empty one is nobody in particular.
pub(super) fn of(scope: Scope) -> Value {
    let key = json!({"api_key": []});
    let person = [json!({"session": []}), json!({"session_cookie": []})];
    let vouched = [json!({"buyer_token": []}), json!({"api_key": [], "buyer_token_beside_key": []})];
    let ways: Vec<Value> = match scope {
        Scope::Open | Scope::Provider => Vec::new(),
        // Everybody may, and who says who they are may see more; with the old routes the operator decides.
        Scope::Anybody | Scope::Read | Scope::Compat => {
            [json!({}), key].into_iter().chain(person).chain(vouched).collect()
        }
        Scope::Buy => [key].into_iter().chain(person).chain(vouched).collect(),
        Scope::Person => person.into(),
        Scope::Vouch => vec![key],
        Scope::Staff | Scope::Listings | Scope::BoxOffice | Scope::Access | Scope::Operate => {
            [key].into_iter().chain(person).collect()
        }
    };
    Value::Array(ways)
}

#[cfg(test)]
mod tests {
    use crate::http::document::document;

    #[test]
    fn a_route_names_only_ways_that_are_explained() {
        let schemes = document()["components"]["securitySchemes"].as_object().expect("schemes");
        let mut named = std::collections::BTreeSet::new();
        for (path, methods) in document()["paths"].as_object().expect("paths") {
            for (method, operation) in methods.as_object().expect("methods") {
                let ways = operation["security"].as_array();
                let ways = ways.unwrap_or_else(|| panic!("{method} {path} does not say whom it is for"));
                named.extend(
                    ways.iter().flat_map(|way| way.as_object().into_iter().flatten()).map(|(name, _)| name),
                );
            }
        }
        let known: std::collections::BTreeSet<_> = schemes.keys().collect();
        assert_eq!(named, known);
    }
}

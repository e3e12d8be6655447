//! What stands behind the question mark and is not known is named, also where nothing is read from there.

use onsale_edge::http::table::Scope;
use serde_json::{Value, json};

use super::{before_each, problem_of};
use crate::examples::player::Asked;
use crate::house::House;

#[test]
fn a_parameter_that_is_not_known_is_named_whatever_is_asked() {
    let (mut probed, mut wrong) = (0, Vec::new());
    before_each(|player, route, asked| {
        // Aliases and pages are asked by what others have written; a provider's address is its own.
        if !route.path.starts_with("/v1/") || route.scope == Scope::Provider {
            return;
        }
        let joint = if asked.path.contains('?') { '&' } else { '?' };
        let path = format!("{}{joint}nobody%5Fknows_it=1", asked.path);
        probed += 1;
        let said = format!("{} {path}", route.operation);
        let told = problem_of(&player.ask(route, &Asked { path, ..asked.clone() }), &said);
        let names = |told: &Value| {
            told["code"] == "invalid" && told["field"] == "nobody_knows_it" && told["pointer"].is_null()
        };
        if !told.as_ref().is_ok_and(names) {
            wrong.push(format!("{said}: {told:?}"));
        }
    });
    assert!(probed > 80, "{probed}");
    assert!(wrong.is_empty(), "{} are not told as they should be:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_empty_query_is_none_and_a_page_may_have_any() {
    let house = House::open();
    let event = format!("/v1/events/{}", house.event());
    for path in [&format!("{event}?"), &format!("{event}?&"), "/livez?at=1", "/docs?at=1"] {
        assert_eq!(house.get(path).status, 200, "{path}");
    }
    let told = house.get(&format!("{event}?=1")).problem(422, "invalid");
    assert_eq!(told["pointer"], json!(null), "{told}");
}

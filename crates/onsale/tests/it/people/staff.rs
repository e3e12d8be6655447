//! Staff: roles that are given and taken, and accounts that are disabled.

use serde_json::json;

use super::{PASSWORD, Person, account, ask, sign_in, soon};
use crate::house::{House, night};

#[test]
fn a_role_applies_within_a_second_when_it_is_given_and_when_it_is_taken() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    ann.post("/v1/events", night()).problem(403, "missing_scope");
    let path = format!("/v1/users/{}/roles/seller", ann.user);
    let given = house.send("PUT", &path, &[], None);
    assert_eq!((given.status, &given.json()["roles"]), (200, &json!(["buyer", "seller"])), "{given:?}");
    let scopes = |ann: &Person<'_>| ann.get("/v1/me").json()["scopes"].clone();
    soon(|| (scopes(&ann) == json!(["read", "buy", "listings"])).then_some(()));
    assert_eq!(ann.post("/v1/events", night()).status, 201);
    let taken = house.send("DELETE", &path, &[], None);
    assert_eq!(taken.json()["roles"], json!(["buyer"]));
    soon(|| (ann.post("/v1/events", night()).status == 403).then_some(()));
}

#[test]
fn nobody_gives_what_they_do_not_have() {
    let house = House::with_accounts();
    let (ann, bob) = (account(&house, "ann@example.org"), account(&house, "bob@example.org"));
    let role = |user: &Person<'_>, role: &str| format!("/v1/users/{}/roles/{role}", user.user);
    bob.send("PUT", &role(&bob, "admin"), &[], None).problem(403, "missing_scope");
    assert_eq!(house.send("PUT", &role(&ann, "admin"), &[], None).status, 200);
    let told = soon(|| {
        let answer = ann.send("PUT", &role(&bob, "operator"), &[], None);
        (!answer.json()["detail"].as_str().is_some_and(|detail| detail.contains("access")))
            .then(|| answer.problem(403, "missing_scope"))
    });
    assert!(told["detail"].as_str().is_some_and(|detail| detail.contains("operate")), "{told}");
    assert_eq!(ann.send("PUT", &role(&bob, "box_office"), &[], None).status, 200);
    let told = house.send("PUT", &role(&bob, "wizard"), &[], None).problem(422, "invalid");
    assert_eq!(told["field"], "role");
}

#[test]
fn a_disabled_account_is_out_and_signs_in_nowhere_until_it_is_enabled() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    let path = format!("/v1/users/{}", ann.user);
    assert_eq!(house.post(&format!("{path}/disable"), &[], json!({})).json()["state"], "disabled");
    ann.is_out_soon();
    sign_in(&house, "ann@example.org", PASSWORD).problem(403, "account_disabled");
    assert_eq!(house.post(&format!("{path}/enable"), &[], json!({})).json()["state"], "active");
    assert_eq!(sign_in(&house, "ann@example.org", PASSWORD).status, 201);
    house.post("/v1/users/usr_nobody/disable", &[], json!({})).problem(404, "user_unknown");
}

#[test]
fn staff_finds_people_and_others_find_nobody() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    account(&house, "bob@example.org");
    ask(&house, "/v1/guests", json!({}));
    let mut found = Vec::new();
    let mut path = "/v1/users?limit=1".to_owned();
    loop {
        let page = house.get(&path).json();
        found.extend(page["data"].as_array().expect("a page").iter().map(|user| user["email"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/users?limit=1&after={next}");
    }
    found.sort_by_key(ToString::to_string);
    assert_eq!(found, [json!("ann@example.org"), json!("bob@example.org")], "without the guest");
    let by_email = house.post("/v1/users/find", &[], json!({"email": "ANN@example.org"})).json();
    assert_eq!(by_email["user"], ann.user);
    house.post("/v1/users/find", &[], json!({"email": "eve@example.org"})).problem(404, "user_unknown");
    for path in ["/v1/users", &format!("/v1/users/{}", ann.user)] {
        ann.get(path).problem(403, "missing_scope");
    }
}

//! Browsers: the session lives in a cookie that no script reads, and another site's page cannot use it.

use serde_json::json;

use super::{PASSWORD, Person, account};
use crate::house::{Answer, House};

const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");
const OTHER: (&str, &str) = ("sec-fetch-site", "cross-site");

/// Every cookie that an answer sets: its name and value, and what is said of it.
fn cookies(answer: &Answer) -> Vec<(String, Vec<String>)> {
    let all = answer.headers.iter().filter(|(name, _)| name == "set-cookie");
    all.map(|(_, text)| {
        let mut parts = text.split("; ").map(str::to_owned);
        (parts.next().expect("a name"), parts.collect())
    })
    .collect()
}

fn sign_in(house: &House, more: serde_json::Value, headers: &[(&str, &str)]) -> Answer {
    let mut wish = json!({"email": "ann@example.org", "password": PASSWORD});
    for (name, value) in more.as_object().expect("an object") {
        wish[name] = value.clone();
    }
    house.send_bare("POST", "/v1/sessions", headers, Some(&wish.to_string()))
}

/// A session's cookie as a browser sends it.
fn session_of(answer: &Answer) -> String {
    let found = cookies(answer).into_iter().find(|(text, _)| text.starts_with("__Host-onsale_session="));
    found.unwrap_or_else(|| panic!("no cookie: {answer:?}")).0
}

#[test]
fn a_browser_is_given_a_cookie_and_no_token() {
    let house = House::with_accounts();
    account(&house, "ann@example.org");
    let answer = sign_in(&house, json!({}), &[OWN]);
    assert_eq!(answer.status, 201, "{answer:?}");
    let told = answer.json();
    assert!(told["token"].is_null() && told["device_token"].is_null(), "{told}");
    let set = cookies(&answer);
    for (text, said) in &set {
        assert!(text.starts_with("__Host-onsale_"), "{text}");
        for word in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"] {
            assert!(said.iter().any(|known| known == word), "{text} has no {word}: {said:?}");
        }
    }
    let session = &set[0];
    assert!(
        !session.1.iter().any(|word| word.starts_with("Max-Age")),
        "until the browser is closed: {session:?}"
    );
    let me = house.send_bare("GET", "/v1/me", &[("cookie", &session.0)], None);
    assert_eq!((me.status, &me.json()["session"]), (200, &told["session"]));

    let remembered = sign_in(&house, json!({"remember_me": true, "cookie": true}), &[]);
    let age =
        cookies(&remembered)[0].1.iter().find_map(|word| word.strip_prefix("Max-Age=")?.parse::<i64>().ok());
    assert!(age.is_some_and(|seconds| (29 * 86_400..=30 * 86_400).contains(&seconds)), "{age:?}");
    let program = sign_in(&house, json!({"cookie": false}), &[OWN]);
    assert!(program.json()["token"].is_string() && cookies(&program).is_empty(), "as it was wished");
}

#[test]
fn a_change_that_another_sites_page_asks_with_the_cookie_is_refused() {
    let house = House::with_accounts();
    account(&house, "ann@example.org");
    let cookie = session_of(&sign_in(&house, json!({}), &[OWN]));
    let wish = json!({"interests": ["jazz"]}).to_string();
    let set = |more: &[(&str, &str)]| {
        let headers = [&[("cookie", cookie.as_str())], more].concat();
        house.send_bare("PUT", "/v1/me/preferences", &headers, Some(&wish))
    };
    for wrong in
        [&[][..], &[OTHER], &[("sec-fetch-site", "same-site")], &[("origin", "https://evil.example")]]
    {
        set(wrong).problem(403, "cross_site");
    }
    for right in [OWN, ("sec-fetch-site", "none"), ("origin", "http://x")] {
        assert_eq!(set(&[right]).status, 200, "{right:?}");
    }
    let event = house.event();
    let path = format!("/v1/events/{event}/holds");
    let holds = [("cookie", cookie.as_str()), OTHER];
    house.send_bare("POST", &path, &holds, Some("{\"seats\":[\"A-1-1\"]}")).problem(403, "cross_site");
    let read = house.send_bare("GET", "/v1/me", &[("cookie", cookie.as_str()), OTHER], None);
    assert_eq!(read.status, 200, "looking changes nothing");
}

#[test]
fn another_sites_page_signs_nobody_in() {
    let house = House::with_accounts();
    account(&house, "ann@example.org");
    sign_in(&house, json!({}), &[OTHER]).problem(403, "cross_site");
    sign_in(&house, json!({"cookie": true}), &[("origin", "https://evil.example")])
        .problem(403, "cross_site");
}

#[test]
fn a_cookie_and_a_bearer_that_disagree_are_refused() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    let bob = account(&house, "bob@example.org");
    let both = |cookie: &Person<'_>, bearer: &Person<'_>| {
        let (cookie, bearer) =
            (format!("__Host-onsale_session={}", cookie.token), format!("Bearer {}", bearer.token));
        house.send_bare("GET", "/v1/me", &[("cookie", &cookie), ("authorization", &bearer)], None)
    };
    let told = both(&ann, &bob).problem(401, "unauthenticated");
    assert!(told["detail"].as_str().is_some_and(|detail| detail.contains("send one of them")), "{told}");
    assert_eq!(both(&ann, &ann).status, 200);
}

#[test]
fn signing_out_takes_the_cookie_away_and_a_new_token_takes_its_place() {
    let house = House::with_accounts();
    account(&house, "ann@example.org");
    let begun = sign_in(&house, json!({}), &[OWN]);
    let first = session_of(&begun);
    let send = |method: &str, path: &str, cookie: &str| {
        house.send_bare(method, path, &[("cookie", cookie), OWN], None)
    };
    let rotated = send("POST", "/v1/sessions/rotate", &first);
    assert_eq!((rotated.status, &rotated.json()["token"]), (200, &serde_json::Value::Null));
    let second = session_of(&rotated);
    assert_ne!(first, second);
    let session = begun.json()["session"].as_str().expect("an id").to_owned();
    let ended = send("DELETE", &format!("/v1/sessions/{session}"), &second);
    assert_eq!(ended.status, 204);
    assert_eq!(session_of(&ended), "__Host-onsale_session=");
    assert!(cookies(&ended)[0].1.contains(&"Max-Age=0".to_owned()));
    super::soon(|| (send("GET", "/v1/me", &second).status == 401).then_some(()));
}

#[test]
fn who_carries_an_old_cookie_still_signs_in() {
    let house = House::with_accounts();
    account(&house, "ann@example.org");
    let cookie = session_of(&sign_in(&house, json!({}), &[OWN]));
    let old = format!("{cookie}x");
    assert_eq!(sign_in(&house, json!({}), &[("cookie", &old), OWN]).status, 201);
}

//! Tokens of letters and sessions, right ones and all kinds of wrong ones; and what a wrong password is told.

use serde_json::{Value, json};

use super::{OTHER_PASSWORD, PASSWORD, Person, account, ask, letter_token, sign_in};
use crate::house::{Answer, House};

/// A token, cut, doubled, with bytes that no token has.
fn damaged(token: &str) -> Vec<String> {
    vec![
        token[..token.len() - 1].to_owned(),
        token[..token.len() / 2].to_owned(),
        format!("{token}{token}"),
        format!("{token}0"),
        format!("{token}\0"),
        format!("\0{token}"),
        token.to_uppercase(),
        token.replace("onsale_", "onsale-"),
        token.replace("_one_", "_ses_").replace("_ses_", "_dev_"),
    ]
}

/// A problem without what belongs to its request alone.
fn words(answer: &Answer) -> Value {
    let mut told = answer.json();
    told["request_id"] = Value::Null;
    told
}

#[test]
fn a_reset_link_that_is_used_twice_at_once_works_once() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    assert_eq!(ask(&house, "/v1/password-resets", json!({"email": "ann@example.org"})).status, 202);
    let token = letter_token(&house, "reset", "ann@example.org");
    let reset = |password: &str| {
        ask(&house, "/v1/password-resets/use", json!({"token": token, "new_password": password}))
    };
    let answers = std::thread::scope(|scope| {
        let both = [OTHER_PASSWORD, "badger at the lake"]
            .map(|password| scope.spawn(move || (password, reset(password))));
        both.map(|one| one.join().expect("it ends"))
    });
    let (right, wrong): (Vec<_>, Vec<_>) = answers.iter().partition(|(_, answer)| answer.status == 204);
    assert_eq!((right.len(), wrong.len()), (1, 1), "{answers:?}");
    let told = wrong[0].1.problem(422, "token_invalid");
    assert_eq!(told["pointer"], "/token");
    assert_eq!(sign_in(&house, "ann@example.org", right[0].0).status, 201);
    sign_in(&house, "ann@example.org", wrong[0].0).problem(401, "credentials_wrong");
    ann.is_out_soon();
}

#[test]
fn a_wrong_password_is_answered_as_an_unknown_account() {
    let house = House::with_accounts();
    account(&house, "ann@example.org");
    let wrong = sign_in(&house, "ann@example.org", OTHER_PASSWORD);
    let unknown = sign_in(&house, "nobody@example.org", OTHER_PASSWORD);
    wrong.problem(401, "credentials_wrong");
    assert_eq!(words(&wrong), words(&unknown));
    let reset = |email: &str| ask(&house, "/v1/password-resets", json!({"email": email})).status;
    assert_eq!((reset("ann@example.org"), reset("nobody@example.org")), (202, 202));
}

#[test]
fn who_guesses_waits_and_is_told_how_long() {
    let house = House::with_accounts();
    account(&house, "ann@example.org");
    let mut last = sign_in(&house, "ann@example.org", OTHER_PASSWORD);
    for _ in 0..20 {
        if last.status == 429 {
            break;
        }
        last = sign_in(&house, "ann@example.org", OTHER_PASSWORD);
    }
    last.problem(429, "too_many_attempts");
    let seconds: u32 = last.header("retry-after").and_then(|text| text.parse().ok()).expect("how long");
    assert!((1..=15 * 60).contains(&seconds), "{seconds}");
}

#[test]
fn a_damaged_session_token_opens_nothing() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    for wrong in damaged(&ann.token) {
        let bearer = format!("Bearer {wrong}");
        let answer = house.send_bare("GET", "/v1/me", &[("authorization", &bearer)], None);
        // A header with such a byte is no header at all.
        let expected = if wrong.contains('\0') { (400, "malformed") } else { (401, "unauthenticated") };
        answer.problem(expected.0, expected.1);
        let cookie = format!("__Host-onsale_session={wrong}");
        if !wrong.contains('\0') {
            house.send_bare("GET", "/v1/me", &[("cookie", &cookie)], None).problem(401, "unauthenticated");
        }
    }
    assert_eq!(ann.get("/v1/me").status, 200);
}

#[test]
fn a_damaged_token_of_a_letter_opens_nothing_and_the_right_one_still_does() {
    let house = House::with_accounts();
    let token = super::register(&house, "ann@example.org");
    for wrong in damaged(&token) {
        for (path, body) in [
            ("/v1/accounts/verify", json!({"token": wrong, "password": PASSWORD})),
            ("/v1/password-resets/use", json!({"token": wrong, "new_password": OTHER_PASSWORD})),
            ("/v1/email-changes/use", json!({"token": wrong})),
        ] {
            ask(&house, path, body).problem(422, "token_invalid");
        }
    }
    // Of the right form, and for something else.
    ask(&house, "/v1/password-resets/use", json!({"token": token, "new_password": OTHER_PASSWORD}))
        .problem(422, "token_invalid");
    let wrong = ask(&house, "/v1/accounts/verify", json!({"token": token, "password": OTHER_PASSWORD}));
    wrong.problem(401, "credentials_wrong");
    Person::of(&house, &ask(&house, "/v1/accounts/verify", json!({"token": token, "password": PASSWORD})));
    ask(&house, "/v1/accounts/verify", json!({"token": token, "password": PASSWORD}))
        .problem(422, "token_invalid");
}

#[test]
fn odd_addresses_are_taken_or_refused_by_name() {
    let house = House::with_accounts();
    let register = |email: &str| ask(&house, "/v1/accounts", json!({"email": email, "password": PASSWORD}));
    for fine in ["ann+tickets@example.org", "änn@exämple.org", "ann.o'hara@sub.example.org"] {
        assert_eq!(register(fine).status, 202, "{fine}");
    }
    let long = format!("{}@example.org", "a".repeat(300));
    for wrong in
        ["ann", "ann@", "@example.org", "a nn@example.org", "ann@example.org\r\nBcc: eve@example.org", &long]
    {
        let told = register(wrong).problem(422, "invalid");
        assert_eq!(told["pointer"], "/email", "{wrong:?}: {told}");
    }
    for wrong in ["short", "password", "aaaaaaaaaaaa", &"x".repeat(129)] {
        let told = ask(&house, "/v1/accounts", json!({"email": "ann@example.org", "password": wrong}));
        assert_eq!(told.problem(422, "invalid")["pointer"], "/password", "{wrong:?}");
    }
}

#[test]
fn a_token_in_an_address_is_refused_and_told_why() {
    let house = House::with_accounts();
    let ann = account(&house, "ann@example.org");
    house.send_bare("GET", &format!("/v1/me?token={}", ann.token), &[], None).problem(400, "key_in_query");
}

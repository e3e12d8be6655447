//! Accounts, sessions and guests over HTTP, with letters read from their files.

mod browsers;
mod guests;
mod mine;
mod others;
mod staff;
mod tokens;
mod walk;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{Answer, House};

pub(crate) const PASSWORD: &str = "hedgehog moon 7";
pub(crate) const OTHER_PASSWORD: &str = "wombat under stars";
/// Nothing here takes long; a busy machine may.
const PATIENCE: Duration = Duration::from_secs(60);
/// A change applies within a second; a busy machine may be late in asking.
const CHANGE: Duration = Duration::from_secs(3);

/// Somebody with a session, as a program has it.
pub(crate) struct Person<'a> {
    pub house: &'a House,
    pub user: String,
    pub session: String,
    pub token: String,
}

impl<'a> Person<'a> {
    pub(crate) fn of(house: &'a House, begun: &Answer) -> Person<'a> {
        assert_eq!(begun.status, 201, "{begun:?}");
        let told = begun.json();
        let text =
            |field: &str| told[field].as_str().unwrap_or_else(|| panic!("no {field}: {told}")).to_owned();
        Person { house, user: text("user"), session: text("session"), token: text("token") }
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let headers = [&[("authorization", bearer.as_str())], headers].concat();
        self.house.send_bare(method, path, &headers, body.map(|body| body.to_string()).as_deref())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, &[], Some(body))
    }

    pub(crate) fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, &[], Some(body))
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], None)
    }

    /// Holds one seat.
    pub(crate) fn hold(&self, event: &str, seat: &str) -> Value {
        let answer = self.post(&format!("/v1/events/{event}/holds"), json!({"seats": [seat]}));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    }

    /// Waits until this session opens nothing.
    pub(crate) fn is_out_soon(&self) {
        soon(|| {
            let answer = self.get("/v1/me");
            (answer.status == 401).then(|| answer.problem(401, "unauthenticated"))
        });
    }
}

/// Asks as nobody.
pub(crate) fn ask(house: &House, path: &str, body: Value) -> Answer {
    house.send_bare("POST", path, &[], Some(&body.to_string()))
}

/// What a change has led to: within a second, and some more for a busy machine.
pub(crate) fn soon<T>(look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < CHANGE, "the change does not apply");
        std::thread::yield_now();
    }
}

/// Signs up, and gives the letter's token back.
pub(crate) fn register(house: &House, email: &str) -> String {
    let answer = ask(house, "/v1/accounts", json!({"email": email, "password": PASSWORD}));
    assert_eq!((answer.status, answer.json()), (202, json!({"email": email})));
    letter_token(house, "verification", email)
}

/// Somebody with an account who is signed in.
pub(crate) fn account<'a>(house: &'a House, email: &str) -> Person<'a> {
    let token = register(house, email);
    Person::of(house, &ask(house, "/v1/accounts/verify", json!({"token": token, "password": PASSWORD})))
}

pub(crate) fn sign_in(house: &House, email: &str, password: &str) -> Answer {
    ask(house, "/v1/sessions", json!({"email": email, "password": password}))
}

/// The words of a letter to this address. A letter is read once.
pub(crate) fn letter<E>(house: &House<E>, kind: &str, email: &str) -> String
where
    E: onsale_engine::Engine,
{
    let (folder, begun) = (house.mail(), Instant::now());
    loop {
        let files = std::fs::read_dir(&folder).expect("a folder of letters");
        for file in files.map(|file| file.expect("a file").path()) {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !name.ends_with(".eml") || !name.contains(&format!("-{kind}-")) {
                continue;
            }
            let text = std::fs::read_to_string(&file).expect("a letter");
            if text.contains(&format!("To: {email}\r\n")) {
                std::fs::remove_file(&file).expect("it is there");
                // Lines that mail has broken, and the sign that breaks them.
                return text.replace("=\r\n", "").replace("=3D", "=");
            }
        }
        assert!(begun.elapsed() < PATIENCE, "no {kind} to {email}");
        std::thread::yield_now();
    }
}

/// The token in the link of a letter.
pub(crate) fn letter_token<E: onsale_engine::Engine>(house: &House<E>, kind: &str, email: &str) -> String {
    let text = letter(house, kind, email);
    let token = text.split("#token=").nth(1).unwrap_or_else(|| panic!("no link: {text}"));
    token.chars().take_while(|sign| sign.is_ascii_alphanumeric() || *sign == '_').collect()
}

//! No secret is in a log, however much is logged.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use onsale_access::role::Role;
use onsale_domain::Tenant;
use serde_json::{Value, json};

use crate::house::{Answer, night};
use crate::principals::{PASSWORD, People};

const KEY: &str = "a-configured-key-for-this-test";

fn ask(address: &str, credential: &str, method: &str, path: &str, more: &str, body: &Value) -> Answer {
    use std::io::Write;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {credential}\r\n{more}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.write_all((head + &body).as_bytes()).expect("sent");
    Answer::read(&mut BufReader::new(stream))
}

#[test]
fn no_secret_is_in_the_log_at_its_most_talkative() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut onsale = Command::new(env!("CARGO_BIN_EXE_onsale"));
    onsale.current_dir(folder.path()).env_clear().envs([
        ("ONSALE_API_KEY", KEY),
        ("ONSALE_LOG__LEVEL", "trace"),
        ("ONSALE_LOG__ACCESS", "true"),
    ]);
    onsale.args(["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
    onsale.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = onsale_reaper::spawn(&mut onsale).expect("the binary starts");
    let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut told = String::new();
    let address = loop {
        let mut line = String::new();
        assert!(log.read_line(&mut line).expect("a line") > 0, "it ended: {told}");
        told.push_str(&line);
        if let Some((_, rest)) = line.split_once("http://") {
            break rest.split([' ', '\n', '\u{1b}']).next().unwrap_or_default().to_owned();
        }
    };
    let rest = std::thread::spawn(move || {
        let mut rest = Vec::new();
        log.read_to_end(&mut rest).expect("the rest");
        String::from_utf8_lossy(&rest).into_owned()
    });
    let text = |answer: &Answer, field: &str| {
        assert!((200..300).contains(&answer.status), "{answer:?}");
        answer.json()[field].as_str().unwrap_or_else(|| panic!("no {field}: {answer:?}")).to_owned()
    };
    let post = |credential: &str, path: &str, more: &str, body: Value| {
        ask(&address, credential, "POST", path, more, &body)
    };
    let event = text(&post(KEY, "/v1/events", "", night()), "id");
    let secret = text(
        &post(KEY, "/v1/keys", "idempotency-key: one\r\n", json!({"kind": "secret", "name": "x"})),
        "key",
    );
    let page = text(&post(&secret, "/v1/keys", "", json!({"kind": "publishable", "name": "x"})), "key");
    let token =
        text(&post(&secret, "/v1/buyer-tokens", "", json!({"buyer": "ann", "ttl_seconds": 60})), "token");
    let holds = format!("/v1/events/{event}/holds");
    let hold = post(&page, &holds, &format!("onsale-buyer-token: {token}\r\n"), json!({"seats": ["A-1-1"]}));
    let (hold, hold_token) = (text(&hold, "id"), text(&hold, "token"));
    let confirm = format!("/v1/holds/{hold}/confirm");
    let confirmed =
        post(&secret, &confirm, &format!("hold-token: {hold_token}\r\n"), json!({"paid_elsewhere": true}));
    assert_eq!(confirmed.status, 200, "{confirmed:?}");
    let people = People::open(&folder.path().join("data"));
    let email = people.account(Tenant::DEFAULT, Role::Admin);
    let session = people.session(Tenant::DEFAULT, &email);
    assert_eq!(ask(&address, &session, "GET", "/v1/keys", "", &Value::Null).status, 200);
    let cookie = format!("cookie: __Host-onsale_session={session}\r\n");
    assert_eq!(ask(&address, &session, "GET", "/v1/audit", &cookie, &Value::Null).status, 200);
    // What opens nothing may be a slip of the pen in something that does.
    let strange = format!("{}x", &secret[..secret.len() - 1]);
    assert_eq!(ask(&address, &strange, "GET", "/v1/keys", "", &Value::Null).status, 401);
    assert_eq!(
        ask(&address, &secret, "GET", &format!("/v1/keys?key={secret}"), "", &Value::Null).status,
        400
    );
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is running");
    child.wait().expect("it ends");
    told += &rest.join().expect("the log");
    assert!(told.contains("GET /v1/keys"), "nothing was logged");
    let house_key = std::fs::read_to_string(folder.path().join("data/house_key")).expect("a key");
    for (name, secret) in [
        ("the configured key", KEY),
        ("the house key", house_key.trim()),
        ("a secret key", &secret[15..]),
        ("a publishable key", &page[15..]),
        ("a buyer token", &token),
        ("a hold token", &hold_token),
        ("a session", &session),
        ("a password", PASSWORD),
        ("a mistyped key", &strange[15..]),
    ] {
        let line = told.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{name} is in the log");
    }
}

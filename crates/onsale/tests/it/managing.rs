//! Keys, people and tenants from the command line, beside a running server; and the key that it keeps for a server.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::config::{onsale, refused};
use crate::demo::Demo;
use crate::keys::Shop;
use crate::principals::PASSWORD;

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("text")
}

impl Shop {
    fn manage(&self, arguments: &[&str]) -> String {
        let data = self.folder.path().to_str().expect("text");
        told(&onsale(self.folder.path(), &[arguments, &["--data", data]].concat(), &[]))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.manage(&[arguments, &["--json"]].concat())).expect("JSON")
    }
}

/// Runs with this as its standard input.
fn with_input(folder: &Path, arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onsale"));
    command.current_dir(folder).args(arguments).env_clear().envs(environment.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    child.wait_with_output().expect("it ends")
}

#[test]
fn keys_are_made_rotated_and_revoked_beside_a_running_server() {
    let shop = Shop::open();
    let made = shop.json(&["keys", "create", "--name", "server"]);
    let (id, key) = (made["id"].as_str().expect("an id"), made["key"].as_str().expect("a key"));
    assert_eq!(shop.ask(key, "GET", "/v1/keys", None).status, 200);
    let listed = shop.manage(&["keys", "list"]);
    assert!(listed.contains(id) && listed.contains("server") && !listed.contains(&key[15..37]), "{listed}");
    let new = shop.json(&["keys", "rotate", id]);
    shop.await_status(key, "/v1/keys", 401);
    let (id, key) = (new["id"].as_str().expect("an id"), new["key"].as_str().expect("a key"));
    assert_eq!(shop.ask(key, "GET", "/v1/keys", None).status, 200);
    shop.manage(&["keys", "revoke", id]);
    shop.await_status(key, "/v1/keys", 401);
    let words =
        shop.manage(&["keys", "create", "--name", "till", "--kind", "restricted", "--scope", "settle"]);
    assert!(words.contains("may: settle") && words.contains("onsale_live_rk_"), "{words}");
    let actions = shop.house.get("/v1/audit").json();
    assert_eq!(
        (&actions["data"][1]["action"], &actions["data"][1]["who"]),
        (&"key_revoked".into(), &"cli".into())
    );
}

#[test]
fn people_are_added_given_roles_and_disabled_beside_a_running_server() {
    let shop = Shop::open();
    let data = shop.folder.path().to_str().expect("text");
    let arguments = ["users", "add", "ann@example.org", "--data", data, "--json"];
    let added = told(&with_input(shop.folder.path(), &arguments, &[], &format!("{PASSWORD}\n")));
    let user: Value = serde_json::from_str(&added).expect("JSON");
    let user = user["id"].as_str().expect("an id");
    let session = shop.people().session(onsale_domain::Tenant::DEFAULT, "ann@example.org");
    shop.ask(&session, "GET", "/v1/orders", None).problem(403, "missing_scope");
    let roles = shop.json(&["users", "roles", "ann@example.org", "--give", "box_office"]);
    assert_eq!(roles["roles"], serde_json::json!(["buyer", "box_office"]));
    // Whoever is let in there must say of which listing.
    shop.await_status(&session, "/v1/orders", 422);
    shop.json(&["users", "roles", user, "--take", "box_office"]);
    shop.await_status(&session, "/v1/orders", 403);
    let listed = shop.manage(&["users", "list"]);
    assert!(listed.contains(user) && listed.contains("ann@example.org"), "{listed}");
    shop.manage(&["users", "disable", user]);
    shop.await_status(&session, "/v1/orders", 401);
    let nothing = with_input(shop.folder.path(), &arguments, &[], "");
    let words = String::from_utf8(nothing.stderr).expect("text");
    assert!(!nothing.status.success() && words.contains("first line of standard input"), "{words}");
}

#[test]
fn tenants_are_made_renamed_given_hosts_and_disabled() {
    let shop = Shop::open();
    let made = shop.json(&["tenants", "create", "City Theatre"]);
    let number = made["id"].as_str().and_then(|id| id.strip_prefix("ten_")).expect("an id");
    shop.manage(&["tenants", "rename", number, "The City Theatre"]);
    shop.manage(&["tenants", "host", number, "tickets.example.org"]);
    let listed = shop.manage(&["tenants", "list"]);
    assert!(listed.contains("The City Theatre") && listed.contains("tickets.example.org"), "{listed}");
    let key = shop.json(&["keys", "create", "--name", "server", "--tenant", number]);
    let key = key["key"].as_str().expect("a key");
    shop.await_status(key, "/v1/keys", 200);
    shop.manage(&["tenants", "disable", number]);
    shop.await_status(key, "/v1/keys", 401);
    shop.manage(&["tenants", "disable", number, "--undo"]);
    shop.await_status(key, "/v1/keys", 200);
    shop.manage(&["tenants", "host", number, "tickets.example.org", "--remove"]);
    assert!(!shop.manage(&["tenants", "list"]).contains("tickets.example.org"));
}

#[test]
fn what_cannot_be_managed_is_told_with_what_to_do_next() {
    let shop = Shop::open();
    let data = shop.folder.path().to_str().expect("text");
    for (arguments, words) in [
        (&["keys", "revoke", "key_nothing", "--data", data][..], "onsale keys list"),
        (&["keys", "list", "--data", "nowhere"], "--data"),
        (&["keys", "create", "--name", "x", "--tenant", "99", "--data", data], "onsale tenants list"),
        (&["keys", "create", "--name", "x", "--kind", "restricted", "--data", data], "scopes"),
        (&["users", "disable", "usr_nothing", "--data", data], "onsale users list"),
        (&["tenants", "host", "0", "nobodys.example.org", "--remove", "--data", data], "onsale tenants list"),
    ] {
        let told = refused(shop.folder.path(), arguments, &[]);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
    let told = refused(shop.folder.path(), &["keys", "list"], &[("ONSALE_ACCESS__DATABASE", "none")]);
    assert!(told.contains("access.database"), "{told}");
}

#[test]
fn a_key_that_is_kept_for_a_server_opens_it_for_other_commands() {
    let shop = Shop::open();
    let event = shop.house.event();
    let key = shop.json(&["keys", "create", "--name", "me"])["key"].as_str().expect("a key").to_owned();
    let url = format!("http://{}", shop.house.address);
    let home = tempfile::tempdir().expect("a folder");
    let environment = [("XDG_CONFIG_HOME", home.path().to_str().expect("text"))];
    let facts = ["facts", &event, "--server", &url];
    let told = refused(home.path(), &facts, &environment);
    assert!(told.contains("onsale login"), "{told}");
    let wrong = with_input(home.path(), &["login", "--server", &url], &environment, "onsale_live_sk_wrong\n");
    assert!(!wrong.status.success() && !home.path().join("onsale").exists());
    self::told(&with_input(home.path(), &["login", "--server", &url], &environment, &format!("{key}\n")));
    let printed = self::told(&onsale(home.path(), &facts, &environment));
    assert!(printed.contains("Night"), "{printed}");
    let file = home.path().join("onsale/keys.toml");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("changed");
        let told = refused(home.path(), &facts, &environment);
        assert!(told.contains("chmod 600") && !told.contains(&key), "{told}");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("changed");
    }
    // What is said comes before what is kept.
    let other = [environment[0], ("ONSALE_KEY", "onsale_live_sk_other")];
    refused(home.path(), &facts, &other);
    self::told(&onsale(home.path(), &["login", "--server", &url, "--forget"], &environment));
    refused(home.path(), &facts, &environment);
}

#[test]
fn the_first_start_prints_a_key_that_opens_everything_in_the_tenant() {
    let server = Demo::started(&["serve"], &[]);
    let key = server.await_word("onsale_live_sk_");
    let ask = |path: &str| {
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {key}\r\n\r\n"
        );
        server.raw(&head)
    };
    for path in ["/v1/keys", "/v1/events", "/v1/audit"] {
        assert_eq!(ask(path).status, 200, "{path}");
    }
    assert_eq!(ask("/v1/tenants").status, 403, "a deployment has an operator's key of its own");
    assert_eq!(server.stop().matches(&key).count(), 1, "it is shown once");
    // Where a key is configured, that one opens the server.
    let server = Demo::started(&["serve"], &[("ONSALE_API_KEY", "demo-key")]);
    assert_eq!(server.get("/v1/keys").json()["data"], serde_json::json!([]));
}

//! Keys, buyer tokens, tenants and the audit trail over HTTP.

use std::time::{Duration, Instant};

use onsale::config::access::Database;
use onsale_access::principal::KeyKind;
use onsale_access::scope::{Scope, Scopes};
use onsale_domain::Tenant;
use serde_json::{Value, json};

use crate::house::{Answer, House};
use crate::principals::People;

/// A change is known everywhere within a second; a busy machine may take longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with keys and accounts in a folder of its own.
pub(crate) struct Shop {
    pub house: House,
    pub folder: tempfile::TempDir,
}

impl Shop {
    pub(crate) fn open() -> Shop {
        let folder = tempfile::tempdir().expect("a folder");
        let house = House::open_with(|config| {
            config.access.database = Database::Sqlite;
            config.data = folder.path().to_owned();
        });
        // Its database is there when it answers.
        assert_eq!(house.get("/livez").status, 200);
        Shop { house, folder }
    }

    pub(crate) fn people(&self) -> People {
        People::open(self.folder.path())
    }

    /// Asks as whoever has this credential.
    pub(crate) fn ask(&self, credential: &str, method: &str, path: &str, body: Option<Value>) -> Answer {
        let credential = if credential.is_empty() { String::new() } else { format!("Bearer {credential}") };
        let body = body.map(|body| body.to_string());
        self.house.send(method, path, &[("authorization", &credential)], body.as_deref())
    }

    /// Waits until a credential is answered like this at a route that reads.
    pub(crate) fn await_status(&self, credential: &str, path: &str, status: u16) {
        let begun = Instant::now();
        loop {
            let answer = self.ask(credential, "GET", path, None);
            if answer.status == status {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{path} still answers {answer:?}");
            std::thread::yield_now();
        }
    }

    fn key(&self, body: Value) -> Value {
        let made = self.house.post("/v1/keys", &[], body);
        assert_eq!(made.status, 201, "{made:?}");
        made.json()
    }
}

fn text(told: &Value) -> &str {
    told.as_str().unwrap_or_else(|| panic!("{told} is no text"))
}

#[test]
fn a_key_is_shown_whole_once_and_opens_what_it_was_made_for() {
    let shop = Shop::open();
    let made = shop.key(json!({"kind": "restricted", "name": "till", "scopes": ["read", "settle"]}));
    let (id, key) = (text(&made["id"]), text(&made["key"]));
    let own = format!("/v1/keys/{id}");
    assert_eq!(shop.ask(key, "GET", "/v1/events", None).status, 200);
    shop.ask(key, "GET", "/v1/keys", None).problem(403, "missing_scope");
    let shown = shop.house.get(&own);
    let listed = shop.house.get("/v1/keys");
    assert_eq!((shown.status, listed.json()["data"][0]["id"].as_str()), (200, Some(id)));
    for answer in [shown, listed] {
        let told = String::from_utf8(answer.body).expect("text");
        assert!(!told.contains(&key[15..37]), "{told}");
    }
    assert_eq!(shop.house.send("DELETE", &own, &[], None).status, 204);
    shop.await_status(key, "/v1/events", 401);
    shop.house.get("/v1/keys/key_0000000000000000").problem(404, "key_unknown");
}

#[test]
fn nobody_gives_away_what_they_do_not_have() {
    let shop = Shop::open();
    let giver =
        shop.people().key(Tenant::DEFAULT, KeyKind::Restricted, Scopes::of(&[Scope::Access, Scope::Read]));
    let ask = |body: Value| shop.ask(&giver, "POST", "/v1/keys", Some(body));
    assert_eq!(ask(json!({"kind": "restricted", "name": "x", "scopes": ["read"]})).status, 201);
    let told =
        ask(json!({"kind": "restricted", "name": "x", "scopes": ["settle"]})).problem(403, "scope_not_yours");
    assert_eq!(told["pointer"], "/scopes");
    let told = ask(json!({"kind": "restricted", "name": "x"})).problem(422, "scopes_invalid");
    assert_eq!(told["pointer"], "/scopes");
    let secret = ask(json!({"kind": "secret", "name": "x"})).json();
    assert_eq!(
        secret["scopes"],
        json!(["read", "access"]),
        "all that a secret key can have and the giver has"
    );
    let all = shop.key(json!({"kind": "secret", "name": "all"}));
    let path = format!("/v1/keys/{}/rotate", text(&all["id"]));
    shop.ask(&giver, "POST", &path, Some(json!({}))).problem(403, "scope_not_yours");
}

#[test]
fn a_rotated_key_works_beside_the_new_one_until_the_overlap_is_over() {
    let shop = Shop::open();
    let old = shop.key(json!({"kind": "secret", "name": "server"}));
    let path = format!("/v1/keys/{}/rotate", text(&old["id"]));
    let new = shop.house.post(&path, &[], json!({"overlap_seconds": 3_600}));
    assert_eq!(new.status, 201, "{new:?}");
    let new = new.json();
    for key in [&old["key"], &new["key"]] {
        assert_eq!(shop.ask(text(key), "GET", "/v1/keys", None).status, 200);
    }
    shop.house.post(&path, &[], json!({})).problem(409, "key_rotated");
    let path = format!("/v1/keys/{}/rotate", text(&new["id"]));
    let third = shop.house.post(&path, &[], json!({})).json();
    shop.await_status(text(&new["key"]), "/v1/keys", 401);
    assert_eq!(shop.ask(text(&third["key"]), "GET", "/v1/keys", None).status, 200);
}

#[test]
fn the_same_idempotency_key_gives_the_same_key_also_to_its_successor() {
    let shop = Shop::open();
    let body = json!({"kind": "publishable", "name": "page"});
    let headers = [("idempotency-key", "one")];
    let first = shop.house.post("/v1/keys", &headers, body.clone());
    let again = shop.house.post("/v1/keys", &headers, body);
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(
        (first.header("idempotent-replayed"), again.header("idempotent-replayed")),
        (None, Some("true"))
    );
    assert_eq!(shop.house.get("/v1/keys").json()["data"].as_array().map(Vec::len), Some(1));
    let told = shop.house.post("/v1/keys", &headers, json!({"kind": "publishable", "name": "other"}));
    assert_eq!(told.problem(422, "key_reused")["field"], "Idempotency-Key");
    // A key that takes over is the same caller.
    let old = shop.key(json!({"kind": "secret", "name": "server"}));
    let path = format!("/v1/keys/{}/rotate", text(&old["id"]));
    let new = shop.house.post(&path, &[], json!({"overlap_seconds": 60})).json();
    let made = |key: &Value| {
        let credential = format!("Bearer {}", text(key));
        let headers = [("authorization", credential.as_str()), ("idempotency-key", "two")];
        shop.house.post("/v1/keys", &headers, json!({"kind": "publishable", "name": "page"})).json()
    };
    assert_eq!(made(&old["key"]), made(&new["key"]));
}

#[test]
fn a_buyer_token_acts_for_its_buyer_in_its_listings() {
    let shop = Shop::open();
    let (one, other) = (shop.house.event(), shop.house.event());
    let secret = shop.key(json!({"kind": "secret", "name": "server"}));
    let page = shop.key(json!({"kind": "publishable", "name": "page"}));
    let wish = json!({"buyer": "ann", "ttl_seconds": 60, "listings": [one]});
    let made = shop.ask(text(&secret["key"]), "POST", "/v1/buyer-tokens", Some(wish.clone()));
    assert_eq!(made.status, 200, "{made:?}");
    let made = made.json();
    let token = text(&made["token"]);
    let holds = |event: &str| format!("/v1/events/{event}/holds");
    let held = shop.ask(token, "POST", &holds(&one), Some(json!({"seats": ["A-1-1"]})));
    assert_eq!((held.status, &held.json()["buyer"]), (201, &json!("ann")), "{held:?}");
    shop.ask(token, "POST", &holds(&other), Some(json!({"seats": ["A-1-1"]})))
        .problem(404, "listing_unknown");
    // Beside a key that may stand in a page it is the same; that key alone buys for nobody.
    let key = format!("Bearer {}", text(&page["key"]));
    let both = [("authorization", key.as_str()), ("onsale-buyer-token", token)];
    let held = shop.house.post(&holds(&one), &both, json!({"seats": ["A-1-2"]}));
    assert_eq!((held.status, &held.json()["buyer"]), (201, &json!("ann")), "{held:?}");
    shop.house.post(&holds(&one), &both[..1], json!({"seats": ["A-1-3"]})).problem(403, "missing_scope");
    // Only a merchant's server vouches, by a key that can be revoked.
    for credential in [text(&page["key"]), token] {
        shop.ask(credential, "POST", "/v1/buyer-tokens", Some(wish.clone())).problem(403, "missing_scope");
    }
    shop.house.post("/v1/buyer-tokens", &[], wish).problem(403, "key_configured");
    let path = format!("/v1/keys/{}", text(&secret["id"]));
    assert_eq!(shop.house.send("DELETE", &path, &[], None).status, 204);
    shop.await_status(token, "/v1/events", 401);
}

#[test]
fn a_buyer_token_names_only_listings_of_its_merchant() {
    let shop = Shop::open();
    let people = shop.people();
    let own = shop.house.event();
    let stranger = people.key(people.tenant("Other house"), KeyKind::Secret, KeyKind::Secret.allowed());
    let ask = |listings: Value| {
        let wish = json!({"buyer": "ann", "ttl_seconds": 60, "listings": listings});
        shop.ask(&stranger, "POST", "/v1/buyer-tokens", Some(wish))
    };
    for wrong in [own.as_str(), "evt_0000000000000001", "nothing"] {
        assert_eq!(ask(json!([wrong])).problem(422, "invalid")["pointer"], "/listings/0", "{wrong}");
    }
    let many: Vec<&str> = vec![&own; 21];
    assert_eq!(ask(json!([])).problem(422, "listings_invalid")["pointer"], "/listings");
    assert_eq!(ask(json!(many)).status, 422);
}

#[test]
fn a_host_has_the_listings_of_its_tenant_and_a_disabled_tenant_has_nobody() {
    let shop = Shop::open();
    shop.house.event();
    let made = shop.house.post("/v1/tenants", &[], json!({"name": "City Theatre"}));
    assert_eq!(made.status, 201, "{made:?}");
    let tenant = text(&made.json()["id"]).to_owned();
    let own = format!("/v1/tenants/{tenant}");
    let host = format!("{own}/hosts/x");
    assert_eq!(shop.house.send("PUT", &host, &[], None).status, 204);
    assert_eq!(shop.house.get(&own).json()["hosts"], json!(["x"]));
    // Every request of these tests calls the server `x`.
    let begun = Instant::now();
    let listed = || shop.ask("", "GET", "/v1/events", None).json()["data"].as_array().map(Vec::len);
    while listed() != Some(0) {
        assert!(begun.elapsed() < PATIENCE, "the host is still the default tenant's");
        std::thread::yield_now();
    }
    let number = tenant.trim_start_matches("ten_").parse().ok().and_then(Tenant::new).expect("a number");
    let key = shop.people().key(number, KeyKind::Secret, KeyKind::Secret.allowed());
    assert_eq!(shop.ask(&key, "GET", "/v1/keys", None).status, 200);
    shop.ask(&key, "GET", "/v1/tenants", None).problem(403, "missing_scope");
    let change = |body: Value| shop.house.send("PATCH", &own, &[], Some(&body.to_string()));
    assert_eq!(change(json!({"disabled": true})).status, 204);
    shop.await_status(&key, "/v1/keys", 401);
    assert_eq!(change(json!({"disabled": false, "name": "The City Theatre"})).status, 204);
    shop.await_status(&key, "/v1/keys", 200);
    assert_eq!(shop.house.send("DELETE", &host, &[], None).status, 204);
    shop.house.send("DELETE", &host, &[], None).problem(404, "host_unknown");
    shop.house
        .send("PATCH", "/v1/tenants/ten_0", &[], Some(r#"{"disabled":true}"#))
        .problem(409, "tenant_is_default");
    shop.house
        .post("/v1/tenants", &[], json!({"name": "The City Theatre"}))
        .problem(409, "tenant_name_taken");
    for wrong in ["ten_99", "ten_00", "ten_+1", "1"] {
        shop.house.get(&format!("/v1/tenants/{wrong}")).problem(404, "tenant_unknown");
    }
}

#[test]
fn the_audit_trail_says_who_did_what_and_nothing_secret() {
    let shop = Shop::open();
    let made = shop.key(json!({"kind": "secret", "name": "server"}));
    let path = format!("/v1/keys/{}", text(&made["id"]));
    let revoked = shop.house.send("DELETE", &path, &[("x-request-id", "r-17")], None);
    assert_eq!(revoked.status, 204);
    let page = shop.house.get("/v1/audit?limit=1").json();
    let entry = &page["data"][0];
    assert_eq!((&entry["action"], &entry["who"]), (&json!("key_revoked"), &json!("house")));
    assert_eq!((&entry["subject"], &entry["request"]), (&made["id"], &json!("r-17")));
    let rest = shop.house.get(&format!("/v1/audit?after={}", text(&page["next"]))).json();
    assert_eq!(rest["data"][0]["action"], "key_created", "{rest}");
    assert!(!rest.to_string().contains(text(&made["key"])));
    let stranger =
        shop.people().key(shop.people().tenant("Other house"), KeyKind::Secret, KeyKind::Secret.allowed());
    assert_eq!(shop.ask(&stranger, "GET", "/v1/audit", None).json()["data"], json!([]));
}

#[test]
fn a_server_without_accounts_has_nothing_to_manage() {
    let house = House::open();
    for path in ["/v1/keys", "/v1/tenants", "/v1/audit"] {
        house.get(path).problem(503, "access_off");
    }
}

//! Who may ask what: every route is asked by somebody of each kind, and answers as `docs/roles.md` says; and what another
//! tenant has is answered like what nobody has.

use std::collections::BTreeMap;

use onsale_access::principal::KeyKind;
use onsale_access::role::Role;
use onsale_access::scope::{Scope, Scopes};
use onsale_domain::id::{read_inside, write_inside};
use onsale_domain::{ListingId, Tenant};
use onsale_edge::http::table::{Route, Scope as WhomFor, table};
use serde_json::{Value, json};

use crate::document::operation;
use crate::examples::player::{Asked, Player, steps};
use crate::house::Answer;
use crate::principals::People;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/roles.md");

#[test]
fn the_page_of_roles_is_the_table() {
    let page = std::fs::read_to_string(PAGE).expect("docs/roles.md");
    assert!(
        page == table().roles_to_markdown(),
        "write it anew: cargo run -- routes --roles > docs/roles.md"
    );
}

/// The rows of `docs/roles.md`: by operation, what is needed, and who may, by the names of the columns.
struct Page(BTreeMap<String, (Vec<String>, BTreeMap<String, bool>)>);

impl Page {
    fn read() -> Page {
        let page = std::fs::read_to_string(PAGE).expect("docs/roles.md");
        let routes = page.split("## Routes").nth(1).expect("a table of routes");
        let cells = |line: &str| -> Vec<String> {
            let line = line.trim().trim_start_matches('|').trim_end_matches('|');
            line.split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let mut lines = routes.lines().filter(|line| line.starts_with('|'));
        let head = cells(lines.next().expect("a head"));
        let row = |line: &str| {
            let cells = cells(line);
            let needed = cells[1].split(" or ").filter(|one| !one.is_empty()).map(str::to_owned).collect();
            let may = head.iter().zip(&cells).skip(2).map(|(who, cell)| (who.clone(), cell == "yes"));
            (cells[0].trim_matches('`').to_owned(), (needed, may.collect()))
        };
        Page(lines.skip(1).map(row).collect())
    }

    /// Whether it lets this one ask; a route without a row is nobody's.
    fn lets(&self, route: &Route, who: &str) -> bool {
        let (needed, may) =
            self.0.get(route.operation).unwrap_or_else(|| panic!("{} has no row", route.operation));
        match who.strip_prefix("restricted key: ") {
            Some(scope) => needed.is_empty() || needed.iter().any(|one| one == scope),
            None => *may.get(who).unwrap_or_else(|| panic!("{who} has no column")),
        }
    }
}

/// Somebody of each kind, with the headers that say so. A person signs in for each question: some end their session.
fn everybody(
    people: &People,
    accounts: &[(Role, String)],
    keys: &Keys,
) -> Vec<(String, Vec<(String, String)>)> {
    let bearer = |credential: &str| ("authorization".to_owned(), format!("Bearer {credential}"));
    let mut all = vec![
        // Without a credential; the header must not be added for it.
        ("nobody".to_owned(), vec![("authorization".to_owned(), String::new())]),
        ("publishable key".to_owned(), vec![bearer(&keys.publishable)]),
        ("buyer token".to_owned(), vec![bearer(&keys.buyer_token)]),
        (
            "buyer token".to_owned(),
            vec![bearer(&keys.publishable), ("onsale-buyer-token".to_owned(), keys.buyer_token.clone())],
        ),
        ("secret key".to_owned(), vec![bearer(&keys.secret)]),
    ];
    let restricted = keys.restricted.iter();
    all.extend(
        restricted.map(|(scope, key)| (format!("restricted key: {}", scope.as_str()), vec![bearer(key)])),
    );
    let person = |(role, email): &(Role, String)| {
        (role.as_str().to_owned(), vec![bearer(&people.session(Tenant::DEFAULT, email))])
    };
    all.extend(accounts.iter().map(person));
    all
}

struct Keys {
    secret: String,
    publishable: String,
    buyer_token: String,
    restricted: Vec<(Scope, String)>,
}

impl Keys {
    fn make(people: &People, player: &Player) -> Keys {
        let key = |kind: KeyKind, scopes| people.key(Tenant::DEFAULT, kind, scopes);
        let secret = key(KeyKind::Secret, KeyKind::Secret.allowed());
        let headers = [("authorization", &*format!("Bearer {secret}"))];
        let made =
            player.house().post("/v1/buyer-tokens", &headers, json!({"buyer": "ann", "ttl_seconds": 3_600}));
        assert_eq!(made.status, 200, "{made:?}");
        Keys {
            secret,
            publishable: key(KeyKind::Publishable, KeyKind::Publishable.allowed()),
            buyer_token: made.json()["token"].as_str().expect("a token").to_owned(),
            restricted: Scope::ALL.map(|one| (one, key(KeyKind::Restricted, Scopes::of(&[one])))).to_vec(),
        }
    }
}

fn code(answer: &Answer) -> (u16, Value) {
    let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    (answer.status, if answer.status >= 400 { told["code"].clone() } else { Value::Null })
}

#[test]
fn every_route_is_for_whom_the_page_says() {
    let page = Page::read();
    let mut player = Player::open();
    let people = People::open(player.data());
    steps().iter().for_each(|step| player.play(step));
    let keys = Keys::make(&people, &player);
    let accounts = Role::ALL.map(|role| (role, people.account(Tenant::DEFAULT, role)));
    let (mut asked_for, mut wrong) = (0, Vec::new());
    for route in &table().routes {
        // It is open where the operator wants that, and looks itself.
        if !route.described {
            continue;
        }
        let takes_body = operation(route)["requestBody"].is_object();
        for (who, headers) in everybody(&people, &accounts, &keys) {
            let asked = Asked {
                path: player.path_of(route),
                parameters: BTreeMap::new(),
                headers,
                body: takes_body.then(|| json!({})),
            };
            let (status, code) = code(&player.ask_as(route, &asked));
            let is_stranger = status == 401 && code == "unauthenticated";
            let is_let_in = !is_stranger && code != "missing_scope" && code != "person_needed";
            // What a person has no key has, whatever it may buy; and nobody is told who they are.
            let is_nobodys = route.scope == WhomFor::Person && who.starts_with("restricted key")
                || route.operation == "me.show" && who == "nobody";
            let expected = page.lets(route, &who) && !is_nobodys;
            asked_for += 1;
            let is_told_apart = is_let_in || (who == "nobody") == is_stranger;
            if is_let_in != expected || !is_told_apart {
                wrong.push(format!(
                    "{} by {who}: {status} {code}, and the page says {expected}",
                    route.operation
                ));
            }
        }
    }
    assert!(asked_for > 1_500, "{asked_for}");
    assert!(wrong.is_empty(), "{} are answered otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

/// The id of something that nobody has, in the form of this one; `None` if the text is no id of a listing or of what is in one.
fn of_nobody(text: &str, own: Tenant) -> Option<String> {
    let elsewhere = |listing: ListingId| ListingId { tenant: own, number: listing.number ^ 1, ..listing };
    if let Some(listing) = ListingId::parse(text) {
        return Some(elsewhere(listing).to_string());
    }
    if let Some(key) = text.strip_prefix("key_") {
        return Some(format!("key_{}", "0".repeat(key.len())));
    }
    let (id, rest) = text.split_once('.').map_or((text, ""), |(id, _)| (id, &text[id.len()..]));
    let (prefix, _) = id.split_once('_')?;
    let (listing, number) = read_inside(prefix, id)?;
    Some(write_inside(prefix, &elsewhere(listing), number) + rest)
}

/// The same request about what nobody has; `None` if it speaks of nothing that somebody could have.
fn about_nothing(asked: &Asked, own: Tenant) -> Option<Asked> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_' || sign == '.' || sign == '-';
    let mut found = false;
    let mut replaced = |text: &str| {
        let mut all = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|sign| !is_part(sign)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            match of_nobody(word, own) {
                Some(other) => {
                    found = true;
                    all.push_str(&other);
                }
                None => all.push_str(word),
            }
            let sign = behind.chars().next().map_or(0, char::len_utf8);
            all.push_str(&behind[..sign]);
            rest = &behind[sign..];
        }
        all
    };
    let path = replaced(&asked.path);
    let body =
        asked.body.as_ref().map(|body| serde_json::from_str(&replaced(&body.to_string())).expect("JSON"));
    found.then(|| Asked { path, body, ..asked.clone() })
}

#[test]
fn what_another_tenant_has_is_answered_like_what_nobody_has() {
    let mut player = Player::open();
    let people = People::open(player.data());
    let other = people.tenant("Other house");
    let key = people.key(other, KeyKind::Secret, KeyKind::Secret.allowed());
    let (mut compared, mut wrong) = (0, Vec::new());
    for step in &steps() {
        if let Some((route, mut asked)) = player.about(step)
            && !route.operation.ends_with(".stream")
            // A picture is anybody's who has its address: pages name it where nobody is signed in.
            && !matches!(route.scope, WhomFor::Provider | WhomFor::Open)
        {
            // The two are two requests, and who asks is another one.
            asked.headers.retain(|(name, _)| !["Idempotency-Key", "authorization"].contains(&name.as_str()));
            asked.headers.push(("authorization".to_owned(), format!("Bearer {key}")));
            if let Some(nothing) = about_nothing(&asked, other) {
                let (theirs, nobodys) =
                    (code(&player.ask_as(route, &asked)), code(&player.ask_as(route, &nothing)));
                compared += 1;
                if theirs != nobodys {
                    wrong.push(format!(
                        "{} {}: {theirs:?}, of nobody {nobodys:?}",
                        route.operation, asked.path
                    ));
                }
            }
        }
        player.play(step);
    }
    assert!(compared > 80, "{compared}");
    assert!(wrong.is_empty(), "{} are told apart:\n{}", wrong.len(), wrong.join("\n"));
}

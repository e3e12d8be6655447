//! `docs/security.md` judges every point of the standard once, and what it calls met is shown by a test that is there; and
//! `docs/operating/people.md` says what a new way in or another length would make wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use onsale_access::principal::KeyKind;
use onsale_access::sessions::{SESSIONS_MAX, SessionRules};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The points of ASVS 5.0.0 on levels 1 and 2 in the chapters that concern a server like this: each section with how many points of
/// it, which are counted from 1 and have no gaps.
const SECTIONS: &str = "2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 \
    6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 \
    12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3";
const POINTS: usize = 168;

fn ids(sections: &str) -> BTreeSet<String> {
    let section = |text: &str| {
        let (section, count) = text.split_once(':').expect("a section and its points");
        let (section, count) = (section.to_owned(), count.parse::<usize>().expect("a number"));
        (1..=count).map(move |number| format!("V{section}.{number}"))
    };
    sections.split_ascii_whitespace().flat_map(section).collect()
}

/// What is wrong with the table in this text. A row is `| id | state | tests or reason |`.
fn complaints(page: &str, ids: &BTreeSet<String>, tests: &BTreeSet<String>) -> Vec<String> {
    let (mut complaints, mut seen) = (Vec::new(), BTreeSet::new());
    for line in page.lines().filter(|line| line.starts_with("| V")) {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [id, state, why] = cells[..] else {
            complaints.push(format!("not three cells: {line}"));
            continue;
        };
        if !ids.contains(id) {
            complaints.push(format!("{id} is no point of the standard"));
        } else if !seen.insert(id.to_owned()) {
            complaints.push(format!("{id} has two rows"));
        }
        match state {
            "met" => complaints.extend(missing_tests(why, tests).map(|told| format!("{id}: {told}"))),
            "later" | "not applicable" if why.is_empty() => complaints.push(format!("{id} has no reason")),
            "later" | "not applicable" => {}
            other => complaints.push(format!("{id}: {other} is no state")),
        }
    }
    complaints.extend(ids.difference(&seen).map(|id| format!("{id} has no row")));
    complaints
}

/// A test is named in backquotes, with or without its path.
fn missing_tests(why: &str, tests: &BTreeSet<String>) -> impl Iterator<Item = String> {
    let named: Vec<&str> = why.split('`').skip(1).step_by(2).collect();
    let none = named.is_empty().then(|| "met, and no test is named".to_owned());
    let last = |name: &str| name.rsplit("::").next().unwrap_or_default().to_owned();
    let unknown = named.into_iter().map(last).filter(|name| !tests.contains(name));
    let unknown: Vec<String> = unknown.map(|name| format!("there is no test {name}")).collect();
    none.into_iter().chain(unknown)
}

/// The name of every function in this source: a macro may make a test of any of them.
fn functions(source: &str) -> impl Iterator<Item = String> {
    let name = |rest: &str| -> String {
        rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
    };
    let code = source.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    let names: Vec<String> =
        code.filter_map(|line| line.split_once("fn ")).map(|(_, rest)| name(rest)).collect();
    names.into_iter().filter(|name| !name.is_empty())
}

fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.extend(functions(&fs::read_to_string(&path).expect("a source")));
        }
    }
}

fn page(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_point_of_the_standard_is_judged_and_what_is_met_has_a_test() {
    let ids = ids(SECTIONS);
    assert_eq!(ids.len(), POINTS);
    let mut tests = BTreeSet::new();
    ["crates", "xtask"].iter().for_each(|folder| collect(&Path::new(ROOT).join(folder), &mut tests));
    assert!(tests.len() > 1_000, "{} functions: the sources were not found", tests.len());
    let complaints = complaints(&page("docs/security.md"), &ids, &tests);
    assert!(complaints.is_empty(), "docs/security.md:\n{}", complaints.join("\n"));
}

#[test]
fn a_wrong_table_is_noticed() {
    let (ids, tests) = (ids("2.1:2"), BTreeSet::from(["it_holds".to_owned()]));
    let right = "| V2.1.1 | met | `onsale::it_holds` |\n";
    let rest = "| V2.1.2 | later | pages |\n";
    let cases: Vec<(String, &[&str])> = vec![
        (format!("| id | state | why |\n|---|---|---|\n{right}{rest}"), &[]),
        (right.to_owned(), &["V2.1.2 has no row"]),
        (format!("{right}{rest}{rest}"), &["V2.1.2 has two rows"]),
        (format!("{right}{rest}| V9.9.9 | later | pages |\n"), &["V9.9.9 is no point of the standard"]),
        (format!("{right}| V2.1.2 | done | pages |\n"), &["V2.1.2: done is no state"]),
        (format!("{right}| V2.1.2 | later | |\n"), &["V2.1.2 has no reason"]),
        (format!("{right}| V2.1.2 | not applicable |  |\n"), &["V2.1.2 has no reason"]),
        (format!("{right}| V2.1.2 | met | of course |\n"), &["V2.1.2: met, and no test is named"]),
        (
            format!("{right}| V2.1.2 | met | `it_holds`, `it_flies` |\n"),
            &["V2.1.2: there is no test it_flies"],
        ),
        (
            format!("{right}| V2.1.2 | later |\n"),
            &["not three cells: | V2.1.2 | later |", "V2.1.2 has no row"],
        ),
    ];
    for (table, expected) in cases {
        assert_eq!(complaints(&table, &ids, &tests), expected, "{table}");
    }
    let source = "// fn commented() {}\n    async fn one(shop: Shop) {}\npub fn two<T>() {}\nlet f: fn(u8);";
    assert_eq!(functions(source).collect::<Vec<_>>(), ["one", "two"]);
}

const PEOPLE: &str = "docs/operating/people.md";

#[test]
fn the_page_for_operators_names_every_way_in() {
    let page = page(PEOPLE);
    let ways = page.split("## Ways in").nth(1).expect("a section").split("\n## ").next().expect("its text");
    // A kind of key that is added must be named here.
    let kind = |kind: KeyKind| match kind {
        KeyKind::Secret => "`onsale_live_sk_",
        KeyKind::Restricted => "`onsale_live_rk_",
        KeyKind::Publishable => "`onsale_live_pk_",
    };
    let keys = [KeyKind::Secret, KeyKind::Restricted, KeyKind::Publishable].map(kind);
    let others = ["`onsale_ses_", "`onsale_bt_", "`onsale_one_", "`api_key`", "no credential"];
    for way in keys.iter().chain(&others) {
        assert!(ways.contains(way), "{way} is not in {PEOPLE}");
    }
}

#[test]
fn the_page_for_operators_says_how_long_sessions_live_and_how_many() {
    const HOUR_MS: i64 = 3_600_000;
    let page = page(PEOPLE);
    let rules = SessionRules::default();
    let days = |ms: i64| format!("{} days", ms / (24 * HOUR_MS));
    let told = BTreeMap::from([
        ("a session", format!("at most {}", days(rules.absolute_ms))),
        ("unused", format!("{} hours without a use", rules.idle_ms / HOUR_MS)),
        ("remembered", format!("{} without a use", days(rules.remembered_idle_ms))),
        ("devices", format!("{SESSIONS_MAX} sessions")),
    ]);
    for (what, words) in told {
        assert!(page.contains(&words), "{what}: “{words}” is not in {PEOPLE}");
    }
}

//! What the scripts' own text must keep.

use std::collections::BTreeMap;
use std::path::PathBuf;

use onsale_domain::order::OrderCommand;
use onsale_domain::{Kind, ListingKind, auction, each_kind, limits};
use onsale_engine_redis::Scripts;
use onsale_engine_redis::layout::Layout;
use onsale_engine_redis::scripts::Name;

use crate::lua;

/// Every `call("…", first, …)` of a text, at once or later: the command and its first argument. What only passes on what
/// it was given is left out.
fn calls(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let code: String =
        text.lines().map(|line| line.split("--").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let code = code.replace(" try(", " call(").replace("later(", "call(").replace("write(", "call(");
    let passed_on = |part: &&str| part.starts_with("...)") || part.starts_with("unpack(LATER[n])");
    for part in code.split("call(").skip(1).filter(|part| !passed_on(part) && !part.starts_with(')')) {
        let mut words = part.splitn(3, [',', ')']);
        let command = words.next().unwrap_or_default().trim().trim_matches('"').to_owned();
        found.push((command, words.next().unwrap_or_default().trim().to_owned()));
    }
    found
}

#[test]
fn no_script_builds_a_key() {
    let mut seen = 0;
    for script in lua::scripts("x").iter() {
        for (command, key) in calls(&script.text) {
            seen += 1;
            let named = key.strip_prefix("KEYS[").and_then(|rest| rest.strip_suffix(']'));
            let is_key = named.is_some_and(|number| number.parse::<u8>().is_ok());
            assert!(is_key || command == "TIME", "{}: {command} {key}", script.name);
        }
    }
    assert!(seen > 100, "the scripts were not read");
}

/// The files of all scripts, without their comments.
fn files() -> Vec<(PathBuf, String)> {
    let mut folders =
        vec![lua::folder().unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("lua"))];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the scripts") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let code = text.lines().map(|line| line.split("--").next().unwrap_or_default());
            files.push((path, code.collect::<Vec<_>>().join("\n")));
        }
    }
    files
}

#[test]
fn a_refusal_is_written_by_its_name() {
    let mut seen = 0;
    for (path, text) in files() {
        seen += text.matches("NO.").count();
        for told in ["{4, {", "refuse(", "refuse_field(", "refuse_limit(", "refuse_order("] {
            let number =
                text.split(told).skip(1).find(|rest| rest.starts_with(|one: char| one.is_ascii_digit()));
            assert!(number.is_none(), "{}: a refusal as a number behind `{told}`", path.display());
        }
    }
    assert!(seen > 100, "the scripts were not read");
}

#[test]
fn no_bound_of_the_domain_is_written_by_hand() {
    // Smaller ones are numbers that mean many things.
    let bounds = limits::ALL.iter().chain(auction::limits::ALL).filter(|(_, value)| *value > 1_000);
    let bounds: BTreeMap<i64, &str> = bounds.map(|(name, value)| (*value, *name)).collect();
    for (path, text) in files() {
        for number in text.split(|one: char| !one.is_ascii_digit()).filter_map(|word| word.parse().ok()) {
            let name = bounds.get(&number);
            assert!(name.is_none(), "{}: {number} looks like {name:?}", path.display());
        }
    }
}

#[test]
fn every_verb_has_a_script_of_its_name() {
    let scripts = Scripts::of_generation("x");
    let has = |kind, verb| Layout::ALL.iter().all(|layout| scripts.has(Name::of(kind, verb), *layout));
    macro_rules! verbs {
        ($($(#[$doc:meta])* $number:literal $Kind:ident $name:ident $prefix:literal $letter:literal $State:ty;)*) => {
            [$((ListingKind::$Kind, <$State as Kind>::Command::VERBS),)*]
        };
    }
    for (kind, verbs) in each_kind!(verbs) {
        // A desk is decided beside Redis: one script writes whatever was decided.
        for verb in verbs.iter().filter(|_| kind != ListingKind::Desk) {
            assert!(has(kind, verb.name), "{kind:?} {}", verb.name);
        }
        if has(kind, "place_order") {
            assert!(OrderCommand::VERBS.iter().all(|verb| has(kind, verb.name)), "{kind:?}");
        }
    }
}

#[test]
fn tests_try_the_shipped_texts_unless_they_are_told_of_others() {
    let (tried, shipped) = (lua::scripts("x"), Scripts::of_generation("x"));
    let same = tried.iter().zip(shipped.iter()).all(|(one, other)| one == other);
    assert!(same || lua::folder().is_some());
}

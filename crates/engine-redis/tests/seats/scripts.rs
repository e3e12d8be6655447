//! What the scripts' own text must keep.

use onsale_domain::Code;
use onsale_engine_redis::Scripts;

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

#[test]
fn the_refusals_have_the_numbers_of_the_domain() {
    let planted = lua::planted("lib/codes");
    let text = planted.as_deref().unwrap_or(include_str!("../../lua/lib/codes.lua"));
    let mut seen = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("  ")) {
        let (name, number) = line.trim_end_matches(',').split_once(" = ").expect("a name and a number");
        let code = Code::ALL.iter().find(|code| code.as_str() == name);
        let code = code.unwrap_or_else(|| panic!("{name} is no code"));
        assert_eq!(number.parse(), Ok(*code as u8), "{name}");
        seen += 1;
    }
    assert!(seen > 30);
}

/// Before the codes have names, in fragments that are kept short, a refusal is written with its number.
#[test]
fn the_numbers_without_a_name_are_few_and_right() {
    let known = [
        Code::ListingUnknown,
        Code::ListingExists,
        Code::Invalid,
        Code::WrongKind,
        Code::SeatHeld,
        Code::KeyReused,
    ];
    let mut seen = std::collections::BTreeSet::new();
    for script in lua::scripts("x").iter() {
        for part in script.text.split("{4, {").skip(1) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            if let Ok(number) = digits.parse::<u8>() {
                assert!(known.iter().any(|code| *code as u8 == number), "{}: {number}", script.name);
                seen.insert(number);
            }
        }
    }
    assert_eq!(seen.len(), known.len());
}

#[test]
fn tests_try_the_shipped_texts_unless_they_are_told_of_others() {
    let (tried, shipped) = (lua::scripts("x"), Scripts::of_generation("x"));
    let same = tried.iter().zip(shipped.iter()).all(|(one, other)| one == other);
    assert!(same || lua::folder().is_some());
}

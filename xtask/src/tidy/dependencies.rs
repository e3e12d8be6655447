//! Which room may know which. Read from `cargo metadata`, so that Cargo itself says who depends on whom.

use anyhow::{Context, Result};
use serde_json::Value;

use super::tree::Tree;
use crate::step::Program;

/// The rooms and whom of the house each may depend on. Nobody depends on `onsale-sim`, on xtask or on the bench.
const ROOMS: [(&str, &[&str]); 16] = [
    ("onsale-compact", &[]),
    ("onsale-domain", &["onsale-compact", "onsale-tables"]),
    ("onsale-tables", &["onsale-domain"]),
    ("onsale-engine", &["onsale-compact", "onsale-domain", "onsale-tables"]),
    (
        "onsale-engine-redis",
        &["onsale-domain", "onsale-engine", "onsale-reaper", "onsale-redis-servers", "onsale-tables"],
    ),
    ("onsale-payments", &["onsale-domain", "onsale-engine"]),
    ("onsale-edge", &["onsale-access", "onsale-domain", "onsale-engine", "onsale-payments", "onsale-tables"]),
    (
        "onsale",
        &[
            "onsale-domain",
            "onsale-engine",
            "onsale-engine-redis",
            "onsale-edge",
            "onsale-payments",
            "onsale-access",
            "onsale-sql",
            "onsale-reaper",
            "onsale-redis-servers",
            "onsale-tables",
        ],
    ),
    ("onsale-sim", &["onsale-domain", "onsale-engine", "onsale-payments"]),
    ("onsale-bench", &["onsale-domain", "onsale-engine", "onsale-engine-redis", "onsale-reaper"]),
    ("onsale-sql", &["onsale-postgres-servers"]),
    ("onsale-access", &["onsale-domain", "onsale-postgres-servers", "onsale-redis-servers", "onsale-sql"]),
    ("onsale-reaper", &[]),
    ("onsale-postgres-servers", &["onsale-reaper"]),
    ("onsale-redis-servers", &["onsale-reaper"]),
    ("xtask", &["onsale-reaper"]),
];

/// Rooms whose libraries are counted: the rules need next to nothing, the simulation must not bring its own world.
/// What only their tests use is free.
const FEW_LIBRARIES: [(&str, &[&str]); 3] = [
    ("onsale-compact", &["hashbrown"]),
    ("onsale-domain", &["onsale-compact", "hashbrown", "minicbor"]),
    ("onsale-sim", &["onsale-domain", "onsale-engine", "onsale-payments", "clap", "tokio"]),
];

/// What ends processes is for tests and tools, never for what ships.
const FOR_TESTS: [&str; 3] = ["onsale-postgres-servers", "onsale-reaper", "onsale-redis-servers"];
const MAY_END_PROCESSES: [&str; 4] =
    ["onsale-bench", "onsale-postgres-servers", "onsale-redis-servers", "xtask"];

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let Some(root) = &tree.root else { return Ok(Vec::new()) };
    let text = Program::new("cargo metadata --format-version 1 --no-deps").folder(root).read()?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata printed no JSON")?;
    Ok(judge(&metadata))
}

fn judge(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let members: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut complaints = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ROOMS.iter().find(|(room, _)| *room == name) else {
            complaints.push(format!(
                "{name} is a new room: say in xtask/src/tidy/dependencies.rs whom it may know"
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().map_or(&[][..], Vec::as_slice) {
            let other = dependency["name"].as_str().unwrap_or_default();
            if members.contains(&other) && !allowed.contains(&other) {
                complaints.push(format!("{name} depends on {other}"));
            }
            let shipped = dependency["kind"].as_str() != Some("dev");
            if shipped && FOR_TESTS.contains(&other) && !MAY_END_PROCESSES.contains(&name) {
                complaints.push(format!("{name} may use {other} in its tests alone"));
            }
            let few = FEW_LIBRARIES.iter().find(|(room, _)| *room == name);
            if shipped && few.is_some_and(|(_, libraries)| !libraries.contains(&other)) {
                complaints.push(format!("{name} uses the library {other}"));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn house(dependencies: Value) -> Vec<String> {
        judge(&json!({ "packages": [
            { "name": "onsale-sim", "dependencies": [] },
            { "name": "onsale-engine", "dependencies": [] },
            { "name": "onsale-domain", "dependencies": dependencies },
        ]}))
    }

    #[test]
    fn the_rules_depend_on_two_libraries_only() {
        assert!(
            house(json!([{ "name": "hashbrown", "kind": null }, { "name": "proptest", "kind": "dev" }]))
                .is_empty()
        );
        assert_eq!(
            house(json!([{ "name": "tokio", "kind": null }])),
            ["onsale-domain uses the library tokio"]
        );
    }

    #[test]
    fn the_rules_do_not_know_the_engine_not_even_in_their_tests() {
        assert_eq!(
            house(json!([{ "name": "onsale-engine", "kind": "dev" }])),
            ["onsale-domain depends on onsale-engine"]
        );
    }

    #[test]
    fn what_ends_processes_does_not_ship() {
        let server = |kind: Value| {
            let dependency = json!({ "name": "onsale-reaper", "kind": kind });
            judge(&json!({ "packages": [{ "name": "onsale", "dependencies": [dependency] }] }))
        };
        assert!(server(json!("dev")).is_empty());
        assert_eq!(server(Value::Null), ["onsale may use onsale-reaper in its tests alone"]);
    }

    #[test]
    fn nobody_depends_on_the_simulation() {
        assert!(ROOMS.iter().all(|(_, allowed)| !allowed.contains(&"onsale-sim")));
    }

    #[test]
    fn a_new_room_must_be_placed() {
        let complaints = judge(&json!({ "packages": [{ "name": "onsale-attic", "dependencies": [] }] }));
        assert!(complaints[0].starts_with("onsale-attic is a new room"), "{complaints:?}");
    }
}

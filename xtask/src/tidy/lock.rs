//! Libraries that must not come in, not even through others: `deny.toml` says the same to cargo-deny.

use anyhow::Result;

use super::tree::Tree;

/// One TLS (rustls with ring), one calendar (jiff), no C library that a newcomer would have to install.
const BANNED: [&str; 5] = ["aws-lc-rs", "openssl", "openssl-sys", "chrono", "native-tls"];

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let lock = tree.text("Cargo.lock").unwrap_or_default();
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let mut complaints: Vec<String> = names
        .filter(|name| BANNED.contains(name))
        .map(|name| format!("Cargo.lock holds {name}; `cargo tree -i {name}` says who brought it"))
        .collect();
    if let Some(deny) = tree.text("deny.toml") {
        let unknown = BANNED.iter().filter(|name| !deny.contains(&format!("\"{name}\"")));
        complaints.extend(unknown.map(|name| format!("deny.toml does not ban {name}")));
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_library_is_found_by_its_whole_name() {
        let lock = |name: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n");
        for name in BANNED {
            assert_eq!(
                check(&Tree::of(&[("Cargo.lock", &lock(name))])).expect("no error").len(),
                1,
                "{name}"
            );
        }
        assert!(check(&Tree::of(&[("Cargo.lock", &lock("openssl-probe"))])).expect("no error").is_empty());
    }

    #[test]
    fn both_lists_say_the_same() {
        assert_eq!(
            check(&Tree::of(&[("deny.toml", "\"chrono\"")])).expect("no error").len(),
            BANNED.len() - 1
        );
    }
}

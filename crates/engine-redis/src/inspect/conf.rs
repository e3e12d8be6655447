//! Our own `deploy/redis.conf`, with the reasons that stand in it, to compare a running server with.

const FILE: &str = include_str!("../../../../deploy/redis.conf");

/// A setting, its value in our file, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub name: &'static str,
    pub value: &'static str,
    pub why: String,
}

/// Every setting of our file. A comment belongs to the settings right below it, up to the next empty line.
pub fn ours() -> Vec<Line> {
    let mut lines = Vec::new();
    let mut why = String::new();
    for line in FILE.lines() {
        if line.is_empty() {
            why.clear();
        } else if let Some(text) = line.strip_prefix('#') {
            if !why.is_empty() {
                why.push(' ');
            }
            why.push_str(text.trim());
        } else if let Some((name, value)) = line.split_once(' ') {
            lines.push(Line { name, value, why: why.clone() });
        }
    }
    lines
}

/// Whether two values mean the same to a server: `64mb` is told as `67108864`, flags in any order.
pub(super) fn same(name: &str, ours: &str, theirs: &str) -> bool {
    match name {
        "notify-keyspace-events" => {
            let all = theirs.contains('A');
            ours.chars().all(|flag| theirs.contains(flag) || (all && !"KE".contains(flag)))
        }
        // Ours is the least: more is as good.
        "min-replicas-to-write" | "repl-backlog-size" => {
            bytes(theirs) >= bytes(ours) && bytes(theirs).is_some()
        }
        // Shorter is as good.
        "busy-reply-threshold" | "min-replicas-max-lag" => bytes(theirs) <= bytes(ours),
        // Every write is at least as good as every second, any snapshot as good as ours.
        "appendfsync" => theirs == ours || theirs == "always",
        "save" => !theirs.is_empty(),
        _ => theirs == ours,
    }
}

fn bytes(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (number, unit) = [("kb", 1 << 10), ("mb", 1 << 20), ("gb", 1 << 30)]
        .iter()
        .find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)))
        .unwrap_or((&text, 1));
    number.parse::<u64>().ok().map(|number| number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_our_file_has_a_reason() {
        let lines = ours();
        assert!(lines.len() > 10);
        for line in &lines {
            assert!(line.why.len() > 20, "{line:?}");
        }
        assert!(lines.iter().any(|line| line.name == "maxmemory-policy" && line.value == "noeviction"));
    }

    #[test]
    fn the_same_may_be_written_differently() {
        for (name, ours, theirs, is_same) in [
            ("repl-backlog-size", "64mb", "67108864", true),
            ("repl-backlog-size", "64mb", "1048576", false),
            ("notify-keyspace-events", "Ex", "xE", true),
            ("notify-keyspace-events", "Ex", "AKE", true),
            ("notify-keyspace-events", "Ex", "K", false),
            ("min-replicas-to-write", "1", "2", true),
            ("appendfsync", "everysec", "always", true),
            ("appendfsync", "everysec", "no", false),
            ("save", "3600 1", "", false),
            ("timeout", "0", "300", false),
        ] {
            assert_eq!(same(name, ours, theirs), is_same, "{name} {theirs}");
        }
    }
}

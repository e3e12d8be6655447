//! What durable means in this deployment, in one sentence.

use super::Facts;
use crate::link::config::Topology;

pub(super) fn sentence(topology: Topology, nodes: &[Facts]) -> String {
    let masters: Vec<&Facts> = nodes.iter().filter(|node| node.is_master && node.trouble.is_none()).collect();
    let weakest = masters.iter().map(|node| Disk::of(node)).min().unwrap_or(Disk::Unknown);
    let disk = match weakest {
        Disk::Unknown => "a yes is in the memory of Redis, and what its disk holds could not be asked",
        Disk::Nothing => "a yes is in the memory of Redis only: whoever restarts it loses everything",
        Disk::Snapshots => {
            "a yes is in the memory of Redis and in its next snapshot: a restart loses minutes"
        }
        Disk::System => {
            "a yes is in Redis' log and reaches the disk when the system likes: a crash may lose half a minute"
        }
        Disk::EverySecond => {
            "a yes is in Redis' log, which reaches the disk once a second: a crash may lose the last second"
        }
        Disk::EveryWrite => "a yes is on Redis' disk before it is sent",
    };
    let replicas = masters.iter().map(|node| node.replicas.len()).min().unwrap_or(0);
    let bound = masters.iter().filter_map(|node| bound_seconds(node)).max();
    let bounded = masters.iter().all(|node| bound_seconds(node).is_some());
    let failover = match (topology, replicas, bound.filter(|_| bounded)) {
        (Topology::Single, 0, _) => String::new(),
        (Topology::Sentinel | Topology::Cluster, 0, _) => "; nothing takes a lost master's place".to_owned(),
        (_, _, Some(seconds)) => format!(
            "; a failover may lose what was not copied yet, a master that is cut off at most its last {seconds} s"
        ),
        (_, _, None) => {
            "; a failover may lose what was not copied yet, a master that is cut off without bound".to_owned()
        }
    };
    format!("{disk}{failover}.")
}

/// From the weakest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Disk {
    Unknown,
    Nothing,
    Snapshots,
    System,
    EverySecond,
    EveryWrite,
}

impl Disk {
    fn of(node: &Facts) -> Disk {
        match (node.aof, node.setting("appendfsync"), node.setting("save")) {
            (true, Some("always"), _) => Disk::EveryWrite,
            (true, Some("no"), _) => Disk::System,
            (true, Some(_) | None, _) => Disk::EverySecond,
            (false, _, Some("")) => Disk::Nothing,
            (false, _, Some(_)) => Disk::Snapshots,
            (false, _, None) => Disk::Unknown,
        }
    }
}

fn bound_seconds(node: &Facts) -> Option<u64> {
    let number = |name: &str| node.setting(name).and_then(|value| value.parse::<u64>().ok());
    let lag = number("min-replicas-max-lag").filter(|lag| *lag > 0)?;
    number("min-replicas-to-write").filter(|count| *count > 0).map(|_| lag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(aof: bool, settings: &[(&str, &str)], replicas: usize) -> Facts {
        Facts {
            is_master: true,
            aof,
            settings: settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            replicas: vec!["r".to_owned(); replicas],
            ..Facts::default()
        }
    }

    #[test]
    fn each_deployment_has_its_sentence() {
        let everysec = [("appendfsync", "everysec"), ("save", "")];
        let always =
            [("appendfsync", "always"), ("min-replicas-to-write", "1"), ("min-replicas-max-lag", "10")];
        for (topology, nodes, text) in [
            (Topology::Single, vec![node(true, &everysec, 0)], "the last second."),
            (Topology::Single, vec![node(false, &[("save", "")], 0)], "loses everything."),
            (Topology::Single, vec![node(false, &[], 0)], "could not be asked."),
            (Topology::Sentinel, vec![node(true, &everysec, 1)], "cut off without bound."),
            (Topology::Sentinel, vec![node(true, &always, 2)], "at most its last 10 s."),
            (
                Topology::Cluster,
                vec![node(true, &always, 1), node(true, &everysec, 0)],
                "a lost master's place.",
            ),
        ] {
            let told = sentence(topology, &nodes);
            assert!(told.ends_with(text), "{told}");
        }
    }
}

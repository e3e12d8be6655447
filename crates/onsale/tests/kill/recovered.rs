//! The state after a restart, compared with everything that was ever acknowledged.

use std::collections::HashMap;

use onsale::cli::ledger::{Ledger, Line};
use onsale_domain::id::read_inside;
use onsale_domain::listing::FENCE_EPOCH_SHIFT;
use serde_json::Value;

use crate::buyers::{Acknowledged, ROWS, SEATS, Verb, seat};
use crate::server::Server;
use crate::wire::Wire;

/// An event's facts as exported, fact n at place n - 1.
pub(crate) struct Recovered {
    facts: Vec<Value>,
}

impl Recovered {
    /// Reads every fact, books them, and compares the served seats with the book.
    pub(crate) fn read(server: &Server, event: &str) -> Recovered {
        let seats = server.get(&format!("/v1/events/{event}/seats"));
        let mut facts = Vec::new();
        let mut after = "0".to_owned();
        loop {
            let page = server.get(&format!("/v1/events/{event}/facts?limit=500&after={after}"));
            facts.extend(page["data"].as_array().expect("facts").iter().cloned());
            after = page["next"].as_str().expect("a cursor").to_owned();
            if page["more"] != true {
                break;
            }
        }
        let mut ledger = Ledger::<String, String>::default();
        for (index, fact) in facts.iter().enumerate() {
            assert_eq!(fact["offset"].as_u64(), Some(index as u64 + 1), "offsets go on without a gap");
            if let Some(line) = line(fact) {
                ledger.take(line).unwrap_or_else(|why| panic!("fact {} of {event}: {why}", index + 1));
            }
        }
        assert_eq!(seats["position"].as_str(), Some(after.as_str()), "nobody writes meanwhile");
        for (seat, status) in seats["seats"].as_object().expect("seats") {
            assert_eq!(ledger.status(seat), status.as_str(), "seat {seat} of {event}");
        }
        Recovered { facts }
    }

    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    /// The fact that an acknowledged answer stands on is there, at its own offset, saying the same.
    pub(crate) fn keeps(&self, given: &Acknowledged) {
        let told: Value = serde_json::from_slice(&given.body).expect("JSON");
        let offset = match given.verb {
            Verb::Hold => told["fence"].as_u64().expect("a fence") & ((1 << FENCE_EPOCH_SHIFT) - 1),
            Verb::Extend | Verb::Release | Verb::Confirm => {
                let (_, offset) = given.position.split_once('-').expect("a position");
                offset.parse().expect("an offset")
            }
        };
        let lost = || panic!("lost: {:?} was answered {told}, but fact {offset} is not there", given.verb);
        let fact = self.facts.get(offset as usize - 1).unwrap_or_else(lost);
        assert_eq!(fact["hold"], told["id"], "fact {offset}: {fact} for {told}");
        let (kind, same) = match given.verb {
            Verb::Hold => (
                "hold_placed",
                fact["seats"] == told["seats"]
                    && fact["buyer"] == told["buyer"]
                    && fact["expires_at"] == told["expires_at"],
            ),
            Verb::Extend => ("hold_extended", fact["expires_at"] == told["expires_at"]),
            Verb::Release => ("hold_released", fact["at"] == told["released_at"]),
            Verb::Confirm => ("hold_confirmed", fact["order"] == told["order"]),
        };
        assert!(fact["kind"] == kind && same, "answered {told}, but the fact is {fact}");
    }
}

/// Sends acknowledged requests again: each gets the same bytes, marked as a replay.
pub(crate) fn replay<'a>(server: &Server, given: impl Iterator<Item = &'a Acknowledged>) -> u64 {
    let mut wire = Wire::connect(server.address).expect("a connection");
    let mut count = 0;
    for given in given {
        let answer = wire.exchange(&given.request).expect("an answer");
        let bodies = (String::from_utf8_lossy(&given.body), String::from_utf8_lossy(&answer.body));
        assert_eq!((answer.status, bodies.1), (given.status, bodies.0), "the same key, the same answer");
        assert_eq!(answer.header("idempotent-replayed"), Some("true"));
        assert_eq!(answer.header("onsale-position"), Some(given.position.as_str()));
        count += 1;
    }
    count
}

fn number(fact: &Value, name: &str, prefix: &str) -> u64 {
    read_inside(prefix, fact[name].as_str().unwrap_or_default()).expect("an id").1
}

fn line(fact: &Value) -> Option<Line<String, String>> {
    let hold = || number(fact, "hold", "hld");
    Some(match fact["kind"].as_str()? {
        "chart_adopted" => {
            let seats = (0..ROWS).flat_map(|row| (0..SEATS).map(move |place| seat(row, place)));
            Line::Chart { seats: seats.collect(), areas: Vec::new() }
        }
        "hold_placed" => {
            let name = |seat: &Value| seat["seat"].as_str().unwrap_or_default().to_owned();
            let seats = fact["seats"].as_array()?.iter().map(name).collect();
            Line::Placed { hold: hold(), seats, areas: Vec::new() }
        }
        "hold_released" | "hold_expired" => Line::Ended { hold: hold() },
        "hold_confirmed" => Line::Confirmed { hold: hold(), order: number(fact, "order", "ord") },
        _ => return None,
    })
}

/// Counts of acknowledged answers by verb, for the last line.
pub(crate) fn tally(given: &[Acknowledged]) -> HashMap<&'static str, usize> {
    let mut tally = HashMap::new();
    for one in given {
        let name = match one.verb {
            Verb::Hold => "holds",
            Verb::Extend => "extends",
            Verb::Release => "releases",
            Verb::Confirm => "confirms",
        };
        *tally.entry(name).or_default() += 1;
    }
    tally
}

//! What must be true afterwards, from what buyers were told and from the log that survived.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::Value;

use crate::buyers::{Heard, Verb, Yes};
use crate::server::Server;

#[derive(Debug, Default)]
pub(crate) struct Found {
    pub facts: usize,
    pub yes: usize,
    /// A yes whose fact is not in the log that survived: what Redis' own replication allows around a failover.
    pub forgotten: usize,
    pub epochs: BTreeSet<u64>,
    /// Answers whose order was compared with the clock, and refusals for which a holder was found.
    pub ordered: usize,
    pub reasons: usize,
}

/// Everything of the event's log, page by page.
fn facts(server: &Server, event: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/events/{event}/facts?limit=500{after}"));
        all.extend(page["data"].as_array().expect("facts").iter().cloned());
        if page["more"] != true {
            return all;
        }
        after = format!("&after={}", page["next"].as_str().expect("a position"));
    }
}

pub(crate) fn check(server: &Server, events: &[String], heard: &Heard, may_forget: bool) -> Found {
    let mut found = Found { yes: heard.yes.len(), ..Found::default() };
    for (number, event) in events.iter().enumerate() {
        let log = facts(server, event);
        found.facts += log.len();
        let meaning = replay(&log, &mut found.epochs);
        let yes: Vec<&Yes> = heard.yes.iter().filter(|yes| yes.event == number).collect();
        let mut told: BTreeMap<(u64, u64), &str> = BTreeMap::new();
        for yes in &yes {
            // No position with two meanings, neither among answers nor between an answer and the log.
            let other = told.insert(yes.position, &yes.hold);
            assert!(
                other.is_none_or(|other| other == yes.hold),
                "{:?} was told of {other:?} and {yes:?}",
                yes.position
            );
            match meaning.get(&yes.position) {
                Some(hold) => assert_eq!(hold, &yes.hold, "{:?} means another hold", yes.position),
                None => found.forgotten += 1,
            }
        }
        if may_forget {
            // A failover may take answers back; what was answered under one epoch is in order all the same.
            let epochs: BTreeSet<u64> = yes.iter().map(|yes| yes.position.0).collect();
            for epoch in epochs {
                let within: Vec<&Yes> = yes.iter().copied().filter(|yes| yes.position.0 == epoch).collect();
                found.ordered += in_order(&within);
            }
        } else {
            found.ordered += in_order(&yes);
            found.reasons += refusals_had_a_reason(number, heard);
        }
    }
    assert!(may_forget || found.forgotten == 0, "{} answers are not in the log", found.forgotten);
    assert!(may_forget || heard.release_refused.is_empty(), "{:?}", heard.release_refused.first());
    found
}

/// Nobody holds what another holds, positions and fences only grow. Says which hold each position is about.
fn replay(log: &[Value], epochs: &mut BTreeSet<u64>) -> BTreeMap<(u64, u64), String> {
    let (mut holder, mut seats_of) = (BTreeMap::new(), BTreeMap::<String, Vec<String>>::new());
    let (mut meaning, mut last, mut fence) = (BTreeMap::new(), (0, 0), 0);
    for fact in log {
        let at = (fact["epoch"].as_u64().expect("an epoch"), fact["offset"].as_u64().expect("an offset"));
        assert!(at.0 >= last.0 && at.1 == last.1 + 1, "{at:?} after {last:?}");
        last = at;
        epochs.insert(at.0);
        let Some(hold) = fact["hold"].as_str().map(str::to_owned) else { continue };
        meaning.insert(at, hold.clone());
        if fact["kind"] == "hold_placed" {
            let new = fact["fence"].as_u64().expect("a fence");
            assert!(new > fence, "the fence {new} after {fence}");
            fence = new;
            let seats: Vec<String> =
                fact["seats"].as_array().expect("seats").iter().map(Value::to_string).collect();
            for seat in &seats {
                let other = holder.insert(seat.clone(), hold.clone());
                assert_eq!(other, None, "{seat} is held by two at {at:?}");
            }
            seats_of.insert(hold, seats);
        } else {
            for seat in seats_of.remove(&hold).unwrap_or_default() {
                holder.remove(&seat);
            }
        }
    }
    meaning
}

/// The order of the log is one that callers may have seen: nobody was answered before somebody was asked whose fact
/// comes first.
fn in_order(yes: &[&Yes]) -> usize {
    let mut yes = yes.to_vec();
    yes.sort_by_key(|yes| yes.position);
    let mut earliest: Option<(Instant, &Yes)> = None;
    for one in yes.iter().rev() {
        if let Some((told, later)) = earliest {
            assert!(told >= one.sent, "{later:?} was told before {one:?} was asked");
        }
        if earliest.is_none_or(|(told, _)| one.told < told) {
            earliest = Some((one.told, one));
        }
    }
    yes.len()
}

/// Whoever heard that a seat is held was asking while somebody may have held it.
fn refusals_had_a_reason(event: usize, heard: &Heard) -> usize {
    let mut reasons = 0;
    let vague: BTreeSet<usize> =
        heard.unknown.iter().filter(|(at, _)| *at == event).map(|(_, seat)| *seat).collect();
    for (_, seat, sent, told) in heard.held.iter().filter(|(at, ..)| *at == event) {
        if vague.contains(seat) {
            continue;
        }
        let reason =
            heard.yes.iter().filter(|yes| yes.event == event && yes.seat == *seat && yes.verb == Verb::Hold);
        let was_held = reason.into_iter().any(|hold| {
            let released = heard.yes.iter().find(|yes| yes.verb == Verb::Release && yes.hold == hold.hold);
            hold.sent <= *told && released.is_none_or(|released| released.told >= *sent)
        });
        assert!(was_held, "nobody held seat {seat} of event {event} when that was said");
        reasons += 1;
    }
    reasons
}

//! What a hold needs to know of rows: the best seats that are free, and who sits beside a pick.

use onsale_domain::id::SeatIndex;
use onsale_domain::seats::command::{Pick, PlaceHold};
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::seats::{Seats, best_available};
use onsale_domain::{Command, Fact, HoldId, Millis};

use crate::facts;
use crate::picture::Picture;

/// The chosen seats and what the choice rests on: position, time, pieces, and the holds that end to make room.
pub(super) fn choose(picture: &Picture, hold: &PlaceHold, now: Millis, strict: bool) -> (String, String) {
    let Some((seats, pieces, ended)) = at(picture, hold, now) else {
        return (String::new(), basis(picture, now, strict, "none", &[]));
    };
    let pieces = pieces.map_or("none".to_owned(), |pieces| pieces.to_string());
    (facts::seats(&seats), basis(picture, now, strict, &pieces, &ended))
}

fn basis(picture: &Picture, now: Millis, strict: bool, pieces: &str, ended: &[HoldId]) -> String {
    let offset = if strict { picture.listing.offset.to_string() } else { String::new() };
    let ended: Vec<String> = ended.iter().map(|hold| facts::id(hold.0)).collect();
    format!("{offset}|{now}|{pieces}|{}", ended.join(","))
}

type Choice = (Vec<SeatIndex>, Option<u8>, Vec<HoldId>);

fn at(picture: &Picture, hold: &PlaceHold, now: Millis) -> Option<Choice> {
    let listing = &picture.listing;
    let seats = listing.event()?;
    let Pick::Best(wish) = &hold.pick else { return None };
    let now = now.max(listing.last_at);
    let (mut copy, mut facts) = (None, Vec::new());
    if listing.next_due().is_some_and(|due| due <= now) {
        // Something is due: who expires decides what is free, so the whole command is rehearsed on a copy.
        let command = Command::Event(EventCommand::PlaceHold(hold.clone()));
        copy.insert(listing.clone()).execute(&command, now, &mut facts);
    }
    let ended = facts.iter().filter_map(|fact| {
        let Fact::Event(EventFact::HoldExpired { hold, .. }) = fact else { return None };
        Some(*hold)
    });
    let ended = ended.collect();
    if let Some(Fact::Event(EventFact::HoldPlaced { seats, pieces, .. })) = facts.last() {
        return Some((seats.iter().map(|line| line.seat).collect(), Some(*pieces), ended));
    }
    // Nothing is due, or the rehearsal was refused: then the script will find the same reason, given the same seats.
    let house = copy.as_ref().map_or(Some(seats), |copy| copy.event())?.house();
    let chosen = best_available::choose(&house, wish);
    let (seats, pieces) = chosen.map_or((Vec::new(), None), |(seats, pieces)| (seats, Some(pieces)));
    Some((seats, pieces, ended))
}

/// For each seat its tier as a character, as the chart in Redis has it; a dot if it is not there.
pub(super) fn tiers(event: &Seats, seats: &[SeatIndex]) -> Vec<u8> {
    seats.iter().map(|seat| event.chart().seat(*seat).map_or(b'.', |info| b'0' + info.tier)).collect()
}

/// For each seat the two on its left and the two on its right, nearest inside: `l2,l1,r1,r2;`.
pub(super) fn neighbours(event: &Seats, seats: &[SeatIndex]) -> String {
    let chart = event.chart();
    let mut text = String::new();
    for seat in seats {
        let Some(info) = chart.seat(*seat) else {
            text.push_str(",,,;");
            continue;
        };
        let row = &chart.rows[info.row as usize].seats;
        let place = i64::from(info.place);
        let at = |place: i64| {
            let seat = usize::try_from(place).ok().and_then(|place| row.get(place));
            seat.map_or(String::new(), |seat| seat.to_string())
        };
        text.push_str(&format!("{},{},{},{};", at(place - 2), at(place - 1), at(place + 1), at(place + 2)));
    }
    text
}

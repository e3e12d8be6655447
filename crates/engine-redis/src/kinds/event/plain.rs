//! The plain hold: explicit seats of a small chart, of an event that is on sale as far as the picture tells. Its own
//! script is short because all that the picture knows is sent along; the script checks the versions it was known at.

use onsale_domain::Kind;
use onsale_domain::event::EventStatus;
use onsale_domain::listing::Body;
use onsale_domain::seats::command::Pick;
use onsale_domain::seats::fact::SeatLine;
use onsale_domain::seats::{EventCommand, EventFact, Seats};

use crate::commands::{Args, ScriptArgs};
use crate::facts;
use crate::layout::Layout;
use crate::picture::Picture;

/// The call, and what the fact will tell apart from its deadline; `None` if all the rules are needed.
pub(super) fn place_plain_hold(picture: &Picture, command: &EventCommand) -> Option<(ScriptArgs, EventFact)> {
    let EventCommand::PlaceHold(hold) = command else { return None };
    let (Pick::Seats(seats), Body::Event(event)) = (&hold.pick, &picture.listing.body) else { return None };
    let rules = &event.details().rules;
    let plain = picture.layout == Layout::Hash
        && event.status() == EventStatus::OnSale
        && hold.areas.is_empty()
        && !rules.refuse_single_seats
        && seats.len() <= rules.buyer_limit as usize
        && seats.iter().all(|seat| event.chart().seat(*seat).is_some())
        // The script writes the name into a lock as it is.
        && !hold.buyer.as_str().contains(['"', '\\'])
        && <Seats as Kind>::check(command).is_ok();
    if !plain {
        return None;
    }
    let price = |seat: &u32| SeatLine { seat: *seat, price_minor: event.price_of_seat(*seat) };
    let lines: Vec<SeatLine> = seats.iter().map(price).collect();
    let mut args = Args::default();
    args.bytes(facts::id(hold.hold.0));
    args.bytes(hold.buyer.as_str());
    args.bytes(facts::seat_lines(&lines));
    args.push(hold.hold_ms.unwrap_or(rules.hold_ms));
    args.push(format_args!("|{}|{}|0", event.chart().seats_len(), picture.versions));
    args.push(event.details().sale_ends_at());
    args.push(rules.extensions_max);
    args.push(rules.buyer_limit);
    seats.iter().for_each(|seat| args.push(seat));
    let fact = EventFact::HoldPlaced {
        hold: hold.hold,
        buyer: hold.buyer.clone(),
        seats: lines,
        areas: Vec::new(),
        until: 0,
        pieces: 0,
    };
    Some((args.script("place_plain_hold", picture), fact))
}

/// Only the deadline is the script's to tell.
pub(super) fn fact(asked: &EventFact, told: &[i64]) -> Option<EventFact> {
    let [ends] = told else { return None };
    let mut fact = asked.clone();
    let EventFact::HoldPlaced { until, .. } = &mut fact else { return None };
    *until = *ends;
    Some(fact)
}

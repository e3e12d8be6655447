//! Answers to words: every fact in its order, then what the command came to. Nothing is left out.
//! The words of each fact stand with the line of its verb, in `verbs` and `venue`.

use onsale_domain::Found;
use onsale_domain::ended::End;
use onsale_domain::outcome::{HoldState, PlaceState};
use onsale_domain::refusal::{Detail, InTheWay};
use onsale_domain::seats::fact::{AreaCount, AreaLine, SeatLine};
use onsale_domain::seats::{EventFound, SeatsView, Status};
use onsale_domain::{Fact, HoldId, Millis, Outcome, Refusal};

use super::ZERO;
use super::names::Names;
use super::venue;
use crate::engine::Answer;

pub(super) struct Renderer<'a> {
    pub names: &'a Names,
    pub view: Option<&'a SeatsView>,
}

impl Renderer<'_> {
    pub(super) fn answer(&self, answer: &Answer) -> String {
        let mut parts: Vec<String> = answer.facts().map(|(_, fact)| self.fact(fact)).collect();
        match &answer.outcome {
            Outcome::Done if parts.is_empty() => parts.push("done".into()),
            Outcome::Done => {}
            Outcome::Unchanged => parts.push("unchanged".into()),
            Outcome::AlreadyYours(hold) => {
                parts.push(format!("already_yours {} until {}", self.name(hold.hold), time(hold.until)));
            }
            Outcome::StillQueued(place) => parts.push(format!("still {}", self.place(place))),
            Outcome::AlreadyConfirmed(order) => {
                parts.push(format!("already sold as {}", self.names.order_name(order.order)));
            }
            Outcome::AlreadyPurchased(bought) => parts.push(format!("already bought {:?}", bought.checkout)),
            Outcome::AlreadyRegistered(entry) => parts.push(format!("already registered {:?}", entry.entry)),
            Outcome::Refused(refusal) => parts.push(self.refusal(refusal)),
        }
        let again = if answer.replayed { "again: " } else { "" };
        format!("{again}{}", parts.join("; "))
    }

    fn fact(&self, fact: &Fact) -> String {
        if let Fact::Venue(fact) = fact {
            venue::fact(fact)
        } else if let Fact::Event(fact) = fact {
            self.event_fact(fact)
        } else {
            format!("{fact:?}")
        }
    }

    fn refusal(&self, refusal: &Refusal) -> String {
        let mut text = refusal.code.as_str().to_owned();
        let name = |one: &InTheWay| match one {
            InTheWay::Seat(seat, _) => self.seat(*seat).to_owned(),
            InTheWay::Area(area, _) => self.area(*area).to_owned(),
            InTheWay::Sku(sku, _) => format!("sku {sku}"),
        };
        let same = refusal.in_the_way.iter().all(|one| one.code() == refusal.code);
        let named: Vec<String> = refusal
            .in_the_way
            .iter()
            .map(|one| if same { name(one) } else { format!("{}:{}", name(one), one.code().as_str()) })
            .collect();
        if !named.is_empty() {
            text.push_str(&format!(" {}", named.join(",")));
        }
        match &refusal.detail {
            Detail::None => {}
            Detail::Field { field, .. } => text.push_str(&format!(" {field}")),
            Detail::Limit { limit, taken } => text.push_str(&format!(" {taken} of {limit}")),
            Detail::MinNext(least) => text.push_str(&format!(" {least}")),
            Detail::Order(order) => text.push_str(&format!(" {}", self.names.order_name(*order))),
        }
        text
    }

    pub(super) fn found(&self, found: &Found) -> String {
        if let Found::Event(found) = found {
            return self.event_found(found);
        }
        if *found == Found::Nothing { "nothing".into() } else { format!("{found:?}") }
    }

    fn event_found(&self, found: &EventFound) -> String {
        match found {
            EventFound::Nothing => "nothing".into(),
            EventFound::Hold(hold) => self.hold(hold),
            EventFound::Ended(end) => end_name(*end).into(),
            EventFound::Holds(holds) if holds.is_empty() => "nothing".into(),
            EventFound::Holds(holds) => {
                holds.iter().map(|hold| self.hold(hold)).collect::<Vec<_>>().join("; ")
            }
            EventFound::Place(place) => self.place(place),
            EventFound::Order(order) => {
                let what = self.lines(&order.seats, &order.areas);
                format!("{} {} of {}", self.names.order_name(order.order), what, order.buyer.as_str())
            }
        }
    }

    fn hold(&self, hold: &HoldState) -> String {
        let what = self.lines(&hold.seats, &hold.areas);
        let offered = if hold.offered { " offered" } else { "" };
        let extended =
            if hold.extensions > 0 { format!(" extended {}", hold.extensions) } else { String::new() };
        let (name, buyer, until) = (self.name(hold.hold), hold.buyer.as_str(), time(hold.until));
        format!("{name} {what} of {buyer} until {until}{extended}{offered}")
    }

    fn place(&self, place: &PlaceState) -> String {
        format!("{} ahead {} until {}", self.name(place.place), place.ahead, time(place.until))
    }

    pub(super) fn name(&self, id: HoldId) -> String {
        self.names.by_id(id).map_or_else(|| "?".into(), |known| known.name.clone())
    }

    pub(super) fn seat(&self, seat: u32) -> &str {
        let chart = self.view.map(|view| &view.chart).filter(|chart| (seat as usize) < chart.seats_len());
        chart.map_or("?", |chart| chart.seat_id(seat))
    }

    fn area(&self, area: u16) -> &str {
        let area = self.view.and_then(|view| view.chart.areas.get(usize::from(area)));
        area.map_or("?", |area| area.id.as_str())
    }

    pub(super) fn what(&self, seats: &[u32], areas: &[AreaCount]) -> String {
        let seats = seats.iter().map(|seat| self.seat(*seat).to_owned());
        let areas = areas.iter().map(|line| format!("{}*{}", self.area(line.area), line.count));
        let all: Vec<String> = seats.chain(areas).collect();
        if all.is_empty() { "nothing".into() } else { all.join(",") }
    }

    /// With prices: `A1@1000,floor*2@500`.
    pub(super) fn lines(&self, seats: &[SeatLine], areas: &[AreaLine]) -> String {
        let seats = seats.iter().map(|line| format!("{}@{}", self.seat(line.seat), line.price_minor));
        let areas =
            areas.iter().map(|line| format!("{}*{}@{}", self.area(line.area), line.count, line.price_minor));
        let all: Vec<String> = seats.chain(areas).collect();
        if all.is_empty() { "nothing".into() } else { all.join(",") }
    }
}

/// Whole seconds as `120s`, everything else in milliseconds.
pub(super) fn time(at: Millis) -> String {
    let at = at - ZERO;
    if at % 1_000 == 0 { format!("{}s", at / 1_000) } else { at.to_string() }
}

fn end_name(end: End) -> &'static str {
    match end {
        End::Expired => "expired",
        End::Released => "released",
        End::Overridden => "overridden",
        End::Confirmed => "confirmed",
        End::Dissolved => "dissolved",
        End::OverLimit => "over_limit",
    }
}

/// One letter a seat, row by row: `.` free, `h` held, `s` sold, `b` blocked.
pub(super) fn seats(view: &SeatsView) -> String {
    let letter = |seat: &u32| match view.seat_status(*seat) {
        Status::Available => '.',
        Status::Held => 'h',
        Status::Sold => 's',
        Status::Blocked => 'b',
    };
    let rows = view.chart.rows.iter().map(|row| row.seats.iter().map(letter).collect::<String>());
    rows.collect::<Vec<_>>().join(" / ")
}

pub(super) fn areas(view: &SeatsView) -> String {
    let all = view.chart.areas.iter().zip(&view.areas).filter(|(area, _)| !area.retired);
    let all = all.map(|(area, state)| {
        let (free, held) = (state.available(), state.held);
        format!("{} free {free} held {held} sold {} blocked {}", area.id, state.sold, state.blocked)
    });
    all.collect::<Vec<_>>().join("; ")
}

pub(super) fn totals(view: &SeatsView) -> String {
    let [free, held, sold, blocked] = view.totals();
    format!("free {free} held {held} sold {sold} blocked {blocked}")
}

//! Commands of events as arguments.

use onsale_domain::event::EventDetails;
use onsale_domain::id::SeatIndex;
use onsale_domain::listing::Body;
use onsale_domain::seats::command::{HoldKey, Pick, PlaceHold};
use onsale_domain::seats::{EventCommand, Seats};
use onsale_domain::{Kind, Millis};

use super::{best, chart, details};
use crate::commands::{Args, ScriptArgs, Terms, refused};
use crate::facts::{self, Fields};
use crate::picture::Picture;

pub(super) fn prepare(picture: &Picture, command: &EventCommand, now: Millis, terms: &Terms) -> ScriptArgs {
    if let EventCommand::CreateEvent(create) = command {
        return match Seats::create(create) {
            Err(refusal) => refused(refusal, "create"),
            Ok(created) => chart::create(picture, create, created, terms),
        };
    }
    if let Err(refusal) = <Seats as Kind>::check(command) {
        return refused(refusal, "");
    }
    let mut args = Args::default();
    match command {
        // Made above.
        EventCommand::CreateEvent(_) => {}
        EventCommand::PlaceHold(hold) => {
            place_hold(&mut args, picture, hold, now, terms);
        }
        EventCommand::ExtendHold(extend) => {
            args.key(&extend.key);
            args.optional(extend.extension_ms);
        }
        EventCommand::GrowHold(grow) => {
            args.key(&grow.key);
            args.bytes(facts::seats(&grow.seats));
            args.bytes(facts::area_counts(&grow.areas));
            args.push(picture.versions.chart);
            args.neighbours(picture, &grow.seats);
        }
        EventCommand::DropSeats(drop) => {
            args.key(&drop.key);
            args.bytes(facts::seats(&drop.seats));
            args.bytes(facts::area_counts(&drop.areas));
        }
        EventCommand::ReleaseHold(key) => {
            args.key(key);
        }
        EventCommand::ConfirmHold(confirm) => {
            args.key(&confirm.key);
            args.bytes(facts::id(confirm.order.0));
            args.bytes(if confirm.settled { "1" } else { "0" });
        }
        EventCommand::OverrideHold(take) => {
            args.bytes(facts::id(take.hold.0));
            args.bytes(&take.reason);
            args.bytes(take.to.as_ref().map_or("", |(buyer, _)| buyer.as_str()));
            args.optional(take.to.as_ref().and_then(|(_, hold_ms)| *hold_ms));
        }
        EventCommand::RefundOrder(refund) => {
            args.bytes(facts::id(refund.order.0));
            args.bytes(facts::seats(&refund.seats));
            args.bytes(facts::area_counts(&refund.areas));
            args.bytes(&refund.reason);
        }
        EventCommand::BlockSeats(block) => {
            args.bytes(facts::seats(&block.seats));
            args.bytes(facts::area_counts(&block.areas));
            args.bytes(&block.reason);
        }
        EventCommand::UnblockSeats(unblock) => {
            args.bytes(facts::seats(&unblock.seats));
            args.bytes(facts::area_counts(&unblock.areas));
        }
        EventCommand::JoinQueue(join) => {
            args.bytes(facts::id(join.place.0));
            args.push(join.seat);
            args.bytes(join.buyer.as_str());
        }
        EventCommand::LeaveQueue(leave) => {
            args.push(leave.seat);
            args.bytes(leave.buyer.as_str());
        }
        EventCommand::ChangeStatus(status) => {
            args.bytes(status.as_str());
        }
        EventCommand::ChangeEvent(change) => {
            chart::change(&mut args, picture, change);
        }
        EventCommand::AdoptChart(adopt) => {
            chart::adopt(&mut args, picture, adopt);
        }
    }
    args.script(command.verb().name, picture)
}

fn place_hold(args: &mut Args, picture: &Picture, hold: &PlaceHold, now: Millis, terms: &Terms) {
    args.bytes(facts::id(hold.hold.0));
    args.bytes(hold.buyer.as_str());
    let (seats, best) = match &hold.pick {
        Pick::Seats(seats) => (facts::seats(seats), String::new()),
        Pick::Best(_) => best::choose(picture, hold, now, terms.strict),
    };
    args.bytes(seats);
    args.bytes(facts::area_counts(&hold.areas));
    args.optional(hold.hold_ms);
    args.bytes(best);
    let (Pick::Seats(seats), Body::Event(event)) = (&hold.pick, &picture.listing.body) else {
        return ["", "", ""].iter().for_each(|nothing| args.bytes(nothing));
    };
    args.push(picture.versions.chart);
    args.bytes(best::tiers(event, seats));
    args.neighbours(picture, seats);
}

/// The details as fields of the meta hash.
pub(super) fn meta_fields(details: &EventDetails) -> Fields {
    let mut fields = Fields::default();
    details::encode(details, &mut fields);
    fields
}

/// What scripts have to know of the details, in one line: times, rules, and the price of each tier.
pub(super) fn rules(details: &EventDetails) -> String {
    let optional = |number: Option<Millis>| number.map_or(String::new(), |number| number.to_string());
    let rules = &details.rules;
    let packed = format!(
        "{}|{}|{}|{}|{}|{}|{}|{}",
        optional(details.sale_opens_at),
        details.sale_ends_at(),
        details.ends_at,
        rules.hold_ms,
        optional(rules.extension_ms),
        rules.extensions_max,
        rules.buyer_limit,
        u8::from(rules.refuse_single_seats),
    );
    let prices: Vec<String> = details.tiers.iter().map(|tier| tier.price_minor.to_string()).collect();
    format!("{packed}|{}", prices.join(","))
}

impl Args {
    /// Who sits beside these seats, if the event refuses single ones.
    fn neighbours(&mut self, picture: &Picture, seats: &[SeatIndex]) {
        let event = picture.listing.event().filter(|event| event.details().rules.refuse_single_seats);
        self.bytes(event.map_or(String::new(), |event| best::neighbours(event, seats)));
    }

    fn key(&mut self, key: &HoldKey) {
        self.bytes(facts::id(key.hold.0));
        self.push(key.fence);
        self.bytes(key.buyer.as_str());
    }
}

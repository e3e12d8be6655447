//! The verbs of an event, each with the line that asks for it and the words of its fact: a new one comes here alone.

use onsale_domain::seats::command::{
    BlockSeats, ConfirmHold, DropSeats, ExtendHold, GrowHold, JoinQueue, LeaveQueue, OverrideHold, Pick,
    PlaceHold, RefundOrder, UnblockSeats,
};
use onsale_domain::seats::fact::ReleaseCause;
use onsale_domain::seats::{EventCommand, EventFact, SeatsView};

use super::names::Names;
use super::parse::{Wish, buyer, key, option, seat, span, wish};
use super::render::{Renderer, time};
use super::settings::{Settings, change, status};

/// What a buyer may ask for; nothing if the line is not a buyer's.
pub(super) fn of_buyers(
    words: &[&str],
    view: Option<&SeatsView>,
    names: &mut Names,
) -> Result<Option<EventCommand>, String> {
    let command = match words {
        ["hold", what, who, options @ ..] => {
            let wish = wish(what, view)?;
            let hold = match option(options, "as") {
                Some(name) => names.hold(name),
                None => names.fresh(),
            };
            let pick = wish.best.map_or(Pick::Seats(wish.seats), Pick::Best);
            let hold_ms = option(options, "for").map(span).transpose()?;
            let buyer = buyer(who)?;
            EventCommand::PlaceHold(PlaceHold { hold, buyer, pick, areas: wish.areas, hold_ms })
        }
        ["extend", name, options @ ..] => {
            let extension_ms = option(options, "by").map(span).transpose()?;
            EventCommand::ExtendHold(ExtendHold { key: key(name, names)?, extension_ms })
        }
        ["grow", name, what] => {
            let Wish { seats, areas, .. } = wish(what, view)?;
            EventCommand::GrowHold(GrowHold { key: key(name, names)?, seats, areas })
        }
        ["drop", name, what] => {
            let Wish { seats, areas, .. } = wish(what, view)?;
            EventCommand::DropSeats(DropSeats { key: key(name, names)?, seats, areas })
        }
        ["release", name] => EventCommand::ReleaseHold(key(name, names)?),
        ["confirm", name, options @ ..] => {
            let order = match option(options, "as") {
                Some(name) => names.order(name),
                None => names.fresh_order(),
            };
            // Paid elsewhere, unless the line says that it is not.
            let settled = !options.contains(&"unpaid");
            EventCommand::ConfirmHold(ConfirmHold { key: key(name, names)?, order, settled })
        }
        ["queue", what, who, options @ ..] => {
            let place = match option(options, "as") {
                Some(name) => names.hold(name),
                None => names.fresh(),
            };
            EventCommand::JoinQueue(JoinQueue { place, seat: seat(what, view)?, buyer: buyer(who)? })
        }
        ["leave", what, who] => {
            EventCommand::LeaveQueue(LeaveQueue { seat: seat(what, view)?, buyer: buyer(who)? })
        }
        _ => return Ok(None),
    };
    Ok(Some(command))
}

/// What only staff may ask for.
pub(super) fn of_staff(
    words: &[&str],
    view: Option<&SeatsView>,
    names: &Names,
    settings: &Settings,
) -> Result<EventCommand, String> {
    let reason = |options, default| option(options, "because").unwrap_or(default).replace("''", "");
    Ok(match words {
        ["override", name, options @ ..] => {
            let hold_ms = option(options, "for").map(span).transpose()?;
            let to = option(options, "to").map(buyer).transpose()?.map(|buyer| (buyer, hold_ms));
            let (hold, reason) = (names.hold(name), reason(options, "asked at the door"));
            EventCommand::OverrideHold(OverrideHold { hold, reason, to })
        }
        ["refund", name, what @ ..] => {
            let wish = what.first().map_or(Ok(Wish::default()), |what| wish(what, view))?;
            let (order, reason) = (names.order(name), "rain".to_owned());
            EventCommand::RefundOrder(RefundOrder { order, seats: wish.seats, areas: wish.areas, reason })
        }
        ["block", what, options @ ..] => {
            let Wish { seats, areas, .. } = wish(what, view)?;
            EventCommand::BlockSeats(BlockSeats { seats, areas, reason: reason(options, "camera") })
        }
        ["unblock", what] => {
            let Wish { seats, areas, .. } = wish(what, view)?;
            EventCommand::UnblockSeats(UnblockSeats { seats, areas })
        }
        ["status", text] => EventCommand::ChangeStatus(status(text)?),
        ["change", changes @ ..] => EventCommand::ChangeEvent(Box::new(change(changes)?)),
        ["adopt", chart @ ..] => EventCommand::AdoptChart(Box::new(settings.adopt(&chart.join(" "))?)),
        ["create", rules @ ..] => {
            let mut other = settings.clone();
            other.rules(&rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>())?;
            EventCommand::CreateEvent(Box::new(other.create()?))
        }
        _ => return Err(format!("`{}` is not a line of a table", words.join(" "))),
    })
}

impl Renderer<'_> {
    pub(super) fn event_fact(&self, fact: &EventFact) -> String {
        match fact {
            EventFact::EventCreated(_) => "created".into(),
            EventFact::EventChanged(_) => "changed".into(),
            EventFact::ChartAdopted(adopted) => format!("chart v{}", adopted.version),
            EventFact::StatusChanged { status, by_schedule } => {
                format!("status {}{}", status.as_str(), if *by_schedule { " by schedule" } else { "" })
            }
            EventFact::HoldPlaced { hold, until, pieces: 0, .. } => {
                format!("held {} until {}", self.name(*hold), time(*until))
            }
            EventFact::HoldPlaced { hold, seats, until, pieces, .. } => {
                let seats: Vec<u32> = seats.iter().map(|line| line.seat).collect();
                let (name, seats) = (self.name(*hold), self.what(&seats, &[]));
                let pieces = if *pieces == 1 { String::new() } else { format!(" in {pieces} pieces") };
                format!("held {name} {seats}{pieces} until {}", time(*until))
            }
            EventFact::HoldExtended { hold, until, .. } => {
                format!("extended {} until {}", self.name(*hold), time(*until))
            }
            EventFact::HoldGrown { hold, seats, areas, .. } => {
                format!("grown {} by {}", self.name(*hold), self.lines(seats, areas))
            }
            EventFact::SeatsDropped { hold, seats, areas, .. } => {
                format!("dropped {} from {}", self.what(seats, areas), self.name(*hold))
            }
            EventFact::HoldReleased { hold, why: ReleaseCause::Buyer } => {
                format!("released {}", self.name(*hold))
            }
            EventFact::HoldReleased { hold, why: ReleaseCause::EventCancelled } => {
                format!("released {} by cancellation", self.name(*hold))
            }
            EventFact::HoldExpired { hold, offer: None } => format!("expired {}", self.name(*hold)),
            EventFact::HoldExpired { hold, offer: Some(offer) } => {
                let what = self.what(&offer.seats, &[]);
                format!("lapsed {} {what} of {}", self.name(*hold), offer.buyer.as_str())
            }
            EventFact::HoldConfirmed { hold, order } => {
                format!("sold {} as {}", self.name(*hold), self.names.order_name(*order))
            }
            EventFact::HoldOverridden { hold, to: None, .. } => {
                format!("overridden {}", self.name(*hold))
            }
            EventFact::HoldOverridden { hold, to: Some(to), .. } => {
                let until = time(to.until);
                format!("overridden {} to {} until {until}", self.name(*hold), to.buyer.as_str())
            }
            EventFact::OrderRefunded { order, seats, areas, amount_minor, .. } => {
                let what = self.what(seats, areas);
                format!("refunded {what} of {} for {amount_minor}", self.names.order_name(*order))
            }
            EventFact::SeatsBlocked { seats, areas, .. } => {
                format!("blocked {}", self.what(seats, areas))
            }
            EventFact::SeatsUnblocked { seats, areas } => {
                format!("unblocked {}", self.what(seats, areas))
            }
            EventFact::QueueJoined { place, until, ahead, .. } => {
                format!("place {} ahead {ahead} until {}", self.name(*place), time(*until))
            }
            EventFact::PlaceRenewed { place, until, ahead } => {
                format!("renewed {} ahead {ahead} until {}", self.name(*place), time(*until))
            }
            EventFact::QueueLeft { place, buyer, seat } => {
                format!("left {} {} of {}", self.name(*place), self.seat(*seat), buyer.as_str())
            }
            EventFact::PlaceExpired { place, buyer, seat } => {
                format!("place expired {} {} of {}", self.name(*place), self.seat(*seat), buyer.as_str())
            }
            EventFact::PlaceLost { place, buyer, seat } => {
                format!("place lost {} {} of {}", self.name(*place), self.seat(*seat), buyer.as_str())
            }
            EventFact::SeatOffered { place, buyer, seat, until, .. } => {
                let (seat, buyer) = (self.seat(*seat), buyer.as_str());
                format!("offered {} {seat} to {buyer} until {}", self.name(*place), time(*until))
            }
        }
    }
}

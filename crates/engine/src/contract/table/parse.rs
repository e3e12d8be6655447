//! Words to commands. Nothing here decides what is right: the strangest wish becomes a command.

use onsale_domain::Query;
use onsale_domain::event::EventStatus;
use onsale_domain::seats::SeatsView;
use onsale_domain::seats::command::{
    BestAvailable, BlockSeats, ChangeEvent, ConfirmHold, DropSeats, ExtendHold, HoldKey, JoinQueue,
    LeaveQueue, OverrideHold, Pick, PlaceHold, RefundOrder, UnblockSeats,
};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventCommand, EventQuery};
use onsale_domain::venue::VenueCommand;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::{BuyerId, Command, Millis};

use super::names::Names;
use super::settings::{Settings, layout};

/// One line of a table, taken apart.
pub(super) struct Line {
    pub at: Millis,
    /// `x100` in front of the command: so many times, `{n}` counting from 1.
    pub times: u32,
    pub words: Vec<String>,
    /// What must come of it; nothing said: any yes.
    pub expected: Option<String>,
}

impl Line {
    pub(super) fn parse(text: &str) -> Result<Option<Line>, String> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let (command, expected) = match text.split_once("->") {
            Some((command, expected)) => (command, Some(expected.trim().to_owned())),
            None => (text, None),
        };
        let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let at = match words.first().map(|word| span(word)) {
            Some(Ok(at)) => {
                words.remove(0);
                at
            }
            Some(Err(_)) | None => 0,
        };
        let times = words.first().and_then(|word| word.strip_prefix('x')?.parse().ok());
        if times.is_some() {
            words.remove(0);
        }
        Ok(Some(Line { at, times: times.unwrap_or(1), words, expected }))
    }
}

/// `{n}` is the round, `{x*64}` is sixty-four x, `{bell}` a control character.
pub(super) fn expand(word: &str, n: u32) -> String {
    let word = word.replace("{n}", &n.to_string()).replace("{bell}", "\u{7}");
    let mut all = String::new();
    let mut rest = word.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        all.push_str(before);
        let repeated = after.split_once('}').and_then(|(inside, after)| {
            let (what, times) = inside.split_once('*')?;
            Some((what.repeat(times.parse().ok()?), after))
        });
        match repeated {
            Some((repeated, after)) => {
                all.push_str(&repeated);
                rest = after;
            }
            None => {
                all.push('{');
                rest = after;
            }
        }
    }
    all + rest
}

/// `90` is 90 ms, `90s` seconds, `2m` minutes, `1h` hours; `1h-1` is a millisecond less.
pub(super) fn span(word: &str) -> Result<Millis, String> {
    if let Some((whole, less)) = word.split_once('-')
        && !whole.is_empty()
    {
        return Ok(span(whole)? - span(less)?);
    }
    let bad = |_| format!("`{word}` is not a time");
    let digits = word.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let number: Millis = digits.parse().map_err(bad)?;
    match &word[digits.len()..] {
        "" => Ok(number),
        "s" => Ok(number * 1_000),
        "m" => Ok(number * 60_000),
        "h" => Ok(number * 3_600_000),
        unit => Err(format!("`{unit}` is not a unit of time")),
    }
}

/// What a line asks for.
pub(super) enum Ask {
    Event(Command),
    Venue(Command),
    Nowhere(Command),
    Query(Query),
    Seats,
    Areas,
    Totals,
    Status,
    Versions,
    Facts(u64),
}

/// Seats, places and wishes, as a line names them.
#[derive(Default)]
struct Wish {
    seats: Vec<u32>,
    areas: Vec<AreaCount>,
    best: Option<BestAvailable>,
}

pub(super) fn ask(
    words: &[String],
    view: &Option<SeatsView>,
    names: &mut Names,
    settings: &Settings,
) -> Result<Ask, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let wish = |text: &str| wish(text, view.as_ref());
    let seat = |text: &str| Ok::<_, String>(wish(text)?.seats.first().copied().unwrap_or(u32::MAX));
    let command = match words.as_slice() {
        ["hold", what, who, options @ ..] => {
            let wish = wish(what)?;
            let hold = match option(options, "as") {
                Some(name) => names.hold(name),
                None => names.fresh(),
            };
            let pick = wish.best.map_or(Pick::Seats(wish.seats), Pick::Best);
            let hold_ms = option(options, "for").map(span).transpose()?;
            Command::Event(EventCommand::PlaceHold(PlaceHold {
                hold,
                buyer: buyer(who)?,
                pick,
                areas: wish.areas,
                hold_ms,
            }))
        }
        ["extend", name, options @ ..] => {
            let extension_ms = option(options, "by").map(span).transpose()?;
            Command::Event(EventCommand::ExtendHold(ExtendHold { key: key(name, names)?, extension_ms }))
        }
        ["drop", name, what] => {
            let wish = wish(what)?;
            Command::Event(EventCommand::DropSeats(DropSeats {
                key: key(name, names)?,
                seats: wish.seats,
                areas: wish.areas,
            }))
        }
        ["release", name] => Command::Event(EventCommand::ReleaseHold(key(name, names)?)),
        ["confirm", name, options @ ..] => {
            let order = match option(options, "as") {
                Some(name) => names.order(name),
                None => names.fresh_order(),
            };
            Command::Event(EventCommand::ConfirmHold(ConfirmHold { key: key(name, names)?, order }))
        }
        ["override", name, options @ ..] => {
            let hold_ms = option(options, "for").map(span).transpose()?;
            let to = option(options, "to").map(buyer).transpose()?.map(|buyer| (buyer, hold_ms));
            let staff = option(options, "by").unwrap_or("staff").to_owned();
            let reason = option(options, "because").unwrap_or("asked at the desk").replace("''", "");
            Command::Event(EventCommand::OverrideHold(OverrideHold {
                hold: names.hold(name),
                staff,
                reason,
                to,
            }))
        }
        ["refund", name, what @ ..] => {
            let wish = what.first().map_or(Ok(Wish::default()), |what| wish(what))?;
            let order = names.order(name);
            let (seats, areas, reason) = (wish.seats, wish.areas, "rain".to_owned());
            Command::Event(EventCommand::RefundOrder(RefundOrder { order, seats, areas, reason }))
        }
        ["block", what, options @ ..] => {
            let wish = wish(what)?;
            let reason = option(options, "because").unwrap_or("camera").replace("''", "");
            Command::Event(EventCommand::BlockSeats(BlockSeats {
                seats: wish.seats,
                areas: wish.areas,
                reason,
            }))
        }
        ["unblock", what] => {
            let wish = wish(what)?;
            Command::Event(EventCommand::UnblockSeats(UnblockSeats { seats: wish.seats, areas: wish.areas }))
        }
        ["queue", what, who, options @ ..] => {
            let place = match option(options, "as") {
                Some(name) => names.hold(name),
                None => names.fresh(),
            };
            Command::Event(EventCommand::JoinQueue(JoinQueue {
                place,
                seat: seat(what)?,
                buyer: buyer(who)?,
            }))
        }
        ["leave", what, who] => {
            Command::Event(EventCommand::LeaveQueue(LeaveQueue { seat: seat(what)?, buyer: buyer(who)? }))
        }
        ["status", status] => Command::Event(EventCommand::ChangeStatus(self::status(status)?)),
        ["change", changes @ ..] => Command::Event(EventCommand::ChangeEvent(Box::new(change(changes)?))),
        ["adopt", chart @ ..] => {
            Command::Event(EventCommand::AdoptChart(Box::new(settings.adopt(&chart.join(" "))?)))
        }
        ["create", rules @ ..] => {
            let mut other = settings.clone();
            other.rules(&rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>())?;
            Command::Event(EventCommand::CreateEvent(Box::new(other.create()?)))
        }
        ["sweep"] => Command::ExpireDue { limit: 64 },
        ["sweep", limit] => Command::ExpireDue { limit: limit.parse().map_err(|_| "not a number")? },
        ["nowhere", rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
            let Ask::Event(command) = ask(&rest, view, names, settings)? else {
                return Err("only a command can be sent nowhere".into());
            };
            return Ok(Ask::Nowhere(command));
        }
        ["venue", "create", name, chart @ ..] => {
            let create = CreateVenue {
                name: name.replace("''", ""),
                place: "Main Street".into(),
                layout: layout(&chart.join(" "))?.into(),
            };
            return Ok(Ask::Venue(Command::Venue(VenueCommand::CreateVenue(Box::new(create)))));
        }
        ["venue", "publish", chart @ ..] => {
            return Ok(Ask::Venue(Command::Venue(VenueCommand::PublishLayout(
                layout(&chart.join(" "))?.into(),
            ))));
        }
        ["venue", "versions"] => return Ok(Ask::Versions),
        ["venue", rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
            let Ask::Event(command) = ask(&rest, view, names, settings)? else {
                return Err("only a command can be sent to the venue".into());
            };
            return Ok(Ask::Venue(command));
        }
        ["publish", chart @ ..] => {
            Command::Venue(VenueCommand::PublishLayout(layout(&chart.join(" "))?.into()))
        }
        ["show", name] => return Ok(Ask::Query(Query::Event(EventQuery::Hold(names.hold(name))))),
        ["mine", who] => return Ok(Ask::Query(Query::Event(EventQuery::HoldsOf(buyer(who)?)))),
        ["place", what, who] => {
            return Ok(Ask::Query(Query::Event(EventQuery::Place { seat: seat(what)?, buyer: buyer(who)? })));
        }
        ["order", name] => return Ok(Ask::Query(Query::Event(EventQuery::Order(names.order(name))))),
        ["seats"] => return Ok(Ask::Seats),
        ["areas"] => return Ok(Ask::Areas),
        ["totals"] => return Ok(Ask::Totals),
        ["status"] => return Ok(Ask::Status),
        ["facts"] => return Ok(Ask::Facts(0)),
        ["facts", "after", after] => return Ok(Ask::Facts(after.parse().map_err(|_| "not a number")?)),
        _ => return Err(format!("`{}` is not a line of a table", words.join(" "))),
    };
    Ok(Ask::Event(command))
}

fn buyer(text: &str) -> Result<BuyerId, String> {
    BuyerId::parse(text).ok_or_else(|| format!("`{text}` is not a buyer"))
}

/// `h1` with its latest fence; `h1!` with the fence before that, `h1?` with one that never was.
fn key(text: &str, names: &Names) -> Result<HoldKey, String> {
    let name = text.trim_end_matches(['!', '?']);
    let Some(known) = names.named(name) else {
        return Ok(HoldKey { hold: names.hold(name), fence: 1, buyer: buyer("nobody")? });
    };
    let latest = known.fences.last().copied().unwrap_or_default();
    let fence = match text.as_bytes().last() {
        Some(b'!') => known.fences.iter().rev().nth(1).copied().unwrap_or_default(),
        Some(b'?') => latest + 1,
        Some(_) | None => latest,
    };
    Ok(HoldKey { hold: known.id, fence, buyer: known.buyer.clone() })
}

fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied()
}

/// `A1,A2`, `floor*3`, `best:4`, `best:2@balcony#1!` (section, tier, accessible), `nothing`, or several of them.
fn wish(text: &str, view: Option<&SeatsView>) -> Result<Wish, String> {
    let mut wish = Wish::default();
    for part in text.split(',').filter(|part| *part != "nothing") {
        if let Some(best) = part.strip_prefix("best:") {
            wish.best = Some(self::best(best, view)?);
        } else if let Some((area, count)) = part.split_once('*') {
            let area = view.and_then(|view| view.chart.area_named(area)).unwrap_or(u16::MAX);
            wish.areas.push(AreaCount { area, count: count.parse().map_err(|_| "not a count")? });
        } else {
            let unknown = u32::MAX - wish.seats.len() as u32;
            wish.seats.push(view.and_then(|view| view.chart.seat_named(part)).unwrap_or(unknown));
        }
    }
    Ok(wish)
}

fn best(text: &str, view: Option<&SeatsView>) -> Result<BestAvailable, String> {
    let (text, accessible) = text.strip_suffix('!').map_or((text, false), |rest| (rest, true));
    let (text, tier) = text.split_once('#').map_or((text, None), |(rest, tier)| (rest, Some(tier)));
    let (count, section) = text.split_once('@').map_or((text, None), |(rest, name)| (rest, Some(name)));
    let section = section.map(|name| {
        let sections = view.map_or(&[][..], |view| &view.chart.sections);
        sections.iter().position(|known| known == name).map_or(u16::MAX, |index| index as u16)
    });
    let tier = tier.map(|tier| tier.parse().map_err(|_| "not a tier")).transpose()?;
    Ok(BestAvailable { count: count.parse().map_err(|_| "not a count")?, section, tier, accessible })
}

pub(super) fn status(text: &str) -> Result<EventStatus, String> {
    let known = EventStatus::ALL.into_iter().find(|status| status.as_str() == text);
    known.ok_or_else(|| format!("`{text}` is not a status"))
}

fn change(words: &[&str]) -> Result<ChangeEvent, String> {
    let mut change = ChangeEvent::default();
    for word in words {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not a change"))?;
        let time = || Ok::<_, String>(super::ZERO + span(value)?);
        let maybe =
            |time: Result<Millis, String>| Ok::<_, String>(if value == "none" { None } else { Some(time?) });
        match name {
            "name" => change.name = Some(value.replace("''", "")),
            "description" => change.description = Some(value.to_owned()),
            "limit" => change.buyer_limit = Some(value.parse().map_err(|_| "not a limit")?),
            "hold" => change.hold_ms = Some(span(value)?),
            "extension" => change.extension_ms = Some(maybe(span(value))?),
            "extensions" => change.extensions_max = Some(value.parse().map_err(|_| "not a count")?),
            "orphans" => change.refuse_single_seats = Some(value == "refused"),
            "opens" => change.sale_opens_at = Some(maybe(time())?),
            "closes" => change.sale_closes_at = Some(maybe(time())?),
            "starts" => change.starts_at = Some(time()?),
            "ends" => change.ends_at = Some(time()?),
            "tiers" => change.tiers = Some(super::settings::tiers(value)?),
            _ => return Err(format!("`{name}` is not a rule")),
        }
    }
    Ok(change)
}

//! Words to commands: what the lines of all verbs have in common; `verbs` has those of each.
//! Nothing here decides what is right: the strangest wish becomes a command.

use onsale_domain::seats::command::{BestAvailable, HoldKey};
use onsale_domain::seats::fact::AreaCount;
use onsale_domain::seats::{EventQuery, SeatsView};
use onsale_domain::{BuyerId, Command, Millis, Query};

use super::names::Names;
use super::settings::Settings;
use super::{venue, verbs};

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
pub(super) struct Wish {
    pub seats: Vec<u32>,
    pub areas: Vec<AreaCount>,
    pub best: Option<BestAvailable>,
}

pub(super) fn ask(
    words: &[String],
    view: Option<&SeatsView>,
    names: &mut Names,
    settings: &Settings,
) -> Result<Ask, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let query = |query| Ask::Query(Query::Event(query));
    Ok(match words.as_slice() {
        ["show", name] => query(EventQuery::Hold(names.hold(name))),
        ["mine", who] => query(EventQuery::HoldsOf(buyer(who)?)),
        ["place", what, who] => query(EventQuery::Place { seat: seat(what, view)?, buyer: buyer(who)? }),
        ["order", name] => query(EventQuery::Order(names.order(name))),
        ["seats"] => Ask::Seats,
        ["areas"] => Ask::Areas,
        ["totals"] => Ask::Totals,
        ["status"] => Ask::Status,
        ["facts"] => Ask::Facts(0),
        ["facts", "after", after] => Ask::Facts(after.parse().map_err(|_| "not a number")?),
        ["venue", "versions"] => Ask::Versions,
        ["venue", "create", name, chart @ ..] => Ask::Venue(venue::create(name, chart)?),
        ["venue", rest @ ..] => Ask::Venue(command(rest, view, names, settings)?),
        ["nowhere", rest @ ..] => Ask::Nowhere(command(rest, view, names, settings)?),
        words => Ask::Event(command(words, view, names, settings)?),
    })
}

/// A command that can be sent to any listing, also to one that it is not meant for.
fn command(
    words: &[&str],
    view: Option<&SeatsView>,
    names: &mut Names,
    settings: &Settings,
) -> Result<Command, String> {
    let of_event = |command| Ok(Command::Event(command));
    match words {
        ["sweep"] => Ok(Command::ExpireDue { limit: 64 }),
        ["sweep", limit] => Ok(Command::ExpireDue { limit: limit.parse().map_err(|_| "not a number")? }),
        ["publish", chart @ ..] => venue::publish(chart),
        _ => match verbs::of_buyers(words, view, names)? {
            Some(command) => of_event(command),
            None => of_event(verbs::of_staff(words, view, names, settings)?),
        },
    }
}

pub(super) fn buyer(text: &str) -> Result<BuyerId, String> {
    BuyerId::parse(text).ok_or_else(|| format!("`{text}` is not a buyer"))
}

/// `h1` with its latest fence; `h1!` with the fence before that, `h1?` with one that never was.
pub(super) fn key(text: &str, names: &Names) -> Result<HoldKey, String> {
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

pub(super) fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied()
}

/// `A1,A2`, `floor*3`, `best:4`, `best:2@balcony#1!` (section, tier, accessible), `nothing`, or several of them.
pub(super) fn wish(text: &str, view: Option<&SeatsView>) -> Result<Wish, String> {
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

/// The seat of a line that names one; where it names none, a seat that never was.
pub(super) fn seat(text: &str, view: Option<&SeatsView>) -> Result<u32, String> {
    Ok(wish(text, view)?.seats.first().copied().unwrap_or(u32::MAX))
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

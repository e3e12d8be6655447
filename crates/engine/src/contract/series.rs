//! Tables of series over the port; `tables/series.txt` says how a line reads.

use std::sync::Arc;

use onsale_domain::listing::BodyView;
use onsale_domain::money::Currency;
use onsale_domain::series::command::{ChangeSeries, OpenSlot};
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails};
use onsale_domain::series::schedule::{Schedule, Slot};
use onsale_domain::series::{Series, SeriesCommand, SeriesFact, sale_of};
use onsale_domain::stock::details::StockRules;
use onsale_domain::{Command, Fact, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_tables::{Table, cut};

use super::lines::{Player, TableLine, Words, number};
use crate::engine::Answer;

const FILES: &[(&str, &str)] = &[("series", include_str!("tables/series.txt"))];
const HOUR: Millis = 3_600_000;
const FIRST: Millis = OfSeries::ZERO;

pub(super) fn all() -> Vec<Table> {
    cut(FILES)
}

pub(super) struct OfSeries;

impl Words for OfSeries {
    const LISTING: ListingId = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Series, number: 77 };
    /// The first slot of every table: a whole hour, far from 1970.
    const ZERO: Millis = 472_223 * HOUR;

    fn create() -> Result<Command, String> {
        Ok(Command::Series(SeriesCommand::Create(Box::new(details()?))))
    }

    fn say(player: &mut Player<'_>, said: &TableLine<'_>) -> Result<String, String> {
        let command = match (said.verb, said.words) {
            ("active", []) => return Ok(active(&*series(player)?, said.now)),
            ("open", [hour]) => SeriesCommand::OpenSlot(OpenSlot { slot: slot(hour)?, skipped: Vec::new() }),
            ("open", [hour, "after", skipped @ ..]) => {
                SeriesCommand::OpenSlot(OpenSlot { slot: slot(hour)?, skipped: slots(skipped)? })
            }
            ("skip", skipped) => SeriesCommand::SkipSlots(slots(skipped)?),
            ("rename", [name]) => {
                let name = Some((*name).to_owned());
                SeriesCommand::Change(Box::new(ChangeSeries { name, ..ChangeSeries::default() }))
            }
            ("pause", []) => SeriesCommand::Pause,
            ("resume", []) => SeriesCommand::Resume,
            ("end", []) => SeriesCommand::End,
            (verb, words) => return Err(format!("cannot say {verb} {words:?}")),
        };
        player.submit(Command::Series(command), said.key).map(|answer| told(&answer))
    }

    fn picture(player: &Player<'_>) -> Result<String, String> {
        Ok(format!("{:?}\n{}", series(player)?, player.facts()?))
    }
}

fn slot(hour: &str) -> Result<Slot, String> {
    let hour = number::<Millis>(hour.trim_start_matches('h'))?;
    Ok(Slot { at: FIRST + hour * HOUR, offset_s: 0 })
}

fn slots(hours: &[&str]) -> Result<Vec<Slot>, String> {
    hours.iter().map(|hour| slot(hour)).collect()
}

fn series(player: &Player<'_>) -> Result<Arc<Series>, String> {
    let view = player.view()?;
    let BodyView::Series(series) = &view.body else { return Err("it is no series".into()) };
    Ok(series.clone())
}

/// Which slot's sale is called the active one.
fn active(series: &Series, now: Millis) -> String {
    let Some(sale) = series.active_at(now) else { return "none".into() };
    let hour = (0..24).find(|hour| sale_of(OfSeries::LISTING, FIRST + hour * HOUR) == sale);
    hour.map_or("a sale of no slot".into(), |hour| format!("h{hour}"))
}

fn details() -> Result<SeriesDetails, String> {
    let template = SaleTemplate {
        name: "on the hour".into(),
        description: String::new(),
        currency: Currency::parse("EUR").ok_or("a currency")?,
        rules: StockRules::default(),
        length_ms: HOUR,
        items: vec![ItemTemplate { price_minor: 900, stock: 10, name: None, picture: None }],
    };
    Ok(SeriesDetails { name: "hourly".into(), schedule: Schedule::Hourly, from: FIRST, template })
}

fn told(answer: &Answer) -> String {
    let facts = answer.step().map_or(&[][..], |step| &step.facts);
    let mut parts: Vec<String> = facts.iter().map(fact).collect();
    if let Some(refusal) = answer.outcome.refused() {
        parts.push(refusal.code.as_str().to_owned());
    } else if answer.outcome != Outcome::Done {
        parts.push(format!("{:?}", answer.outcome).to_lowercase());
    }
    format!("{}{}", if answer.replayed { "(again) " } else { "" }, parts.join(", "))
}

fn fact(fact: &Fact) -> String {
    let Fact::Series(fact) = fact else { return fact.kind().to_owned() };
    let hour = |slot: &Slot| format!("h{}", (slot.at - FIRST) / HOUR);
    match fact {
        SeriesFact::Created(_) => "created".into(),
        SeriesFact::Changed(_) => "changed".into(),
        SeriesFact::SlotOpened { slot, .. } => format!("{} opened", hour(slot)),
        SeriesFact::SlotSkipped { slot, .. } => format!("{} skipped", hour(slot)),
        SeriesFact::Paused => "paused".into(),
        SeriesFact::Resumed => "resumed".into(),
        SeriesFact::Ended => "ended".into(),
    }
}

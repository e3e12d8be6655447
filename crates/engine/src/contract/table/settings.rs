//! The event that a table plays in: its chart and its rules, each with a default that most tables keep.

use onsale_domain::Millis;
use onsale_domain::event::{EventDetails, EventStatus, SaleRules, Tier};
use onsale_domain::layout::{Area, Layout, Row, Seat, Section};
use onsale_domain::money::Currency;
use onsale_domain::seats::command::{AdoptChart, ChangeEvent, CreateEvent};

use super::ZERO;
use super::parse::{expand, span};

/// Two rows of six and a floor for ten.
const CHART: &str = "A1 A2 A3 A4 A5 A6 / B1 B2 B3 B4 B5 B6 ; floor=10";

#[derive(Clone)]
pub(in crate::contract) struct Settings {
    pub chart: String,
    details: EventDetails,
    status: EventStatus,
}

impl Default for Settings {
    fn default() -> Self {
        let currency = Currency::parse("EUR").expect("three capital letters");
        let details = EventDetails {
            name: "The Tempest".into(),
            description: String::new(),
            venue: None,
            starts_at: ZERO + 100 * 3_600_000,
            ends_at: ZERO + 103 * 3_600_000,
            sale_opens_at: None,
            sale_closes_at: None,
            time_zone: "UTC".into(),
            currency,
            tiers: tiers("1000,500").expect("two prices"),
            rules: SaleRules::default(),
        };
        Settings { chart: CHART.into(), details, status: EventStatus::OnSale }
    }
}

impl Settings {
    pub(crate) fn rules(&mut self, words: &[String]) -> Result<(), String> {
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not a rule"))?;
            let details = &mut self.details;
            match name {
                "limit" => details.rules.buyer_limit = value.parse().map_err(|_| "not a limit")?,
                "hold" => details.rules.hold_ms = span(value)?,
                "extension" => details.rules.extension_ms = Some(span(value)?),
                "extensions" => details.rules.extensions_max = value.parse().map_err(|_| "not a count")?,
                "orphans" => details.rules.refuse_single_seats = value == "refused",
                "status" => self.status = status(value)?,
                "name" => details.name = expand(value, 0).replace("''", ""),
                "description" => details.description = expand(value, 0),
                "opens" => details.sale_opens_at = Some(ZERO + span(value)?),
                "closes" => details.sale_closes_at = Some(ZERO + span(value)?),
                "starts" => details.starts_at = ZERO + span(value)?,
                "ends" => details.ends_at = ZERO + span(value)?,
                "tiers" => details.tiers = tiers(value)?,
                _ => return Err(format!("`{name}` is not a rule")),
            }
        }
        Ok(())
    }

    pub(crate) fn create(&self) -> Result<CreateEvent, String> {
        let (details, status) = (self.details.clone(), self.status);
        Ok(CreateEvent { details, status, chart: AdoptChart { version: 1, ..self.adopt(&self.chart)? } })
    }

    pub(crate) fn adopt(&self, chart: &str) -> Result<AdoptChart, String> {
        Ok(AdoptChart { venue: None, version: 2, layout: layout(chart)?.into() })
    }
}

pub(super) fn status(text: &str) -> Result<EventStatus, String> {
    let known = EventStatus::ALL.into_iter().find(|status| status.as_str() == text);
    known.ok_or_else(|| format!("`{text}` is not a status"))
}

/// `name=…`, `limit=…`: the rules that a line changes, by the names that they are set with.
pub(super) fn change(words: &[&str]) -> Result<ChangeEvent, String> {
    let mut change = ChangeEvent::default();
    for word in words {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not a change"))?;
        let time = || Ok::<_, String>(ZERO + span(value)?);
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
            "tiers" => change.tiers = Some(tiers(value)?),
            _ => return Err(format!("`{name}` is not a rule")),
        }
    }
    Ok(change)
}

/// `1000,500`: one tier for each price.
pub(super) fn tiers(text: &str) -> Result<Vec<Tier>, String> {
    let price = |(n, price): (usize, &str)| {
        let price_minor = price.parse().map_err(|_| format!("`{price}` is not a price"))?;
        Ok(Tier { name: format!("tier {n}"), price_minor })
    };
    text.split(',').filter(|price| *price != "none").enumerate().map(price).collect()
}

/// `A1 A2# / B1* B2+ ; balcony: C1 C2 ; floor=10`: rows between `/`, sections and areas between `;`.
/// `#` is the second tier, `*` accessible, `+` a companion's seat; `A1=Box` is a seat labelled Box.
pub(super) fn layout(chart: &str) -> Result<Layout, String> {
    let mut layout = Layout::default();
    for (n, part) in chart.split(';').map(str::trim).filter(|part| !part.is_empty()).enumerate() {
        if let Some((id, capacity)) = part.split_once('=')
            && !part.contains(' ')
            && !part.contains(':')
        {
            let capacity = capacity.parse().map_err(|_| format!("`{part}` is not an area"))?;
            let (id, label) = (expand(id, 0).replace("''", ""), id.to_owned());
            layout.areas.push(Area { id, label, section: "floor".into(), tier: 1, capacity });
            continue;
        }
        let (name, rows) = match part.split_once(": ") {
            Some((name, rows)) => (expand(name, 0).replace("''", ""), rows),
            None => (format!("stalls{}", if n == 0 { String::new() } else { n.to_string() }), part),
        };
        let rows = rows.split('/').enumerate();
        let rows = rows.map(|(r, row)| Row {
            label: row.trim().chars().take(1).collect(),
            seats: row.split_whitespace().enumerate().map(|(x, word)| seat(word, x, r)).collect(),
        });
        layout.sections.push(Section { name, rows: rows.collect() });
    }
    Ok(layout)
}

fn seat(word: &str, x: usize, y: usize) -> Seat {
    let (word, label) = word.split_once('=').unwrap_or((word, word));
    let id = expand(word.trim_end_matches(['#', '*', '+']), 0).replace("''", "");
    Seat {
        label: expand(label, 0),
        id,
        tier: u16::from(word.contains('#')),
        x: x as i32 * 10,
        y: y as i32 * 10,
        accessible: word.ends_with('*'),
        companion: word.ends_with('+'),
    }
}

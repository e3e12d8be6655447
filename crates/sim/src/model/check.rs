//! What is well formed: names, bounds and shapes, as the rules list them. Only the offending field is told.

use onsale_domain::about::About;
use onsale_domain::event::{EventDetails, EventStatus};
use onsale_domain::field::FieldPath;
use onsale_domain::layout::Layout;
use onsale_domain::refusal::Refusal;
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::{GrowHold, OverrideHold, Pick, PlaceHold};
use onsale_domain::seats::fact::AreaCount;

/// Refused for the named field; the wording is the domain's own and is not compared.
pub(super) fn invalid<T>(field: impl AsRef<str>) -> Result<T, Refusal> {
    Err(Refusal::invalid(named_field(field.as_ref()), ""))
}

/// A field by its name in the domain.
pub(super) fn named_field(name: &str) -> FieldPath {
    FieldPath::parse(name).unwrap_or_else(|| panic!("the domain has no field {name}"))
}

pub(super) fn name(text: &str, most: usize) -> bool {
    let count = text.chars().count();
    count >= 1 && count <= most && text.chars().all(|c| !c.is_control())
}

pub(super) fn details(details: &EventDetails) -> Result<(), Refusal> {
    const YEAR_2200: i64 = 7_258_118_400_000;
    let bad = |time: i64| !(0..=YEAR_2200).contains(&time);
    if !name(&details.name, 200) {
        return invalid("name");
    }
    if details.description.chars().count() > 10_000 {
        return invalid("description");
    }
    if bad(details.starts_at) {
        return invalid("starts_at");
    }
    if bad(details.ends_at) || details.ends_at <= details.starts_at {
        return invalid("ends_at");
    }
    if details.sale_opens_at.is_some_and(bad) {
        return invalid("sale_opens_at");
    }
    if let Some(closes) = details.sale_closes_at
        && (bad(closes) || details.sale_opens_at.is_some_and(|opens| closes <= opens))
    {
        return invalid("sale_closes_at");
    }
    if details.tiers.is_empty() || details.tiers.len() > 64 {
        return invalid("tiers");
    }
    for (n, tier) in details.tiers.iter().enumerate() {
        if !name(&tier.name, 200) {
            return invalid(format!("tiers[{n}].name"));
        }
        if tier.price_minor < 0 || tier.price_minor > 1_000_000_000_000 {
            return invalid(format!("tiers[{n}].price_minor"));
        }
    }
    let rules = &details.rules;
    if rules.hold_ms < 30_000 || rules.hold_ms > 900_000 {
        return invalid("rules.hold_ms");
    }
    if rules.extension_ms.is_some_and(|ms| !(1_000..=900_000).contains(&ms)) {
        return invalid("rules.extension_ms");
    }
    if rules.extensions_max > 10 {
        return invalid("rules.extensions_max");
    }
    if rules.buyer_limit < 1 || rules.buyer_limit > 50 {
        return invalid("rules.buyer_limit");
    }
    Ok(())
}

pub(super) fn layout(layout: &Layout) -> Result<(), Refusal> {
    let mut known: Vec<&str> = Vec::new();
    for (s, section) in layout.sections.iter().enumerate() {
        if !name(&section.name, 200) {
            return invalid(format!("layout.sections[{s}].name"));
        }
        for (r, row) in section.rows.iter().enumerate() {
            for (n, seat) in row.seats.iter().enumerate() {
                if !name(&seat.id, 64) || known.contains(&seat.id.as_str()) {
                    return invalid(format!("layout.sections[{s}].rows[{r}].seats[{n}].id"));
                }
                known.push(&seat.id);
                if seat.tier >= 64 {
                    return invalid(format!("layout.sections[{s}].rows[{r}].seats[{n}].tier"));
                }
            }
        }
    }
    for (n, area) in layout.areas.iter().enumerate() {
        if !name(&area.id, 64) || known.contains(&area.id.as_str()) {
            return invalid(format!("layout.areas[{n}].id"));
        }
        known.push(&area.id);
        if area.capacity < 1 || area.capacity > 100_000 {
            return invalid(format!("layout.areas[{n}].capacity"));
        }
    }
    if known.is_empty() { invalid("layout") } else { Ok(()) }
}

pub(super) fn tiers(details: &EventDetails, layout: &Layout) -> Result<(), Refusal> {
    let of_seats =
        layout.sections.iter().flat_map(|s| &s.rows).flat_map(|row| &row.seats).map(|seat| seat.tier);
    let most = of_seats.chain(layout.areas.iter().map(|area| area.tier)).max();
    if most.is_some_and(|tier| usize::from(tier) >= details.tiers.len()) { invalid("tiers") } else { Ok(()) }
}

/// What is wrong with a command whatever the state of the event: it is refused first and records nothing.
pub(super) fn shape(command: &EventCommand) -> Result<(), Refusal> {
    if let EventCommand::PlaceHold(hold) = command {
        place_hold(hold)?;
    } else if let EventCommand::ExtendHold(extend) = command {
        if extend.extension_ms.is_some_and(|ms| !(1_000..=900_000).contains(&ms)) {
            return invalid("extension_ms");
        }
    } else if let EventCommand::GrowHold(grow) = command {
        grow_hold(grow)?;
    } else if let EventCommand::DropSeats(drop) = command {
        if drop.seats.is_empty() && drop.areas.is_empty() {
            return invalid("dropped.seats");
        }
        if let Some(n) = repeated(&drop.seats) {
            return invalid(format!("dropped.seats[{n}]"));
        }
        areas(&drop.areas, "dropped.areas")?;
    } else if let EventCommand::OverrideHold(staff) = command {
        override_hold(staff)?;
    } else if let EventCommand::RefundOrder(refund) = command {
        if let Some(n) = repeated(&refund.seats) {
            return invalid(format!("seats[{n}]"));
        }
        areas(&refund.areas, "areas")?;
        reason(&refund.reason)?;
    } else if let EventCommand::BlockSeats(block) = command {
        reason(&block.reason)?;
        named(&block.seats, &block.areas)?;
    } else if let EventCommand::UnblockSeats(unblock) = command {
        named(&unblock.seats, &unblock.areas)?;
    } else if let EventCommand::AdoptChart(chart) = command {
        layout(&chart.layout)?;
    }
    Ok(())
}

fn override_hold(staff: &OverrideHold) -> Result<(), Refusal> {
    let length = staff.to.as_ref().and_then(|(_, ms)| *ms);
    if length.is_some_and(|ms| !(30_000..=900_000).contains(&ms)) {
        return invalid("hold_ms");
    }
    reason(&staff.reason)
}

fn place_hold(hold: &PlaceHold) -> Result<(), Refusal> {
    let asked = match &hold.pick {
        Pick::Seats(seats) => {
            if let Some(n) = repeated(seats) {
                return invalid(format!("seats[{n}]"));
            }
            seats.len() as u64
        }
        Pick::Best(wish) if wish.count < 1 || wish.count > 20 => return invalid("pick.count"),
        Pick::Best(wish) => u64::from(wish.count),
    };
    for (n, line) in hold.areas.iter().enumerate() {
        if line.count < 1 || line.count > 20 {
            return invalid(format!("areas[{n}].count"));
        }
        if hold.areas[..n].iter().any(|before| before.area == line.area) {
            return invalid(format!("areas[{n}].area"));
        }
    }
    let asked = asked + hold.areas.iter().map(|line| u64::from(line.count)).sum::<u64>();
    if !(1..=20).contains(&asked) {
        return invalid("seats");
    }
    if hold.hold_ms.is_some_and(|ms| !(30_000..=900_000).contains(&ms)) {
        return invalid("hold_ms");
    }
    Ok(())
}

fn grow_hold(grow: &GrowHold) -> Result<(), Refusal> {
    if grow.seats.is_empty() && grow.areas.is_empty() {
        return invalid("added.seats");
    }
    if let Some(n) = repeated(&grow.seats) {
        return invalid(format!("added.seats[{n}]"));
    }
    if let Some(n) = grow.areas.iter().position(|line| line.count > 20) {
        // What comes before it may be wrong in another way.
        areas(&grow.areas[..n], "added.areas")?;
        return invalid(format!("added.areas[{n}]"));
    }
    areas(&grow.areas, "added.areas")
}

fn reason(text: &str) -> Result<(), Refusal> {
    if name(text, 200) { Ok(()) } else { invalid("reason") }
}

fn named(seats: &[u32], places: &[AreaCount]) -> Result<(), Refusal> {
    if seats.is_empty() && places.is_empty() { invalid("seats") } else { areas(places, "areas") }
}

/// The index of the first repetition.
pub(super) fn repeated(seats: &[u32]) -> Option<usize> {
    (0..seats.len()).find(|n| seats[..*n].contains(&seats[*n]))
}

/// Each area once, with at least one place.
pub(super) fn areas(areas: &[AreaCount], field: &str) -> Result<(), Refusal> {
    for (n, line) in areas.iter().enumerate() {
        if line.count == 0 || areas[..n].iter().any(|before| before.area == line.area) {
            return invalid(format!("{field}[{n}]"));
        }
    }
    Ok(())
}

/// The steps staff may take in an event's life.
pub(super) fn may_become(from: EventStatus, to: EventStatus) -> bool {
    use EventStatus::{Cancelled, Closed, Completed, Draft, OnSale, Postponed, Scheduled};
    let allowed: &[EventStatus] = match from {
        Draft => &[Scheduled, OnSale, Cancelled],
        Scheduled => &[Draft, OnSale, Postponed, Cancelled],
        OnSale => &[Closed, Postponed, Cancelled],
        Closed => &[OnSale, Completed, Postponed, Cancelled],
        Postponed => &[Scheduled, OnSale, Cancelled],
        Completed | Cancelled => &[],
    };
    allowed.contains(&to)
}

/// As far as anybody here says anything.
pub(super) fn about(about: &About) -> Result<(), Refusal> {
    if about.external_id.as_ref().is_some_and(|id| !name(id, 255)) {
        return invalid("external_id");
    }
    if about.metadata.as_ref().is_some_and(|text| text.len() > 2_048) {
        return invalid("metadata");
    }
    let country = about.card.as_ref().and_then(|card| card.country.as_ref());
    let is_code = |code: &String| code.len() == 2 && code.chars().all(|one| one.is_ascii_uppercase());
    if country.is_some_and(|code| !is_code(code)) {
        return invalid("card.country");
    }
    Ok(())
}

//! An event's details as fields: of its facts, and of the listing's meta hash, where everybody finds them.

use onsale_domain::event::{EventDetails, SaleRules, Tier};
use onsale_domain::money::Currency;

use super::facts::read_venue;
use crate::facts::{Fields, Malformed, flag};

pub(super) fn encode(details: &EventDetails, fields: &mut Fields) {
    let optional = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
    fields.push("name", &details.name);
    fields.push("description", &details.description);
    fields.push("venue", details.venue.map_or(String::new(), |venue| venue.to_string()));
    fields.push("starts_at", details.starts_at.to_string());
    fields.push("ends_at", details.ends_at.to_string());
    fields.push("sale_opens_at", optional(details.sale_opens_at));
    fields.push("sale_closes_at", optional(details.sale_closes_at));
    fields.push("time_zone", &details.time_zone);
    fields.push("currency", details.currency.as_str());
    // A tier's name has no control characters, so a line is a tier.
    let tiers = details.tiers.iter().map(|tier| format!("{} {}", tier.price_minor, tier.name));
    fields.push("tiers", tiers.collect::<Vec<_>>().join("\n"));
    fields.push("hold_ms", details.rules.hold_ms.to_string());
    fields.push("extension_ms", optional(details.rules.extension_ms));
    fields.push("extensions_max", details.rules.extensions_max.to_string());
    fields.push("buyer_limit", details.rules.buyer_limit.to_string());
    fields.push("refuse_single_seats", flag(details.rules.refuse_single_seats));
}

pub(super) fn decode(fields: &Fields) -> Result<EventDetails, Malformed> {
    let tier = |line: &str| {
        let (price, name) = line.split_once(' ').ok_or_else(|| Malformed::of("tiers"))?;
        let price_minor = price.parse().map_err(|_| Malformed::of("tiers"))?;
        Ok(Tier { name: name.to_owned(), price_minor })
    };
    Ok(EventDetails {
        name: fields.text("name")?.to_owned(),
        description: fields.text("description")?.to_owned(),
        venue: read_venue(fields)?,
        starts_at: fields.number("starts_at")?,
        ends_at: fields.number("ends_at")?,
        sale_opens_at: fields.number_or_none("sale_opens_at")?,
        sale_closes_at: fields.number_or_none("sale_closes_at")?,
        time_zone: fields.text("time_zone")?.to_owned(),
        currency: Currency::parse(fields.text("currency")?).ok_or_else(|| Malformed::of("currency"))?,
        tiers: fields.text("tiers")?.split('\n').map(tier).collect::<Result<_, _>>()?,
        rules: SaleRules {
            hold_ms: fields.number("hold_ms")?,
            extension_ms: fields.number_or_none("extension_ms")?,
            extensions_max: fields.number("extensions_max")?,
            buyer_limit: fields.number("buyer_limit")?,
            refuse_single_seats: fields.flag("refuse_single_seats")?,
        },
    })
}

//! What the outside calls the fields that a refusal of the domain names: whole seconds, flattened rules, the body's own words.

use onsale_domain::field::{Field, FieldPath};

/// The field as the body, header or parameter that is wrong calls it.
pub fn name(path: &FieldPath) -> String {
    path.called(wire_name(path.field))
}

/// One name for every field, with as many lists in it.
fn wire_name(field: Field) -> &'static str {
    match field {
        // The body counts in seconds.
        Field::HoldMs | Field::RulesHoldMs => "hold_seconds",
        Field::ExtensionMs => "extend_seconds",
        Field::RulesExtensionMs => "extension_seconds",
        Field::CheckoutMs | Field::RulesCheckoutMs => "checkout_seconds",
        Field::CutOffMs => "cut_off_seconds",
        Field::TemplateLengthMs => "length_seconds",
        // The body has no room of its own for these.
        Field::RulesExtensionsMax => "extensions_max",
        Field::RulesBuyerLimit => "buyer_limit",
        Field::TemplateItems => "items",
        Field::ItemName => "items[].name",
        Field::ItemPriceMinor => "items[].price_minor",
        Field::ItemStock => "items[].stock",
        Field::ItemPicture => "items[].picture",
        // The body has another word.
        Field::PickCount => "best_available.count",
        Field::AddedSeats => "add_seats",
        Field::AddedSeat => "add_seats[]",
        Field::AddedArea => "add_areas[]",
        Field::DroppedSeats => "drop_seats",
        Field::DroppedSeat => "drop_seats[]",
        Field::DroppedArea => "drop_areas[]",
        Field::ScheduleLine => "schedule.cron",
        Field::RegistrationEvent => "event",
        Field::RegistrationVenue => "venue",
        // The body says it as the domain does.
        Field::Name
        | Field::ExternalId
        | Field::Metadata
        | Field::CardCategory
        | Field::CardTags
        | Field::CardTag
        | Field::CardCity
        | Field::CardCountry
        | Field::CardLatitude
        | Field::CardLongitude
        | Field::CardPicture
        | Field::CardOrganiser
        | Field::TimeZone
        | Field::Description
        | Field::StartsAt
        | Field::EndsAt
        | Field::Status
        | Field::Reason
        | Field::PriceMinor
        | Field::AmountMinor
        | Field::SaleOpensAt
        | Field::SaleClosesAt
        | Field::Tiers
        | Field::TierName
        | Field::TierPriceMinor
        | Field::VenuePlace
        | Field::Layout
        | Field::Sections
        | Field::SectionName
        | Field::RowLabel
        | Field::RowSeats
        | Field::SeatId
        | Field::SeatLabel
        | Field::SeatTier
        | Field::LayoutAreas
        | Field::AreaId
        | Field::AreaLabel
        | Field::AreaSection
        | Field::AreaCapacity
        | Field::AreaTier
        | Field::Seats
        | Field::Seat
        | Field::Area
        | Field::AreaName
        | Field::AreaCount
        | Field::Skus
        | Field::SkuId
        | Field::SkuName
        | Field::SkuPriceMinor
        | Field::SkuStock
        | Field::SkuPicture
        | Field::StockCount
        | Field::Lines
        | Field::Line
        | Field::LineCount
        | Field::LinePriceMinor
        | Field::From
        | Field::ScheduleZone
        | Field::OpensAt
        | Field::Capacity
        | Field::StartMinor
        | Field::ReserveMinor
        | Field::TickMinor
        | Field::BuyNowPriceMinor
        | Field::Increment
        | Field::RungFromMinor
        | Field::RungStepMinor
        | Field::SoftCloseWindowMs
        | Field::SoftCloseExtensionsMs
        | Field::SoftCloseCapMs
        | Field::MaxMinor => field.as_str(),
        // No body has them: the server itself fills them in.
        Field::Slot
        | Field::Skipped
        | Field::SkippedSlot
        | Field::PayUntil
        | Field::Fees
        | Field::FeesShare
        | Field::Slips
        | Field::WebhookEvent
        | Field::ActionUrl
        | Field::Reference => field.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Those that no body has.
    const INNER: [Field; 10] = [
        Field::Slot,
        Field::Skipped,
        Field::SkippedSlot,
        Field::PayUntil,
        Field::Fees,
        Field::FeesShare,
        Field::Slips,
        Field::WebhookEvent,
        Field::ActionUrl,
        Field::Reference,
    ];

    /// Every name that some body in the document has.
    fn properties(value: &Value, found: &mut BTreeSet<String>) {
        if let Some(named) = value.get("properties").and_then(Value::as_object) {
            found.extend(named.keys().cloned());
        }
        match value {
            Value::Object(fields) => fields.values().for_each(|value| properties(value, found)),
            Value::Array(values) => values.iter().for_each(|value| properties(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_field_that_a_refusal_can_name_is_a_field_of_some_body() {
        let document = crate::http::document::document();
        let mut known = BTreeSet::new();
        properties(document, &mut known);
        for field in Field::ALL {
            let wire = wire_name(*field);
            let lists = |name: &str| name.matches("[]").count();
            assert_eq!(lists(wire), lists(field.as_str()), "{wire} for {}", field.as_str());
            let words = wire.split('.').map(|word| word.trim_end_matches("[]"));
            let missing: Vec<&str> = words.filter(|word| !known.contains(*word)).collect();
            assert!(missing.is_empty() || INNER.contains(field), "no body has {missing:?} of {wire}");
        }
    }

    #[test]
    fn the_outside_hears_of_seconds_and_of_its_own_words() {
        let told = |path: FieldPath| name(&path);
        assert_eq!(told(Field::HoldMs.into()), "hold_seconds");
        assert_eq!(told(Field::RulesExtensionMs.into()), "extension_seconds");
        assert_eq!(told(Field::DroppedArea.at(&[3])), "drop_areas[3]");
        assert_eq!(told(Field::ItemStock.at(&[12])), "items[12].stock");
        assert_eq!(told(Field::SeatId.at(&[1, 2, 3])), "layout.sections[1].rows[2].seats[3].id");
    }
}

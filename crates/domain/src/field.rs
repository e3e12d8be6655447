//! The fields that a refusal can name, as the domain calls them: whole milliseconds where the outside may say seconds, a
//! place in a list by its number. The edge has a name of its own for each, and shows no other.

use std::fmt;

/// Lists inside lists that lead to a field: sections, rows, seats.
const DEPTH_MAX: usize = 3;

macro_rules! fields {
    ($($name:ident = $text:literal;)*) => {
        /// A field of a command; `[]` in its text stands for a place in a list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Field { $($name,)* }

        impl Field {
            pub const ALL: &[Field] = &[$(Field::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Field::$name => $text,)* }
            }
        }
    };
}

fields! {
    // Of several kinds.
    Name = "name";
    Description = "description";
    StartsAt = "starts_at";
    EndsAt = "ends_at";
    Status = "status";
    Reason = "reason";
    PriceMinor = "price_minor";
    AmountMinor = "amount_minor";
    CheckoutMs = "checkout_ms";
    RulesBuyerLimit = "rules.buyer_limit";
    ExternalId = "external_id";
    Metadata = "metadata";
    CardCategory = "card.category";
    CardTags = "card.tags";
    CardTag = "card.tags[]";
    CardCity = "card.city";
    CardCountry = "card.country";
    CardLatitude = "card.coordinates.latitude";
    CardLongitude = "card.coordinates.longitude";
    CardPicture = "card.picture";
    CardOrganiser = "card.organiser";
    TimeZone = "time_zone";

    // Events and venues.
    SaleOpensAt = "sale_opens_at";
    SaleClosesAt = "sale_closes_at";
    Tiers = "tiers";
    TierName = "tiers[].name";
    TierPriceMinor = "tiers[].price_minor";
    RulesHoldMs = "rules.hold_ms";
    RulesExtensionMs = "rules.extension_ms";
    RulesExtensionsMax = "rules.extensions_max";
    VenuePlace = "place";
    Layout = "layout";
    Sections = "layout.sections";
    SectionName = "layout.sections[].name";
    RowLabel = "layout.sections[].rows[].label";
    RowSeats = "layout.sections[].rows[].seats";
    SeatId = "layout.sections[].rows[].seats[].id";
    SeatLabel = "layout.sections[].rows[].seats[].label";
    SeatTier = "layout.sections[].rows[].seats[].tier";
    LayoutAreas = "layout.areas";
    AreaId = "layout.areas[].id";
    AreaLabel = "layout.areas[].label";
    AreaSection = "layout.areas[].section";
    AreaCapacity = "layout.areas[].capacity";
    AreaTier = "layout.areas[].tier";

    // Holds.
    Seats = "seats";
    Seat = "seats[]";
    Area = "areas[]";
    AreaName = "areas[].area";
    AreaCount = "areas[].count";
    PickCount = "pick.count";
    HoldMs = "hold_ms";
    ExtensionMs = "extension_ms";
    AddedSeats = "added.seats";
    AddedSeat = "added.seats[]";
    AddedArea = "added.areas[]";
    DroppedSeats = "dropped.seats";
    DroppedSeat = "dropped.seats[]";
    DroppedArea = "dropped.areas[]";

    // Sales and series.
    RulesCheckoutMs = "rules.checkout_ms";
    Skus = "skus";
    SkuId = "skus[].id";
    SkuName = "skus[].name";
    SkuPriceMinor = "skus[].price_minor";
    SkuStock = "skus[].stock";
    SkuPicture = "skus[].picture";
    StockCount = "count";
    Lines = "lines";
    Line = "lines[]";
    LineCount = "lines[].count";
    LinePriceMinor = "lines[].price_minor";
    From = "from";
    ScheduleZone = "schedule.zone";
    ScheduleLine = "schedule.line";
    TemplateLengthMs = "template.length_ms";
    TemplateItems = "template.items";
    ItemName = "template.items[].name";
    ItemPriceMinor = "template.items[].price_minor";
    ItemStock = "template.items[].stock";
    ItemPicture = "template.items[].picture";
    Slot = "slot";
    Skipped = "skipped";
    SkippedSlot = "skipped[]";

    // Registrations.
    OpensAt = "opens_at";
    CutOffMs = "cut_off_ms";
    Capacity = "capacity";
    RegistrationEvent = "registration.event";
    RegistrationVenue = "registration.venue";

    // Auctions.
    StartMinor = "start_minor";
    ReserveMinor = "reserve_minor";
    TickMinor = "tick_minor";
    BuyNowPriceMinor = "buy_now.price_minor";
    Increment = "increment";
    RungFromMinor = "increment[].from_minor";
    RungStepMinor = "increment[].step_minor";
    SoftCloseWindowMs = "soft_close.window_ms";
    SoftCloseExtensionsMs = "soft_close.extensions_ms";
    SoftCloseCapMs = "soft_close.cap_ms";
    MaxMinor = "max_minor";

    // Orders and the desk.
    PayUntil = "pay_until";
    Fees = "fees";
    FeesShare = "fees.share";
    Slips = "slips";
    WebhookEvent = "event";
    ActionUrl = "url";
    Reference = "reference";
}

/// A field, with the numbers of the places in lists that lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPath {
    pub field: Field,
    numbers: [u32; DEPTH_MAX],
}

impl Field {
    /// The field in these places of its lists, the outermost first.
    pub fn at(self, places: &[usize]) -> FieldPath {
        assert_eq!(places.len(), self.as_str().matches("[]").count(), "the lists of {}", self.as_str());
        let mut numbers = [0; DEPTH_MAX];
        for (number, place) in numbers.iter_mut().zip(places) {
            *number = *place as u32;
        }
        FieldPath { field: self, numbers }
    }
}

impl From<Field> for FieldPath {
    fn from(field: Field) -> FieldPath {
        field.at(&[])
    }
}

impl FieldPath {
    /// The same place under another name with as many lists.
    pub fn called(&self, name: &str) -> String {
        let mut parts = name.split("[]");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for (part, number) in parts.zip(self.numbers) {
            text.push_str(&format!("[{number}]{part}"));
        }
        text
    }

    /// Reads what `Display` wrote.
    pub fn parse(text: &str) -> Option<FieldPath> {
        let (mut name, mut places) = (String::new(), Vec::new());
        let mut parts = text.split('[');
        name.push_str(parts.next()?);
        for part in parts {
            let (number, rest) = part.split_once(']')?;
            places.push(number.parse().ok()?);
            name.push_str("[]");
            name.push_str(rest);
        }
        let field = Field::ALL.iter().find(|field| field.as_str() == name)?;
        Some(field.at(&places))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.called(self.field.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_name_of_its_own_and_reads_back_with_its_numbers() {
        for (n, field) in Field::ALL.iter().enumerate() {
            let same = Field::ALL[..n].iter().find(|other| other.as_str() == field.as_str());
            assert_eq!(same, None, "{} is two fields", field.as_str());
            let depth = field.as_str().matches("[]").count();
            let path = field.at(&[7, 0, 12][..depth]);
            assert_eq!(FieldPath::parse(&path.to_string()), Some(path));
        }
        assert_eq!(Field::SeatId.at(&[1, 2, 3]).to_string(), "layout.sections[1].rows[2].seats[3].id");
        assert_eq!(Field::HoldMs.at(&[]).called("hold_seconds"), "hold_seconds");
        for wrong in ["", "hold_seconds", "seats[", "seats[]", "seats[x]", "areas[1].count[2]", "areas.count"]
        {
            assert_eq!(FieldPath::parse(wrong), None, "{wrong}");
        }
    }
}

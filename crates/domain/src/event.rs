//! What an event is, apart from its seats: details, price tiers, rules of its sale, and its life.

use minicbor::{Decode, Encode};

use crate::field::Field;
use crate::fields::{check_description, check_name, check_time};
use crate::id::ListingId;
use crate::layout::is_name;
use crate::limits::{
    BUYER_LIMIT_DEFAULT, BUYER_LIMIT_MAX, EXTENSIONS_DEFAULT, EXTENSIONS_MAX, HOLD_CAP_MS_MIN,
    HOLD_MS_DEFAULT, HOLD_MS_MAX, HOLD_MS_MIN, TIERS_MAX, TIME_ZONE_CHARS_MAX,
};
use crate::money::{Currency, MINOR_MAX, Minor};
use crate::refusal::Refusal;
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct EventDetails {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub description: String,
    #[n(2)]
    pub venue: Option<ListingId>,
    #[n(3)]
    pub starts_at: Millis,
    #[n(4)]
    pub ends_at: Millis,
    /// The sale window: `scheduled` becomes `on_sale` at its start, `on_sale` becomes `closed` at its end.
    #[n(5)]
    pub sale_opens_at: Option<Millis>,
    #[n(6)]
    pub sale_closes_at: Option<Millis>,
    /// Where its times are read, as the time zone database names it; the edge knows the names.
    #[n(7)]
    pub time_zone: String,
    #[n(8)]
    pub currency: Currency,
    #[n(9)]
    pub tiers: Vec<Tier>,
    #[n(10)]
    pub rules: SaleRules,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Tier {
    #[n(0)]
    pub name: String,
    #[n(1)]
    pub price_minor: Minor,
}

/// How holds of this event behave.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct SaleRules {
    #[n(0)]
    pub hold_ms: Millis,
    /// What one extension adds; the hold's own length unless the event says otherwise.
    #[n(1)]
    pub extension_ms: Option<Millis>,
    #[n(2)]
    pub extensions_max: u8,
    #[n(3)]
    pub buyer_limit: u32,
    /// Whether explicit picks, too, must not leave a single seat.
    #[n(4)]
    pub refuse_single_seats: bool,
}

impl Default for SaleRules {
    fn default() -> Self {
        SaleRules {
            hold_ms: HOLD_MS_DEFAULT,
            extension_ms: None,
            extensions_max: EXTENSIONS_DEFAULT,
            buyer_limit: BUYER_LIMIT_DEFAULT,
            refuse_single_seats: false,
        }
    }
}

impl SaleRules {
    /// No extension carries a hold of this length past `placed + cap`.
    pub fn cap_ms(length_ms: Millis) -> Millis {
        HOLD_CAP_MS_MIN.max(2 * length_ms)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum EventStatus {
    #[n(0)]
    Draft,
    #[n(1)]
    Scheduled,
    #[n(2)]
    OnSale,
    #[n(3)]
    Closed,
    #[n(4)]
    Completed,
    #[n(5)]
    Cancelled,
    #[n(6)]
    Postponed,
}

impl EventStatus {
    pub const ALL: [EventStatus; 7] = [
        EventStatus::Draft,
        EventStatus::Scheduled,
        EventStatus::OnSale,
        EventStatus::Closed,
        EventStatus::Completed,
        EventStatus::Cancelled,
        EventStatus::Postponed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            EventStatus::Draft => "draft",
            EventStatus::Scheduled => "scheduled",
            EventStatus::OnSale => "on_sale",
            EventStatus::Closed => "closed",
            EventStatus::Completed => "completed",
            EventStatus::Cancelled => "cancelled",
            EventStatus::Postponed => "postponed",
        }
    }

    /// Whether staff may take this step. `completed` and `cancelled` are final; a closed sale may reopen.
    pub fn may_become(self, next: EventStatus) -> bool {
        use EventStatus::{Cancelled, Closed, Completed, Draft, OnSale, Postponed, Scheduled};
        match self {
            Draft => matches!(next, Scheduled | OnSale | Cancelled),
            Scheduled => matches!(next, Draft | OnSale | Postponed | Cancelled),
            OnSale => matches!(next, Closed | Postponed | Cancelled),
            Closed => matches!(next, OnSale | Completed | Postponed | Cancelled),
            Postponed => matches!(next, Scheduled | OnSale | Cancelled),
            Completed | Cancelled => false,
        }
    }
}

impl EventDetails {
    /// When the sale closes by itself: at the end of its window, at the latest at the event's end.
    pub fn sale_ends_at(&self) -> Millis {
        self.sale_closes_at.map_or(self.ends_at, |closes| closes.min(self.ends_at))
    }

    /// Refuses details that break a bound, naming the field.
    pub fn check(&self) -> Result<(), Refusal> {
        let invalid = |field: Field, why: &str| Err(Refusal::invalid(field, why));
        check_name(Field::Name, &self.name)?;
        check_description(&self.description)?;
        let times = [
            (Field::StartsAt, Some(self.starts_at)),
            (Field::EndsAt, Some(self.ends_at)),
            (Field::SaleOpensAt, self.sale_opens_at),
            (Field::SaleClosesAt, self.sale_closes_at),
        ];
        for (field, time) in times {
            time.map_or(Ok(()), |time| check_time(field, time))?;
        }
        if self.ends_at <= self.starts_at {
            return invalid(Field::EndsAt, "after starts_at");
        }
        if let (Some(opens), Some(closes)) = (self.sale_opens_at, self.sale_closes_at)
            && closes <= opens
        {
            return invalid(Field::SaleClosesAt, "after sale_opens_at");
        }
        if !is_zone(&self.time_zone) {
            return invalid(Field::TimeZone, "the name of a time zone, such as Europe/Berlin");
        }
        if self.tiers.is_empty() || self.tiers.len() > TIERS_MAX {
            return invalid(Field::Tiers, "1 to 64 tiers");
        }
        for (n, tier) in self.tiers.iter().enumerate() {
            if !is_name(&tier.name) {
                return Err(Refusal::invalid(
                    Field::TierName.at(&[n]),
                    "1–200 characters without control characters",
                ));
            }
            if !(0..=MINOR_MAX).contains(&tier.price_minor) {
                return Err(Refusal::invalid(
                    Field::TierPriceMinor.at(&[n]),
                    "0 to 1,000,000,000,000 minor units",
                ));
            }
        }
        let rules = &self.rules;
        if !(HOLD_MS_MIN..=HOLD_MS_MAX).contains(&rules.hold_ms) {
            return invalid(Field::RulesHoldMs, "30 to 900 seconds");
        }
        if rules.extension_ms.is_some_and(|ms| !(1_000..=HOLD_MS_MAX).contains(&ms)) {
            return invalid(Field::RulesExtensionMs, "1 to 900 seconds");
        }
        if rules.extensions_max > EXTENSIONS_MAX {
            return invalid(Field::RulesExtensionsMax, "0 to 10");
        }
        if !(1..=BUYER_LIMIT_MAX).contains(&rules.buyer_limit) {
            return invalid(Field::RulesBuyerLimit, "1 to 50");
        }
        Ok(())
    }
}

/// What any name of a zone looks like.
fn is_zone(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    (1..=TIME_ZONE_CHARS_MAX).contains(&name.len()) && name.bytes().all(is_part)
}

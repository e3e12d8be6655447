//! The rules' bounds in the schemas of what is asked for, each taken from the constant that the rules check. What is
//! answered has none: a client should not refuse what a later server may say.

use onsale_access::accounts::{PREFERRED_CHARS_MAX, PREFERRED_PRICE_MAX, PREFERRED_WORDS_MAX};
use onsale_access::email::EMAIL_BYTES_MAX;
use onsale_access::passwords::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};
use onsale_domain::auction::limits as of_auctions;
use onsale_domain::limits::*;
use onsale_domain::money::MINOR_MAX;
use serde_json::{Map, Value, json};

use crate::http::people::wire as of_people;

#[derive(Clone, Copy, Debug)]
enum Bound {
    /// Characters, at least and at most.
    Text(usize, usize),
    Number(i64, i64),
    /// Things in a list, at least and at most.
    List(usize, usize),
    /// Each thing in a list.
    Each(&'static Bound),
    /// Of a value that may be one of several kinds, those of each.
    OneOf(&'static [Bound]),
    Currency,
    Country,
}

use Bound::{Country, Currency, Each, List, Number, OneOf, Text};

const NAME: Bound = Text(1, NAME_CHARS_MAX);
/// What people read may be empty.
const LABEL: Bound = Text(0, NAME_CHARS_MAX);
const DESCRIPTION: Bound = Text(0, DESCRIPTION_CHARS_MAX);
const REASON: Bound = Text(1, REASON_CHARS_MAX);
const BUYER: Bound = Text(1, BUYER_CHARS_MAX);
const EXTERNAL_ID: Bound = Text(1, EXTERNAL_ID_CHARS_MAX);
const CARD: Bound = Text(1, CARD_CHARS_MAX);
const SEAT: Bound = Text(1, SEAT_ID_CHARS_MAX);
const EACH_SEAT: Bound = Each(&SEAT);
const SKU: Bound = Text(1, SKU_ID_CHARS_MAX);
const PRICE: Bound = Number(0, MINOR_MAX);
const AMOUNT: Bound = Number(1, MINOR_MAX);
const TIER: Bound = Number(0, TIERS_MAX as i64 - 1);
const STOCK: Bound = Number(0, STOCK_MAX as i64);
const PLACES: Bound = Number(1, AREA_CAPACITY_MAX as i64);
const HOLD_SECONDS: Bound = Number(HOLD_MS_MIN / 1_000, HOLD_MS_MAX / 1_000);
const EXTENSION_SECONDS: Bound = Number(1, HOLD_MS_MAX / 1_000);
const CHECKOUT_SECONDS: Bound = Number(CHECKOUT_MS_MIN / 1_000, CHECKOUT_MS_MAX / 1_000);
const LENGTH_SECONDS: Bound = Number(SLOT_LENGTH_MS_MIN / 1_000, SLOT_LENGTH_MS_MAX / 1_000);
const CUT_OFF_SECONDS: Bound = Number(0, CUT_OFF_MS_MAX / 1_000);
const SEATS_LIMIT: Bound = Number(1, BUYER_LIMIT_MAX as i64);
/// In bytes, and a character has at least one.
const PICTURE: Bound = Text(1, PICTURE_SVG_BYTES_MAX);
const HOLD_LIST: Bound = List(0, HOLD_PLACES_MAX as usize);
const INCREMENT: Bound = OneOf(&[AMOUNT, List(1, of_auctions::RUNGS_MAX)]);
const ACCESS_NAME: Bound = Text(1, onsale_access::refusal::NAME_CHARS_MAX);
/// Every id of a listing is shorter.
const LISTING: Bound = Text(1, 40);
const UNITS: Bound = Number(1, UNITS_PER_BUYER_MAX as i64);

const EMAIL: Bound = Text(3, EMAIL_BYTES_MAX);
const NEW_PASSWORD: Bound = Text(PASSWORD_CHARS_MIN, PASSWORD_CHARS_MAX);
const PASSWORD: Bound = Text(1, PASSWORD_CHARS_MAX);
const TOKEN: Bound = Text(1, of_people::TOKEN_CHARS_MAX);
const DEVICE_TYPE: Bound = Text(0, of_people::DEVICE_TYPE_CHARS_MAX);
const DEVICE_NAME: Bound = Text(0, of_people::DEVICE_NAME_CHARS_MAX);
const PREFERRED: Bound = List(0, PREFERRED_WORDS_MAX);
const EACH_PREFERRED: Bound = Each(&Text(1, PREFERRED_CHARS_MAX));
const PREFERRED_PRICE: Bound = Number(0, PREFERRED_PRICE_MAX);

/// Instead of a field: the schema is no object, and the bound is its own.
const ITSELF: &str = "";

/// What is asked for, field by field: schema, its field, the bound.
const BOUNDS: &[(&str, &str, Bound)] = &[
    ("NewVenue", "name", NAME),
    ("NewVenue", "place", LABEL),
    ("Layout", "sections", List(0, SECTIONS_MAX)),
    ("Layout", "areas", List(0, AREAS_MAX)),
    ("LayoutSection", "name", NAME),
    ("LayoutSection", "rows", List(0, ROWS_MAX)),
    ("LayoutRow", "label", LABEL),
    ("LayoutRow", "seats", List(0, ROW_SEATS_MAX)),
    ("LayoutSeat", "id", SEAT),
    ("LayoutSeat", "label", LABEL),
    ("LayoutSeat", "tier", TIER),
    ("LayoutArea", "id", SEAT),
    ("LayoutArea", "label", LABEL),
    ("LayoutArea", "section", LABEL),
    ("LayoutArea", "tier", TIER),
    ("LayoutArea", "capacity", PLACES),
    ("NewEvent", "name", NAME),
    ("NewEvent", "description", DESCRIPTION),
    ("NewEvent", "currency", Currency),
    ("NewEvent", "tiers", List(1, TIERS_MAX)),
    ("NewEvent", "hold_seconds", HOLD_SECONDS),
    ("NewEvent", "extension_seconds", EXTENSION_SECONDS),
    ("NewEvent", "extensions_max", Number(0, EXTENSIONS_MAX as i64)),
    ("NewEvent", "buyer_limit", SEATS_LIMIT),
    ("EventChange", "name", NAME),
    ("EventChange", "description", DESCRIPTION),
    ("EventChange", "tiers", List(1, TIERS_MAX)),
    ("EventChange", "hold_seconds", HOLD_SECONDS),
    ("EventChange", "extension_seconds", EXTENSION_SECONDS),
    ("EventChange", "extensions_max", Number(0, EXTENSIONS_MAX as i64)),
    ("EventChange", "buyer_limit", SEATS_LIMIT),
    ("Tier", "name", NAME),
    ("Tier", "price_minor", PRICE),
    ("NewHold", "seats", HOLD_LIST),
    ("NewHold", "seats", EACH_SEAT),
    ("NewHold", "areas", HOLD_LIST),
    ("NewHold", "hold_seconds", HOLD_SECONDS),
    ("BestAvailable", "count", Number(1, HOLD_PLACES_MAX as i64)),
    ("BestAvailable", "section", NAME),
    ("BestAvailable", "tier", NAME),
    ("AreaPlaces", "area", SEAT),
    ("AreaPlaces", "count", PLACES),
    ("HoldChange", "extend_seconds", EXTENSION_SECONDS),
    ("HoldChange", "add_seats", HOLD_LIST),
    ("HoldChange", "add_seats", EACH_SEAT),
    ("HoldChange", "add_areas", HOLD_LIST),
    ("HoldChange", "drop_seats", HOLD_LIST),
    ("HoldChange", "drop_seats", EACH_SEAT),
    ("HoldChange", "drop_areas", HOLD_LIST),
    ("Block", "areas", List(0, AREAS_MAX)),
    ("Block", "seats", List(0, SEATS_MAX)),
    ("Block", "seats", EACH_SEAT),
    ("Block", "sections", Each(&NAME)),
    ("RowName", "section", NAME),
    ("RowName", "row", LABEL),
    ("Block", "reason", REASON),
    ("Override", "reason", REASON),
    ("OverrideTo", "buyer", BUYER),
    ("OverrideTo", "hold_seconds", HOLD_SECONDS),
    ("NewRefund", "reason", REASON),
    ("NewRefund", "seats", HOLD_LIST),
    ("NewRefund", "seats", EACH_SEAT),
    ("NewRefund", "areas", HOLD_LIST),
    ("NewRefund", "lines", List(0, LINES_MAX)),
    ("NewRefund", "amount_minor", AMOUNT),
    ("NewSale", "name", NAME),
    ("NewSale", "description", DESCRIPTION),
    ("NewSale", "currency", Currency),
    ("NewSale", "skus", List(1, SKUS_MAX)),
    ("NewSale", "buyer_limit", UNITS),
    ("NewSale", "checkout_seconds", CHECKOUT_SECONDS),
    ("SaleChange", "name", NAME),
    ("SaleChange", "description", DESCRIPTION),
    ("SaleChange", "buyer_limit", UNITS),
    ("SaleChange", "checkout_seconds", CHECKOUT_SECONDS),
    ("NewSku", "id", SKU),
    ("NewSku", "name", NAME),
    ("NewSku", "price_minor", PRICE),
    ("NewSku", "stock", STOCK),
    ("NewSku", "picture", PICTURE),
    ("SkuChange", "add", Number(1, STOCK_MAX as i64)),
    ("SkuChange", "withdraw", Number(1, STOCK_MAX as i64)),
    ("SkuChange", "price_minor", PRICE),
    ("NewCheckout", "lines", List(1, LINES_MAX)),
    ("NewCheckout", "checkout_seconds", CHECKOUT_SECONDS),
    ("Line", "sku", SKU),
    ("Line", "count", UNITS),
    ("NewSeries", "name", NAME),
    ("NewSeries", "sale_name", NAME),
    ("NewSeries", "description", DESCRIPTION),
    ("NewSeries", "currency", Currency),
    ("NewSeries", "buyer_limit", UNITS),
    ("NewSeries", "checkout_seconds", CHECKOUT_SECONDS),
    ("NewSeries", "length_seconds", LENGTH_SECONDS),
    ("NewSeries", "items", List(1, ITEMS_MAX)),
    ("SeriesChange", "name", NAME),
    ("SeriesChange", "sale_name", NAME),
    ("SeriesChange", "description", DESCRIPTION),
    ("SeriesChange", "buyer_limit", UNITS),
    ("SeriesChange", "checkout_seconds", CHECKOUT_SECONDS),
    ("SeriesChange", "length_seconds", LENGTH_SECONDS),
    ("SeriesChange", "items", List(1, ITEMS_MAX)),
    ("Item", "name", NAME),
    ("Item", "price_minor", PRICE),
    ("Item", "stock", STOCK),
    ("Item", "picture", PICTURE),
    ("NewRegistration", "name", NAME),
    ("NewRegistration", "description", DESCRIPTION),
    ("NewRegistration", "currency", Currency),
    ("NewRegistration", "cut_off_seconds", CUT_OFF_SECONDS),
    ("NewRegistration", "capacity", Number(1, PLACES_MAX as i64)),
    ("NewRegistration", "price_minor", PRICE),
    ("NewRegistration", "checkout_seconds", CHECKOUT_SECONDS),
    ("RegistrationChange", "name", NAME),
    ("RegistrationChange", "description", DESCRIPTION),
    ("RegistrationChange", "cut_off_seconds", CUT_OFF_SECONDS),
    ("RegistrationChange", "capacity", Number(1, PLACES_MAX as i64)),
    ("RegistrationChange", "price_minor", PRICE),
    ("RegistrationChange", "checkout_seconds", CHECKOUT_SECONDS),
    ("NewAuction", "name", NAME),
    ("NewAuction", "description", DESCRIPTION),
    ("NewAuction", "seller", BUYER),
    ("NewAuction", "currency", Currency),
    ("NewAuction", "start_minor", AMOUNT),
    ("NewAuction", "tick_minor", AMOUNT),
    ("NewAuction", "reserve_minor", AMOUNT),
    ("AuctionChange", "name", NAME),
    ("AuctionChange", "description", DESCRIPTION),
    ("AuctionChange", "start_minor", AMOUNT),
    ("AuctionChange", "tick_minor", AMOUNT),
    ("AuctionChange", "reserve_minor", AMOUNT),
    ("BuyNowTerms", "price_minor", AMOUNT),
    ("Increment", ITSELF, INCREMENT),
    ("LadderStep", "from_minor", PRICE),
    ("LadderStep", "step_minor", AMOUNT),
    ("SoftClose", "window_ms", Number(1, of_auctions::WINDOW_MS_MAX)),
    ("SoftClose", "extensions_ms", List(1, of_auctions::DECAY_MAX)),
    ("SoftClose", "extensions_ms", Each(&Number(1, of_auctions::EXTENSION_MS_MAX))),
    ("SoftClose", "cap_ms", Number(0, of_auctions::CAP_MS_MAX)),
    ("NewBid", "max_minor", AMOUNT),
    ("NewBid", "currency", Currency),
    ("Purchase", "currency", Currency),
    ("Cancellation", "reason", REASON),
    ("Retraction", "bid", Number(1, of_auctions::BIDS_MAX as i64)),
    ("Retraction", "reason", REASON),
    ("Ban", "bidder", BUYER),
    ("Ban", "reason", REASON),
    ("NewVenue", "external_id", EXTERNAL_ID),
    ("NewEvent", "external_id", EXTERNAL_ID),
    ("NewSale", "external_id", EXTERNAL_ID),
    ("NewSeries", "external_id", EXTERNAL_ID),
    ("NewRegistration", "external_id", EXTERNAL_ID),
    ("NewAuction", "external_id", EXTERNAL_ID),
    ("Card", "category", CARD),
    ("Card", "city", CARD),
    ("Card", "organiser", CARD),
    ("Card", "country", Country),
    ("Card", "tags", List(0, CARD_TAGS_MAX)),
    ("Card", "tags", Each(&Text(1, CARD_TAG_CHARS_MAX))),
    ("Card", "picture", Text(9, CARD_URL_CHARS_MAX)),
    ("Coordinates", "latitude", Number(-LATITUDE_MICRO_MAX / 1_000_000, LATITUDE_MICRO_MAX / 1_000_000)),
    ("Coordinates", "longitude", Number(-LONGITUDE_MICRO_MAX / 1_000_000, LONGITUDE_MICRO_MAX / 1_000_000)),
    ("NewAccount", "email", EMAIL),
    ("NewAccount", "password", NEW_PASSWORD),
    ("Verification", "token", TOKEN),
    ("Verification", "password", PASSWORD),
    ("Verification", "device_type", DEVICE_TYPE),
    ("Verification", "device_name", DEVICE_NAME),
    ("SignIn", "email", EMAIL),
    ("SignIn", "password", PASSWORD),
    ("SignIn", "device_type", DEVICE_TYPE),
    ("SignIn", "device_name", DEVICE_NAME),
    ("SignIn", "device_token", TOKEN),
    ("NewGuest", "device_type", DEVICE_TYPE),
    ("NewGuest", "device_name", DEVICE_NAME),
    ("Farewell", "password", PASSWORD),
    ("PasswordChange", "old_password", PASSWORD),
    ("PasswordChange", "new_password", NEW_PASSWORD),
    ("NewPasswordReset", "email", EMAIL),
    ("PasswordReset", "token", TOKEN),
    ("PasswordReset", "new_password", NEW_PASSWORD),
    ("EmailChange", "password", PASSWORD),
    ("EmailChange", "new_email", EMAIL),
    ("EmailConfirmation", "token", TOKEN),
    ("UserSearch", "email", EMAIL),
    ("Preferences", "preferred_categories", PREFERRED),
    ("Preferences", "preferred_categories", EACH_PREFERRED),
    ("Preferences", "preferred_locations", PREFERRED),
    ("Preferences", "preferred_locations", EACH_PREFERRED),
    ("Preferences", "interests", PREFERRED),
    ("Preferences", "interests", EACH_PREFERRED),
    ("Preferences", "price_range_min", PREFERRED_PRICE),
    ("Preferences", "price_range_max", PREFERRED_PRICE),
    ("NewKeyBody", "name", ACCESS_NAME),
    ("NewKeyBody", "scopes", List(1, onsale_access::scope::Scope::ALL.len())),
    ("RotationBody", "overlap_seconds", Number(0, onsale_access::keys::OVERLAP_MS_MAX / 1_000)),
    ("NewBuyerToken", "buyer", BUYER),
    ("NewBuyerToken", "ttl_seconds", Number(1, onsale_access::vouchers::LIFETIME_MS_MAX / 1_000)),
    ("NewBuyerToken", "listings", List(1, onsale_access::vouchers::LISTINGS_MAX)),
    ("NewBuyerToken", "listings", Each(&LISTING)),
    ("NewTenant", "name", ACCESS_NAME),
    ("TenantChange", "name", ACCESS_NAME),
    ("NewEvent", "time_zone", Text(1, TIME_ZONE_CHARS_MAX)),
    ("EventChange", "time_zone", Text(1, TIME_ZONE_CHARS_MAX)),
];

/// Puts every bound into its schema.
pub(super) fn apply(schemas: &mut Map<String, Value>) {
    for (schema, field, bound) in BOUNDS {
        let schema = schemas.get_mut(*schema);
        let found = match *field {
            ITSELF => schema,
            field => schema.and_then(|schema| schema["properties"].get_mut(field)),
        };
        if let Some(found) = found {
            bound.put(found);
        }
    }
}

impl Bound {
    /// The type of what it bounds.
    fn kind(self) -> &'static str {
        match self {
            Text(..) | Currency | Country => "string",
            Number(..) => "integer",
            List(..) | Each(_) => "array",
            OneOf(_) => "",
        }
    }

    fn put(self, field: &mut Value) {
        match self {
            Text(least, most) => {
                if least > 0 {
                    field["minLength"] = json!(least);
                }
                field["maxLength"] = json!(most);
            }
            Number(least, most) => (field["minimum"], field["maximum"]) = (json!(least), json!(most)),
            List(least, most) => {
                if least > 0 {
                    field["minItems"] = json!(least);
                }
                field["maxItems"] = json!(most);
            }
            Each(bound) => bound.put(&mut field["items"]),
            OneOf(bounds) => {
                for choice in field["oneOf"].as_array_mut().into_iter().flatten() {
                    let bound = bounds.iter().find(|bound| choice["type"] == bound.kind());
                    bound.into_iter().for_each(|bound| bound.put(choice));
                }
            }
            // An ISO 4217 code.
            Currency => field["pattern"] = json!("^[A-Z]{3}$"),
            // One of ISO 3166.
            Country => field["pattern"] = json!("^[A-Z]{2}$"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::http::document::document;

    #[test]
    fn a_bound_stands_at_a_field_that_is_there() {
        for (schema, field, bound) in BOUNDS {
            let known = &document()["components"]["schemas"][schema];
            let known = if *field == ITSELF { known } else { &known["properties"][field] };
            assert!(known.is_object(), "{schema}.{field} is not in the document ({bound:?})");
        }
    }

    /// A field without a most would let a generated client send what is always refused.
    #[test]
    fn every_number_that_is_asked_for_has_a_least_and_a_most() {
        let document = document();
        let mut asked = BTreeSet::new();
        for operation in operations(document) {
            asked_for(document, &operation["requestBody"], &mut asked);
        }
        assert!(asked.len() > 30, "{asked:?}");
        for name in asked {
            let fields = document["components"]["schemas"][&name]["properties"].as_object();
            for (field, schema) in fields.into_iter().flatten() {
                let kind = &schema["type"];
                let is_number = kind == "integer"
                    || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("integer")));
                let is_version = field == "layout_version";
                // Where a seat is drawn is as far away as a number may say.
                let is_place = field == "x" || field == "y";
                let has_bounds = schema["minimum"].is_number() && schema["maximum"].is_number();
                assert!(!is_number || is_version || is_place || has_bounds, "{name}.{field}: {schema}");
            }
        }
    }

    fn operations(document: &Value) -> impl Iterator<Item = &Value> {
        let paths = document["paths"].as_object().into_iter().flatten();
        paths
            .flat_map(|(_, methods)| methods.as_object().into_iter().flatten())
            .map(|(_, operation)| operation)
    }

    /// The names of all schemas that a request may have.
    fn asked_for(document: &Value, schema: &Value, found: &mut BTreeSet<String>) {
        match schema {
            Value::Object(fields) => {
                let name =
                    fields.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
                if let Some(name) = name.filter(|name| !found.contains(*name)) {
                    found.insert(name.to_owned());
                    asked_for(document, &document["components"]["schemas"][name], found);
                }
                fields.values().for_each(|value| asked_for(document, value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| asked_for(document, value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

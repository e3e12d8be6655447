//! A fact as everybody may read it: aliases instead of names, no staff's person, no reason that staff wrote about a buyer, and of
//! money only that something happened.

use onsale_domain::{BuyerId, Fact, ListingId};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{Fields, object};
use crate::http::audience::Audience;

/// Fields that name a buyer, wherever they stand.
const NAMES: [&str; 3] = ["buyer", "bidder", "watcher"];
/// Who had the award before: the one kind in which `from` is a person.
const PASSED: (&str, &str) = ("award_passed", "from");

/// Something that only staff is shown: somebody's order or payment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PrivateFactBody {
    /// Something happened to an order. It has a number like every fact, so that whoever counts misses none.
    Private {},
}

/// Its kind, as this reader is told it.
pub(super) fn kind(fact: &Fact, audience: &Audience) -> &'static str {
    match fact {
        Fact::Order(_) if !audience.is_staff() => "private",
        Fact::Order(_)
        | Fact::Venue(_)
        | Fact::Event(_)
        | Fact::Sale(_)
        | Fact::Series(_)
        | Fact::Registration(_)
        | Fact::Auction(_)
        | Fact::Listing(_)
        | Fact::Desk(_) => fact.kind(),
    }
}

/// What is left of a fact's own fields.
pub(super) fn fields(listing: &ListingId, fact: &Fact, mut all: Fields, audience: &Audience) -> Fields {
    if kind(fact, audience) == "private" {
        return object(&PrivateFactBody::Private {});
    }
    for (name, raw) in &mut all {
        let is_person = (fact.kind(), name.as_str()) == PASSED;
        let Ok(mut value) = serde_json::from_str::<Value>(raw.get()) else { continue };
        if rewrite(listing, name, is_person, &mut value, audience)
            && let Ok(written) = serde_json::value::to_raw_value(&value)
        {
            *raw = written;
        }
    }
    // Why a listing was cancelled is said to everybody; all else is between staff and a buyer.
    if let Some(reason) = all.get_mut("reason").filter(|_| !fact.kind().ends_with("_cancelled")) {
        *reason = RawValue::from_string("\"\"".to_owned()).unwrap_or_default();
    }
    all
}

/// Puts aliases in; whether anything was changed.
fn rewrite(listing: &ListingId, name: &str, is_person: bool, value: &mut Value, audience: &Audience) -> bool {
    match value {
        Value::String(text) if is_person || NAMES.contains(&name) => {
            let Some(buyer) = BuyerId::parse(text) else { return false };
            *text = audience.name(listing, &buyer);
            true
        }
        Value::Object(fields) => {
            let mut is_changed = false;
            for (name, value) in fields {
                is_changed |= rewrite(listing, name, false, value, audience);
            }
            is_changed
        }
        Value::Array(values) => {
            let mut is_changed = false;
            for value in values {
                is_changed |= rewrite(listing, name, is_person, value, audience);
            }
            is_changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use onsale_access::principal::Principal;
    use onsale_domain::by::Actor;
    use onsale_domain::{By, ListingKind, Step, Tenant};

    use super::*;
    use crate::http::fact::Teller;
    use crate::token::Tokens;

    /// Everybody who buys, bids or watches in the table of all facts.
    const PEOPLE: [&str; 4] = ["\"ann\"", "\"bob\"", "\"usr_7\"", "\"ext:shop:7\""];

    #[test]
    fn no_fact_of_any_kind_names_anybody_to_a_stranger() {
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
        let tokens = Tokens::new(b"house");
        let stranger = Audience::of(&Arc::new(Principal::nobody(Tenant::DEFAULT)), &tokens);
        let (mut named, by) = (0, By::Staff(Actor::parse("usr_carla").expect("an id")));
        for fact in onsale_tables::facts::all() {
            let facts = vec![fact.clone()];
            let step =
                Step { listing, epoch: 1, first: 5, at: 60_000, key: None, by: Some(by.clone()), facts };
            let told = |audience| {
                Teller { listing, event: None, sale: None, audience }.tell(&step, 5, &fact).to_string()
            };
            let (whole, public) = (told(&Audience::staff()), told(&stranger));
            assert!(whole.contains("staff:usr_carla") && !public.contains("carla"), "{public}");
            named += usize::from(PEOPLE.iter().any(|name| whole.contains(name)));
            // Who sells is no secret.
            let seller = public.replace(r#""seller":"ext:shop:7""#, "");
            assert!(!PEOPLE.iter().any(|name| seller.contains(name)), "{}: {public}", fact.kind());
            if matches!(fact, Fact::Order(_)) {
                assert_eq!(serde_json::from_str::<Value>(&public).expect("JSON")["kind"], "private");
                assert!(!public.contains("minor"), "{public}");
            }
        }
        assert!(named > 20, "the table names people in {named} facts only: nothing was tried");
    }
}

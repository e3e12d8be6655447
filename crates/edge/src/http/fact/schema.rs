//! The schema of facts: one for each kind, and a union in which `kind` says which it is. Made from the types that are
//! written; the document's assembly calls `spread`.

use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::auction::AuctionFactBody;
use super::event::EventFactBody;
use super::listing::ListingFactBody;
use super::order::OrderFactBody;
use super::public::PrivateFactBody;
use super::registration::RegistrationFactBody;
use super::sale::SaleFactBody;
use super::series::SeriesFactBody;
use super::venue::VenueFactBody;

/// What happened. `kind` names it; its other fields follow from that.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Fact)]
pub enum AnyFact<'a> {
    Venue(VenueFactBody<'a>),
    Event(EventFactBody<'a>),
    Sale(SaleFactBody<'a>),
    Series(SeriesFactBody<'a>),
    Registration(RegistrationFactBody<'a>),
    Auction(AuctionFactBody),
    Order(OrderFactBody<'a>),
    Listing(ListingFactBody<'a>),
    Private(PrivateFactBody),
}

/// Takes the union of enums apart: one schema for each kind of fact, with the head that every fact has.
pub fn spread(schemas: &mut Map<String, Value>) {
    let Some(head) = schemas.remove("FactHead") else { return };
    let mut kinds = Map::new();
    for family in variants(&schemas["Fact"]) {
        let Some(name) = referred(&family) else { continue };
        let Some(family) = schemas.remove(name) else { continue };
        for variant in variants(&family) {
            let mut fact = flat(&variant, schemas);
            let Some(kind) = kind_of(&fact) else { continue };
            merge(&mut fact, &head);
            kinds.insert(kind, fact);
        }
    }
    let refer = |kind: &String| format!("#/components/schemas/{}", name_of(kind));
    let union: Vec<Value> = kinds.keys().map(|kind| json!({"$ref": refer(kind)})).collect();
    let mapping: Map<String, Value> = kinds.keys().map(|kind| (kind.clone(), json!(refer(kind)))).collect();
    schemas["Fact"]["oneOf"] = Value::Array(union);
    schemas["Fact"]["discriminator"] = json!({"propertyName": "kind", "mapping": mapping});
    schemas.extend(kinds.into_iter().map(|(kind, fact)| (name_of(&kind), fact)));
}

fn variants(schema: &Value) -> Vec<Value> {
    schema["oneOf"].as_array().cloned().unwrap_or_default()
}

fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The one word that `kind` may be.
fn kind_of(fact: &Value) -> Option<String> {
    let kind = &fact["properties"]["kind"];
    let word = kind["const"].as_str().or_else(|| kind["enum"][0].as_str())?;
    Some(word.to_owned())
}

/// `hold_placed` as `HoldPlacedFact`.
fn name_of(kind: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    kind.split('_').map(capital).chain(["Fact".to_owned()]).collect()
}

/// An object without the parts that it is put together from.
fn flat(schema: &Value, schemas: &Map<String, Value>) -> Value {
    if let Some(name) = referred(schema) {
        return flat(schemas.get(name).unwrap_or(&Value::Null), schemas);
    }
    let mut whole = json!({"type": "object", "properties": {}, "required": []});
    if let Some(about) = schema.get("description") {
        whole["description"] = about.clone();
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        merge(&mut whole, &flat(part, schemas));
    }
    merge(&mut whole, schema);
    whole
}

fn merge(whole: &mut Value, part: &Value) {
    for (name, property) in part["properties"].as_object().into_iter().flatten() {
        whole["properties"][name] = property.clone();
    }
    let required = part["required"].as_array().cloned().unwrap_or_default();
    if let Some(all) = whole["required"].as_array_mut() {
        all.extend(required);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use onsale_domain::desk::DeskFact;
    use onsale_domain::{Fact, ListingId, ListingKind, Step, Tenant};

    use super::*;
    use crate::http::audience::Audience;
    use crate::http::document::document;
    use crate::http::fact::Teller;

    fn schemas() -> &'static Map<String, Value> {
        document()["components"]["schemas"].as_object().expect("schemas")
    }

    #[test]
    fn every_kind_of_fact_that_a_reader_may_see_has_a_schema_of_its_own() {
        let mapping = schemas()["Fact"]["discriminator"]["mapping"].as_object().expect("a mapping");
        let described: BTreeSet<&str> = mapping.keys().map(String::as_str).collect();
        // The desk's log is for the server alone.
        let own = Fact::kinds().filter(|kind| !DeskFact::KINDS.contains(kind));
        let told: BTreeSet<&str> = own.chain(["private"]).collect();
        assert_eq!(described, told);
        for (kind, name) in mapping {
            let name = name.as_str().and_then(|name| name.rsplit('/').next()).expect("a name");
            assert_eq!(kind_of(&schemas()[name]).as_deref(), Some(kind.as_str()));
        }
    }

    #[test]
    fn a_fact_is_told_with_the_fields_of_its_schema_and_no_other() {
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
        let audience = Audience::staff();
        let teller = Teller { listing, event: None, sale: None, audience: &audience };
        for fact in onsale_tables::facts::all() {
            if matches!(fact, Fact::Desk(_)) {
                continue;
            }
            let facts = vec![fact.clone()];
            let step = Step { listing, epoch: 1, first: 5, at: 60_000, key: None, by: None, facts };
            let told = serde_json::to_value(teller.tell(&step, 5, &fact)).expect("JSON");
            assert_eq!(told["kind"], fact.kind());
            let schema = &schemas()[&name_of(fact.kind())];
            let told: BTreeSet<&String> = told.as_object().expect("an object").keys().collect();
            let known: BTreeSet<&String> = schema["properties"].as_object().expect("fields").keys().collect();
            assert!(told.is_subset(&known), "{} tells {:?}", fact.kind(), told.difference(&known));
            let required = schema["required"].as_array().expect("a list").iter();
            let missing: Vec<&Value> =
                required.filter(|name| !told.iter().any(|told| name.as_str() == Some(told))).collect();
            assert!(missing.is_empty(), "{} does not tell {missing:?}", fact.kind());
        }
    }
}

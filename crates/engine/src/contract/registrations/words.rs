//! The words of a table of registrations: commands from text, answers as text.

use onsale_domain::money::Currency;
use onsale_domain::refusal::Detail;
use onsale_domain::registration::command::{
    CancelEntry, ChangeRegistration, ConfirmEntry, CreateRegistration, Register,
};
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::registration::fact::EntryCancelCause;
use onsale_domain::registration::{
    EntryStanding, EntryState, RegistrationCommand, RegistrationFact, RegistrationFound, RegistrationQuery,
};
use onsale_domain::{BuyerId, EntryId, Fact, ListingId, OrderId, Outcome, Refusal};

use super::since_zero;
use crate::contract::lines::number;
use crate::contract::table::ZERO;
use crate::engine::Answer;

/// What the file of tables says of its registration, for nothing until its first line says otherwise.
pub(super) fn create() -> Result<CreateRegistration, String> {
    let details = RegistrationDetails {
        name: "course".into(),
        description: String::new(),
        opens_at: ZERO + 100_000,
        starts_at: ZERO + 300_000_000,
        cut_off_ms: 86_400_000,
        currency: Currency::parse("EUR").ok_or("a currency")?,
        price_minor: 0,
        checkout_ms: 600_000,
        ends_at: None,
        event: None,
        venue: None,
    };
    Ok(CreateRegistration { details, capacity: 2 })
}

fn entry(word: &str) -> Result<EntryId, String> {
    number(word.trim_start_matches('e')).map(EntryId)
}

fn order(word: &str) -> Result<OrderId, String> {
    number(word.trim_start_matches('o')).map(OrderId)
}

fn buyer(word: &str) -> Result<BuyerId, String> {
    BuyerId::parse(word).ok_or_else(|| format!("{word} is no buyer"))
}

pub(super) fn command(verb: &str, words: &[&str]) -> Result<RegistrationCommand, String> {
    Ok(match (verb, words) {
        ("register", [id, who]) => {
            RegistrationCommand::Register(Register { entry: entry(id)?, buyer: buyer(who)? })
        }
        ("confirm", [id, who, by, settled @ ..]) => RegistrationCommand::Confirm(ConfirmEntry {
            entry: entry(id)?,
            buyer: buyer(who)?,
            order: order(by)?,
            settled: settled == ["settled"],
        }),
        ("drop", [id, who]) => {
            RegistrationCommand::CancelEntry(CancelEntry { entry: entry(id)?, buyer: Some(buyer(who)?) })
        }
        ("remove", [id]) => RegistrationCommand::CancelEntry(CancelEntry { entry: entry(id)?, buyer: None }),
        ("capacity", [capacity]) => RegistrationCommand::ChangeCapacity { capacity: number(capacity)? },
        ("price", [price]) => {
            let price_minor = Some(number(price)?);
            let change = ChangeRegistration { price_minor, ..ChangeRegistration::default() };
            RegistrationCommand::Change(Box::new(change))
        }
        ("ends", [at]) => {
            let ends_at = Some(Some(ZERO + number::<i64>(at)? * 1_000));
            let change = ChangeRegistration { ends_at, ..ChangeRegistration::default() };
            RegistrationCommand::Change(Box::new(change))
        }
        ("at", [venue]) => {
            let venue = match *venue {
                "nowhere" => None,
                id => Some(ListingId::parse(id).ok_or_else(|| format!("{id} is no listing"))?),
            };
            let change = ChangeRegistration { venue: Some(venue), ..ChangeRegistration::default() };
            RegistrationCommand::Change(Box::new(change))
        }
        ("cancel_all", []) => RegistrationCommand::Cancel,
        (verb, words) => return Err(format!("cannot say {verb} {words:?}")),
    })
}

pub(super) fn query(verb: &str, words: &[&str]) -> Result<RegistrationQuery, String> {
    Ok(match (verb, words) {
        ("who", []) => RegistrationQuery::Entries { after: 0, limit: 9 },
        ("paid", [by]) => RegistrationQuery::PaidBy(order(by)?),
        (verb, words) => return Err(format!("cannot ask {verb} {words:?}")),
    })
}

pub(super) fn found(found: &RegistrationFound) -> Result<String, String> {
    Ok(match found {
        RegistrationFound::Entries(all) => {
            let all: Vec<_> = all.iter().map(|one| format!("e{} {}", one.entry.0, standing(one))).collect();
            all.join(", ")
        }
        RegistrationFound::Paid(one, price_minor) => {
            format!("e{} of {} for {price_minor}", one.entry.0, one.buyer.as_str())
        }
        RegistrationFound::Nothing => "nothing".into(),
        other @ (RegistrationFound::Entry(_) | RegistrationFound::Ended(_)) => {
            return Err(format!("nobody asked for {other:?}"));
        }
    })
}

fn standing(entry: &EntryState) -> String {
    match entry.standing {
        EntryStanding::Waiting { ahead } => format!("waits behind {ahead}"),
        EntryStanding::Offered { until, price_minor } => {
            format!("offered until {} for {price_minor}", since_zero(until))
        }
        EntryStanding::Confirmed { order: None } => "confirmed".into(),
        EntryStanding::Confirmed { order: Some(order) } => format!("paid by o{}", order.0),
    }
}

/// What lapsed on the way, then the answer.
pub(super) fn told(answer: &Answer) -> String {
    let facts = answer.step().map_or(&[][..], |step| &step.facts);
    let mut parts: Vec<String> = facts.iter().map(fact).collect();
    if let Outcome::AlreadyRegistered(own) = &answer.outcome {
        parts.push(format!("e{} of {} {}", own.entry.0, own.buyer.as_str(), standing(own)));
    } else if let Some(refusal) = answer.outcome.refused() {
        parts.push(refused(refusal));
    } else if answer.outcome != Outcome::Done {
        parts.push(format!("{:?}", answer.outcome).to_lowercase());
    }
    format!("{}{}", if answer.replayed { "(again) " } else { "" }, parts.join(", "))
}

fn refused(refusal: &Refusal) -> String {
    let code = refusal.code.as_str();
    match &refusal.detail {
        Detail::Field { field, .. } => format!("{code} {field}"),
        Detail::Limit { limit, taken } => format!("{code} {taken}/{limit}"),
        Detail::None | Detail::Order(_) | Detail::MinNext(_) => code.to_owned(),
    }
}

fn fact(fact: &Fact) -> String {
    let Fact::Registration(fact) = fact else { return fact.kind().to_owned() };
    match fact {
        RegistrationFact::Created(_) => "created".into(),
        RegistrationFact::Changed(_) => "changed".into(),
        RegistrationFact::StatusChanged { status, by_schedule } => {
            format!("{}{}", status.as_str(), if *by_schedule { "" } else { "!" })
        }
        RegistrationFact::CapacityChanged { capacity } => format!("capacity {capacity}"),
        RegistrationFact::Registered { entry, .. } => format!("e{} registered", entry.0),
        RegistrationFact::Reserved { entry, price_minor, until, .. } => {
            format!("e{} kept until {} for {price_minor}", entry.0, since_zero(*until))
        }
        RegistrationFact::Waitlisted { entry, ahead, .. } => format!("e{} waits behind {ahead}", entry.0),
        RegistrationFact::Promoted { entry, buyer } => format!("e{} of {} promoted", entry.0, buyer.as_str()),
        RegistrationFact::Offered { entry, buyer, price_minor, until } => {
            format!(
                "e{} of {} offered until {} for {price_minor}",
                entry.0,
                buyer.as_str(),
                since_zero(*until)
            )
        }
        RegistrationFact::OfferLapsed { entry, buyer } => {
            format!("e{} of {} lapsed", entry.0, buyer.as_str())
        }
        RegistrationFact::Confirmed { entry, order } => format!("e{} paid by o{}", entry.0, order.0),
        RegistrationFact::EntryCancelled { entry, buyer, why, amount_minor } => {
            let by = if *why == EntryCancelCause::Buyer { "" } else { "!" };
            let back =
                if *amount_minor > 0 { format!(" and {amount_minor} paid back") } else { String::new() };
            format!("e{} of {} cancelled{by}{back}", entry.0, buyer.as_str())
        }
    }
}

//! What a merchant says of a listing, whatever kind it is, in JSON: a name of the merchant's own, metadata, a card. It is told
//! back in every answer; `delete.rs` and the changes of each kind use it, too.

use onsale_domain::about::{About, Card, Coordinates};
use onsale_domain::listing::{Creation, Describe, ListingCommand, ListingFact};
use onsale_domain::{Command, Fact};
use onsale_engine::{Answer, View};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::problem::Problem;
use super::time::Time;
use super::{metadata, reply};

pub use super::metadata::Metadata;

const MICRO: f64 = 1_000_000.0;

/// By what a listing is found and shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = Card)]
pub struct CardBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Music")]
    category: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Lisbon")]
    city: Option<String>,
    /// As ISO 3166 has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "PT")]
    country: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coordinates: Option<CoordinatesBody>,
    /// An address beginning with `https://`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "https://example.org/night.png")]
    picture: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Teatro Velho")]
    organiser: Option<String>,
    /// Whether nobody has to go anywhere.
    #[serde(rename = "virtual")]
    is_virtual: bool,
}

/// In degrees; six decimals are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Coordinates)]
pub struct CoordinatesBody {
    #[schema(example = 38.716667)]
    latitude: f64,
    #[schema(example = -9.139337)]
    longitude: f64,
}

/// What is said of a listing, and when it was made and last changed by anybody or anything.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = About)]
pub struct AboutBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    metadata: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<CardBody>,
    created_at: Time,
    /// The time of the last fact, of whatever kind.
    last_updated: Time,
}

/// What a new listing shall be called, and what shall be said of it.
pub fn asked(external_id: &Option<String>, metadata: &Option<Metadata>, card: &Option<CardBody>) -> About {
    About {
        external_id: external_id.clone(),
        metadata: metadata.as_ref().map(text_of),
        card: card.as_ref().map(CardBody::to_domain),
    }
}

/// The command that makes a listing, with what is said of it.
pub fn with(command: Command, about: About) -> Command {
    if about.is_empty() { command } else { Command::Create(Box::new(Creation { command, about })) }
}

/// The change of what is said, if any of it is asked for. `others`: whether anything else is, too.
pub fn change(
    metadata: &Option<Option<Metadata>>,
    card: &Option<Option<CardBody>>,
    others: bool,
) -> Result<Option<Command>, Problem> {
    let describe = Describe {
        metadata: metadata.as_ref().map(|metadata| metadata.as_ref().map(text_of)),
        card: card.as_ref().map(|card| card.as_ref().map(CardBody::to_domain)),
    };
    if describe == Describe::default() {
        return Ok(None);
    }
    if others {
        let field = if metadata.is_some() { "metadata" } else { "card" };
        let why = "one kind of change at a time: what is said of it (metadata and card), or anything else";
        return Err(Problem::invalid(field, why));
    }
    Ok(Some(Command::Listing(ListingCommand::Describe(Box::new(describe)))))
}

/// Tells `null` from what is not there at all.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

fn text_of(metadata: &Metadata) -> String {
    metadata.text().to_owned()
}

impl AboutBody {
    pub fn of(view: &View) -> AboutBody {
        AboutBody::new(view.about.as_deref(), view.created_at, view.at)
    }

    /// Of a listing that was made by this answer.
    pub fn of_answer(answer: &Answer) -> AboutBody {
        let about = reply::find_fact(answer, |fact| {
            if let Fact::Listing(ListingFact::Described(about)) = fact { Some(&**about) } else { None }
        });
        let at = reply::time_of(answer);
        AboutBody::new(about.map(|(_, about)| about), at, at)
    }

    fn new(about: Option<&About>, created_at: i64, last_updated: i64) -> AboutBody {
        let about = about.cloned().unwrap_or_default();
        AboutBody {
            metadata: about.metadata.as_deref().and_then(metadata::told).map(ToOwned::to_owned),
            external_id: about.external_id,
            card: about.card.map(CardBody::from),
            created_at: Time(created_at),
            last_updated: Time(last_updated),
        }
    }
}

impl CardBody {
    fn to_domain(&self) -> Card {
        // What is far out of bounds stays so: the rules refuse it.
        let micro = |degrees: f64| (degrees * MICRO).round() as i64;
        Card {
            category: self.category.clone(),
            tags: self.tags.clone(),
            city: self.city.clone(),
            country: self.country.clone(),
            coordinates: self.coordinates.map(|at| Coordinates {
                latitude_micro: micro(at.latitude),
                longitude_micro: micro(at.longitude),
            }),
            picture: self.picture.clone(),
            organiser: self.organiser.clone(),
            is_virtual: self.is_virtual,
        }
    }
}

impl From<Card> for CardBody {
    fn from(card: Card) -> CardBody {
        let degrees = |micro: i64| micro as f64 / MICRO;
        CardBody {
            category: card.category,
            tags: card.tags,
            city: card.city,
            country: card.country,
            coordinates: card.coordinates.map(|at| CoordinatesBody {
                latitude: degrees(at.latitude_micro),
                longitude: degrees(at.longitude_micro),
            }),
            picture: card.picture,
            organiser: card.organiser,
            is_virtual: card.is_virtual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_told_back_as_they_were_said() {
        for degrees in [38.716667, -9.139337, 90.0, -180.0, 0.000001, 0.1, 0.0] {
            let at = CoordinatesBody { latitude: degrees, longitude: -degrees };
            let card = CardBody { coordinates: Some(at), ..CardBody::default() };
            assert_eq!(CardBody::from(card.to_domain()), card);
        }
    }
}

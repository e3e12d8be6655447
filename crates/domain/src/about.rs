//! What a merchant says of a listing, whatever kind it is: a name of the merchant's own, data that is only told back, and a card
//! for people who look for something. Nothing here decides.

use minicbor::{Decode, Encode};

use crate::field::{Field, FieldPath};
use crate::limits::{
    CARD_CHARS_MAX, CARD_TAG_CHARS_MAX, CARD_TAGS_MAX, CARD_URL_CHARS_MAX, EXTERNAL_ID_CHARS_MAX,
    LATITUDE_MICRO_MAX, LONGITUDE_MICRO_MAX, METADATA_BYTES_MAX,
};
use crate::refusal::Refusal;

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct About {
    /// The merchant's own name. The listing's number is derived from it, so no two listings have the same.
    #[n(0)]
    pub external_id: Option<String>,
    /// A JSON object as text, never looked into.
    #[n(1)]
    pub metadata: Option<String>,
    #[n(2)]
    pub card: Option<Card>,
}

/// By what a listing is found and shown.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Card {
    #[n(0)]
    pub category: Option<String>,
    #[n(1)]
    pub tags: Vec<String>,
    #[n(2)]
    pub city: Option<String>,
    /// Two capital letters, as ISO 3166 has them.
    #[n(3)]
    pub country: Option<String>,
    #[n(4)]
    pub coordinates: Option<Coordinates>,
    /// An address on the web.
    #[n(5)]
    pub picture: Option<String>,
    #[n(6)]
    pub organiser: Option<String>,
    /// Nobody has to go anywhere.
    #[n(7)]
    pub is_virtual: bool,
}

/// Millionths of a degree: some ten centimetres.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Coordinates {
    #[n(0)]
    pub latitude_micro: i64,
    #[n(1)]
    pub longitude_micro: i64,
}

impl About {
    /// Whether nothing is said at all: then no fact says it.
    pub fn is_empty(&self) -> bool {
        *self == About::default()
    }

    pub fn check(&self) -> Result<(), Refusal> {
        if let Some(id) = &self.external_id
            && !fits(id, EXTERNAL_ID_CHARS_MAX)
        {
            let why = format!("1–{EXTERNAL_ID_CHARS_MAX} characters without control characters");
            return Err(Refusal::invalid(Field::ExternalId, why));
        }
        self.metadata.as_deref().map_or(Ok(()), check_metadata)?;
        self.card.as_ref().map_or(Ok(()), Card::check)
    }
}

/// Only as text: who speaks JSON has made sure that it is an object, in one line.
fn check_metadata(text: &str) -> Result<(), Refusal> {
    let is_object = text.starts_with('{') && text.ends_with('}') && !text.bytes().any(|byte| byte < b' ');
    if is_object && text.len() <= METADATA_BYTES_MAX {
        return Ok(());
    }
    Err(Refusal::invalid(Field::Metadata, format!("a JSON object of at most {METADATA_BYTES_MAX} bytes")))
}

impl Card {
    pub fn check(&self) -> Result<(), Refusal> {
        let short = [
            (Field::CardCategory, &self.category, CARD_CHARS_MAX),
            (Field::CardCity, &self.city, CARD_CHARS_MAX),
            (Field::CardOrganiser, &self.organiser, CARD_CHARS_MAX),
        ];
        for (field, text, most) in short {
            check_text(field.into(), text.as_deref(), most)?;
        }
        if self.tags.len() > CARD_TAGS_MAX {
            return Err(Refusal::invalid(Field::CardTags, format!("at most {CARD_TAGS_MAX} tags")));
        }
        for (n, tag) in self.tags.iter().enumerate() {
            check_text(Field::CardTag.at(&[n]), Some(tag), CARD_TAG_CHARS_MAX)?;
        }
        if self.country.as_deref().is_some_and(|code| !is_country(code)) {
            return Err(Refusal::invalid(Field::CardCountry, "two capital letters, such as PT (ISO 3166)"));
        }
        self.coordinates.map_or(Ok(()), Coordinates::check)?;
        match self.picture.as_deref() {
            Some(url) if !is_address(url) => {
                let why =
                    format!("an address beginning with https://, at most {CARD_URL_CHARS_MAX} characters");
                Err(Refusal::invalid(Field::CardPicture, why))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Coordinates {
    fn check(self) -> Result<(), Refusal> {
        let bounds = [
            (Field::CardLatitude, self.latitude_micro, LATITUDE_MICRO_MAX, "-90 to 90 degrees"),
            (Field::CardLongitude, self.longitude_micro, LONGITUDE_MICRO_MAX, "-180 to 180 degrees"),
        ];
        for (field, at, most, why) in bounds {
            if !(-most..=most).contains(&at) {
                return Err(Refusal::invalid(field, why));
            }
        }
        Ok(())
    }
}

fn fits(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

fn check_text(field: FieldPath, text: Option<&str>, most: usize) -> Result<(), Refusal> {
    if text.is_none_or(|text| fits(text, most)) {
        return Ok(());
    }
    Err(Refusal::invalid(field, format!("1–{most} characters without control characters")))
}

fn is_country(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// What may stand in an address as it is; the rest is escaped there.
fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").unwrap_or_default();
    !rest.is_empty() && url.len() <= CARD_URL_CHARS_MAX && url.bytes().all(|byte| byte.is_ascii_graphic())
}

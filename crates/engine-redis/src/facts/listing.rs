//! Facts of a listing whatever kind it is, as fields. What is said of it is one text, a line each: `name value`.

use onsale_domain::about::{About, Card, Coordinates};
use onsale_domain::listing::ListingFact;

use super::fields::{Fields, Malformed};

pub(crate) fn encode(fact: &ListingFact, fields: &mut Fields) {
    match fact {
        ListingFact::Described(about) => fields.push("about", write(about)),
        ListingFact::Deleted => {}
    }
}

/// Reads what [`encode`] or a script wrote.
pub(crate) fn decode(name: &str, fields: &Fields) -> Result<ListingFact, Malformed> {
    match name {
        "listing_described" => Ok(ListingFact::Described(Box::new(read(fields.text("about")?)?))),
        "listing_deleted" => Ok(ListingFact::Deleted),
        _ => Err(Malformed::of("kind")),
    }
}

/// None of its texts has a control character, so that a line is a value.
pub(crate) fn write(about: &About) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: Option<&str>| {
        lines.extend(value.map(|value| format!("{name} {value}")));
    };
    line("external_id", about.external_id.as_deref());
    line("metadata", about.metadata.as_deref());
    if let Some(card) = &about.card {
        // A card on which nothing stands is a card.
        line("card", Some(if card.is_virtual { "virtual" } else { "" }));
        line("category", card.category.as_deref());
        card.tags.iter().for_each(|tag| line("tag", Some(tag)));
        line("city", card.city.as_deref());
        line("country", card.country.as_deref());
        let at = card.coordinates.map(|at| format!("{},{}", at.latitude_micro, at.longitude_micro));
        line("coordinates", at.as_deref());
        line("picture", card.picture.as_deref());
        line("organiser", card.organiser.as_deref());
    }
    lines.join("\n")
}

/// Reads what [`write`] wrote.
pub(crate) fn read(text: &str) -> Result<About, Malformed> {
    let malformed = || Malformed::of("about");
    let mut about = About::default();
    for line in text.lines() {
        let (name, value) = line.split_once(' ').ok_or_else(malformed)?;
        let own = Some(value.to_owned());
        match name {
            "external_id" => about.external_id = own,
            "metadata" => about.metadata = own,
            "card" => about.card = Some(Card { is_virtual: value == "virtual", ..Card::default() }),
            name => read_card(about.card.as_mut().ok_or_else(malformed)?, name, value)?,
        }
    }
    Ok(about)
}

fn read_card(card: &mut Card, name: &str, value: &str) -> Result<(), Malformed> {
    let malformed = || Malformed::of("about");
    let own = Some(value.to_owned());
    match name {
        "category" => card.category = own,
        "tag" => card.tags.push(value.to_owned()),
        "city" => card.city = own,
        "country" => card.country = own,
        "coordinates" => {
            let (latitude, longitude) = value.split_once(',').ok_or_else(malformed)?;
            card.coordinates = Some(Coordinates {
                latitude_micro: latitude.parse().map_err(|_| malformed())?,
                longitude_micro: longitude.parse().map_err(|_| malformed())?,
            });
        }
        "picture" => card.picture = own,
        "organiser" => card.organiser = own,
        _ => return Err(malformed()),
    }
    Ok(())
}

//! What a merchant says of a listing has bounds.

use onsale_domain::about::{About, Card, Coordinates};

fn refused(about: &About) -> Option<String> {
    let onsale_domain::refusal::Detail::Field { field, .. } = about.check().err()?.detail else {
        return None;
    };
    Some(field.to_string())
}

fn card(card: Card) -> About {
    About { card: Some(card), ..About::default() }
}

#[test]
fn every_bound_names_its_field() {
    let id = |id: &str| About { external_id: Some(id.into()), ..About::default() };
    assert_eq!(refused(&id(&"é".repeat(255))), None);
    for wrong in [String::new(), "x".repeat(256), "a\nb".into()] {
        assert_eq!(refused(&id(&wrong)).as_deref(), Some("external_id"), "{wrong}");
    }
    let metadata = |text: &str| About { metadata: Some(text.into()), ..About::default() };
    let of_bytes = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
    assert_eq!(refused(&metadata(&of_bytes(2_048))), None);
    for wrong in [of_bytes(2_049), "[]".into(), "{\n}".into()] {
        assert_eq!(refused(&metadata(&wrong)).as_deref(), Some("metadata"), "{wrong}");
    }
    let some = |text: &str| Some(text.to_owned());
    for (wrong, field) in [
        (Card { category: some(""), ..Card::default() }, "card.category"),
        (Card { city: Some("x".repeat(201)), ..Card::default() }, "card.city"),
        (Card { organiser: some("a\tb"), ..Card::default() }, "card.organiser"),
        (Card { country: some("pt"), ..Card::default() }, "card.country"),
        (Card { country: some("PRT"), ..Card::default() }, "card.country"),
        (Card { tags: vec!["x".into(); 11], ..Card::default() }, "card.tags"),
        (Card { tags: vec!["x".into(), String::new()], ..Card::default() }, "card.tags[1]"),
        (Card { picture: some("http://a/b"), ..Card::default() }, "card.picture"),
        (Card { picture: some("https://"), ..Card::default() }, "card.picture"),
        (Card { picture: some("https://a b"), ..Card::default() }, "card.picture"),
    ] {
        assert_eq!(refused(&card(wrong)).as_deref(), Some(field));
    }
    for (at, field) in [
        ((90_000_001, 0), Some("card.coordinates.latitude")),
        ((0, -180_000_001), Some("card.coordinates.longitude")),
        ((-90_000_000, 180_000_000), None),
    ] {
        let coordinates = Some(Coordinates { latitude_micro: at.0, longitude_micro: at.1 });
        assert_eq!(refused(&card(Card { coordinates, ..Card::default() })).as_deref(), field);
    }
}

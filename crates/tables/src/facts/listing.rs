//! Facts of a listing whatever kind it is.

use onsale_domain::Fact;
use onsale_domain::about::{About, Card, Coordinates};
use onsale_domain::listing::ListingFact;

pub(super) fn all() -> Vec<Fact> {
    let about = About {
        external_id: Some("shop/7 é".into()),
        metadata: Some("{\"a\":[1,\"b\\n\"]}".into()),
        card: Some(Card {
            category: Some("Music".into()),
            tags: vec!["brass".into(), "open air".into()],
            city: Some("Lisboa".into()),
            country: Some("PT".into()),
            coordinates: Some(Coordinates { latitude_micro: 38_722_252, longitude_micro: -9_139_337 }),
            picture: Some("https://example.org/a.png".into()),
            organiser: Some("Brass & Co.".into()),
            is_virtual: true,
        }),
    };
    let described = |about: About| Fact::Listing(ListingFact::Described(Box::new(about)));
    vec![described(about), described(About::default()), Fact::Listing(ListingFact::Deleted)]
}

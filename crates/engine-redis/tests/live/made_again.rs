//! A listing is made only where nothing is. What is left of one whose head is gone is damaged: a create that comes again, as
//! the request of a merchant whose answer was lost does, deletes nothing of it.

use std::time::Duration;

use onsale_domain::{ListingId, ListingKind, Outcome, Tenant};
use onsale_engine::{Answer, Engine, EngineError};
use onsale_engine_redis::Keys;
use onsale_engine_redis::live::{Options, RedisEngine};

use super::creations::creation;
use super::house::{open, submit};
use super::support::{Brand, Server};

/// Makes it, however often the store says that it is being recovered.
async fn make(engine: &RedisEngine, listing: ListingId) -> Result<Answer, EngineError> {
    let begun = tokio::time::Instant::now();
    loop {
        let made = submit(engine, listing, creation(listing, engine.now())).await;
        match made {
            Err(error) if error.is_retryable() => {}
            answered => return answered,
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{listing} is never answered");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Every key of the listing as it stands there. A marker ends by itself.
fn kept(server: &Server, keys: &Keys) -> Vec<(String, Option<Vec<u8>>)> {
    let all = keys.all().iter().filter(|key| *key != keys.marker());
    all.map(|key| (key.clone(), server.say(&format!("DUMP {key}")).expect("an answer"))).collect()
}

fn stays(before: &[(String, Option<Vec<u8>>)], server: &Server, keys: &Keys) {
    let after = kept(server, keys);
    let changed: Vec<&String> =
        before.iter().zip(&after).filter(|(one, other)| one != other).map(|((key, _), _)| key).collect();
    assert!(changed.is_empty(), "what is left was changed: {changed:?}");
}

fn is_damaged(made: &Result<Answer, EngineError>, keys: &Keys) -> bool {
    matches!(made, Err(EngineError::Damaged(why)) if keys.all().iter().any(|key| why.contains(key.as_str())))
}

async fn repeated_over_what_is_left(kind: ListingKind) {
    let server = Server::start(Brand::Redis);
    let engine = open(&server.url(), Options::default()).await;
    let listing = ListingId { tenant: Tenant::DEFAULT, kind, number: 7 };
    let keys = Keys::new(&engine.link().config().prefix, &listing);
    // Whoever opens a desk has its lease before.
    let leased = kind == ListingKind::Desk && engine.lease(listing).await.expect("an answer");
    assert_eq!(make(&engine, listing).await.expect("an answer").outcome, Outcome::Done);
    for gone in [keys.head(), keys.meta()] {
        server.tell(&format!("DEL {gone}"));
        let before = kept(&server, &keys);
        let made = make(&engine, listing).await;
        stays(&before, &server, &keys);
        assert!(is_damaged(&made, &keys), "{kind:?} without {gone}: {made:?}");
        let told = engine.status().damaged;
        assert_eq!(told.iter().map(|one| one.listing).collect::<Vec<_>>(), [listing], "{told:?}");
        let other = open(&server.url(), Options::default()).await;
        let made = make(&other, listing).await;
        stays(&before, &server, &keys);
        assert!(is_damaged(&made, &keys), "{kind:?} without {gone}: {made:?}");
        let read = other.look_up(listing).await;
        assert!(matches!(read, Err(EngineError::Damaged(_))), "{kind:?} without {gone}: {read:?}");
    }
    // The listing is given up: a marker that nobody removed is nothing, and neither is a lease.
    for key in keys.all().iter().filter(|key| *key != keys.marker() && !key.contains(":lease:")) {
        server.tell(&format!("DEL {key}"));
    }
    server.tell(&format!("SET {} 17 PX 600000", keys.marker()));
    assert_eq!(make(&engine, listing).await.expect("an answer").outcome, Outcome::Done);
    assert!(engine.status().damaged.is_empty(), "{:?}", engine.status().damaged);
    let lease = server.say::<u64>(&format!("EXISTS {}", keys.all()[2])).expect("an answer");
    assert_eq!(lease == 1, leased, "a lease stays where it is");
}

macro_rules! each_kind {
    ($($name:ident: $kind:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                repeated_over_what_is_left(ListingKind::$kind).await;
            }
        )*
    };
}

each_kind! {
    a_repeated_create_deletes_nothing_of_an_event_without_its_head: Event,
    a_repeated_create_deletes_nothing_of_a_venue_without_its_head: Venue,
    a_repeated_create_deletes_nothing_of_a_sale_without_its_head: Sale,
    a_repeated_create_deletes_nothing_of_a_series_without_its_head: Series,
    a_repeated_create_deletes_nothing_of_a_registration_without_its_head: Registration,
    a_repeated_create_deletes_nothing_of_an_auction_without_its_head: Auction,
    a_repeated_opening_writes_nothing_to_a_desk_without_its_head: Desk,
}

//! What two servers say of one listing at once, and what one deletes while the other still shows it.

use onsale_domain::about::Card;
use onsale_domain::listing::{Describe, ListingCommand};
use onsale_domain::{Code, Command};
use onsale_engine::{Engine, EngineError, Position};
use onsale_engine_redis::link::Config;
use onsale_engine_redis::live::Options;

use super::house::{create, event, hold, open, submit, until};
use super::support::{Brand, Server};

fn describe(describe: Describe) -> Command {
    Command::Listing(ListingCommand::Describe(Box::new(describe)))
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_describe_a_listing_at_once_and_nothing_that_was_said_is_lost() {
    let server = Server::start(Brand::Redis);
    let config = Config::from(&server.url());
    let one = open(config.clone(), Options::default()).await;
    let other = open(config.clone(), Options::default()).await;
    let listing = event(1);
    create(&one, listing).await;
    until("the other knows the event", || other.view(&listing).is_some()).await;
    for round in 0..50 {
        let metadata = Some(Some(format!("{{\"round\":{round}}}")));
        let card = Some(Some(Card { category: Some(format!("round {round}")), ..Card::default() }));
        let said = describe(Describe { metadata: metadata.clone(), card: None });
        let shown = describe(Describe { metadata: None, card: card.clone() });
        let (said, shown) = tokio::join!(submit(&one, listing, said), submit(&other, listing, shown));
        let last = said.expect("an answer").position.max(shown.expect("an answer").position);
        let is_there = |view: &onsale_engine::View| view.position >= last;
        for engine in [&one, &other] {
            until("both are level", || engine.view(&listing).is_some_and(|view| is_there(&view))).await;
            let view = engine.view(&listing).expect("an event");
            let about = view.about.as_deref().expect("something is said");
            assert_eq!(Some(about.metadata.clone()), metadata, "round {round}");
            assert_eq!(Some(about.card.clone()), card, "round {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_deletes_the_other_neither_shows_nor_sells() {
    let server = Server::start(Brand::Redis);
    let config = Config::from(&server.url());
    let one = open(config.clone(), Options::default()).await;
    let other = open(config.clone(), Options::default()).await;
    let listing = event(1);
    create(&one, listing).await;
    until("the other knows the event", || other.view(&listing).is_some()).await;
    let gone = submit(&one, listing, Command::Listing(ListingCommand::Delete)).await.expect("an answer");
    assert!(gone.outcome.refused().is_none(), "{:?}", gone.outcome);
    let told = hold(&other, listing, 3, "ann", 60_000).await.expect("an answer");
    assert_eq!(told.outcome.refused().map(|refusal| refusal.code), Some(Code::ListingUnknown));
    until("the other has heard of it", || other.view(&listing).is_none()).await;
    let facts = other.facts_after(listing, Position::default(), 10).await;
    assert_eq!(facts.err(), Some(EngineError::UnknownListing));
    // A server that starts later finds that it was, and that it is no more.
    let third = open(config, Options::default()).await;
    assert!(third.view(&listing).is_none());
    assert_eq!(third.status().damaged, []);
    let again = submit(&third, listing, super::house::tempest(third.now(), 9)).await.expect("an answer");
    assert_eq!(again.outcome.refused().map(|refusal| refusal.code), Some(Code::ListingExists));
}

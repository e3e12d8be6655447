//! Late money for an award.

use onsale_domain::auction::command::{AuctionCommand, PlaceBid};
use onsale_domain::auction::increment::Increment;
use onsale_domain::auction::{AuctionDetails, AuctionTerms};

use super::*;

#[test]
fn an_award_that_late_money_has_back_is_no_damage() {
    let terms = AuctionTerms {
        start_minor: 100,
        tick_minor: 1,
        increment: Increment::Fixed(10),
        reserve_minor: None,
        buy_now: None,
        soft_close: None,
        bidders_may_retract: false,
    };
    let details = AuctionDetails {
        name: "Vase".into(),
        description: String::new(),
        seller: BuyerId::parse("sam").expect("a seller"),
        currency: euro(),
        starts_at: 1,
        ends_at: DAY,
        terms,
    };
    let bid = PlaceBid { bidder: ann(), max_minor: 300, currency: euro() };
    let mut story = vec![
        (1_000, Command::Auction(AuctionCommand::CreateAuction(Box::new(details)))),
        (2_000, Command::Auction(AuctionCommand::PlaceBid(bid))),
        (DAY, Command::ExpireDue { limit: 64 }),
    ];
    story.extend(paid_late(GoodsKey::Award(ann()), 100, DAY, 9 * DAY));
    let (kept, kinds) = played(ListingKind::Auction, story);
    assert!(["award_passed", "award_settled"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    assert_eq!(kept.books.money.sums().map(|(_, sums)| sums.confirmed_minor).sum::<i64>(), 100);
}

//! What bidders who have won make of their award: they order it, pay it in time or late, turn it down, or forget it.

use onsale_domain::auction::AuctionCommand;
use onsale_domain::auction::command::RefundAward;
use onsale_domain::order::command::GoodsKey;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::order::{BookedOrder, OrderStatus};
use onsale_domain::{BuyerId, Command, ListingKind};

use crate::model::other::Other;
use crate::rng::Rng;
use crate::workload::Workload;
use crate::workload::kept::{KeepingKind, often};
use crate::workload::orders::orders_of;

pub(crate) const AWARDS: KeepingKind =
    KeepingKind { kind: ListingKind::Auction, alive_least: 4, create: create_short, wish: at_the_auction };

/// Soon over.
fn create_short(workload: &mut Workload, rng: &mut Rng, clock: i64) -> Command {
    let mut details = workload.new_auction(rng, clock);
    details.ends_at = details.starts_at + rng.range(1_000, 60_000);
    Command::Auction(AuctionCommand::CreateAuction(Box::new(details)))
}

pub(crate) fn at_the_auction(workload: &mut Workload, rng: &mut Rng, other: &Other, clock: i64) -> Command {
    let Some(auction) = other.listing.auction() else { return Command::ExpireDue { limit: 1 } };
    let image = auction.image();
    if image.closed.is_none() {
        return workload.of_auction(rng, auction, clock);
    }
    let buyer = workload.payer(rng, &image);
    let orders = orders_of(other, &buyer, clock);
    if let Some(order) = rng.pick(&orders).filter(|order| rng.chance(often(order.status))) {
        return workload.about(rng, other, order, clock);
    }
    let lives = |status| matches!(status, OrderStatus::Pending | OrderStatus::Paying);
    let ordered = orders.iter().any(|order| lives(order.status));
    match rng.chance(if ordered { 50 } else { 650 }) {
        true => workload.order_kept(rng, GoodsKey::Award(buyer)),
        false => workload.of_auction(rng, auction, clock),
    }
}

pub(crate) fn is_running(other: &Other) -> bool {
    other.listing.auction().is_some_and(|auction| auction.image().closed.is_none())
}

/// Staff pays back what an award cost, or its bidder turns it down.
pub(crate) fn give_up_award(rng: &mut Rng, order: &BookedOrder, bidder: BuyerId) -> Command {
    if let OrderedGoods::Award { price_minor, .. } = &order.goods
        && rng.chance(700)
    {
        let amount_minor = rng.chance(500).then(|| rng.range(1, price_minor + 10));
        let refund = RefundAward { order: order.order, amount_minor, reason: "broken".to_owned() };
        return Command::Auction(AuctionCommand::RefundAward(refund));
    }
    Command::Auction(AuctionCommand::DeclineAward(bidder))
}

//! What an auction's facts mean for the orders of its awards.

use onsale_domain::Millis;
use onsale_domain::auction::AuctionFact;
use onsale_domain::auction::fact::PassCause;

use super::MoneyBook;

/// Of awards only one waits at a time.
const AWARD: u64 = 0;

impl MoneyBook {
    pub(crate) fn take_auction(&mut self, fact: &AuctionFact, now: Millis) {
        if let AuctionFact::AwardPassed { why, .. } = fact {
            match why {
                PassCause::Unpaid => self.lapse(AWARD, now),
                PassCause::Declined => self.end(AWARD, true),
            }
        } else if let AuctionFact::AwardSettled { bidder, price_minor, order } = fact {
            if let Some(known) = self.orders.get(order) {
                let placed = (&known.placed.buyer, known.placed.goods_minor);
                assert!(placed == (bidder, *price_minor), "an order buys another award than its own");
            }
            self.sell_kept(AWARD, *order);
        } else if let AuctionFact::AwardRefunded { order, bidder, amount_minor, left_minor, .. } = fact {
            let known = &self.orders[order];
            let left = known.total_minor() - known.returned_minor - amount_minor;
            assert!(known.placed.buyer == *bidder && left == *left_minor, "another refund than is told");
            self.bring_back(*order, u32::from(left == 0), *amount_minor);
        }
    }
}

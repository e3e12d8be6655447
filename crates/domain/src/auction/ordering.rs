//! What an order may know and do of an auction's award; see [`crate::order`].

use super::award::pending_of;
use super::state::{Auction, AwardState, Phase};
use crate::id::BuyerId;
use crate::order::fact::Goods;
use crate::refusal::Refusal;
use crate::time::Millis;

impl Auction {
    /// The award that waits for this bidder to pay it.
    pub(crate) fn goods_of(&self, bidder: &BuyerId) -> Result<Goods, Refusal> {
        let (_, line) = pending_of(self, bidder)?;
        Ok(Goods::Award { price_minor: line.award.price_minor, until: line.award.until })
    }

    /// When the award that waits is passed on.
    pub(crate) fn award_until(&self) -> Option<Millis> {
        match &self.phase {
            Phase::Closed(closed) => closed.pending().map(|award| award.until),
            Phase::Live | Phase::Cancelled { .. } => None,
        }
    }

    /// Whoever pays is waited for; an award never ends earlier for it.
    pub(crate) fn pin(&mut self, until: Millis) {
        if let Phase::Closed(closed) = &mut self.phase
            && let Some(line) = std::sync::Arc::make_mut(closed).awards.last_mut()
        {
            line.award.until = line.award.until.max(until);
        }
    }

    /// Whether the award that this bidder did not pay in time went to nobody else.
    pub(crate) fn is_left_to(&self, bidder: &BuyerId) -> bool {
        let Phase::Closed(closed) = &self.phase else { return false };
        closed
            .awards
            .last()
            .is_some_and(|last| last.award.bidder == *bidder && last.state == AwardState::Unpaid)
    }
}

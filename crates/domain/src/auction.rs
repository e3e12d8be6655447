//! An auction: who bids how much, who leads, when it ends and who gets it. One file per verb in `auction/`;
//! `execute` first writes down what the clock has brought about (the close, a lapsed award), then decides the verb.

mod answer;
mod apply;
mod award;
mod ban_bidder;
mod bids;
mod buy_now;
mod cancel_auction;
mod change_auction;
mod close;
pub mod command;
pub mod details;
pub mod fact;
pub mod image;
pub mod increment;
mod invariants;
pub mod limits;
pub mod numbers;
mod ordering;
mod people;
mod place_bid;
mod proxy;
mod retract_bid;
mod soft_close;
mod state;
mod view;
mod watch_auction;

pub use answer::{BidAnswer, BidStanding};
pub use command::AuctionCommand;
pub use details::{AuctionDetails, AuctionTerms};
pub use fact::AuctionFact;
pub use invariants::check as check_invariants;
pub use numbers::BidNumber;
pub use state::{Auction, AuctionEnd, AuctionStatus, AwardLine, AwardState};
pub use view::{AuctionFound, AuctionQuery, AuctionView, BidderState, HistoryLine, Reserve};

use crate::id::{BuyerId, ListingId};
use crate::kind::Kind;
use crate::order::{Goods, GoodsChange};
use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;
use image::AuctionImage;
use people::{BANNED, BIDS, WATCHES};

/// What deciding a verb yields: its fact, or a yes that needs none.
enum Decision {
    Fact(AuctionFact),
    Unchanged,
}

impl Kind for Auction {
    type Command = AuctionCommand;
    type Fact = AuctionFact;
    type View = AuctionView;
    type Query = AuctionQuery;
    type Found = AuctionFound;
    type Image = AuctionImage;

    fn create(command: &AuctionCommand, now: Millis) -> Result<Vec<AuctionFact>, Refusal> {
        let AuctionCommand::CreateAuction(details) = command else {
            return Err(Refusal::of(Code::ListingUnknown));
        };
        change_auction::create(details, now).map(|created| vec![created])
    }

    fn begin(_id: ListingId, first: &AuctionFact) -> Option<Auction> {
        Auction::created_by(first)
    }

    fn check(command: &AuctionCommand) -> Result<(), Refusal> {
        check(command)
    }

    fn execute(&mut self, command: &AuctionCommand, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        check(command)?;
        // Who has orders decides a refund before this; it depends on no deadline.
        if let AuctionCommand::RefundAward(_) = command {
            return Err(Refusal::of(Code::OrderUnknown));
        }
        self.close_due(writer);
        match decide(self, command, writer.now)? {
            Decision::Unchanged => Ok(Outcome::Unchanged),
            Decision::Fact(fact) => {
                self.take(fact, writer);
                Ok(Outcome::Done)
            }
        }
    }

    /// Whatever is due in an auction is one thing or two: no limit could cut it.
    fn sweep(&mut self, _limit: u32, writer: &mut StepWriter<'_>) -> Result<Outcome, Refusal> {
        self.close_due(writer);
        Ok(if writer.added().is_empty() { Outcome::Unchanged } else { Outcome::Done })
    }

    fn apply(&mut self, fact: &AuctionFact, _fence: u64, at: Millis) {
        self.apply(fact, at);
    }

    fn next_due(&self) -> Option<Millis> {
        self.next_due()
    }

    /// A bid, a retracted one too, or an award.
    fn is_in_use(&self) -> bool {
        let is_awarded = matches!(&self.phase, state::Phase::Closed(closed) if !closed.awards.is_empty());
        self.bids.len() > 0 || is_awarded
    }

    fn view(&self) -> AuctionView {
        self.view()
    }

    fn over_at(view: &AuctionView) -> Option<Millis> {
        (view.closed.is_none() && !view.cancelled).then_some(view.ends_at)
    }

    fn ask(&self, query: &AuctionQuery, _now: Millis) -> AuctionFound {
        self.ask(query)
    }

    fn is_nothing(found: &AuctionFound) -> bool {
        *found == AuctionFound::Nothing
    }

    fn image(&self) -> AuctionImage {
        self.image()
    }

    fn from_image(_id: ListingId, image: AuctionImage) -> Auction {
        Auction::from_image(image)
    }

    fn check_invariants(&self) -> Result<(), String> {
        check_invariants(self)
    }

    fn attempt_by(command: &AuctionCommand) -> Option<&BuyerId> {
        if let AuctionCommand::PlaceBid(command) = command {
            Some(&command.bidder)
        } else if let AuctionCommand::BuyNow(command) = command {
            Some(&command.buyer)
        } else {
            None
        }
    }

    fn goods(&self) -> Option<&dyn Goods> {
        Some(self)
    }

    fn goods_mut(&mut self) -> Option<&mut dyn Goods> {
        Some(self)
    }

    fn each_buyer(&self, name: &mut dyn FnMut(&str)) {
        self.people.with(WATCHES | BANNED | BIDS).for_each(|bidder| self.people.name(bidder, &mut *name));
        let awards =
            if let state::Phase::Closed(closed) = &self.phase { closed.awards.as_slice() } else { &[] };
        awards.iter().for_each(|line| name(line.award.bidder.as_str()));
    }

    fn asks_about(query: &AuctionQuery) -> Option<&BuyerId> {
        match query {
            AuctionQuery::Bidder(bidder) => Some(bidder),
            AuctionQuery::History { .. } | AuctionQuery::Watchers { .. } => None,
        }
    }

    fn goods_change(fact: &AuctionFact) -> Option<GoodsChange> {
        ordering::goods_change(fact)
    }
}

impl Auction {
    /// Closes what is over and passes on what was not paid: at most two facts, as a close, or an award that lapsed, sets
    /// its next deadline days ahead.
    fn close_due(&mut self, writer: &mut StepWriter<'_>) {
        while let Some(fact) = close::due(self, writer.now) {
            self.take(fact, writer);
        }
    }

    fn take(&mut self, fact: AuctionFact, writer: &mut StepWriter<'_>) {
        self.apply(&fact, writer.now);
        writer.push(fact);
    }
}

/// Refuses what no state of the auction could make sense of: such a command records nothing at all.
pub fn check(command: &AuctionCommand) -> Result<(), Refusal> {
    match command {
        AuctionCommand::CreateAuction(details) => details.check(),
        AuctionCommand::PlaceBid(command) => place_bid::check(command),
        AuctionCommand::CancelAuction(command) => cancel_auction::check(command),
        AuctionCommand::RetractBid(command) => retract_bid::check(command),
        AuctionCommand::BanBidder(command) => ban_bidder::check(command),
        AuctionCommand::RefundAward(command) => award::check_refund(command),
        AuctionCommand::ChangeAuction(_)
        | AuctionCommand::BuyNow(_)
        | AuctionCommand::UnbanBidder(_)
        | AuctionCommand::SettleAward(_)
        | AuctionCommand::DeclineAward(_)
        | AuctionCommand::WatchAuction(_)
        | AuctionCommand::UnwatchAuction(_) => Ok(()),
    }
}

/// Decides without changing anything; `apply` is the only way the auction changes.
fn decide(auction: &Auction, command: &AuctionCommand, now: Millis) -> Result<Decision, Refusal> {
    let fact = match command {
        AuctionCommand::PlaceBid(command) => place_bid::decide(auction, command, now)?,
        AuctionCommand::BuyNow(command) => buy_now::decide(auction, command, now)?,
        AuctionCommand::CancelAuction(command) => cancel_auction::decide(auction, command)?,
        AuctionCommand::SettleAward(command) => return award::settle(auction, command),
        AuctionCommand::DeclineAward(bidder) => award::decline(auction, bidder, now)?,
        AuctionCommand::ChangeAuction(command) => return change_auction::decide(auction, command, now),
        AuctionCommand::RetractBid(command) => return retract_bid::decide(auction, command, now),
        AuctionCommand::BanBidder(command) => return ban_bidder::ban(auction, command),
        AuctionCommand::UnbanBidder(bidder) => return Ok(ban_bidder::unban(auction, bidder)),
        AuctionCommand::WatchAuction(watcher) => return watch_auction::watch(auction, watcher),
        AuctionCommand::UnwatchAuction(watcher) => return Ok(watch_auction::unwatch(auction, watcher)),
        AuctionCommand::CreateAuction(_) => return Err(Refusal::of(Code::ListingExists)),
        // An auction knows no orders; where there is a book of them, the book decides.
        AuctionCommand::RefundAward(_) => return Err(Refusal::of(Code::OrderUnknown)),
    };
    Ok(Decision::Fact(fact))
}

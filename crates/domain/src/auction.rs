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
mod name;
mod ordering;
mod people;
mod place_bid;
mod proxy;
mod retract_bid;
mod soft_close;
mod state;
mod view;
mod watch_auction;

pub use answer::{BidAnswer, Standing};
pub use bids::BidNumber;
pub use command::AuctionCommand;
pub use details::{AuctionDetails, AuctionTerms};
pub use fact::AuctionFact;
pub use invariants::check as check_invariants;
pub use state::{Auction, AuctionStatus, AwardLine, AwardState, Closed};
pub use view::{AuctionFound, AuctionQuery, AuctionView, BidderState, HistoryLine, Reserve};

use crate::outcome::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Millis;

/// What deciding a verb yields: its fact, or a yes that needs none.
enum Decided {
    Fact(AuctionFact),
    Unchanged,
}

impl Auction {
    /// The fact that creates an auction.
    pub fn create(details: &AuctionDetails, now: Millis) -> Result<AuctionFact, Refusal> {
        change_auction::create(details, now)
    }

    /// Decides one command at the listing's time, applies what follows and hands over each fact.
    pub fn execute(
        &mut self,
        command: &AuctionCommand,
        now: Millis,
        take: &mut dyn FnMut(AuctionFact),
    ) -> Result<Outcome, Refusal> {
        check(command)?;
        let mut changed = false;
        // At most two: a close, or an award that lapsed, sets its next deadline days ahead.
        while let Some(fact) = close::due(self, now) {
            self.apply(&fact, now);
            take(fact);
            changed = true;
        }
        if let AuctionCommand::CloseDue = command {
            return Ok(if changed { Outcome::Done } else { Outcome::Unchanged });
        }
        match decide(self, command, now)? {
            Decided::Unchanged => Ok(Outcome::Unchanged),
            Decided::Fact(fact) => {
                self.apply(&fact, now);
                take(fact);
                Ok(Outcome::Done)
            }
        }
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
        | AuctionCommand::UnwatchAuction(_)
        | AuctionCommand::CloseDue => Ok(()),
    }
}

/// Decides without changing anything; `apply` is the only way the auction changes.
fn decide(auction: &Auction, command: &AuctionCommand, now: Millis) -> Result<Decided, Refusal> {
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
        // Its work is done before any verb is decided.
        AuctionCommand::CloseDue => return Ok(Decided::Unchanged),
    };
    Ok(Decided::Fact(fact))
}

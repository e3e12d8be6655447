//! An auction's facts in the words of the second opinion, and both compared at the end.

use onsale_domain::auction::details::SoftCloseMode;
use onsale_domain::auction::fact::{self, Closing};
use onsale_domain::auction::increment::Increment;
use onsale_domain::auction::{Auction, AuctionDetails, AuctionFact};
use onsale_domain::{BuyerId, ListingKind};

use super::books::{Books, VerifiedKind};
use super::money::Money;
use super::replay::Replay;
use super::report::Report;
use crate::cli::bidding::{After, Award, Line, Soft, Stand, Terms};

/// Auctions, and their accepted bids as far as they were read from their first fact.
pub(super) fn fill(report: &mut Report, replay: &Replay) {
    report.auctions = replay.count(ListingKind::Auction);
    report.bids = replay.bids();
}

impl VerifiedKind for Auction {
    fn book(&self, books: &mut Books, fact: &AuctionFact, at: i64) -> Result<(), String> {
        line(fact).map_or(Ok(()), |line| books.bids.take(at, line))
    }

    fn move_money(money: &mut Money, fact: &AuctionFact) -> Result<(), String> {
        if let AuctionFact::AwardSettled { order, .. } = fact {
            return money.sold(*order);
        }
        let AuctionFact::AwardRefunded { order, amount_minor, left_minor, .. } = fact else { return Ok(()) };
        money.returned(*order, u64::from(*left_minor == 0), *amount_minor)
    }

    /// The auction tells its price, leader and end; the book found its own.
    fn agrees(&self, books: &Books) -> Result<(), String> {
        let (view, book) = (self.view(), &books.bids);
        let shown = (view.price_minor, view.leader.as_ref().map(BuyerId::as_str), view.ends_at);
        let booked = (book.price(), book.leader(), book.end());
        let closed = (view.closed.is_some(), u64::from(view.bids));
        if shown == booked && closed == (book.is_closed(), book.bids()) {
            return Ok(());
        }
        Err(format!("the auction stands at {shown:?}, the bids come to {booked:?}"))
    }
}

/// `None` for what moves neither lead nor end.
fn line(fact: &AuctionFact) -> Option<Line> {
    Some(match fact {
        AuctionFact::AuctionCreated(details) | AuctionFact::AuctionChanged(details) => {
            Line::Terms(terms(details))
        }
        AuctionFact::AuctionCancelled { .. } => Line::Cancelled,
        AuctionFact::BidPlaced {
            bid,
            bidder,
            max_minor,
            leading,
            price_minor,
            min_next_minor,
            reserve_met,
            ends_at,
        } => Line::Bid {
            number: u64::from(*bid),
            bidder: name(bidder),
            max: *max_minor,
            leading: *leading,
            told: Stand { price: *price_minor, min_next: *min_next_minor, reserve_met: *reserve_met },
            ends_at: *ends_at,
        },
        AuctionFact::BidRetracted { bid, after: replayed, .. } => {
            Line::Retracted { number: u64::from(*bid), after: after(replayed) }
        }
        AuctionFact::BidderBanned { bidder, after: replayed, .. } => {
            Line::Banned { bidder: name(bidder), after: replayed.as_deref().map(after) }
        }
        AuctionFact::BidderUnbanned { bidder } => Line::Unbanned { bidder: name(bidder) },
        AuctionFact::AuctionClosed { how, award: given } => {
            let how = match how {
                Closing::Won => "won",
                Closing::BoughtNow => "bought_now",
                Closing::ReserveNotMet => "reserve_not_met",
                Closing::NoBids => "no_bids",
            };
            Line::Closed { how: how.to_owned(), award: given.as_ref().map(award) }
        }
        AuctionFact::AwardPassed { from, to, .. } => {
            Line::Passed { from: name(from), to: to.as_ref().map(award) }
        }
        AuctionFact::AwardSettled { bidder, price_minor, .. } => {
            Line::Settled { bidder: name(bidder), price: *price_minor }
        }
        // Of money, which is added up elsewhere: what was sold stays so.
        AuctionFact::AwardRefunded { .. }
        | AuctionFact::WatchStarted { .. }
        | AuctionFact::WatchEnded { .. } => return None,
    })
}

fn name(buyer: &BuyerId) -> String {
    buyer.as_str().to_owned()
}

fn terms(details: &AuctionDetails) -> Terms {
    let terms = &details.terms;
    Terms {
        seller: name(&details.seller),
        starts_at: details.starts_at,
        ends_at: details.ends_at,
        start: terms.start_minor,
        tick: terms.tick_minor,
        steps: match &terms.increment {
            Increment::Fixed(step) => vec![(0, *step)],
            Increment::Ladder(rungs) => rungs.iter().map(|rung| (rung.from_minor, rung.step_minor)).collect(),
            Increment::Named(named) => {
                named.rungs().iter().map(|rung| (rung.from_minor, rung.step_minor)).collect()
            }
        },
        reserve: terms.reserve_minor,
        soft: terms.soft_close.as_ref().map(|soft| Soft {
            adds: soft.mode == SoftCloseMode::Add,
            window: soft.window_ms,
            extensions: soft.extensions_ms.clone(),
            cap: soft.cap_ms,
        }),
    }
}

fn after(replayed: &fact::ReplayResult) -> After {
    After {
        leader: replayed.leader.as_ref().map(|leader| u64::from(leader.bid)),
        stand: Stand {
            price: replayed.price_minor,
            min_next: replayed.min_next_minor,
            reserve_met: replayed.reserve_met,
        },
    }
}

fn award(given: &fact::Award) -> Award {
    Award { bidder: name(&given.bidder), bid: given.bid.map(u64::from), price: given.price_minor }
}

/// Facts of awards for stories about money, by their word.
#[cfg(test)]
pub(super) fn award_fact(
    word: &str,
    order: onsale_domain::OrderId,
    bidder: BuyerId,
    amounts: [i64; 2],
) -> AuctionFact {
    let [amount_minor, left_minor] = amounts;
    match word {
        "pass" => AuctionFact::AwardPassed { from: bidder, why: fact::PassCause::Unpaid, to: None },
        "award_paid" => AuctionFact::AwardSettled { bidder, price_minor: 1_000, order },
        "award_returned" => {
            AuctionFact::AwardRefunded { order, bidder, amount_minor, left_minor, reason: String::new() }
        }
        other => panic!("{other}"),
    }
}

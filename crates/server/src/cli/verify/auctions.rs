//! An auction's facts in the words of the second opinion, and both compared at the end.

use onsale_domain::auction::details::SoftCloseMode;
use onsale_domain::auction::fact::{self, Closing};
use onsale_domain::auction::increment::Increment;
use onsale_domain::auction::{AuctionDetails, AuctionFact};
use onsale_domain::listing::BodyView;
use onsale_domain::{BuyerId, Listing};

use crate::cli::bidding::{After, Award, Book, Line, Soft, Stand, Terms};

/// `None` for what moves neither lead nor end.
pub fn line(fact: &AuctionFact) -> Option<Line> {
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

fn after(replayed: &fact::Replayed) -> After {
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

/// The auction tells its price, leader and end; the book found its own: both must say the same.
pub fn agrees(listing: &Listing, book: &Book) -> Result<(), String> {
    let Some(BodyView::Auction(view)) = listing.view() else { return Ok(()) };
    let shown = (view.price_minor, view.leader.as_ref().map(BuyerId::as_str), view.ends_at);
    let booked = (book.price(), book.leader(), book.end());
    let closed = (view.closed.is_some(), u64::from(view.bids));
    if shown == booked && closed == (book.is_closed(), book.bids()) {
        return Ok(());
    }
    Err(format!("the auction stands at {shown:?}, the bids come to {booked:?}"))
}

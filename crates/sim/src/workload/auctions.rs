//! What bidders, sellers and staff want of auctions: maxima near the price and near each other, bids at the very end.

mod kept;

pub(super) use kept::{AWARDS, at_the_auction, give_up_award, is_running};

use onsale_domain::auction::command::{
    BanBidder, BuyNow, CancelAuction, ChangeAuction, ChangeTerms, PlaceBid, RetractBid, Retractor,
    SettleAward,
};
use onsale_domain::auction::details::{BuyNowPolicy, BuyNowTerms, SoftClose, SoftCloseMode};
use onsale_domain::auction::image::AuctionImage;
use onsale_domain::auction::increment::{Increment, NamedLadder};
use onsale_domain::auction::{Auction, AuctionCommand, AuctionDetails, AuctionQuery, AuctionTerms};
use onsale_domain::money::Currency;
use onsale_domain::{BuyerId, Command, ListingKind, OrderId, Query};
use onsale_engine::Request;

use super::Workload;
use super::demand::Demand;
use crate::auditor::Auditor;
use crate::rng::Rng;

const HOUR: i64 = 3_600_000;

impl Demand for Auction {
    fn wish(&self, workload: &mut Workload, rng: &mut Rng, clock: i64) -> Command {
        workload.of_auction(rng, self, clock)
    }

    fn question(&self, workload: &mut Workload, rng: &mut Rng, _buyer: BuyerId) -> Query {
        let image = self.image();
        Query::Auction(match rng.below(3) {
            0 => AuctionQuery::Bidder(workload.bidder(rng, &image)),
            1 => AuctionQuery::History { before: None, limit: 5 },
            _ => AuctionQuery::Watchers { after: None, limit: 5 },
        })
    }
}

impl Workload {
    /// Something to ask of an auction; three of them alive at least.
    pub(super) fn bid(&mut self, rng: &mut Rng, auditor: &Auditor, clock: i64) -> Request {
        let auctions = auditor.listings.values().filter(|one| one.id.kind == ListingKind::Auction);
        let all: Vec<_> = auctions.filter_map(|one| Some((one.id, one.other()?))).collect();
        let alive: Vec<_> = all.iter().filter(|(_, other)| other.goes_on()).copied().collect();
        let wanted = alive.len() < 3 && self.listings_made < 4 * self.listings_max;
        let crowd = if rng.chance(900) && !alive.is_empty() { &alive } else { &all };
        match rng.pick(crowd).filter(|_| !wanted || rng.chance(900)) {
            Some((id, other)) => self.of_other(rng, *id, other, clock),
            None => self.create_auction(rng, clock),
        }
    }

    fn create_auction(&mut self, rng: &mut Rng, clock: i64) -> Request {
        let id = self.new_id(rng, ListingKind::Auction);
        let details = self.new_auction(rng, clock);
        self.request(rng, id, Command::Auction(AuctionCommand::CreateAuction(Box::new(details))))
    }

    pub(super) fn new_auction(&mut self, rng: &mut Rng, clock: i64) -> AuctionDetails {
        let starts_at = clock + if rng.chance(800) { -1 } else { rng.range(0, 60_000) };
        let length = match rng.below(3) {
            0 => rng.range(1_000, 120_000),
            1 => rng.range(60_000, HOUR),
            _ => rng.range(13 * HOUR, 20 * HOUR),
        };
        let start_minor = 10 * rng.range(1, 200);
        let reserve_minor = rng.chance(500).then(|| start_minor + 10 * rng.range(0, 300));
        let policy = |rng: &mut Rng| match rng.below(3) {
            0 => BuyNowPolicy::UntilFirstBid,
            1 => BuyNowPolicy::UntilReserveMet,
            _ => BuyNowPolicy::Always,
        };
        let highest = reserve_minor.unwrap_or(start_minor);
        let buy_now = rng.chance(400).then(|| BuyNowTerms {
            price_minor: highest + if rng.chance(950) { 10 * rng.range(1, 900) } else { 0 },
            policy: policy(rng),
        });
        AuctionDetails {
            name: if rng.chance(970) { "Clock".into() } else { String::new() },
            description: String::new(),
            seller: self.buyer(rng),
            currency: currency("EUR"),
            starts_at,
            ends_at: starts_at + length,
            terms: AuctionTerms {
                start_minor,
                tick_minor: if rng.chance(700) { 1 } else { 10 },
                increment: match rng.below(3) {
                    0 => Increment::Fixed(10 * rng.range(1, 20)),
                    1 => Increment::Named(NamedLadder::TradeMe),
                    _ => Increment::Named(NamedLadder::YahooJp),
                },
                reserve_minor,
                buy_now,
                soft_close: rng.chance(700).then(|| SoftClose {
                    mode: if rng.chance(500) { SoftCloseMode::Reset } else { SoftCloseMode::Add },
                    window_ms: rng.range(1, 60_000),
                    extensions_ms: (0..rng.range(1, 3)).map(|_| rng.range(1, 60_000)).collect(),
                    cap_ms: rng.range(0, 300_000),
                }),
                bidders_may_retract: rng.chance(600),
            },
        }
    }

    pub(super) fn of_auction(&mut self, rng: &mut Rng, auction: &Auction, clock: i64) -> Command {
        const LIVE: [u64; 13] = [560, 60, 70, 25, 20, 10, 10, 30, 60, 40, 20, 8, 12];
        const CLOSED: [u64; 13] = [120, 20, 30, 30, 20, 8, 220, 120, 20, 20, 10, 8, 60];
        let image = auction.image();
        let view = auction.view();
        let command = match rng.weighted(if image.closed.is_some() { &CLOSED } else { &LIVE }) {
            0 => {
                let bidder = self.bidder(rng, &image);
                let code = if rng.chance(980) { "EUR" } else { "USD" };
                let max_minor = amount(rng, &image, view.min_next_minor);
                AuctionCommand::PlaceBid(PlaceBid { bidder, max_minor, currency: currency(code) })
            }
            1 => AuctionCommand::BuyNow(BuyNow { buyer: self.buyer(rng), currency: currency("EUR") }),
            2 => {
                let bid = rng.range(0, image.bids.len() as i64 + 1) as u32;
                let last = (image.bids.len() as u32).max(1);
                let bid = if rng.chance(600) { last } else { bid };
                let owner = image.bids.get((bid as usize).wrapping_sub(1));
                let owner = owner.map(|bid| image.people[usize::from(bid.bidder)].name.clone());
                let by = match owner.filter(|_| rng.chance(500)) {
                    Some(owner) if rng.chance(900) => Retractor::Bidder(owner),
                    Some(_) => Retractor::Bidder(self.buyer(rng)),
                    None => Retractor::Staff,
                };
                AuctionCommand::RetractBid(RetractBid { bid, by, reason: "a slip".into() })
            }
            3 => {
                let (bidder, reason) = (self.bidder(rng, &image), "because".to_owned());
                AuctionCommand::BanBidder(BanBidder { bidder, reason })
            }
            4 => {
                let banned: Vec<_> = image.people.iter().filter(|one| one.banned).collect();
                let known = rng.pick(&banned).map(|one| one.name.clone());
                AuctionCommand::UnbanBidder(known.unwrap_or_else(|| self.buyer(rng)))
            }
            5 => {
                let bidder = self.payer(rng, &image);
                AuctionCommand::SettleAward(SettleAward { bidder, order: OrderId(self.fresh()) })
            }
            6 => AuctionCommand::DeclineAward(self.payer(rng, &image)),
            7 => return Command::ExpireDue { limit: 64 },
            8 => AuctionCommand::WatchAuction(self.buyer(rng)),
            9 => {
                let watching: Vec<_> = image.people.iter().filter(|one| one.watches).collect();
                let known = rng.pick(&watching).map(|one| one.name.clone());
                AuctionCommand::UnwatchAuction(known.unwrap_or_else(|| self.buyer(rng)))
            }
            10 => {
                let name = rng.chance(500).then(|| format!("Clock {}", rng.below(5)));
                let start = rng.chance(400).then(|| 10 * rng.range(0, 200));
                let ends_at = rng.chance(300).then(|| clock + rng.range(-1_000, HOUR));
                let terms = ChangeTerms { start_minor: start, ..ChangeTerms::default() };
                let change = ChangeAuction { name, ends_at, terms, ..ChangeAuction::default() };
                AuctionCommand::ChangeAuction(Box::new(change))
            }
            11 => AuctionCommand::CancelAuction(CancelAuction { reason: "lost".into() }),
            _ => return Command::ExpireDue { limit: rng.below(70) as u32 },
        };
        Command::Auction(command)
    }

    /// Somebody who bids here already, or somebody new; now and then the seller.
    fn bidder(&mut self, rng: &mut Rng, image: &AuctionImage) -> BuyerId {
        if rng.chance(15) {
            return image.details.seller.clone();
        }
        let known = rng.pick(&image.people).map(|one| one.name.clone());
        known.filter(|_| rng.chance(500)).unwrap_or_else(|| self.buyer(rng))
    }

    /// Whoever may pay now, or anybody.
    pub(super) fn payer(&mut self, rng: &mut Rng, image: &AuctionImage) -> BuyerId {
        let awards = image.closed.as_ref().map_or(&[][..], |closed| &closed.awards);
        let last = awards.last().map(|line| line.award.bidder.clone());
        last.filter(|_| rng.chance(900)).unwrap_or_else(|| self.buyer(rng))
    }
}

/// Near what matters: the least, another's maximum, the reserve, the price of buying at once.
fn amount(rng: &mut Rng, image: &AuctionImage, least: i64) -> i64 {
    let terms = &image.details.terms;
    let top = image.bids.iter().map(|bid| bid.max_minor).max().unwrap_or(least);
    let centre = match rng.below(12) {
        0..=3 => least,
        4 | 5 => top,
        6 => terms.reserve_minor.unwrap_or(least),
        7 if rng.chance(300) => terms.buy_now.map_or(least, |terms| terms.price_minor),
        _ => least + 10 * rng.range(0, 60),
    };
    centre + if rng.chance(300) { rng.range(-10, 10) } else { 0 }
}

fn currency(code: &str) -> Currency {
    Currency::parse(code).expect("a code")
}

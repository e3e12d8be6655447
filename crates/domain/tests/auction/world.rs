//! A small world for random bidding: few people, amounts near everything that matters, a clock that likes the end.

use onsale_domain::auction::command::{BanBidder, BuyNow, PlaceBid, RetractBid, Retractor};
use onsale_domain::auction::details::{BuyNowPolicy, BuyNowTerms, SoftClose, SoftCloseMode};
use onsale_domain::auction::increment::{Increment, LadderStep, NamedLadder};
use onsale_domain::auction::{AuctionCommand, AuctionDetails, AuctionTerms};
use onsale_domain::money::Currency;
use onsale_domain::{BuyerId, Command, Millis};

use crate::reference::{Offer, Reference, SELLER, Soft, Terms};

/// A die with a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Bid { who: u8, max: i64, right_currency: bool },
    Buy { who: u8 },
    Retract { number: usize, by: Option<u8> },
    Ban { who: u8 },
    Sweep,
}

const EBAY: [(i64, i64); 10] = [
    (0, 5),
    (100, 25),
    (500, 50),
    (2500, 100),
    (10000, 250),
    (25000, 500),
    (50000, 1000),
    (100000, 2500),
    (250000, 5000),
    (500000, 10000),
];
const TRADE_ME: [(i64, i64); 6] =
    [(0, 50), (2000, 100), (20000, 500), (100000, 1000), (500000, 5000), (2500000, 10000)];
const YAHOO: [(i64, i64); 5] = [(0, 10), (1000, 100), (5000, 250), (10000, 500), (50000, 1000)];

const HOUR: i64 = 3_600_000;

pub(crate) fn terms(dice: &mut Dice) -> Terms {
    let tick = dice.of(&[1, 1, 1, 5, 10]);
    let steps = match dice.below(6) {
        0 if tick <= 5 => EBAY.to_vec(),
        1 => TRADE_ME.to_vec(),
        2 => YAHOO.to_vec(),
        3 => vec![(0, tick * (1 + dice.below(40) as i64))],
        4 => vec![(0, 10 * tick), (100, 3 * tick), (1_000, 40 * tick), (1_007, tick)],
        _ => vec![(0, tick)],
    };
    let start = tick * (1 + dice.of(&[0, 10, 100, 1_000, 20_000]) + dice.below(20) as i64);
    let reserve = dice.one_in(2).then(|| start + tick * dice.of(&[0, 1, 50, 500, 3_000]));
    let highest = reserve.unwrap_or(start);
    let buy_now = dice.one_in(2).then(|| {
        let offer = dice.of(&[Offer::UntilFirstBid, Offer::UntilReserveMet, Offer::Always]);
        (highest + tick * dice.of(&[1, 100, 2_000, 50_000]), offer)
    });
    let soft = (!dice.one_in(4)).then(|| Soft {
        adds: dice.one_in(2),
        window: dice.of(&[1, 30_000, 120_000]),
        extensions: dice
            .of(&[&[30_000][..], &[60_000, 30_000, 1_000], &[1, 90_000], &[10_000, 5_000]])
            .to_vec(),
        cap: dice.of(&[0, 45_000, 200_000, HOUR]),
    });
    // Long ones let bidders retract, short ones are mostly end.
    let ends = dice.of(&[HOUR / 6, HOUR / 6, 14 * HOUR]);
    let opens = dice.of(&[0, 0, 0, 40_000]);
    Terms { start, tick, steps, reserve, buy_now, soft, bidders_may_retract: dice.one_in(2), opens, ends }
}

/// How long nobody says anything; now and then until just before, at or after the end.
pub(crate) fn pause(dice: &mut Dice, now: Millis, naive: &Reference) -> Millis {
    let left = naive.ends() - now;
    let near = |left: i64, by: i64| (left - by).max(0);
    match dice.below(400) {
        0 => near(left, -1),
        1 => near(left, 0),
        2..=5 => near(left, 1),
        6..=9 => near(left, 30_000),
        10..=12 => near(left, 12 * HOUR),
        13 => HOUR,
        14..=180 => 0,
        _ => dice.below(8_000) as i64,
    }
}

pub(crate) fn next_step(dice: &mut Dice, naive: &Reference) -> Step {
    let who = match dice.below(60) {
        0 => SELLER,
        n => 1 + (n % 5) as u8,
    };
    match dice.below(100) {
        0..=4 => Step::Retract { number: naive.count().saturating_sub(dice.below(4) as usize), by: None },
        5..=9 => {
            let number = naive.count().saturating_sub(dice.below(3) as usize);
            Step::Retract { number, by: Some(who) }
        }
        10 if dice.one_in(3) => Step::Ban { who: who.max(1) },
        11 if dice.one_in(3) => Step::Buy { who },
        12 => Step::Sweep,
        _ => Step::Bid { who, max: amount(dice, naive), right_currency: !dice.one_in(80) },
    }
}

/// Near what matters: the least, the leader's maximum, a rung, the reserve, the price of buying at once.
fn amount(dice: &mut Dice, naive: &Reference) -> i64 {
    let terms = &naive.terms;
    let (least, price) = (naive.min_next(), naive.price().unwrap_or(terms.start));
    let top = naive.leader().map_or(least, |(_, top)| top);
    let centre = match dice.below(16) {
        0..=3 => least,
        4..=6 => top,
        7 => terms.steps[dice.below(terms.steps.len() as u64) as usize].0,
        8 => terms.reserve.unwrap_or(least),
        9 if dice.one_in(8) => terms.buy_now.map_or(least, |(price, _)| price),
        10 => price,
        11 => least + terms.tick * dice.below(2_000) as i64,
        _ => least + terms.tick * dice.below(30) as i64,
    };
    let nudge = terms.tick * (dice.below(3) as i64 - 1);
    let off = if dice.one_in(40) { 1 } else { 0 };
    let mut amount = (centre + if dice.one_in(2) { nudge } else { 0 } + off).clamp(1, 1_000_000_000_000);
    // A ladder's rung need not be on the tick.
    if off == 0 && amount > terms.tick {
        amount -= amount % terms.tick;
    }
    amount
}

/// Some names are short, some are accounts, some are long.
pub(crate) fn bidder(number: u32) -> BuyerId {
    let name = match number % 3 {
        0 => format!("b{number}"),
        1 => format!("usr_{number:026}"),
        _ => format!("ext:a-merchant-with-a-name:{number}"),
    };
    BuyerId::parse(&name).expect("a name")
}

pub(crate) fn number_of(name: &BuyerId) -> i64 {
    let digits: String = name.as_str().chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

pub(crate) fn create(terms: &Terms) -> Command {
    let increment = match &terms.steps[..] {
        [(0, step)] => Increment::Fixed(*step),
        steps if *steps == EBAY => Increment::Named(NamedLadder::EbayUs),
        steps if *steps == TRADE_ME => Increment::Named(NamedLadder::TradeMe),
        steps if *steps == YAHOO => Increment::Named(NamedLadder::YahooJp),
        steps => Increment::Ladder(Vec::from_iter(
            steps.iter().map(|(from, step)| LadderStep { from_minor: *from, step_minor: *step }),
        )),
    };
    let policy = |offer: Offer| match offer {
        Offer::UntilFirstBid => BuyNowPolicy::UntilFirstBid,
        Offer::UntilReserveMet => BuyNowPolicy::UntilReserveMet,
        Offer::Always => BuyNowPolicy::Always,
    };
    let soft = |soft: &Soft| SoftClose {
        mode: if soft.adds { SoftCloseMode::Add } else { SoftCloseMode::Reset },
        window_ms: soft.window,
        extensions_ms: soft.extensions.clone(),
        cap_ms: soft.cap,
    };
    Command::Auction(AuctionCommand::CreateAuction(Box::new(AuctionDetails {
        name: "thing".into(),
        description: String::new(),
        seller: bidder(SELLER.into()),
        currency: currency("USD"),
        starts_at: terms.opens,
        ends_at: terms.ends,
        terms: AuctionTerms {
            start_minor: terms.start,
            tick_minor: terms.tick,
            increment,
            reserve_minor: terms.reserve,
            buy_now: terms
                .buy_now
                .map(|(price_minor, offer)| BuyNowTerms { price_minor, policy: policy(offer) }),
            soft_close: terms.soft.as_ref().map(soft),
            bidders_may_retract: terms.bidders_may_retract,
        },
    })))
}

fn currency(code: &str) -> Currency {
    Currency::parse(code).expect("three letters")
}

pub(crate) fn command(step: &Step) -> Command {
    let reason = "because".to_owned();
    Command::Auction(match *step {
        Step::Bid { who, max, right_currency } => AuctionCommand::PlaceBid(PlaceBid {
            bidder: bidder(who.into()),
            max_minor: max,
            currency: currency(if right_currency { "USD" } else { "EUR" }),
        }),
        Step::Buy { who } => {
            AuctionCommand::BuyNow(BuyNow { buyer: bidder(who.into()), currency: currency("USD") })
        }
        Step::Retract { number, by } => AuctionCommand::RetractBid(RetractBid {
            bid: number as u32,
            by: by.map_or(Retractor::Staff, |by| Retractor::Bidder(bidder(by.into()))),
            reason,
        }),
        Step::Ban { who } => AuctionCommand::BanBidder(BanBidder { bidder: bidder(who.into()), reason }),
        Step::Sweep => return Command::ExpireDue { limit: 64 },
    })
}

//! Details of auctions, of every kind of terms there is.

use onsale_domain::auction::command::{ChangeAuction, ChangeTerms};
use onsale_domain::auction::details::{BuyNowPolicy, BuyNowTerms, SoftClose, SoftCloseMode};
use onsale_domain::auction::increment::{Increment, LadderStep, NamedLadder};
use onsale_domain::auction::{AuctionDetails, AuctionTerms};
use onsale_domain::money::{Currency, MINOR_MAX, Minor};
use onsale_domain::{BuyerId, Millis};

use crate::differential::chance::Chance;

const DAY: Millis = 86_400_000;

pub(crate) fn currency(code: &str) -> Currency {
    Currency::parse(code).expect("three letters")
}

/// A seller with a name that is hard to get right.
pub(crate) fn seller() -> BuyerId {
    BuyerId::parse("s|e|\"{ller} %d").expect("a name that the domain admits")
}

pub(crate) fn details(chance: &mut Chance, now: Millis) -> AuctionDetails {
    let starts_at = now + if chance.one_in(4) { 15_000 } else { -1_000 };
    let length = match chance.below(12) {
        0..=3 => 60_000,
        4..=6 => 600_000,
        7 => -5_000,
        _ => 3 * DAY,
    };
    AuctionDetails {
        name: if chance.one_in(12) { "" } else { "Uhr | {x}" }.to_owned(),
        description: "Two\nlines | of \"text\"".into(),
        seller: seller(),
        currency: currency(["EUR", "JPY", "KWD"][chance.below(3) as usize]),
        starts_at,
        ends_at: (starts_at + length).max(now - 4_000),
        terms: terms(chance),
    }
}

fn terms(chance: &mut Chance) -> AuctionTerms {
    // Now and then amounts as large as they may be.
    if chance.one_in(12) {
        return AuctionTerms {
            start_minor: MINOR_MAX - 40,
            tick_minor: 1,
            increment: Increment::Fixed(if chance.one_in(2) { 3 } else { MINOR_MAX }),
            reserve_minor: Some(MINOR_MAX - 20),
            buy_now: Some(BuyNowTerms { price_minor: MINOR_MAX - 3, policy: BuyNowPolicy::UntilReserveMet }),
            soft_close: Some(SoftClose::default()),
            bidders_may_retract: true,
        };
    }
    let tick_minor = [1, 1, 5][chance.below(3) as usize];
    let start_minor = tick_minor * (1 + chance.below(100) as Minor);
    let reserve_minor = chance.one_in(2).then(|| start_minor + tick_minor * chance.below(120) as Minor);
    let highest = reserve_minor.unwrap_or(start_minor);
    let policy = [BuyNowPolicy::UntilFirstBid, BuyNowPolicy::UntilReserveMet, BuyNowPolicy::Always];
    let buy_now = chance.one_in(2).then(|| BuyNowTerms {
        price_minor: highest + tick_minor * (1 + chance.below(200) as Minor),
        policy: policy[chance.below(3) as usize],
    });
    AuctionTerms {
        start_minor,
        tick_minor,
        increment: increment(chance, tick_minor),
        reserve_minor,
        buy_now,
        soft_close: (!chance.one_in(4)).then(|| soft_close(chance)),
        bidders_may_retract: chance.one_in(2),
    }
}

/// A ladder of a house has steps that are no multiples of every tick: then the terms are refused.
fn increment(chance: &mut Chance, tick: Minor) -> Increment {
    let rung = |from_minor, step: Minor| LadderStep { from_minor, step_minor: step * tick };
    match chance.below(6) {
        0 => Increment::Named(NamedLadder::EbayUs),
        1 => Increment::Named(NamedLadder::TradeMe),
        2 => Increment::Named(NamedLadder::YahooJp),
        3 | 4 => Increment::Ladder(vec![rung(0, 1), rung(50, 2), rung(100, 5), rung(333, 20)]),
        _ => Increment::Fixed(tick * (1 + chance.below(9) as Minor)),
    }
}

fn soft_close(chance: &mut Chance) -> SoftClose {
    let mode = if chance.one_in(2) { SoftCloseMode::Reset } else { SoftCloseMode::Add };
    let extensions_ms = match chance.below(3) {
        0 => vec![30_000],
        1 => vec![20_000, 5_000, 1_000],
        _ => vec![1 + chance.below(9) as Millis],
    };
    let cap_ms = [0, 25_000, 3_600_000][chance.below(3) as usize];
    SoftClose { mode, window_ms: 30_000, extensions_ms, cap_ms }
}

/// One change or another; some of them no auction may make.
pub(crate) fn change(chance: &mut Chance, now: Millis) -> ChangeAuction {
    let nothing = ChangeAuction::default();
    let of = |terms: ChangeTerms| ChangeAuction { terms, ..ChangeAuction::default() };
    match chance.below(10) {
        0 => ChangeAuction { name: Some(String::new()), ..nothing },
        1 => ChangeAuction { name: Some(format!("Uhr {}", chance.below(3))), ..nothing },
        2 => ChangeAuction { description: Some("other | words".into()), ..nothing },
        3 => ChangeAuction { ends_at: Some(now + 40_000 + chance.below(9) as Millis), ..nothing },
        4 => ChangeAuction { starts_at: Some(now - 9_000), ends_at: Some(now - 100), ..nothing },
        5 => of(ChangeTerms {
            start_minor: Some(5 * (1 + chance.below(9) as Minor)),
            ..ChangeTerms::default()
        }),
        6 => of(ChangeTerms { reserve_minor: Some(None), ..ChangeTerms::default() }),
        7 => of(ChangeTerms { tick_minor: Some(0), ..ChangeTerms::default() }),
        8 => of(ChangeTerms { soft_close: Some(Some(soft_close(chance))), ..ChangeTerms::default() }),
        _ => nothing,
    }
}

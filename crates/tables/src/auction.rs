//! The tables of auctions and their language: a line becomes a command, an answer becomes words.

use onsale_domain::Command;
use onsale_domain::auction::command::{
    BanBidder, BuyNow, CancelAuction, ChangeAuction, ChangeTerms, PlaceBid, RetractBid, Retractor,
    SettleAward,
};
use onsale_domain::auction::details::{BuyNowPolicy, BuyNowTerms, SoftClose, SoftCloseMode};
use onsale_domain::auction::fact::{Award, Closing, PassCause, ReplayResult};
use onsale_domain::auction::increment::{Increment, LadderStep, NamedLadder};
use onsale_domain::auction::{AuctionCommand, AuctionDetails, AuctionFact, AuctionTerms};
use onsale_domain::money::Currency;
use onsale_domain::refusal::{Detail, Refusal};
use onsale_domain::{BuyerId, Millis, OrderId, Outcome};

use crate::{Table, cut};

macro_rules! files {
    ($($name:ident,)*) => {
        const FILES: &[(&str, &str)] =
            &[$((stringify!($name), include_str!(concat!("auction/", stringify!($name), ".txt"))),)*];
    };
}

files! { award, ban, bid, buy_now, currency, increment, life, reserve, retract, soft_close, watch, }

/// Every table, by file.
pub fn tables() -> Vec<Table> {
    cut(FILES)
}

pub fn name(text: &str) -> BuyerId {
    BuyerId::parse(text).expect("a name")
}

pub fn money(text: &str) -> Currency {
    Currency::parse(text).expect("three letters")
}

/// Milliseconds, or `90s`, `2m`, `1h`; sums and differences of them.
pub fn time(text: &str) -> Millis {
    if let Some((from, less)) = text.rsplit_once('-').filter(|(from, _)| !from.is_empty()) {
        return time(from) - time(less);
    }
    if let Some((first, more)) = text.rsplit_once('+') {
        return time(first) + time(more);
    }
    let (digits, unit) = match text.chars().last() {
        Some('s') => (&text[..text.len() - 1], 1_000),
        Some('m') => (&text[..text.len() - 1], 60_000),
        Some('h') => (&text[..text.len() - 1], 3_600_000),
        _ => (text, 1),
    };
    digits.parse::<Millis>().unwrap_or_else(|_| panic!("`{text}` is no time")) * unit
}

pub fn say_time(at: Millis) -> String {
    match at {
        at if at != 0 && at % 3_600_000 == 0 => format!("{}h", at / 3_600_000),
        at if at != 0 && at % 1_000 == 0 => format!("{}s", at / 1_000),
        at => at.to_string(),
    }
}

/// The auction that a table changes: from 0 to one hour, from 1000 by 100, euros, sold by sam.
pub fn usual() -> AuctionDetails {
    AuctionDetails {
        name: "clock".into(),
        description: String::new(),
        seller: name("sam"),
        currency: money("EUR"),
        starts_at: 0,
        ends_at: 3_600_000,
        terms: AuctionTerms {
            start_minor: 1_000,
            tick_minor: 1,
            increment: Increment::Fixed(100),
            reserve_minor: None,
            buy_now: None,
            soft_close: None,
            bidders_may_retract: false,
        },
    }
}

/// `start=500 inc=ebay_us reserve=2000 buy=9000/always soft=reset/30s/30s,20s/60m …`
pub fn change(details: &mut AuctionDetails, words: &str) {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("`{text}` is no amount"));
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or_else(|| panic!("`{word}` says nothing"));
        let terms = &mut details.terms;
        match key {
            "name" => details.name = value.into(),
            "opens" => details.starts_at = time(value),
            "ends" => details.ends_at = time(value),
            "seller" => details.seller = name(value),
            "currency" => details.currency = money(value),
            "start" => terms.start_minor = number(value),
            "tick" => terms.tick_minor = number(value),
            "inc" => terms.increment = increment(value),
            "reserve" => terms.reserve_minor = (value != "none").then(|| number(value)),
            "retract" => terms.bidders_may_retract = value == "bidders",
            "buy" => {
                let (price, policy) = value.split_once('/').expect("price/policy");
                let policy = match policy {
                    "first_bid" => BuyNowPolicy::UntilFirstBid,
                    "reserve_met" => BuyNowPolicy::UntilReserveMet,
                    "always" => BuyNowPolicy::Always,
                    other => panic!("policy {other}"),
                };
                terms.buy_now = Some(BuyNowTerms { price_minor: number(price), policy });
            }
            "soft" => {
                let parts: Vec<&str> = value.split('/').collect();
                let [mode, window, extensions, cap] = parts[..] else { panic!("mode/window/ext,ext/cap") };
                terms.soft_close = Some(SoftClose {
                    mode: if mode == "add" { SoftCloseMode::Add } else { SoftCloseMode::Reset },
                    window_ms: time(window),
                    extensions_ms: extensions.split(',').filter(|ext| !ext.is_empty()).map(time).collect(),
                    cap_ms: time(cap),
                });
            }
            other => panic!("`{other}` is nothing of an auction"),
        }
    }
}

fn increment(text: &str) -> Increment {
    if let Some(named) = NamedLadder::ALL.into_iter().find(|named| named.as_str() == text) {
        return Increment::Named(named);
    }
    if let Ok(step) = text.parse() {
        return Increment::Fixed(step);
    }
    let rung = |pair: &str| {
        let (from, step) = pair.split_once(':').expect("from:step");
        LadderStep {
            from_minor: from.parse().expect("an amount"),
            step_minor: step.parse().expect("an amount"),
        }
    };
    Increment::Ladder(text.split(',').filter(|pair| !pair.is_empty()).map(rung).collect())
}

/// The command of a line; `None` if the line asks for something to read.
pub fn command(line: &str, details: &AuctionDetails) -> Option<Command> {
    match line {
        "sweep" => Some(Command::ExpireDue { limit: 64 }),
        line => verb(line, details).map(Command::Auction),
    }
}

fn verb(line: &str, details: &AuctionDetails) -> Option<AuctionCommand> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let reason = || "because".to_owned();
    Some(match words[..] {
        ["create", ref rest @ ..] => {
            let mut created = details.clone();
            change(&mut created, &rest.join(" "));
            AuctionCommand::CreateAuction(Box::new(created))
        }
        ["change", ref rest @ ..] => {
            AuctionCommand::ChangeAuction(Box::new(changed(details, &rest.join(" "))))
        }
        ["bid", who, max] => bid(who, max, details.currency),
        ["bid", who, max, currency] => bid(who, max, money(currency)),
        ["buy", who] => AuctionCommand::BuyNow(BuyNow { buyer: name(who), currency: details.currency }),
        ["buy", who, currency] => {
            AuctionCommand::BuyNow(BuyNow { buyer: name(who), currency: money(currency) })
        }
        ["retract", number] => AuctionCommand::RetractBid(RetractBid {
            bid: number.trim_start_matches('#').parse().expect("a bid's number"),
            by: Retractor::Staff,
            reason: reason(),
        }),
        ["retract", number, "by", who] => AuctionCommand::RetractBid(RetractBid {
            bid: number.trim_start_matches('#').parse().expect("a bid's number"),
            by: Retractor::Bidder(name(who)),
            reason: reason(),
        }),
        ["ban", who] => AuctionCommand::BanBidder(BanBidder { bidder: name(who), reason: reason() }),
        ["ban", who, "without", "reason"] => {
            AuctionCommand::BanBidder(BanBidder { bidder: name(who), reason: String::new() })
        }
        ["unban", who] => AuctionCommand::UnbanBidder(name(who)),
        ["cancel"] => AuctionCommand::CancelAuction(CancelAuction { reason: reason() }),
        ["settle", who] => AuctionCommand::SettleAward(SettleAward { bidder: name(who), order: OrderId(7) }),
        ["decline", who] => AuctionCommand::DeclineAward(name(who)),
        ["watch", who] => AuctionCommand::WatchAuction(name(who)),
        ["unwatch", who] => AuctionCommand::UnwatchAuction(name(who)),
        _ => return None,
    })
}

fn bid(who: &str, max: &str, currency: Currency) -> AuctionCommand {
    let max_minor = max.parse().unwrap_or_else(|_| panic!("`{max}` is no amount"));
    AuctionCommand::PlaceBid(PlaceBid { bidder: name(who), max_minor, currency })
}

fn changed(details: &AuctionDetails, words: &str) -> ChangeAuction {
    let mut wanted = details.clone();
    change(&mut wanted, words);
    let old = details.terms.clone();
    fn differs<T: PartialEq>(wanted: T, old: T) -> Option<T> {
        (wanted != old).then_some(wanted)
    }
    ChangeAuction {
        name: (wanted.name != details.name).then_some(wanted.name),
        description: None,
        starts_at: (wanted.starts_at != details.starts_at).then_some(wanted.starts_at),
        ends_at: (wanted.ends_at != details.ends_at).then_some(wanted.ends_at),
        terms: ChangeTerms {
            start_minor: differs(wanted.terms.start_minor, old.start_minor),
            tick_minor: differs(wanted.terms.tick_minor, old.tick_minor),
            increment: differs(wanted.terms.increment, old.increment),
            reserve_minor: differs(wanted.terms.reserve_minor, old.reserve_minor),
            buy_now: differs(wanted.terms.buy_now, old.buy_now),
            soft_close: differs(wanted.terms.soft_close, old.soft_close),
            bidders_may_retract: differs(wanted.terms.bidders_may_retract, old.bidders_may_retract),
        },
    }
}

/// A fact in words; the end is told if the fact moved it.
pub fn say(fact: &AuctionFact, end_before: Millis) -> String {
    match fact {
        AuctionFact::AuctionCreated(_) => "created".into(),
        AuctionFact::AuctionChanged(_) => "changed".into(),
        AuctionFact::AuctionCancelled { .. } => "cancelled".into(),
        AuctionFact::BidPlaced { bid, leading, price_minor, min_next_minor, ends_at, .. } => {
            let standing = if *leading { "leading" } else { "outbid" };
            let end =
                if *ends_at == end_before { String::new() } else { format!(" end {}", say_time(*ends_at)) };
            format!("{standing} #{bid} at {price_minor} next {min_next_minor}{end}")
        }
        AuctionFact::BidRetracted { bid, after, .. } => format!("retracted #{bid}, {}", say_replayed(after)),
        AuctionFact::BidderBanned { bidder, after: None, .. } => format!("banned {bidder:?}"),
        AuctionFact::BidderBanned { bidder, after: Some(after), .. } => {
            format!("banned {bidder:?}, {}", say_replayed(after))
        }
        AuctionFact::BidderUnbanned { bidder } => format!("unbanned {bidder:?}"),
        AuctionFact::AuctionClosed { how, award } => {
            let how = match how {
                Closing::Won => "won by",
                Closing::BoughtNow => "bought by",
                Closing::ReserveNotMet => "closed, reserve not met",
                Closing::NoBids => "closed, no bids",
            };
            award.as_ref().map_or(how.to_owned(), |award| format!("{how} {}", say_award(award)))
        }
        AuctionFact::AwardPassed { from, why, to } => {
            let why = match why {
                PassCause::Unpaid => "unpaid by",
                PassCause::Declined => "declined by",
            };
            let to = to.as_ref().map_or("nobody".to_owned(), say_award);
            format!("{why} {from:?}, to {to}")
        }
        AuctionFact::AwardSettled { bidder, price_minor, .. } => {
            format!("settled by {bidder:?} at {price_minor}")
        }
        AuctionFact::AwardRefunded { bidder, amount_minor, left_minor, .. } => {
            format!("{bidder:?} gets {amount_minor} back, {left_minor} left")
        }
        AuctionFact::WatchStarted { watcher } => format!("watched by {watcher:?}"),
        AuctionFact::WatchEnded { watcher } => format!("unwatched by {watcher:?}"),
    }
}

fn say_replayed(after: &ReplayResult) -> String {
    let next = after.min_next_minor;
    match &after.leader {
        None => format!("nobody leads, next {next}"),
        Some(leader) => {
            format!("{:?} leads #{} at {} next {next}", leader.bidder, leader.bid, after.price_minor)
        }
    }
}

fn say_award(award: &Award) -> String {
    let bid = award.bid.map_or(String::new(), |bid| format!(" #{bid}"));
    format!("{:?}{bid} at {} until {}", award.bidder, award.price_minor, say_time(award.until))
}

pub fn say_outcome(outcome: &Result<Outcome, Refusal>) -> Option<String> {
    match outcome {
        Ok(Outcome::Done) => None,
        Ok(Outcome::Unchanged) => Some("unchanged".into()),
        Ok(other) => panic!("{other:?} is no answer of an auction"),
        Err(refusal) => Some(match &refusal.detail {
            Detail::None => refusal.code.as_str().into(),
            Detail::Field { field, .. } => format!("{} {field}", refusal.code.as_str()),
            Detail::Limit { limit, taken } => format!("{} {taken} of {limit}", refusal.code.as_str()),
            Detail::MinNext(least) => format!("{} {least}", refusal.code.as_str()),
            Detail::Order(_) => panic!("no order is in the way of a bid"),
        }),
    }
}

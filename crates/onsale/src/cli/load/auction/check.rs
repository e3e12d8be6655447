//! The check after a run: every exported fact against the second opinion. Exported facts keep maxima secret; the
//! bidders of the run know their own.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::hall::text;
use super::bidder::{Promise, UnansweredBid};
use crate::cli::bidding::{After, Award, Book, Line, Stand, Terms};
use crate::cli::instant;

/// ServerAnswer in full; the rest is only counted.
const BROKEN_TOLD: usize = 10;

#[derive(Debug, Default, Serialize)]
pub(crate) struct Verdict {
    pub exact: bool,
    pub facts: u64,
    pub promises: u64,
    pub leader: Option<String>,
    pub price_minor: Option<i64>,
    pub ends_at: i64,
    pub extensions: u64,
    pub broken: Vec<String>,
    pub broken_count: u64,
}

impl Verdict {
    fn broken(&mut self, why: String) {
        self.broken_count += 1;
        if self.broken.len() < BROKEN_TOLD {
            self.broken.push(why);
        }
    }
}

/// What the bidders heard, and what they never heard of again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Heard {
    pub promises: Vec<Promise>,
    pub unanswered: Vec<UnansweredBid>,
}

/// What the bidders of the run know of their own bids.
struct OwnBids<'a> {
    answered: HashMap<u64, &'a Promise>,
    unanswered: Vec<&'a UnansweredBid>,
}

impl OwnBids<'_> {
    /// The maximum of a bid that a fact tells of; the fact itself shows at most the price.
    fn max(&mut self, number: u64, bidder: &str, shown: i64) -> Option<i64> {
        if let Some(promise) = self.answered.get(&number) {
            return Some(promise.max);
        }
        let known =
            |ask: &&UnansweredBid| bidder.ends_with(&ask.bidder) && ask.max.is_some_and(|max| max >= shown);
        let place = self.unanswered.iter().position(known)?;
        self.unanswered.swap_remove(place).max
    }
}

/// Exported facts and the auction as it is served, against the second opinion.
pub(crate) fn judge(facts: &[Value], shown: &Value, terms: &Terms, heard: &Heard) -> Verdict {
    let promises = &heard.promises;
    let mut verdict = Verdict { promises: promises.len() as u64, ..Verdict::default() };
    let answered = promises.iter().map(|promise| (promise.bid, promise)).collect();
    let mut own = OwnBids { answered, unanswered: heard.unanswered.iter().collect() };
    let (mut book, mut found) = (Book::default(), HashMap::new());
    for fact in facts {
        verdict.facts += 1;
        let at = instant::ms(&fact["at"]).unwrap_or_default();
        if text(fact, "kind") == "bid_placed" {
            found.insert(fact["bid"].as_u64().unwrap_or_default(), fact.clone());
        }
        let taken = match line(fact, terms, &mut own) {
            Err(why) => Err(why),
            Ok(None) => Ok(()),
            Ok(Some(line)) => book.take(at, line),
        };
        if let Err(why) = taken {
            verdict.broken(format!("fact {}: {why}", fact["offset"]));
        }
    }
    for promise in promises {
        if !found.get(&promise.bid).is_some_and(|fact| keeps(fact, promise)) {
            verdict.broken(format!("answered, but not in the facts: {promise:?}"));
        }
    }
    let served = (shown["leader"].as_str(), shown["price_minor"].as_i64(), instant::ms(&shown["ends_at"]));
    let booked = (book.leader(), book.price(), Some(book.end()));
    if served != booked || !book.is_closed() {
        verdict.broken(format!("served as {served:?}, the bids come to {booked:?}"));
    }
    verdict.leader = book.leader().map(str::to_owned);
    (verdict.price_minor, verdict.ends_at) = (book.price(), book.end());
    verdict.extensions = shown["extensions"].as_u64().unwrap_or_default();
    verdict.exact = verdict.broken_count == 0;
    verdict
}

/// Whether the fact says what the answer said.
fn keeps(fact: &Value, promise: &Promise) -> bool {
    let told = (text(fact, "bidder"), fact["leading"].as_bool(), fact["price_minor"].as_i64());
    let position = format!("{}-{}", fact["epoch"], fact["offset"]);
    told == (promise.bidder.clone(), Some(promise.leading), Some(promise.price))
        && fact["min_next_minor"] == promise.min_next
        && instant::ms(&fact["ends_at"]) == Some(promise.ends_at)
        && instant::ms(&fact["at"]) == Some(promise.at)
        && position == promise.position
        // What everybody is told of a bid is never more than the price.
        && fact["amount_minor"] == promise.max.min(promise.price)
}

/// An exported fact in the words of the second opinion; `None` for what moves neither lead nor end.
fn line(fact: &Value, terms: &Terms, own: &mut OwnBids<'_>) -> Result<Option<Line>, String> {
    let number = |name: &str| fact[name].as_u64().ok_or_else(|| format!("{name} is missing"));
    let amount = |name: &str| fact[name].as_i64().ok_or_else(|| format!("{name} is missing"));
    let ends_at = || instant::ms(&fact["ends_at"]).ok_or("ends_at is missing");
    Ok(Some(match text(fact, "kind").as_str() {
        "auction_created" => {
            if (amount("start_minor")?, ends_at()?) != (terms.start, terms.ends_at) {
                return Err("another auction than was asked for".into());
            }
            Line::Terms(terms.clone())
        }
        "bid_placed" => {
            let (number, bidder) = (number("bid")?, text(fact, "bidder"));
            let max = own.max(number, &bidder, amount("amount_minor")?);
            let max = max.ok_or_else(|| format!("nobody of the run placed bid {number}"))?;
            let told = stand(fact)?;
            let leading = fact["leading"].as_bool().ok_or("leading is missing")?;
            Line::Bid { number, bidder, max, leading, told, ends_at: ends_at()? }
        }
        "bid_retracted" => Line::Retracted { number: number("bid")?, after: replayed(&fact["after"])? },
        "bidder_banned" => {
            let after = if fact["after"].is_null() { None } else { Some(replayed(&fact["after"])?) };
            Line::Banned { bidder: text(fact, "bidder"), after }
        }
        "auction_closed" => Line::Closed { how: text(fact, "how"), award: award(&fact["award"])? },
        "award_passed" => Line::Passed { from: text(fact, "from"), to: award(&fact["to"])? },
        "watch_started" | "watch_ended" => return Ok(None),
        other => return Err(format!("nobody of the run asked for {other}")),
    }))
}

fn stand(value: &Value) -> Result<Stand, String> {
    let amount = |name: &str| value[name].as_i64().ok_or_else(|| format!("{name} is missing"));
    let reserve_met = value["reserve_met"].as_bool().ok_or("reserve_met is missing")?;
    Ok(Stand { price: amount("price_minor")?, min_next: amount("min_next_minor")?, reserve_met })
}

fn replayed(value: &Value) -> Result<After, String> {
    Ok(After { leader: value["leader"]["bid"].as_u64(), stand: stand(value)? })
}

fn award(value: &Value) -> Result<Option<Award>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let price = value["price_minor"].as_i64().ok_or("an award without a price")?;
    Ok(Some(Award { bidder: text(value, "bidder"), bid: value["bid"].as_u64(), price }))
}

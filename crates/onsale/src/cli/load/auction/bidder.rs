//! One bidder: what is offered follows from what was told last, with ties, slips and raises among it.

use std::sync::atomic::{AtomicI64, Ordering};

use rand::RngExt;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::hall::text;
use crate::cli::client::Reply;
use crate::cli::instant;

/// Of a thousand steps: staff takes the bidder's last bid back, or bans the bidder.
const RETRACT: u32 = 10;
const BAN: u32 = 2;
const WATCH: u32 = 20;

/// What everybody has heard.
#[derive(Debug)]
pub(crate) struct Crowd {
    min_next: AtomicI64,
    last_max: AtomicI64,
}

impl Crowd {
    pub(crate) fn new(start: i64) -> Crowd {
        Crowd { min_next: AtomicI64::new(start), last_max: AtomicI64::new(start) }
    }
}

#[derive(Debug)]
pub(crate) struct Bidder {
    run: u32,
    number: u32,
    /// A banned one goes home and another comes.
    turn: u32,
    steps: u64,
    latest: Option<u64>,
}

/// A request about to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub verb: &'static str,
    pub path: String,
    pub body: String,
    pub bidder: String,
    pub key: String,
    /// The maximum of a bid.
    pub max: Option<i64>,
}

impl Ask {
    /// Whether the bidder asks, and not staff about the bidder.
    pub(crate) fn is_bidders_own(&self) -> bool {
        !matches!(self.verb, "retract" | "ban")
    }
}

/// Sent and never answered: whether it counts, only the facts know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnansweredBid {
    pub bidder: String,
    pub max: Option<i64>,
}

/// A bid that was answered with a yes, to be found in the facts afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Promise {
    pub bid: u64,
    pub bidder: String,
    pub max: i64,
    pub leading: bool,
    pub price: i64,
    pub min_next: i64,
    pub ends_at: i64,
    pub at: i64,
    pub position: String,
}

impl Bidder {
    pub(crate) fn new(run: u32, number: u32) -> Bidder {
        Bidder { run, number, turn: 0, steps: 0, latest: None }
    }

    fn name(&self) -> String {
        format!("load-{:08x}-{}-{}", self.run, self.number, self.turn)
    }

    pub(crate) fn next(&mut self, auction: &str, crowd: &Crowd, rng: &mut impl RngExt) -> Ask {
        self.steps += 1;
        let (bidder, dice) = (self.name(), rng.random_range(0..1_000));
        let ask = |verb, path: &str, body: serde_json::Value, max| Ask {
            verb,
            path: format!("/v1/auctions/{auction}/{path}"),
            body: body.to_string(),
            key: format!("{bidder}-{}", self.steps),
            bidder: bidder.clone(),
            max,
        };
        if let Some(bid) = self.latest.filter(|_| dice < RETRACT) {
            return ask("retract", "retractions", json!({"bid": bid, "reason": "a slip"}), None);
        }
        if dice < RETRACT + BAN && self.latest.is_some() {
            let body = json!({"bidder": bidder, "reason": "load"});
            return ask("ban", "bans", body, None);
        }
        if dice < RETRACT + BAN + WATCH {
            return ask("watch", "watchers", json!({}), None);
        }
        let least = crowd.min_next.load(Ordering::Relaxed);
        let max = match rng.random_range(0..20) {
            0 => least - 1,
            1..=3 => least,
            // A tie with whoever bid last, who is perhaps the leader.
            4 | 5 => crowd.last_max.load(Ordering::Relaxed),
            _ => least + rng.random_range(0..2_000),
        };
        crowd.last_max.store(max, Ordering::Relaxed);
        ask("bid", "bids", json!({"max_minor": max, "currency": "EUR"}), Some(max))
    }

    /// Takes the answer in; a yes to a bid is a promise.
    pub(crate) fn hear(&mut self, ask: &Ask, reply: &Reply, crowd: &Crowd) -> Option<Promise> {
        let told = reply.json();
        if let Some(least) = told["min_next_minor"].as_i64() {
            crowd.min_next.store(least, Ordering::Relaxed);
        }
        if reply.status >= 300 {
            return None;
        }
        match ask.verb {
            "retract" => {
                self.latest = None;
                // What stands now is less: the crowd hears of it with the next answer.
                crowd.min_next.store(told["after"]["min_next_minor"].as_i64()?, Ordering::Relaxed);
                None
            }
            "ban" => {
                self.turn += 1;
                self.latest = None;
                None
            }
            "bid" => {
                self.latest = told["bid"].as_u64();
                Some(Promise {
                    bid: told["bid"].as_u64()?,
                    bidder: text(&told, "bidder"),
                    max: ask.max?,
                    leading: told["standing"] == "leading",
                    price: told["price_minor"].as_i64()?,
                    min_next: told["min_next_minor"].as_i64()?,
                    ends_at: instant::ms(&told["ends_at"])?,
                    at: instant::ms(&told["at"])?,
                    position: text(&told, "position"),
                })
            }
            _ => None,
        }
    }
}

//! The check after a run: the exported facts, booked again, must show every unit sold at most once, contain everything
//! that was promised, and agree with the sale as it is served.

use std::collections::HashMap;

use onsale_domain::ListingKind;
use onsale_domain::id::read_inside_of;
use serde::Serialize;
use serde_json::Value;

use super::crowd::{Crowd, Promise};
use crate::cli::instant;
use crate::cli::load::connection::Connection;
use crate::cli::load::hall::{list, text};
use crate::cli::stock_book::{Entry, StockBook};

const FACTS_PER_PAGE: usize = 500;
/// ServerAnswer in full; the rest is only counted.
const BROKEN_TOLD: usize = 10;

#[derive(Debug, Default, Serialize)]
pub(crate) struct Verdict {
    /// Nothing broke, and exactly as many were sold as there were.
    pub exact: bool,
    pub facts: u64,
    pub promises: u64,
    pub sold: u64,
    pub purchases: u64,
    pub lapsed: u64,
    pub cancelled: u64,
    pub broken: Vec<String>,
    pub broken_count: u64,
}

/// What the facts say about checkouts, by their id.
#[derive(Default)]
struct CheckoutFacts {
    reserved: HashMap<String, (String, u64)>,
    bought: HashMap<String, String>,
    cancelled: HashMap<String, ()>,
}

pub(crate) async fn check(
    client: &mut Connection,
    sale: &str,
    items: u64,
    crowd: &Crowd,
) -> anyhow::Result<Verdict> {
    let (mut verdict, mut book, mut found) =
        (Verdict::default(), StockBook::default(), CheckoutFacts::default());
    crowd.broken().into_iter().for_each(|why| verdict.broken(why));
    let mut after = "0".to_owned();
    loop {
        let page =
            client.get(&format!("/v1/sales/{sale}/facts?after={after}&limit={FACTS_PER_PAGE}")).await?;
        for fact in list(&page, "data") {
            verdict.facts += 1;
            found.note(fact);
            let at = instant::ms(&fact["at"]).unwrap_or_default();
            let offset = &fact["offset"];
            for entry in entries(fact) {
                if let Err(why) = book.take(at, entry) {
                    verdict.broken(format!("fact {offset}: {why}"));
                }
            }
        }
        after = text(&page, "next");
        if page["more"] != true {
            break;
        }
    }
    let totals = book.totals();
    verdict.sold = totals.sold;
    verdict.purchases = found.bought.len() as u64;
    verdict.cancelled = found.cancelled.len() as u64;
    let ended_well = verdict.purchases + verdict.cancelled + totals.codes;
    verdict.lapsed = (found.reserved.len() as u64).saturating_sub(ended_well);
    for promise in crowd.promises() {
        verdict.promises += 1;
        if !found.keeps(&promise) {
            verdict.broken(format!("answered, but not in the facts: {promise:?}"));
        }
    }
    let shown = client.get(&format!("/v1/sales/{sale}")).await?;
    for sku in list(&shown, "skus") {
        let served = ["stock", "reserved", "sold"].map(|name| sku[name].as_u64().unwrap_or_default());
        let booked = book.level_of(&text(sku, "id")).map(|level| [level.stock, level.reserved, level.sold]);
        if booked != Some(served) {
            let id = text(sku, "id");
            verdict.broken(format!("{id} is served as {served:?}, the facts say {booked:?}"));
        }
    }
    if totals.sold != items {
        verdict.broken(format!("{} of {items} were sold: too few buyers, or units were lost", totals.sold));
    }
    verdict.exact = verdict.broken_count == 0;
    Ok(verdict)
}

impl Verdict {
    fn broken(&mut self, why: String) {
        self.broken_count += 1;
        if self.broken.len() < BROKEN_TOLD {
            self.broken.push(why);
        }
    }
}

impl CheckoutFacts {
    fn note(&mut self, fact: &Value) {
        let checkout = text(fact, "checkout");
        match text(fact, "kind").as_str() {
            "checked_out" => {
                let count = lines(fact).iter().map(|(_, count)| count).sum();
                self.reserved.insert(checkout, (text(fact, "buyer"), count));
            }
            "purchased" => drop(self.bought.insert(checkout, text(fact, "order"))),
            "checkout_cancelled" => drop(self.cancelled.insert(checkout, ())),
            _ => {}
        }
    }

    fn keeps(&self, promise: &Promise) -> bool {
        match promise {
            Promise::Reserved { checkout, buyer, count } => {
                self.reserved.get(checkout) == Some(&(buyer.clone(), *count))
            }
            Promise::Bought { checkout, order } => self.bought.get(checkout) == Some(order),
            Promise::Cancelled { checkout } => self.cancelled.contains_key(checkout),
        }
    }
}

/// The number inside a checkout's or an order's id.
pub(in super::super) fn number(fact: &Value, name: &str) -> u64 {
    let text = text(fact, name);
    let prefix = text.split('_').next().unwrap_or_default();
    read_inside_of(ListingKind::Sale, prefix, &text).map_or(0, |(_, number)| number)
}

fn lines(fact: &Value) -> Vec<(String, u64)> {
    list(fact, "lines").iter().map(|line| (text(line, "sku"), line["count"].as_u64().unwrap_or(0))).collect()
}

/// An exported fact in the book's words.
pub(in super::super) fn entries(fact: &Value) -> Vec<Entry<String>> {
    let (code, order) = (|| number(fact, "checkout"), || number(fact, "order"));
    let (until, buyer) = (|| instant::ms(&fact["expires_at"]).unwrap_or_default(), || text(fact, "buyer"));
    let sku = |sku: &Value| (text(sku, "sku"), sku["stock"].as_u64().unwrap_or(0));
    let one = || (text(fact, "sku"), fact["count"].as_u64().unwrap_or(0));
    let limit = || Entry::Limit(fact["buyer_limit"].as_u64().unwrap_or(0));
    match text(fact, "kind").as_str() {
        "sale_created" => vec![Entry::Skus(list(fact, "skus").iter().map(sku).collect()), limit()],
        "sale_changed" => vec![limit()],
        "sale_status_changed" if fact["status"] == "open" => vec![Entry::Opened],
        "sale_status_changed" => vec![Entry::Over],
        "sku_added" => vec![Entry::Skus(vec![sku(fact)])],
        "stock_added" => vec![Entry::Added(one().0, one().1)],
        "stock_withdrawn" => vec![Entry::Withdrawn(one().0, one().1)],
        "checked_out" => {
            vec![Entry::Reserved { code: code(), buyer: buyer(), lines: lines(fact), until: until() }]
        }
        "checkout_ordered" | "checkout_returned" => vec![Entry::Until { code: code(), until: until() }],
        "checkout_cancelled" => vec![Entry::Returned { code: code(), expired: false }],
        "checkout_expired" => vec![Entry::Returned { code: code(), expired: true }],
        "purchased" => vec![Entry::Bought { code: code(), order: order() }],
        "purchase_taken_back" => {
            let lines = lines(fact);
            vec![Entry::TakenBack { code: code(), order: order(), buyer: buyer(), lines }]
        }
        "purchase_refunded" => {
            let restock = fact["restock"] == true;
            vec![Entry::Refunded { order: order(), lines: lines(fact), restock }]
        }
        _ => Vec::new(),
    }
}

//! The verdict: exported facts, booked again by three books of their own, against each other, against what is served
//! and against what buyers were told.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::record::{Event, Promise, Record, Sale};
use crate::cli::instant;
use crate::cli::ledger::{Ledger, Line};
use crate::cli::load::hall::{list, text};
use crate::cli::load::{auction, check, sale};
use crate::cli::money_book::{Entry, MoneyBook};
use crate::cli::stock_book::{self, StockBook};

/// ServerAnswer in full; the rest is only counted.
const BROKEN_TOLD: usize = 10;

#[derive(Debug, Default, Serialize)]
pub(super) struct Verdict {
    pub exact: bool,
    pub facts: u64,
    pub promises: u64,
    pub orders: u64,
    /// Orders that keep goods at the end.
    pub confirmed: u64,
    pub captured_minor: i64,
    pub refunded_minor: i64,
    /// What confirmed orders come to, without those that were charged elsewhere.
    pub confirmed_minor: i64,
    /// Money that came when the goods were gone: how often it bought them after all, and how often it went back.
    pub late_bought: u64,
    pub late_refunded: u64,
    pub places_sold: u64,
    pub units_sold: u64,
    pub bids: u64,
    pub lapsed: u64,
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

    fn told(&mut self, what: Result<(), String>, listing: &str, fact: &Value) {
        if let Err(why) = what {
            self.broken(format!("{listing} {}: {why}", fact["offset"]));
        }
    }
}

/// What a hold or a code is made of, by the prices of its own fact.
#[derive(Clone, Debug, Default)]
struct Lot {
    seats: BTreeMap<String, i64>,
    counts: BTreeMap<String, (u64, i64)>,
}

impl Lot {
    fn of(fact: &Value) -> Lot {
        let price = |line: &Value| line["price_minor"].as_i64().unwrap_or_default();
        let count = |line: &Value| line["count"].as_u64().unwrap_or_default();
        let seats = list(fact, "seats").iter().map(|line| (text(line, "seat"), price(line))).collect();
        let areas = list(fact, "areas").iter().map(|line| (text(line, "area"), (count(line), price(line))));
        let lines = list(fact, "lines").iter().map(|line| (text(line, "sku"), (count(line), price(line))));
        Lot { seats, counts: areas.chain(lines).collect() }
    }

    fn units(&self) -> u64 {
        self.seats.len() as u64 + self.counts.values().map(|(count, _)| count).sum::<u64>()
    }

    fn total_minor(&self) -> i64 {
        let counted = self.counts.values().map(|(count, price)| *count as i64 * price);
        self.seats.values().sum::<i64>() + counted.sum::<i64>()
    }

    /// What the named part of it costs; `None` if it has no such part.
    fn part(&self, fact: &Value) -> Option<(u64, i64)> {
        let (mut units, mut minor) = (0, 0);
        for seat in list(fact, "seats") {
            minor += self.seats.get(seat.as_str()?)?;
            units += 1;
        }
        for line in list(fact, "areas").iter().chain(list(fact, "lines")) {
            let name = if line["sku"].is_string() { text(line, "sku") } else { text(line, "area") };
            let (have, price) = self.counts.get(&name)?;
            let count = line["count"].as_u64().filter(|count| count <= have)?;
            units += count;
            minor += count as i64 * price;
        }
        Some((units, minor))
    }

    fn drop(&mut self, fact: &Value) {
        for seat in list(fact, "seats").iter().filter_map(Value::as_str) {
            self.seats.remove(seat);
        }
        for line in list(fact, "areas") {
            if let Some((have, _)) = self.counts.get_mut(&text(line, "area")) {
                *have = have.saturating_sub(line["count"].as_u64().unwrap_or_default());
            }
        }
    }
}

/// Orders of all listings, with what they are for.
#[derive(Default)]
struct OrderBook {
    money: MoneyBook<String>,
    /// By the ids of holds and checkouts.
    lots: HashMap<String, Lot>,
    /// What an order is for.
    goods: HashMap<String, String>,
}

impl OrderBook {
    /// Books what a fact does to orders and money.
    fn take(&mut self, fact: &Value) -> Result<(), String> {
        let (order, payment) = (text(fact, "order"), text(fact, "payment"));
        let amount = || fact["amount_minor"].as_i64().ok_or("an amount is missing");
        let entry = match text(fact, "kind").as_str() {
            "hold_placed" => return self.lot(text(fact, "hold"), Lot::of(fact)),
            "checked_out" => return self.lot(text(fact, "checkout"), Lot::of(fact)),
            "seats_dropped" => {
                self.lots.get_mut(&text(fact, "hold")).ok_or("seats dropped from no hold")?.drop(fact);
                return Ok(());
            }
            "order_placed" => return self.place(fact, order),
            "payment_asked" => Entry::Asked { order, payment, amount_minor: amount()? },
            "payment_captured" => Entry::Captured { order, payment, amount_minor: amount()? },
            "payment_declined" => Entry::Declined { order, payment },
            "order_cancelled" => Entry::Cancelled { order },
            "hold_confirmed" | "purchased" | "purchase_taken_back" | "seats_taken_back" => {
                Entry::Sold { order }
            }
            "order_settled" => Entry::Settled { order },
            "order_refunded" | "purchase_refunded" => {
                let part = self.goods.get(&order).and_then(|goods| self.lots.get(goods)?.part(fact));
                let (units, price) = part.ok_or("something comes back that the order never had")?;
                let amount_minor = amount()?;
                if amount_minor != price {
                    return Err(format!("goods of {price} come back as {amount_minor}"));
                }
                Entry::Returned { order, units, amount_minor }
            }
            "refund_owed" => Entry::Owed { order, payment, amount_minor: amount()? },
            "refund_paid" => {
                let refund = fact["refund"].as_u64().ok_or("which refund is missing")?;
                Entry::PaidBack { order, payment, refund }
            }
            _ => return Ok(()),
        };
        self.money.take(entry)
    }

    fn lot(&mut self, id: String, lot: Lot) -> Result<(), String> {
        self.lots.insert(id, lot);
        Ok(())
    }

    fn place(&mut self, fact: &Value, order: String) -> Result<(), String> {
        let goods = if fact["hold"].is_string() { text(fact, "hold") } else { text(fact, "checkout") };
        let lot = self.lots.get(&goods).ok_or("an order for goods that nobody has")?;
        let (units, price) = (lot.units(), lot.total_minor());
        if fact["goods_minor"].as_i64() != Some(price) {
            return Err(format!("goods of {price} are ordered as {}", fact["goods_minor"]));
        }
        let fee = fact["fee_minor"].as_i64().ok_or("the fee is missing")?;
        self.goods.insert(order.clone(), goods);
        self.money.take(Entry::Placed { order, total_minor: price + fee, units })
    }
}

pub(super) fn judge(record: &Record) -> Verdict {
    let mut verdict = Verdict { promises: record.promises.len() as u64, ..Verdict::default() };
    record.broken.iter().for_each(|why| verdict.broken(why.clone()));
    let mut orders = OrderBook::default();
    record.events.iter().for_each(|event| judge_event(event, &mut orders, &mut verdict));
    record.sales.iter().for_each(|sale| judge_sale(sale, &mut orders, &mut verdict));
    for one in &record.auctions {
        let own = auction::check::judge(&one.facts, &one.shown, &one.terms, &one.heard);
        own.broken.iter().for_each(|why| verdict.broken(format!("{}: {why}", one.id)));
        verdict.facts += own.facts;
        verdict.promises += own.promises;
        verdict.bids += one.facts.iter().filter(|fact| fact["kind"] == "bid_placed").count() as u64;
    }
    judge_money(record, &orders, &mut verdict);
    judge_promises(record, &mut verdict);
    verdict.exact = verdict.broken_count == 0;
    verdict
}

fn judge_event(event: &Event, orders: &mut OrderBook, verdict: &mut Verdict) {
    let name = |name: &String| Arc::<str>::from(name.as_str());
    let chart = || {
        let areas = event.areas.iter().map(|(area, places)| (name(area), *places));
        (event.seats.iter().map(name).collect(), areas.collect())
    };
    let (mut ledger, mut compared) = (Ledger::default(), false);
    for fact in &event.facts {
        count(fact, verdict);
        verdict.told(orders.take(fact), &event.id, fact);
        let lines = match fact["kind"] == "seats_taken_back" {
            true => taken_back(fact, orders),
            false => check::line(fact, chart).into_iter().collect(),
        };
        for line in lines {
            verdict.told(ledger.take(line), &event.id, fact);
        }
        if position(fact) == text(&event.shown, "position") {
            compared = true;
            compare_seats(event, &ledger, verdict);
        }
    }
    if !compared {
        verdict.broken(format!("{}: the facts do not reach what is served", event.id));
    }
    verdict.places_sold += ledger.totals().sold;
}

/// Late money: held and sold in the same moment, as the order was placed.
fn taken_back(fact: &Value, orders: &OrderBook) -> Vec<Line<Arc<str>, Arc<str>>> {
    let order = check::number(fact, "order");
    let lot = orders.goods.get(&text(fact, "order")).and_then(|goods| orders.lots.get(goods));
    let lot = lot.cloned().unwrap_or_default();
    let seats = lot.seats.keys().map(|seat| Arc::from(seat.as_str())).collect();
    let areas = lot.counts.iter().map(|(area, (count, _))| (Arc::from(area.as_str()), *count)).collect();
    vec![Line::Placed { hold: order, seats, areas }, Line::Confirmed { hold: order, order }]
}

fn compare_seats(event: &Event, ledger: &Ledger<Arc<str>, Arc<str>>, verdict: &mut Verdict) {
    for seat in &event.seats {
        let (served, booked) =
            (event.shown["seats"][seat].as_str(), ledger.status(&Arc::from(seat.as_str())));
        if served != booked {
            verdict.broken(format!("seat {seat} is served as {served:?}, the facts say {booked:?}"));
        }
    }
}

fn judge_sale(one: &Sale, orders: &mut OrderBook, verdict: &mut Verdict) {
    let (mut book, mut compared) = (StockBook::default(), false);
    for fact in &one.facts {
        count(fact, verdict);
        verdict.told(orders.take(fact), &one.id, fact);
        let at = instant::ms(&fact["at"]).unwrap_or_default();
        for entry in sale::check::entries(fact).into_iter().chain(pinned(fact, orders)) {
            verdict.told(book.take(at, entry), &one.id, fact);
        }
        if position(fact) == one.position {
            compared = true;
            for sku in list(&one.shown, "skus") {
                let served = ["stock", "reserved", "sold"].map(|name| sku[name].as_u64().unwrap_or_default());
                let booked = book.level_of(&text(sku, "id"));
                let booked = booked.map(|level| [level.stock, level.reserved, level.sold]);
                if booked != Some(served) {
                    let id = text(sku, "id");
                    verdict.broken(format!("{id} is served as {served:?}, the facts say {booked:?}"));
                }
            }
        }
    }
    if !compared {
        verdict.broken(format!("{}: the facts do not reach what is served", one.id));
    }
    verdict.units_sold += book.totals().sold;
}

/// A payment that is asked for, or was declined, gives the code of its order more time.
fn pinned(fact: &Value, orders: &OrderBook) -> Option<stock_book::Entry<String>> {
    let kind = text(fact, "kind");
    let until =
        instant::ms(&fact["expires_at"]).filter(|_| kind == "payment_asked" || kind == "payment_declined")?;
    let code = json!({"checkout": orders.goods.get(&text(fact, "order"))?});
    Some(stock_book::Entry::Until { code: sale::check::number(&code, "checkout"), until })
}

fn count(fact: &Value, verdict: &mut Verdict) {
    verdict.facts += 1;
    match text(fact, "kind").as_str() {
        "hold_expired" | "checkout_expired" => verdict.lapsed += 1,
        "seats_taken_back" | "purchase_taken_back" => verdict.late_bought += 1,
        "refund_owed" if fact["why"] == "late" => verdict.late_refunded += 1,
        _ => {}
    }
}

fn position(fact: &Value) -> String {
    format!("{}-{}", fact["epoch"], fact["offset"])
}

/// Captured minus refunded is what confirmed orders come to, each of them and all; and who is served as having
/// something has it.
fn judge_money(record: &Record, orders: &OrderBook, verdict: &mut Verdict) {
    for order in orders.money.orders() {
        if let Err(why) = orders.money.check(order) {
            verdict.broken(why);
        }
    }
    let sums = orders.money.sums();
    (verdict.orders, verdict.confirmed) = (sums.orders, sums.confirmed);
    (verdict.captured_minor, verdict.refunded_minor) = (sums.captured_minor, sums.refunded_minor);
    verdict.confirmed_minor = sums.confirmed_minor;
    if sums.captured_minor - sums.refunded_minor != sums.confirmed_minor {
        verdict.broken(format!(
            "captured {} minus refunded {} is not {}, the sum of confirmed orders",
            sums.captured_minor, sums.refunded_minor, sums.confirmed_minor
        ));
    }
    if sums.unpaid > 0 {
        verdict.broken(format!("refunds that are owed and were never paid: {}", sums.unpaid));
    }
    let shown: HashMap<_, _> = record.orders.iter().map(|order| (text(order, "id"), order)).collect();
    for order in orders.money.orders() {
        let served = shown.get(order).map(|order| text(order, "status"));
        let has = served.as_deref().map(|status| matches!(status, "confirmed" | "completed"));
        if has != orders.money.keeps_goods(order) {
            verdict.broken(format!("order {order} is served as {served:?}, which the facts do not say"));
        }
    }
}

fn judge_promises(record: &Record, verdict: &mut Verdict) {
    let events = record.events.iter().flat_map(|event| &event.facts);
    let facts = events.chain(record.sales.iter().flat_map(|sale| &sale.facts));
    let mut found: HashMap<(String, String), Vec<&Value>> = HashMap::new();
    for fact in facts {
        let kind = text(fact, "kind");
        for field in ["hold", "checkout", "order", "payment"] {
            if let Some(id) = fact[field].as_str() {
                found.entry((kind.clone(), format!("{field} {id}"))).or_default().push(fact);
            }
        }
    }
    for promise in &record.promises {
        let key = (promise.kind.clone(), format!("{} {}", promise.field, promise.id));
        if !found.get(&key).is_some_and(|facts| facts.iter().any(|fact| keeps(fact, promise))) {
            verdict.broken(format!("answered, but not in the facts: {promise:?}"));
        }
    }
}

fn keeps(fact: &Value, promise: &Promise) -> bool {
    promise.says.iter().all(|(name, value)| fact[name.as_str()] == *value)
}

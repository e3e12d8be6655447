//! One buyer's way: takes something, orders it, pays with a provider in some mood, and lives with what comes of it.

use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::crowd::{ServerAnswer, Way};
use super::stage;
use crate::cli::instant;
use crate::cli::load::hall::{list, text};

/// Who finds the seats taken tries others so often; whoever comes with a plan does not give up.
const LOOKS: u32 = 6;
const PLANNED_LOOKS: u32 = 200;
/// The first who come have a plan, so that every run meets everything: each mood five times, three times with seats or
/// three times with units, and one more who has paid elsewhere.
const PLANNED: u64 = 5 * MOODS.len() as u64;
/// A lapse is waited for if it is not further away.
const LAPSE_MS_MAX: i64 = 45_000;
/// A late buyer is sure to be late.
const LATE: Duration = Duration::from_millis(200);

/// How the provider is with one payment, and how often of a hundred.
const MOODS: [(&str, u32); 9] = [
    ("succeed", 30),
    ("decline", 14),
    ("action", 16),
    ("delay", 10),
    ("duplicate", 8),
    ("reorder", 8),
    ("lost", 8),
    ("down", 2),
    ("silent", 4),
];

/// What somebody has for a while.
#[derive(Clone, Debug)]
enum Goods {
    Hold { event: String, hold: String, token: String },
    Checkout { checkout: String, code: String },
}

/// An order in its buyer's hand.
struct Order {
    id: String,
    key: String,
    total: i64,
    goods: Goods,
    until: i64,
}

impl Order {
    /// What opens it to its buyer.
    fn secret(&self) -> [(&'static str, &str); 1] {
        [("order-key", self.key.as_str())]
    }
}

pub(super) async fn buy(mut way: Way<'_>, mut rng: StdRng) {
    let way = &mut way;
    let Some((goods, until)) = take(way, &mut rng).await else { return };
    if way.number <= PLANNED {
        let Some(order) = place(way, goods, until).await else { return };
        return match way.number {
            PLANNED => settle(way, &order).await,
            _ => pay(way, order, &mut rng).await,
        };
    }
    let lapses = way.crowd.lapses;
    match rng.random_range(0..100) {
        dice if dice < lapses / 2 => return way.crowd.leaves(until),
        dice if dice < lapses / 2 + 4 => return give_up(way, &goods).await,
        _ => {}
    }
    let Some(order) = place(way, goods, until).await else { return };
    match rng.random_range(0..100) {
        dice if dice < lapses.div_ceil(2) => return way.crowd.leaves(until),
        dice if dice < lapses.div_ceil(2) + 4 => return cancel(way, &order).await,
        dice if dice < lapses.div_ceil(2) + 10 => return settle(way, &order).await,
        _ => {}
    }
    pay(way, order, &mut rng).await;
}

async fn take(way: &mut Way<'_>, rng: &mut StdRng) -> Option<(Goods, i64)> {
    let dice = rng.random_range(0..10);
    match way.number {
        PLANNED => hold(way, rng, false, PLANNED_LOOKS).await,
        0..PLANNED if way.number.is_multiple_of(2) => hold(way, rng, false, PLANNED_LOOKS).await,
        0..PLANNED => check_out(way, rng, PLANNED_LOOKS).await,
        _ if dice < 4 => check_out(way, rng, LOOKS).await,
        _ => hold(way, rng, dice == 4, LOOKS).await,
    }
}

/// Dice for the crowd, a plan for those who come first.
fn dice(way: &Way<'_>, rng: &mut StdRng, planned: &[u32]) -> u32 {
    let turn = (way.number / MOODS.len() as u64) as usize;
    match way.number < PLANNED {
        true => planned[turn % planned.len()],
        false => rng.random_range(0..10),
    }
}

async fn hold(way: &mut Way<'_>, rng: &mut StdRng, doomed: bool, looks: u32) -> Option<(Goods, i64)> {
    let stage = &way.crowd.stage;
    let (event, rows) = match doomed {
        true => (stage.doomed.clone(), &stage.rows[..2]),
        false => (stage.night.clone(), &stage.rows[..]),
    };
    let path = format!("/v1/events/{event}/holds");
    for _ in 0..looks {
        let wish = stage::wish(rows, rng);
        let told = way.post("hold", &path, &[], wish).await?;
        match told.status {
            201 => {
                let (hold, token) = (told.text("id"), told.text("token"));
                way.promise("hold_placed", "hold", &hold, &[("buyer", told.body["buyer"].clone())]);
                let until = instant::ms(&told.body["expires_at"]).unwrap_or_default();
                return Some((Goods::Hold { event, hold, token }, until));
            }
            409 => {}
            _ => {
                way.odd("a hold", &told);
                return None;
            }
        }
    }
    None
}

async fn check_out(way: &mut Way<'_>, rng: &mut StdRng, looks: u32) -> Option<(Goods, i64)> {
    let (sale, skus) = (way.crowd.stage.sale.clone(), way.crowd.stage.skus.clone());
    let path = format!("/v1/sales/{sale}/checkouts");
    for _ in 0..looks {
        let first = rng.random_range(0..skus.len());
        let mut lines = vec![json!({"sku": skus[first], "count": rng.random_range(1..=2)})];
        if rng.random_ratio(1, 3) && looks == LOOKS {
            lines.push(json!({"sku": skus[(first + 1) % skus.len()], "count": 1}));
        }
        let told = way.post("checkout", &path, &[], json!({ "lines": lines })).await?;
        match told.status {
            201 => {
                way.promise(
                    "checked_out",
                    "checkout",
                    &told.text("id"),
                    &[("buyer", told.body["buyer"].clone())],
                );
                let until = instant::ms(&told.body["expires_at"]).unwrap_or_default();
                let (checkout, code) = (told.text("id"), told.text("code"));
                return Some((Goods::Checkout { checkout, code }, until));
            }
            409 => {}
            _ => {
                way.odd("a checkout", &told);
                return None;
            }
        }
    }
    None
}

/// Gives back what this buyer has taken, before it is ordered.
async fn give_up(way: &mut Way<'_>, goods: &Goods) {
    let told = match goods {
        Goods::Hold { hold, token, .. } => {
            let path = format!("/v1/holds/{hold}");
            let headers = [("hold-token", token.as_str())];
            way.send("release", hyper::Method::DELETE, &path, &headers, Value::Null).await
        }
        Goods::Checkout { checkout, code } => {
            let path = format!("/v1/checkouts/{checkout}/cancel");
            way.post("cancel checkout", &path, &[("checkout-code", code.as_str())], json!({})).await
        }
    };
    if let Some(told) = told.filter(|told| !told.is_yes() && !is_over(told)) {
        way.odd("giving up", &told);
    }
}

/// Lapsed meanwhile, or its event was cancelled: everything may take long.
fn is_over(told: &ServerAnswer) -> bool {
    told.status == 410 || told.status == 409
}

async fn place(way: &mut Way<'_>, goods: Goods, until: i64) -> Option<Order> {
    let (path, secret) = match &goods {
        Goods::Hold { hold, token, .. } => {
            (format!("/v1/holds/{hold}/order"), ("hold-token", token.as_str()))
        }
        Goods::Checkout { checkout, code } => {
            (format!("/v1/checkouts/{checkout}/order"), ("checkout-code", code.as_str()))
        }
    };
    let told = way.post("order", &path, &[secret], json!({})).await?;
    if told.status != 201 {
        if !is_over(&told) {
            way.odd("an order", &told);
        }
        return None;
    }
    let (id, total) = (told.text("id"), told.body["total_minor"].as_i64().unwrap_or_default());
    let says = ["buyer", "goods_minor", "fee_minor"].map(|name| (name, told.body[name].clone()));
    way.promise("order_placed", "order", &id, &says);
    way.crowd.heard().orders.push((id.clone(), true));
    Some(Order { id, key: told.text("key"), total, goods, until })
}

async fn cancel(way: &mut Way<'_>, order: &Order) {
    let path = format!("/v1/orders/{}/cancel", order.id);
    let told = way.post("cancel order", &path, &order.secret(), json!({})).await;
    match told {
        Some(told) if told.is_yes() => {
            way.promise("order_cancelled", "order", &order.id, &[]);
            // The goods are still the buyer's, who gives them back, or just goes.
            match way.crowd.lapses {
                0 => give_up(way, &order.goods).await,
                _ => way.crowd.leaves(order.until),
            }
        }
        Some(told) if !is_over(&told) => way.odd("cancelling an order", &told),
        Some(_) | None => {}
    }
}

async fn settle(way: &mut Way<'_>, order: &Order) {
    let path = format!("/v1/orders/{}/pay", order.id);
    match way.post("settle", &path, &order.secret(), json!({"paid_elsewhere": true})).await {
        Some(told) if told.is_yes() => way.promise("order_settled", "order", &order.id, &[]),
        Some(told) if !is_over(&told) => way.odd("settling an order", &told),
        Some(_) | None => {}
    }
}

fn mood(way: &Way<'_>, rng: &mut StdRng) -> &'static str {
    let allowed = |mood| if mood == "silent" && !way.crowd.may_be_silent() { "succeed" } else { mood };
    if way.number < PLANNED {
        return allowed(MOODS[(way.number % MOODS.len() as u64) as usize].0);
    }
    let mut dice = rng.random_range(0..MOODS.iter().map(|(_, share)| share).sum());
    for (mood, share) in MOODS {
        if dice < share {
            return allowed(mood);
        }
        dice -= share;
    }
    "succeed"
}

async fn pay(way: &mut Way<'_>, order: Order, rng: &mut StdRng) {
    let mood = mood(way, rng);
    let Some((payment, pinned)) = ask(way, &order, mood, rng).await else { return };
    let paid = match mood {
        "silent" | "down" => return never_paid(way, &order, rng).await,
        "action" => act(way, &order, (&payment, pinned), rng).await,
        "delay" if dice(way, rng, &[0, 9]) < 3 => {
            take_away(way, &order).await;
            way.resolved(&order.id).await
        }
        "decline" => {
            way.resolved(&order.id).await;
            match dice(way, rng, &[0, 7, 0, 9]) {
                0..6 => {
                    if ask(way, &order, "succeed", rng).await.is_none() {
                        return;
                    }
                    way.resolved(&order.id).await
                }
                6..8 => return cancel(way, &order).await,
                _ if way.crowd.lapses == 0 => return cancel(way, &order).await,
                _ => return way.crowd.leaves(order.until),
            }
        }
        _ => way.resolved(&order.id).await,
    };
    let Some(paid) = paid else { return };
    if paid["status"] == "confirmed" {
        refund(way, &order, &paid, rng).await;
    }
}

/// Has the provider asked, and sometimes says so twice.
async fn ask(way: &mut Way<'_>, order: &Order, mood: &str, rng: &mut StdRng) -> Option<(String, i64)> {
    let path = format!("/v1/orders/{}/pay", order.id);
    let told = way.post("pay", &path, &order.secret(), json!({ "method": mood })).await?;
    if told.status != 202 {
        if !is_over(&told) {
            way.odd("paying", &told);
        }
        return None;
    }
    *way.crowd.heard().payments.entry(mood.to_owned()).or_default() += 1;
    let payment = told.text("payment");
    way.promise("payment_asked", "payment", &payment, &[("amount_minor", told.body["total_minor"].clone())]);
    if told.body["total_minor"] != order.total {
        way.odd("paying", &told);
    }
    if rng.random_ratio(1, 10)
        && let Some(again) =
            way.post("pay again", &path, &order.secret(), json!({ "method": "succeed" })).await
        && again.status == 202
        && let Ok(shown) = way.client.get(&format!("/v1/orders/{}", order.id)).await
        && list(&shown, "payments").len() < 2
    {
        // Possible only if the first had failed by then.
        way.odd("paying twice", &again);
    }
    Some((payment, instant::ms(&told.body["expires_at"]).unwrap_or_default()))
}

/// A payment that nobody hears of any more: its goods are pinned for long, unless staff takes them away.
async fn never_paid(way: &mut Way<'_>, order: &Order, rng: &mut StdRng) {
    if let Some(known) = way.crowd.heard().orders.iter_mut().find(|(id, _)| *id == order.id) {
        known.1 = false;
    }
    if rng.random_bool(0.5) {
        take_away(way, order).await;
    }
}

/// The extra step: done, done twice, refused, done before anybody expects it, or done when the goods are gone.
async fn act(
    way: &mut Way<'_>,
    order: &Order,
    (payment, pinned): (&str, i64),
    rng: &mut StdRng,
) -> Option<Value> {
    if way.crowd.secret.is_none() {
        never_paid(way, order, rng).await;
        return None;
    }
    if rng.random_ratio(1, 4) {
        way.webhook(payment, "done", order.total).await?;
    }
    let path = format!("/v1/payments/{payment}");
    let asked = |payment: &Value| !matches!(text(payment, "status").as_str(), "" | "asked" | "waiting");
    way.until(&path, asked).await?;
    match dice(way, rng, &[0, 3, 5, 9]) {
        0..3 => {
            if !wait_for_the_lapse(way, pinned).await {
                take_away(way, order).await;
            }
            way.webhook(payment, "done", order.total).await?;
        }
        3..5 => {
            way.webhook(payment, "failed", 0).await?;
            if rng.random_bool(0.5) {
                way.webhook(payment, "done", order.total).await?;
            }
        }
        5..7 => {
            let id = format!("{}-twice", way.name);
            for _ in 0..2 {
                way.webhook_again(&id, payment, "done", order.total).await?;
            }
            way.webhook(payment, "waiting", 0).await?;
        }
        _ => {
            way.webhook(payment, "done", order.total).await?;
        }
    }
    way.resolved(&order.id).await
}

/// Where a payment has no more time than this, its goods are let go before the money comes.
async fn wait_for_the_lapse(way: &mut Way<'_>, pinned: i64) -> bool {
    let now = way.client.get("/v1/time").await.ok().and_then(|time| instant::ms(&time["now"]));
    let left = now.map_or(i64::MAX, |now| pinned - now);
    if way.crowd.lapses == 0 || left > LAPSE_MS_MAX {
        return false;
    }
    tokio::time::sleep(LATE + Duration::from_millis(left.max(0).unsigned_abs())).await;
    true
}

/// Staff takes a hold away while it is paid; whatever money comes then is late. A code cannot be taken away.
async fn take_away(way: &mut Way<'_>, order: &Order) {
    let Goods::Hold { event, hold, .. } = &order.goods else { return };
    let body = json!({"hold": hold, "reason": "needed otherwise"});
    let told = way.post("take away", &format!("/v1/events/{event}/overrides"), &[], body).await;
    match told {
        Some(told) if told.is_yes() => way.promise("hold_overridden", "hold", hold, &[]),
        Some(told) if !is_over(&told) => way.odd("taking a hold away", &told),
        Some(_) | None => {}
    }
}

/// Some bring back what they bought, all of it or a part.
async fn refund(way: &mut Way<'_>, order: &Order, paid: &Value, rng: &mut StdRng) {
    // Of each order once, so that what comes back is its price.
    let all = || (json!({"reason": "all of it"}), paid["goods_minor"].clone());
    let (part, amount_minor) = match dice(way, rng, &[0, 1, 9]) {
        0 => all(),
        1 => match (list(paid, "seats").first(), list(paid, "lines").first()) {
            (Some(seat), _) => {
                (json!({"seats": [text(seat, "seat")], "reason": "a part"}), seat["price_minor"].clone())
            }
            (None, Some(line)) => {
                let lines = json!([{"sku": line["sku"], "count": 1}]);
                let part = json!({"lines": lines, "restock": rng.random_bool(0.5), "reason": "a part"});
                (part, line["price_minor"].clone())
            }
            (None, None) => all(),
        },
        _ => return,
    };
    let told = way.post("refund", &format!("/v1/orders/{}/refund", order.id), &[], part).await;
    match told {
        Some(told) if told.is_yes() => {
            let kind = match &order.goods {
                Goods::Hold { .. } => "order_refunded",
                Goods::Checkout { .. } => "purchase_refunded",
            };
            way.promise(kind, "order", &order.id, &[("amount_minor", amount_minor)]);
        }
        // Its event was cancelled meanwhile.
        Some(told) if !is_over(&told) => way.odd("a refund", &told),
        Some(_) | None => {}
    }
}

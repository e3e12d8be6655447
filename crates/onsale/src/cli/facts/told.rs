//! A fact as one line for people: when, where, what, who, which places.

use std::io::IsTerminal;
use std::sync::LazyLock;

use jiff::Timestamp;
use onsale_domain::Fact;
use serde_json::Value;

/// Names printed before the rest is only counted.
const NAMES_TOLD: usize = 8;
/// Width of the longest kind, so that lines stand in columns.
static KIND_WIDTH: LazyLock<usize> = LazyLock::new(|| Fact::kinds().map(str::len).max().unwrap_or_default());
const POSITION_WIDTH: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Coloured,
}

impl Style {
    pub(super) fn for_terminal() -> Style {
        let wanted = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        if wanted { Style::Coloured } else { Style::Plain }
    }
}

pub(super) fn line(fact: &Value, style: Style) -> String {
    let kind = fact["kind"].as_str().unwrap_or("?");
    let at = time(&fact["at"], "%F %T%.3f");
    let position = format!("{}-{}", fact["epoch"], fact["offset"]);
    let (about, width) = (about(kind, fact).join("  "), *KIND_WIDTH);
    match style {
        Style::Plain => format!("{at}  {position:>POSITION_WIDTH$}  {kind:width$}  {about}"),
        Style::Coloured => {
            let colour = colour(kind, fact);
            format!(
                "\x1b[2m{at}  {position:>POSITION_WIDTH$}\x1b[0m  \x1b[{colour}m{kind:width$}\x1b[0m  {about}"
            )
        }
    }
}

/// Green for what is sold or paid, red for what is taken away, cyan for who waits, yellow for what is kept until a
/// deadline, plain for the rest. It follows from the fact itself, so that a new kind has its colour from the start.
fn colour(kind: &str, fact: &Value) -> &'static str {
    match kind.rsplit('_').next().unwrap_or(kind) {
        "confirmed" | "purchased" | "captured" | "settled" => "32",
        "overridden" | "blocked" | "refunded" | "cancelled" | "retracted" | "banned" => "31",
        _ if fact["place_in_line"].is_u64() => "36",
        _ if fact["expires_at"].is_string() => "33",
        _ => "0",
    }
}

fn about(kind: &str, fact: &Value) -> Vec<String> {
    let mut parts = Vec::new();
    let mut text = |name: &str, label: &str| {
        if let Some(text) = fact[name].as_str().filter(|text| !text.is_empty()) {
            parts.push(format!("{label}{text}"));
        }
    };
    text("name", "");
    text("external_id", "");
    if kind == "venue_created" {
        text("place", "");
    }
    text("status", "");
    for who in ["buyer", "bidder", "watcher"] {
        text(who, "");
    }
    text("from", "from ");
    text("seat", "");
    parts.extend(places(fact));
    parts.extend(until(fact, &fact["expires_at"]));
    if let Some(place) = fact["place_in_line"].as_u64() {
        parts.push(format!("place {place} in line"));
    }
    parts.extend(money(kind, fact));
    if let Some(to) = fact["to"]["buyer"].as_str() {
        parts.push(format!("to {to}"));
    }
    parts.extend(bidding(fact));
    if let Some(reason) = fact["reason"].as_str() {
        parts.push(format!("“{reason}”"));
    }
    parts.extend(fact["why"].as_str().map(|why| format!("({})", why.replace('_', " "))));
    parts.extend(fact["by"].as_str().map(|who| format!("by {who}")));
    if let Some(version) = fact["layout_version"].as_u64() {
        parts.push(format!("layout {version}"));
    }
    // A venue's place is a town.
    let ids = ["hold", "place", "checkout", "entry", "order", "payment", "auction", "sale"];
    for name in ids.into_iter().filter(|_| kind != "venue_created") {
        parts.extend(fact[name].as_str().map(|id| format!("{name} {id}")));
    }
    parts
}

/// Who leads after this, and who may pay now.
fn bidding(fact: &Value) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(bid) = fact["bid"].as_u64() {
        parts.push(format!("bid {bid}"));
    }
    if fact["leading"] == true {
        parts.push("leads".to_owned());
    }
    match (fact["after"]["leader"]["bidder"].as_str(), fact["after"].is_object()) {
        (Some(leader), _) => {
            parts.push(format!("{leader} leads at {}", units(&fact["after"]["price_minor"])))
        }
        (None, true) => parts.push("nobody leads".to_owned()),
        (None, false) => {}
    }
    parts.extend(fact["how"].as_str().map(|how| format!("({})", how.replace('_', " "))));
    for award in [&fact["award"], &fact["to"]] {
        if let Some(bidder) = award["bidder"].as_str() {
            parts.push(format!("{bidder} may pay {}", units(&award["price_minor"])));
            parts.extend(until(fact, &award["expires_at"]));
        }
    }
    parts
}

/// A deadline; with its date if that is not the date of the line.
fn until(fact: &Value, deadline: &Value) -> Option<String> {
    let date = time(deadline, "%F");
    let format = if date == time(&fact["at"], "%F") { "%T" } else { "%F %T" };
    deadline.is_string().then(|| format!("until {}", time(deadline, format)))
}

fn units(amount: &Value) -> String {
    match amount.as_i64().unwrap_or_default() {
        1 => "1 minor unit".to_owned(),
        amount => format!("{amount} minor units"),
    }
}

/// Which way money goes, or will go: what is owed has not been paid, and what is asked for has not come.
fn money(kind: &str, fact: &Value) -> Option<String> {
    let refund = || fact["refund"].as_u64().map_or(String::new(), |number| format!(" (refund {number})"));
    if kind == "refund_paid" {
        return Some(format!("paid back{}", refund()));
    }
    if let (Some(goods), Some(fee)) = (fact["goods_minor"].as_i64(), fact["fee_minor"].as_i64()) {
        let currency = fact["currency"].as_str().unwrap_or_default();
        return Some(format!("costs {goods} and {fee} of fees in minor units of {currency}"));
    }
    if kind == "award_settled" {
        return Some(format!("pays {}", units(&fact["price_minor"])));
    }
    // A place that cost nothing is cancelled without a word of money.
    let amount = fact["amount_minor"].as_i64().filter(|amount| *amount != 0)?;
    let units = units(&fact["amount_minor"]);
    Some(match kind {
        "payment_asked" => format!("asks for {units}"),
        "payment_captured" => format!("receives {units}"),
        "refund_owed" => format!("owes {units}{}", refund()),
        "order_refunded" | "purchase_refunded" | "award_refunded" | "entry_cancelled" => {
            format!("{units} {} back to the buyer", if amount == 1 { "goes" } else { "go" })
        }
        "bid_placed" => format!("bids {units}"),
        _ => units,
    })
}

/// Seats by name and areas by count; of a chart only its size.
fn places(fact: &Value) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(seats) = fact["seats"].as_array().filter(|seats| !seats.is_empty()) {
        let name = |seat: &Value| seat.as_str().or(seat["seat"].as_str()).unwrap_or("?").to_owned();
        let mut names: Vec<String> = seats.iter().take(NAMES_TOLD).map(name).collect();
        if seats.len() > NAMES_TOLD {
            names.push(format!("and {} more", seats.len() - NAMES_TOLD));
        }
        parts.push(names.join(" "));
    }
    if let Some(count) = fact["seats"].as_u64() {
        parts.push(super::super::look::counted(count, "seat"));
    }
    if let Some(lines) = fact["lines"].as_array() {
        let line = |line: &Value| format!("{} × {}", line["count"], line["sku"].as_str().unwrap_or("?"));
        parts.extend(lines.iter().map(line));
    }
    if let Some(areas) = fact["areas"].as_array() {
        let area = |area: &Value| format!("{} × {}", area["count"], area["area"].as_str().unwrap_or("?"));
        parts.extend(areas.iter().map(area));
    }
    parts
}

fn time(told: &Value, format: &str) -> String {
    let time = told.as_str().and_then(|told| told.parse::<Timestamp>().ok());
    time.map_or_else(|| "?".to_owned(), |time| time.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fact_is_one_readable_line() {
        let told = |fact: Value| line(&fact, Style::Plain);
        assert_eq!(
            told(json!({
                "epoch": 1, "offset": 4, "at": "2025-11-13T02:13:20.123Z", "kind": "hold_placed",
                "hold": "hld_0000000000000005e0000000000007", "buyer": "ann", "fence": 9, "expires_at": "2025-11-13T02:15:20.123Z",
                "seats": [{"seat": "A1", "price_minor": 5}], "areas": [{"area": "floor", "count": 2}], "pieces": 0,
            })),
            "2025-11-13 02:13:20.123       1-4  hold_placed                  ann  A1  2 × floor  until 02:15:20  hold hld_0000000000000005e0000000000007"
        );
        assert_eq!(
            told(
                json!({"epoch": 1, "offset": 2, "at": "1970-01-01T00:00:00.000Z", "kind": "seats_blocked", "seats": ["A1", "A2"], "reason": "camera", "by": "staff:house"})
            ),
            "1970-01-01 00:00:00.000       1-2  seats_blocked                A1 A2  “camera”  by staff:house"
        );
    }

    #[test]
    fn money_goes_the_way_it_goes() {
        let told = |kind: &str, more: Value| {
            let mut fact = json!({"kind": kind, "order": "ord_1", "payment": "pay_1"});
            fact.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            about(kind, &fact).join("  ")
        };
        assert_eq!(
            told("payment_asked", json!({"amount_minor": 900})),
            "asks for 900 minor units  order ord_1  payment pay_1"
        );
        assert_eq!(
            told("payment_captured", json!({"amount_minor": 900})),
            "receives 900 minor units  order ord_1  payment pay_1"
        );
        assert_eq!(
            told("refund_owed", json!({"amount_minor": 450, "refund": 1, "why": "returned"})),
            "owes 450 minor units (refund 1)  (returned)  order ord_1  payment pay_1"
        );
        assert_eq!(
            told("refund_paid", json!({"refund": 1})),
            "paid back (refund 1)  order ord_1  payment pay_1"
        );
        assert_eq!(
            told("order_placed", json!({"goods_minor": 900, "fee_minor": 20, "currency": "EUR"})),
            "costs 900 and 20 of fees in minor units of EUR  order ord_1  payment pay_1"
        );
        let refunded =
            told("order_refunded", json!({"amount_minor": 900, "seats": ["A1"], "reason": "rain"}));
        assert!(refunded.starts_with("A1  900 minor units go back to the buyer  “rain”"), "{refunded}");
        let cancelled = told("entry_cancelled", json!({"buyer": "ann", "amount_minor": 1, "why": "buyer"}));
        assert!(cancelled.starts_with("ann  1 minor unit goes back to the buyer  (buyer)"), "{cancelled}");
    }

    #[test]
    fn ids_are_those_that_routes_take() {
        let id = "ord_000000000theatree0000000000007";
        let told =
            about("hold_confirmed", &json!({"hold": "hld_000000000theatree0000000000001", "order": id}))
                .join("  ");
        assert_eq!(told, "hold hld_000000000theatree0000000000001  order ord_000000000theatree0000000000007");
        let venue = about("venue_created", &json!({"name": "Hall", "place": "Ghent"})).join("  ");
        assert_eq!(venue, "Hall  Ghent");
    }

    #[test]
    fn a_deadline_on_another_day_has_its_date() {
        let told = |expires_at: &str| {
            let at = "2025-11-13T02:13:20.123Z";
            about("registration_offered", &json!({"at": at, "buyer": "ann", "expires_at": expires_at}))
                .join("  ")
        };
        assert_eq!(told("2025-11-13T02:23:20.123Z"), "ann  until 02:23:20");
        assert_eq!(told("2025-11-14T02:13:20.123Z"), "ann  until 2025-11-14 02:13:20");
    }

    #[test]
    fn of_an_auction_bids_have_their_numbers_and_the_end_its_winner() {
        let at = "2025-11-13T02:13:20.123Z";
        let told = |kind: &str, more: Value| {
            let mut fact = json!({"kind": kind, "at": at});
            fact.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            about(kind, &fact).join("  ")
        };
        let bid =
            json!({"bid": 3, "bidder": "ann", "amount_minor": 9100, "leading": true, "price_minor": 9100});
        assert_eq!(told("bid_placed", bid), "ann  bids 9100 minor units  bid 3  leads");
        let after = json!({"leader": {"bid": 2, "bidder": "bob"}, "price_minor": 8000});
        let retracted = json!({"bid": 3, "reason": "slip", "after": after});
        assert_eq!(told("bid_retracted", retracted), "bid 3  bob leads at 8000 minor units  “slip”");
        let banned = json!({"bidder": "ann", "reason": "shill", "after": {"leader": null, "price_minor": 0}});
        assert_eq!(told("bidder_banned", banned), "ann  nobody leads  “shill”");
        let award =
            json!({"bidder": "bob", "bid": 2, "price_minor": 8000, "expires_at": "2025-11-15T02:13:20.123Z"});
        assert_eq!(
            told("auction_closed", json!({"how": "won", "award": award})),
            "(won)  bob may pay 8000 minor units  until 2025-11-15 02:13:20"
        );
        assert_eq!(
            told("award_passed", json!({"from": "bob", "why": "lapsed", "to": award})),
            "from bob  bob may pay 8000 minor units  until 2025-11-15 02:13:20  (lapsed)"
        );
        let settled = json!({"bidder": "bob", "price_minor": 8000, "order": "ord_1"});
        assert_eq!(told("award_settled", settled), "bob  pays 8000 minor units  order ord_1");
    }

    #[test]
    fn a_colour_follows_from_the_fact() {
        let kept = json!({"expires_at": "2025-11-13T02:13:20.123Z"});
        let waits = json!({"expires_at": "2025-11-13T02:13:20.123Z", "place_in_line": 3});
        for (kind, fact, expected) in [
            ("hold_confirmed", json!({}), "32"),
            ("purchased", json!({}), "32"),
            ("entry_cancelled", json!({}), "31"),
            ("checked_out", kept.clone(), "33"),
            ("queue_joined", waits, "36"),
            ("event_changed", json!({}), "0"),
        ] {
            assert_eq!(colour(kind, &fact), expected, "{kind}");
        }
        assert!(Fact::kinds().all(|kind| kind.len() <= *KIND_WIDTH));
    }
}

//! A scene with every route by which staff, the clock or a provider changes a listing, between buyers who buy. Every engine
//! plays it; afterwards the facts must say who made them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use onsale_edge::http::table::{Scope, table};
use serde_json::{Value, json};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// Nothing here takes long; a busy machine may.
const PATIENCE: Duration = Duration::from_secs(120);

/// Sends method, path, headers and body; the answer's status and body.
type Send<'a> = dyn Fn(&str, &str, &[(&str, &str)], &str) -> (u16, Value) + 'a;

pub(crate) struct Scene<'a> {
    send: &'a Send<'a>,
    now: i64,
    /// The operations of all routes that were asked.
    operations: RefCell<BTreeSet<&'static str>>,
}

/// A listing's id, and a line for each of its facts so far.
pub(crate) type Log = (String, Vec<String>);

/// `kind by`, with `-` where the fact names nobody: its buyer made it.
pub(crate) fn line(fact: &Value) -> String {
    format!("{} {}", fact["kind"].as_str().expect("a kind"), fact["by"].as_str().unwrap_or("-"))
}

/// An instant as bodies say it.
fn at(millis: i64) -> Value {
    json!(onsale_edge::http::time::Time(millis))
}

impl<'a> Scene<'a> {
    pub(crate) fn new(now: i64, send: &'a Send<'a>) -> Scene<'a> {
        Scene { send, now, operations: RefCell::default() }
    }

    /// Plays it all and checks every log; the logs, for those who can read them elsewhere as well.
    pub(crate) fn play(&self) -> Vec<Log> {
        let logs = vec![
            self.event(),
            self.opening(),
            self.sale(),
            self.series(),
            self.registration(),
            self.auction(),
            self.called_off(),
            self.venue(),
        ];
        self.deleted();
        self.every_route();
        logs
    }

    /// A venue has facts, but no route that shows them: what they should say.
    fn venue(&self) -> Log {
        let id = self.made("/v1/venues", json!({"name": "Hall", "place": "Town", "layout": layout()}));
        self.staff("POST", &format!("/v1/venues/{id}/layouts"), layout());
        self.staff("PATCH", &format!("/v1/venues/{id}"), json!({"metadata": {"a": 1}}));
        let lines = ["venue_created", "layout_published", "layout_published", "listing_described"];
        (id, lines.map(|line| format!("{line} staff:house")).to_vec())
    }

    /// Of what is deleted nobody is told anything; of what is described, who did it.
    fn deleted(&self) {
        let venue = json!({"name": "Hall", "layout": layout()});
        let far = at(self.now + 30 * DAY);
        let sale = json!({"name": "Drop", "starts_at": far, "ends_at": at(self.now + 31 * DAY), "currency": "EUR",
                          "skus": [{"id": "tee", "name": "Shirt", "price_minor": 0, "stock": 10}]});
        let series = json!({"name": "Hourly", "currency": "EUR", "from": far, "items": [{"price_minor": 9, "stock": 5}]});
        let run = json!({"name": "Run", "starts_at": far, "capacity": 9, "currency": "EUR"});
        for (path, body) in [
            ("/v1/events", night()),
            ("/v1/venues", venue),
            ("/v1/sales", sale),
            ("/v1/series", series),
            ("/v1/registrations", run),
            ("/v1/auctions", self.clock_of_the_station()),
        ] {
            self.staff("DELETE", &self.listing(path, body), Value::Null);
        }
    }

    fn event(&self) -> Log {
        let path = self.listing("/v1/events", night());
        self.staff("PATCH", &path, json!({"name": "Late night"}));
        self.staff("POST", &format!("{path}/blocks"), json!({"seats": ["A-9"], "reason": "camera"}));
        self.staff("POST", &format!("{path}/blocks"), json!({"seats": ["A-9"], "unblock": true}));
        let taken = self.hold(&path, "ann", "A-1");
        let take = json!({"hold": taken["id"], "reason": "wheelchair", "to": {"buyer": "bob"}});
        self.staff("POST", &format!("{path}/overrides"), take);
        let sold = self.hold(&path, "cem", "A-2");
        let own = [("onsale-buyer", "cem"), ("hold-token", text(&sold["token"]))];
        let confirm = format!("/v1/holds/{}/confirm", text(&sold["id"]));
        let order = self.ask("POST", &confirm, &own, json!({"paid_elsewhere": true}))["order"].clone();
        self.staff("POST", &format!("/v1/orders/{}/refund", text(&order)), json!({"reason": "ill"}));
        let paid = self.hold(&path, "dan", "A-3");
        let own = [("onsale-buyer", "dan"), ("hold-token", text(&paid["token"]))];
        let order = self.ask("POST", &format!("/v1/holds/{}/order", text(&paid["id"])), &own, json!({}));
        let key = [own[0], ("order-key", text(&order["key"]))];
        let own = format!("/v1/orders/{}", text(&order["id"]));
        self.ask("POST", &format!("{own}/pay"), &key, json!({}));
        self.until(&own, |order| order["status"] == "confirmed");
        self.staff("POST", &format!("{own}/refund"), json!({"reason": "ill"}));
        self.until(&own, |order| order["payments"][0]["refunds"][0]["paid"] == true);
        self.says(
            &path,
            &[
                "event_created staff:house",
                "chart_adopted staff:house",
                "status_changed staff:house",
                "event_changed staff:house",
                "seats_blocked staff:house",
                "seats_unblocked staff:house",
                "hold_placed -",
                "hold_overridden staff:house",
                "hold_placed -",
                "hold_confirmed -",
                "order_refunded staff:house",
                "hold_placed -",
                "order_placed -",
                "payment_asked -",
                "payment_captured provider:simulated",
                "hold_confirmed provider:simulated",
                "order_refunded staff:house",
                "refund_owed staff:house",
                "refund_paid provider:simulated",
            ],
        )
    }

    /// The clock opens its sale.
    fn opening(&self) -> Log {
        let mut wish = night();
        (wish["status"], wish["sale_opens_at"]) = (json!("scheduled"), at(self.now + 1_500));
        let path = self.listing("/v1/events", wish);
        self.until(&path, |event| event["status"] == "on_sale");
        let made = ["event_created staff:house", "chart_adopted staff:house", "status_changed staff:house"];
        self.says(&path, &[&made[..], &["status_changed clock"]].concat())
    }

    fn sale(&self) -> Log {
        let path = self.listing(
            "/v1/sales",
            json!({
                "name": "Drop", "starts_at": at(self.now - 1_000), "ends_at": at(self.now + DAY), "currency": "EUR",
                "skus": [{"id": "tee", "name": "Shirt", "price_minor": 0, "stock": 10}],
            }),
        );
        self.staff("PATCH", &path, json!({"name": "Last drop"}));
        let cap = json!({"id": "cap", "name": "Cap", "price_minor": 900, "stock": 5});
        self.staff("POST", &format!("{path}/skus"), cap);
        self.staff("PATCH", &format!("{path}/skus/tee"), json!({"add": 5}));
        let own = [("onsale-buyer", "ann")];
        let lines = json!({"lines": [{"sku": "tee", "count": 1}]});
        let checkout = self.ask("POST", &format!("{path}/checkouts"), &own, lines);
        let code = [own[0], ("checkout-code", text(&checkout["code"]))];
        self.ask(
            "POST",
            &format!("/v1/checkouts/{}/purchase", text(&checkout["id"])),
            &code,
            json!({"paid_elsewhere": true}),
        );
        self.says(
            &path,
            &[
                "sale_created staff:house",
                "sale_status_changed staff:house",
                "sale_changed staff:house",
                "sku_added staff:house",
                "stock_added staff:house",
                "checked_out -",
                "purchased -",
            ],
        )
    }

    /// The clock opens a slot, and makes its sale.
    fn series(&self) -> Log {
        let path = self.listing(
            "/v1/series",
            json!({
                "name": "Every minute", "currency": "EUR", "items": [{"price_minor": 900, "stock": 5}],
                "schedule": {"cron": "* * * * *", "zone": "UTC"}, "length_seconds": 60,
            }),
        );
        let shown = self.until(&path, |series| !series["slots"][0].is_null());
        self.staff("PATCH", &path, json!({"status": "paused"}));
        let sale = format!("/v1/sales/{}", text(&shown["slots"][0]["sale"]));
        self.until(&sale, |shown| shown["id"].is_string());
        self.says(&sale, &["sale_created clock"]);
        let (id, lines) = self.log(&path);
        let (first, last) = (lines.first(), lines.last());
        assert_eq!(first.map(String::as_str), Some("series_created staff:house"));
        assert_eq!(last.map(String::as_str), Some("series_paused staff:house"));
        let between = &lines[1..lines.len() - 1];
        assert!(!between.is_empty() && between.iter().all(|line| line == "slot_opened clock"), "{between:?}");
        (id, lines)
    }

    fn registration(&self) -> Log {
        let path = self.listing(
            "/v1/registrations",
            json!({"name": "Run", "opens_at": at(self.now - 1_000), "starts_at": at(self.now + 30 * DAY),
                   "capacity": 9, "currency": "EUR"}),
        );
        self.staff("PATCH", &path, json!({"capacity": 10}));
        for (buyer, canceller) in [("ann", &[("onsale-buyer", "ann")][..]), ("bob", &[])] {
            let entry = self.ask("POST", &format!("{path}/entries"), &[("onsale-buyer", buyer)], json!({}));
            self.ask("DELETE", &format!("/v1/entries/{}", text(&entry["id"])), canceller, json!({}));
        }
        self.says(
            &path,
            &[
                "registration_created staff:house",
                "registration_status_changed staff:house",
                "capacity_changed staff:house",
                "registered -",
                "entry_cancelled -",
                "registered -",
                "entry_cancelled staff:house",
            ],
        )
    }

    fn auction(&self) -> Log {
        let path = self.listing("/v1/auctions", self.clock_of_the_station());
        self.staff("PATCH", &path, json!({"name": "Tower clock"}));
        for (bidder, max_minor) in [("ann", 2_000), ("bob", 3_000), ("eve", 4_000)] {
            let bid = json!({"max_minor": max_minor, "currency": "EUR"});
            self.ask("POST", &format!("{path}/bids"), &[("onsale-buyer", bidder)], bid);
        }
        let retract = |bid: u32, who: &[(&str, &str)]| {
            let body = json!({"bid": bid, "reason": "a slip"});
            self.ask("POST", &format!("{path}/retractions"), who, body)
        };
        retract(1, &[]);
        retract(2, &[("onsale-buyer", "bob")]);
        self.staff("POST", &format!("{path}/bans"), json!({"bidder": "eve", "reason": "shill"}));
        self.staff("DELETE", &format!("{path}/bans/eve"), json!({}));
        self.ask("POST", &format!("{path}/watchers"), &[("onsale-buyer", "ann")], json!({}));
        self.says(
            &path,
            &[
                "auction_created staff:house",
                "auction_changed staff:house",
                "bid_placed -",
                "bid_placed -",
                "bid_placed -",
                "bid_retracted staff:house",
                "bid_retracted -",
                "bidder_banned staff:house",
                "bidder_unbanned staff:house",
                "watch_started -",
            ],
        )
    }

    fn called_off(&self) -> Log {
        let path = self.listing("/v1/auctions", self.clock_of_the_station());
        self.staff("POST", &format!("{path}/cancel"), json!({"reason": "broken"}));
        self.says(&path, &["auction_created staff:house", "auction_cancelled staff:house"])
    }

    /// No route by which staff changes something was left out.
    fn every_route(&self) {
        let seen = self.operations.borrow();
        let missing: Vec<&str> = table()
            .routes
            .iter()
            .filter(|route| route.keyed && route.scope == Scope::Staff)
            .map(|route| route.operation)
            .chain(["entries.cancel", "bids.retract"])
            .filter(|operation| !seen.contains(operation))
            .collect();
        assert!(missing.is_empty(), "the scene does not ask {missing:?}");
    }

    fn clock_of_the_station(&self) -> Value {
        json!({
            "name": "Station clock", "seller": "sam", "currency": "EUR", "start_minor": 1_000, "increment": 100,
            "starts_at": at(self.now - 1_000), "ends_at": at(self.now + 3 * DAY), "bidders_may_retract": true,
        })
    }

    fn hold(&self, event: &str, buyer: &str, seat: &str) -> Value {
        self.ask("POST", &format!("{event}/holds"), &[("onsale-buyer", buyer)], json!({"seats": [seat]}))
    }

    fn made(&self, path: &str, body: Value) -> String {
        text(&self.staff("POST", path, body)["id"]).to_owned()
    }

    /// The path of a new listing.
    fn listing(&self, path: &str, body: Value) -> String {
        format!("{path}/{}", self.made(path, body))
    }

    fn staff(&self, method: &str, path: &str, body: Value) -> Value {
        self.ask(method, path, &[], body)
    }

    /// The answer to what must be a yes.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Value) -> Value {
        let name = table().path_name(table().path_number(path));
        let route = table().routes.iter().find(|route| route.method == method && route.path == name);
        self.operations.borrow_mut().extend(route.map(|route| route.operation));
        let (status, told) = (self.send)(method, path, headers, &body.to_string());
        assert!((200..300).contains(&status), "{method} {path} {body}: {status} {told}");
        told
    }

    fn until(&self, path: &str, wished: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let (_, last) = (self.send)("GET", path, &[], "");
            if wished(&last) {
                return last;
            }
            assert!(begun.elapsed() < PATIENCE, "{path} never became as it should: {last}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn log(&self, path: &str) -> Log {
        let told = self.ask("GET", &format!("{path}/facts"), &[], json!({}));
        let lines = told["data"].as_array().expect("facts").iter().map(line).collect();
        (path.rsplit('/').next().expect("an id").to_owned(), lines)
    }

    fn says(&self, path: &str, expected: &[&str]) -> Log {
        let (id, lines) = self.log(path);
        assert_eq!(lines, expected, "{path}");
        (id, lines)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn layout() -> Value {
    let seat = |n: u32| json!({"id": format!("A-{n}"), "label": n.to_string(), "tier": 0, "x": n, "y": 0});
    let seats: Vec<Value> = (1..=9).map(seat).collect();
    json!({"sections": [{"name": "A", "rows": [{"label": "1", "seats": seats}]}]})
}

fn night() -> Value {
    json!({
        "name": "Night", "starts_at": at(4_000_000_000_000), "ends_at": at(4_000_010_000_000), "currency": "EUR",
        "status": "on_sale", "layout": layout(), "tiers": [{"name": "Stalls", "price_minor": 4500}],
    })
}

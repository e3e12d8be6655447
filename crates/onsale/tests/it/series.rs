//! Series over HTTP, on the embedded engine with a clock that the test sets: one sale per slot, whoever is up.

use crate::house::ms;
use onsale_edge::http::time::Time;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onsale_domain::Millis;
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::{Value, json};

use crate::house::House;

const HOUR: Millis = 3_600_000;
/// 2026-11-16T00:00:00Z.
const MIDNIGHT: Millis = 1_794_787_200_000;

struct Hours {
    clock: Arc<ManualClock>,
    engine: Arc<EmbeddedEngine>,
    house: House<EmbeddedEngine>,
}

impl Hours {
    fn open(folder: &Path, now: Millis) -> Hours {
        Hours::open_with(folder, now, false)
    }

    fn open_with(folder: &Path, now: Millis, compat_open: bool) -> Hours {
        let clock = Arc::new(ManualClock::at(now));
        let options = Options { clock: clock.clone(), ..Options::default() };
        let engine = Arc::new(EmbeddedEngine::open(folder, options).expect("opens"));
        let house = House::serve(|config| config.compat_open = compat_open, engine.clone());
        Hours { clock, engine, house }
    }

    fn close(self) {
        drop(self.house);
        self.engine.close();
    }

    fn hourly(&self) -> String {
        self.series(json!({}))
    }

    fn series(&self, more: Value) -> String {
        let made = self.house.post("/v1/series", &[], asked(more));
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["id"].as_str().expect("an id").to_owned()
    }

    fn show(&self, series: &str) -> Value {
        self.house.get(&format!("/v1/series/{series}")).json()
    }

    /// Waits until the series looks right; the clockwork looks twice a second.
    fn until(&self, series: &str, right: impl Fn(&Value) -> bool) -> Value {
        let patience = Instant::now() + Duration::from_secs(120);
        loop {
            let shown = self.show(series);
            if right(&shown) {
                return shown;
            }
            assert!(Instant::now() < patience, "still {shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn sales(&self) -> Vec<Value> {
        self.house.get("/v1/sales?limit=500").json()["data"].as_array().expect("sales").clone()
    }
}

fn asked(more: Value) -> Value {
    let mut series = json!({
        "name": "On the hour", "currency": "EUR",
        "items": [{"price_minor": 900, "stock": 5}, {"price_minor": 0, "stock": 1, "name": "The last mug"}],
    });
    for (name, value) in more.as_object().expect("an object") {
        series[name] = value.clone();
    }
    series
}

/// Slots with what became of them, latest first.
fn slots(shown: &Value) -> Vec<(Millis, Option<&str>)> {
    let slots = shown["slots"].as_array().expect("slots").iter();
    slots.map(|slot| (ms(&slot["slot"]), slot["skipped"].as_str())).collect()
}

fn opened(count: usize) -> impl Fn(&Value) -> bool {
    move |shown| slots(shown).len() == count
}

#[test]
fn a_sale_is_made_a_minute_early_and_is_the_active_one_at_exactly_the_hour() {
    let folder = tempfile::tempdir().expect("a folder");
    let hours = Hours::open(folder.path(), MIDNIGHT + 1);
    let series = hours.hourly();
    let shown = hours.until(&series, |shown| shown["next_at"].is_string());
    assert_eq!(ms(&shown["next_at"]), MIDNIGHT + HOUR - 60_000);
    hours.clock.set(MIDNIGHT + HOUR - 60_000);
    let shown = hours.until(&series, opened(1));
    assert_eq!((slots(&shown), &shown["active_sale"]), (vec![(MIDNIGHT + HOUR, None)], &json!(null)));
    let sale = shown["slots"][0]["sale"].as_str().expect("a sale").to_owned();
    let path = format!("/v1/sales/{sale}");
    let patience = Instant::now() + Duration::from_secs(120);
    while hours.house.get(&path).status != 200 {
        assert!(Instant::now() < patience, "the sale is made");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(hours.house.get(&path).json()["status"], "scheduled");
    let body = json!({"lines": [{"sku": "item-2", "count": 1}]});
    let checkout =
        || hours.house.post(&format!("{path}/checkouts"), &[("onsale-buyer", "ann")], body.clone());
    checkout().problem(409, "sale_not_started");
    hours.clock.set(MIDNIGHT + HOUR - 1);
    assert_eq!(hours.show(&series)["active_sale"], json!(null));
    checkout().problem(409, "sale_not_started");
    hours.clock.set(MIDNIGHT + HOUR);
    assert_eq!(hours.show(&series)["active_sale"], json!(sale));
    assert_eq!(checkout().status, 201);

    let sold = hours.house.get(&path).json();
    assert_eq!((&sold["series"], &sold["slot"]), (&json!(series), &json!(Time(MIDNIGHT + HOUR))));
    let picture = sold["skus"][1]["picture"].as_str().expect("a picture");
    let seen = hours.house.send("GET", picture, &[("authorization", "none")], None);
    assert_eq!((seen.status, seen.header("content-type")), (200, Some("image/svg+xml")));
    assert!(seen.body.starts_with(b"<svg ") && seen.body.len() < 1_024);
    assert_eq!(
        seen.header("content-security-policy"),
        Some("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    );
    hours.house.get(&format!("/pictures/{sale}/item-3.svg")).problem(404, "sku_unknown");
    hours.house.get("/pictures/x/item-1.svg").problem(404, "listing_unknown");
    hours.close();
}

#[test]
fn a_restart_at_the_top_of_the_hour_opens_nothing_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut hours = Hours::open(folder.path(), MIDNIGHT + 1);
    let series = hours.hourly();
    for hour in 1..=4 {
        hours.clock.set(MIDNIGHT + hour * HOUR - 60_000);
        hours.until(&series, opened(hour as usize));
        hours.close();
        // Back at exactly the hour.
        hours = Hours::open(folder.path(), MIDNIGHT + hour * HOUR);
        let shown = hours.until(&series, |shown| shown["active_sale"].is_string());
        assert_eq!(slots(&shown).len(), hour as usize, "{shown}");
        let sale = format!("/v1/sales/{}", shown["active_sale"].as_str().expect("a sale"));
        let patience = Instant::now() + Duration::from_secs(120);
        while hours.house.get(&sale).status != 200 {
            assert!(Instant::now() < patience, "whoever comes up makes the sale of an opened slot");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(hours.house.get(&sale).json()["status"], "open");
    }
    assert_eq!(hours.sales().len(), 4);
    hours.close();
}

#[test]
fn down_across_slots_only_the_current_one_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let hours = Hours::open(folder.path(), MIDNIGHT + 1);
    let series = hours.hourly();
    hours.until(&series, |shown| shown["next_at"].is_string());
    hours.close();
    // Three days and a half hour: more slots than one command may skip.
    let now = MIDNIGHT + 75 * HOUR + HOUR / 2;
    let hours = Hours::open(folder.path(), now);
    let shown = hours.until(&series, |shown| shown["active_sale"].is_string());
    let known = slots(&shown);
    assert_eq!(known[0], (MIDNIGHT + 75 * HOUR, None));
    assert!(known[1..].iter().all(|(_, skipped)| *skipped == Some("down")), "{known:?}");
    let facts = hours.house.get(&format!("/v1/series/{series}/facts?limit=500")).json();
    let count = |kind: &str| {
        facts["data"].as_array().expect("facts").iter().filter(|fact| fact["kind"] == kind).count()
    };
    assert_eq!((count("slot_skipped"), count("slot_opened")), (74, 1));
    hours.close();
}

#[test]
fn two_servers_at_the_top_of_the_hour_open_one_sale() {
    let folder = tempfile::tempdir().expect("a folder");
    let hours = Hours::open(folder.path(), MIDNIGHT + 1);
    let others: Vec<_> = (0..3).map(|_| House::serve(|_| {}, hours.engine.clone())).collect();
    let series = hours.hourly();
    for hour in 1..=3 {
        hours.clock.set(MIDNIGHT + hour * HOUR);
        hours.until(&series, |shown| opened(hour as usize)(shown) && shown["active_sale"].is_string());
    }
    let facts = hours.house.get(&format!("/v1/series/{series}/facts")).json();
    let kinds: Vec<_> =
        facts["data"].as_array().expect("facts").iter().map(|fact| fact["kind"].clone()).collect();
    assert_eq!(kinds, ["series_created", "slot_opened", "slot_opened", "slot_opened"]);
    let patience = Instant::now() + Duration::from_secs(120);
    while hours.sales().len() < 3 {
        assert!(Instant::now() < patience, "every slot has its sale");
        std::thread::sleep(Duration::from_millis(20));
    }
    for sale in hours.sales() {
        let facts =
            hours.house.get(&format!("/v1/sales/{}/facts", sale["id"].as_str().expect("an id"))).json();
        let made =
            facts["data"].as_array().expect("facts").iter().filter(|fact| fact["kind"] == "sale_created");
        assert_eq!(made.count(), 1);
    }
    drop(others);
    hours.close();
}

#[test]
fn a_cron_line_is_read_on_the_clocks_of_its_zone() {
    let folder = tempfile::tempdir().expect("a folder");
    // Before the night of 25 October 2026, when Berlin has the hour from two to three twice.
    let evening = 1_792_872_000_000;
    let hours = Hours::open(folder.path(), evening);
    let schedule = json!({"cron": "30 2 * * *", "zone": "Europe/Berlin"});
    let series = hours.series(json!({"schedule": schedule, "length_seconds": 60}));
    // Half past two in summer time is 00:30 UTC; an hour later the clocks show it again.
    let first = 1_792_888_200_000;
    hours.clock.set(first);
    hours.until(&series, opened(1));
    hours.clock.set(first + HOUR);
    let shown = hours.until(&series, |shown| shown["next_at"].is_string());
    assert_eq!(slots(&shown), vec![(first, None)], "a time that comes twice is one slot");
    assert_eq!(ms(&shown["next_at"]), first + 25 * HOUR - 60_000, "the next day in winter time");
    assert_eq!(shown["schedule"], schedule);
    hours.close();
}

#[test]
fn staff_pauses_resumes_changes_and_ends_a_series() {
    let folder = tempfile::tempdir().expect("a folder");
    let hours = Hours::open(folder.path(), MIDNIGHT + 1);
    let series = hours.hourly();
    let path = format!("/v1/series/{series}");
    let patch = |body: Value| hours.house.send("PATCH", &path, &[], Some(&body.to_string()));
    assert_eq!(patch(json!({"status": "paused"})).json()["status"], "paused");
    assert_eq!(patch(json!({"status": "paused"})).json(), hours.house.get(&path).json());
    hours.clock.set(MIDNIGHT + HOUR + 1);
    assert_eq!(patch(json!({"items": [{"price_minor": 1, "stock": 2}]})).json()["items"][0]["stock"], 2);
    assert_eq!(patch(json!({"status": "running"})).json()["status"], "running");
    // Paused at one o'clock, on again a moment later: what has begun and lasts is opened.
    hours.until(&series, opened(1));
    assert_eq!(patch(json!({"status": "ended"})).json()["status"], "ended");
    patch(json!({"name": "x"})).problem(409, "series_ended");
    patch(json!({"name": "x", "status": "running"})).problem(422, "invalid");
    hours.close();
}

#[test]
fn wrong_series_are_refused_by_field() {
    let house = House::open();
    for (change, field) in [
        (json!({"name": ""}), "name"),
        (json!({"currency": "XXX"}), "currency"),
        (json!({"items": []}), "items"),
        (json!({"items": [{"price_minor": -1, "stock": 1}]}), "items[0].price_minor"),
        (json!({"items": [{"price_minor": 1, "stock": 1, "name": ""}]}), "items[0].name"),
        (json!({"items": [{"price_minor": 0.5, "stock": 1}]}), "items[0].price_minor"),
        (json!({"items": [{"price_minor": 1, "stock": 10_000_001}]}), "items[0].stock"),
        (json!({"length_seconds": 59}), "length_seconds"),
        (json!({"length_seconds": i64::MAX}), "length_seconds"),
        (json!({"buyer_limit": 0}), "buyer_limit"),
        (json!({"checkout_seconds": 1}), "checkout_seconds"),
        (json!({"from": "1969-12-31T23:59:59Z"}), "from"),
        (json!({"schedule": {"cron": "61 * * * *", "zone": "UTC"}}), "schedule.cron"),
        (json!({"schedule": {"cron": "* * * *", "zone": "UTC"}}), "schedule.cron"),
        (json!({"schedule": {"cron": "0 * * * *", "zone": "Mars/Olympus"}}), "schedule.zone"),
        (json!({"schedule": {"cron": "0 * * * *", "zone": ""}}), "schedule.zone"),
        (json!({"schedule": {"cron": "0 * * * *"}}), "schedule.zone"),
        (json!({"every": "hour"}), "every"),
    ] {
        let told = house.post("/v1/series", &[], asked(change.clone())).problem(422, "invalid");
        assert_eq!(told["field"], field, "{change}: {told}");
    }
    assert_eq!(house.get("/v1/series").json()["data"], json!([]));
    house.get("/v1/series/x").problem(404, "listing_unknown");
}

#[test]
fn the_aliases_buy_one_unit_of_the_sale_that_is_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let hours = Hours::open(folder.path(), MIDNIGHT + 1);
    let post = |path: &str, headers: &[(&str, &str)]| hours.house.send("POST", path, headers, None);
    post("/checkout?user_id=ann&id=item-1", &[]).problem(404, "listing_unknown");
    hours.house.get("/v1/sales/active").problem(404, "listing_unknown");
    let series = hours.hourly();
    hours.clock.set(MIDNIGHT + HOUR);
    hours.until(&series, |shown| shown["active_sale"].is_string());
    let patience = Instant::now() + Duration::from_secs(120);
    while hours.sales().is_empty() {
        assert!(Instant::now() < patience, "the slot has its sale");
        std::thread::sleep(Duration::from_millis(20));
    }
    let active = hours.house.get("/v1/sales/active");
    let shown = hours.show(&series);
    assert_eq!((active.status, &active.json()["id"]), (200, &shown["active_sale"]), "{active:?}");
    assert_eq!(active.json()["skus"][1]["name"], "The last mug");
    assert_eq!(shown["items"][1]["name"], "The last mug");
    let etag = active.header("etag").expect("a tag").to_owned();
    let again = hours.house.send("GET", "/v1/sales/active", &[("if-none-match", &etag)], None);
    assert_eq!(again.status, 304);
    let nobody = [("authorization", "none")];
    post("/checkout?user_id=ann&id=item-1", &nobody).problem(401, "unauthenticated");
    post("/purchase?code=x", &nobody).problem(401, "unauthenticated");
    let checkout = post("/checkout?user_id=ann&id=item-1", &[]);
    assert_eq!((checkout.status, &checkout.json()["buyer"]), (201, &json!("ann")));
    let code = checkout.json()["code"].as_str().expect("a code").to_owned();
    let bought = post(&format!("/purchase?code={code}"), &[]);
    assert_eq!(bought.status, 200, "{bought:?}");
    assert_eq!(post(&format!("/purchase?code={code}"), &[]).json(), bought.json());
    let told = post("/checkout?user_id=ann&id=item-9", &[]).problem(404, "sku_unknown");
    assert_eq!(told["lines"], json!([{"sku": "item-9", "code": "sku_unknown"}]));
    post("/checkout?user_id=&id=item-1", &[]).problem(422, "invalid");
    post("/checkout?id=item-1", &[]).problem(422, "invalid");
    post("/purchase?code=x", &[]).problem(404, "checkout_unknown");
    assert_eq!(post("/checkout?user_id=bob&id=item-2", &[]).status, 201);
    post("/checkout?user_id=zoe&id=item-2", &[]).problem(409, "sold_out_for_now");
    hours.close();

    let hours = Hours::open_with(folder.path(), MIDNIGHT + HOUR, true);
    let open = hours.house.send("POST", "/checkout?user_id=zoe&id=item-1", &nobody, None);
    assert_eq!(open.status, 201, "compat_open: {open:?}");
    hours.house.send("GET", "/v1/sales", &nobody, None).problem(401, "unauthenticated");
    hours.close();
}

#[test]
fn an_item_keeps_its_name_and_picture_in_every_sale() {
    let folder = tempfile::tempdir().expect("a folder");
    let hours = Hours::open(folder.path(), MIDNIGHT + 1);
    let (drawn, address) = ("<svg viewBox='0 0 1 1'></svg>", "https://cdn.example/mug.png");
    let items = json!([
        {"price_minor": 900, "stock": 1, "name": "Amber kettle", "picture": drawn},
        {"price_minor": 900, "stock": 1, "picture": address},
        {"price_minor": 900, "stock": 1},
    ]);
    let series = hours.series(json!({"items": items}));
    assert_eq!(hours.show(&series)["items"], items);
    hours.clock.set(MIDNIGHT + HOUR);
    hours.until(&series, opened(1));
    let patience = Instant::now() + Duration::from_secs(120);
    while hours.sales().is_empty() {
        assert!(Instant::now() < patience, "the sale is made");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sale = hours.sales()[0].clone();
    let (id, skus) = (sale["id"].as_str().expect("an id"), &sale["skus"]);
    assert_eq!((&skus[0]["name"], &skus[1]["picture"]), (&json!("Amber kettle"), &json!(address)));
    for (n, own) in [(0, true), (2, false)] {
        let path = format!("/pictures/{id}/item-{}.svg", n + 1);
        assert_eq!(skus[n]["picture"], path);
        let seen = hours.house.get(&path);
        assert_eq!((seen.status, seen.body == drawn.as_bytes()), (200, own), "{path}");
    }
    hours.close();
}

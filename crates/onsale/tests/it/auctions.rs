//! Auctions over HTTP, on the embedded engine with a clock that the test moves.

mod bad;
mod ends;
pub(crate) mod hall;
mod secrets;

use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use hall::{HOUR, Hall, START};

#[test]
fn a_bid_is_answered_at_once_and_the_auction_shows_it() {
    let hall = Hall::open();
    let auction = hall.auction(json!({"start_minor": 1_000, "increment": 100}));
    let path = format!("/v1/auctions/{auction}");
    let shown = hall.house.get(&path).json();
    assert_eq!((&shown["status"], &shown["min_next_minor"]), (&json!("open"), &json!(1_000)));
    assert_eq!((&shown["price_minor"], &shown["seller"]), (&json!(null), &json!("sam")));

    let first = hall.bid(&auction, "ann", 5_000);
    assert_eq!(first.status, 201, "{first:?}");
    assert_eq!(first.header("location"), Some(path.as_str()));
    let told = first.json();
    assert_eq!(
        (&told["standing"], &told["bid"], &told["price_minor"]),
        (&json!("leading"), &json!(1), &json!(1_000))
    );
    assert_eq!((&told["min_next_minor"], &told["max_minor"]), (&json!(1_100), &json!(5_000)));
    assert_eq!((&told["ends_at"], &told["at"]), (&json!(Time(START + HOUR)), &json!(Time(START))));
    assert_eq!(first.header("onsale-position"), told["position"].as_str());

    let second = hall.bid(&auction, "bob", 3_000).json();
    assert_eq!((&second["standing"], &second["price_minor"]), (&json!("outbid"), &json!(3_100)));
    let low = hall.bid(&auction, "bob", 3_199).problem(409, "bid_too_low");
    assert_eq!(low["min_next_minor"], 3_200);
    hall.bid(&auction, "ann", 5_000).problem(409, "leader_not_raising");

    let shown = hall.house.get(&path).json();
    assert_eq!((&shown["leader"], &shown["price_minor"]), (&json!("ann"), &json!(3_100)));
    assert_eq!((&shown["bids"], &shown["bidders"], &shown["you"]), (&json!(2), &json!(2), &json!(null)));
    let own = hall.as_buyer("GET", &path, "ann", None).json();
    assert_eq!((&own["you"]["leading"], &own["you"]["max_minor"]), (&json!(true), &json!(5_000)));
    let history = hall.house.get(&format!("{path}/history")).json();
    assert_eq!(history["data"][0]["bidder"], "bob");
    assert_eq!(
        (&history["data"][0]["amount_minor"], &history["data"][1]["amount_minor"]),
        (&json!(3_000), &json!(3_100))
    );
    assert_eq!((&history["data"][1]["leading"], &history["next"]), (&json!(true), &json!(null)));
    let page = hall.house.get(&format!("{path}/history?limit=1")).json();
    assert_eq!(page["data"][0]["bid"], 2);
    let next = page["next"].as_str().expect("there is another");
    let rest = hall.house.get(&format!("{path}/history?limit=1&after={next}")).json();
    assert_eq!((&rest["data"][0]["bid"], &rest["next"]), (&json!(1), &json!(null)));

    let kinds: Vec<_> = hall.facts(&auction).iter().map(|fact| fact["kind"].clone()).collect();
    assert_eq!(json!(kinds), json!(["auction_created", "bid_placed", "bid_placed"]));
}

#[test]
fn the_same_key_gets_the_same_answer() {
    let hall = Hall::open();
    let key = ("idempotency-key", "clock-1");
    let wish = hall.wish(json!({}));
    let made = hall.house.post("/v1/auctions", &[key], wish.clone());
    let again = hall.house.post("/v1/auctions", &[key], wish);
    assert_eq!((made.status, &made.body), (again.status, &again.body), "{made:?}");
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let other = hall.wish(json!({"name": "Other"}));
    hall.house.post("/v1/auctions", &[key], other).problem(422, "key_reused");
    assert_eq!(hall.house.get("/v1/auctions").json()["data"].as_array().map(Vec::len), Some(1));

    let auction = made.json()["id"].as_str().expect("an id").to_owned();
    let path = format!("/v1/auctions/{auction}/bids");
    let body = json!({"max_minor": 5_000, "currency": "EUR"});
    let ann = [("onsale-buyer", "ann"), ("idempotency-key", "bid-1")];
    let first = hall.house.post(&path, &ann, body.clone());
    assert_eq!(hall.bid(&auction, "bob", 9_000).status, 201);
    hall.clock.set(START + 2 * HOUR);
    let again = hall.house.post(&path, &ann, body.clone());
    assert_eq!(
        (first.status, &first.body),
        (again.status, &again.body),
        "as it was then, though it is over now"
    );
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    hall.house.post(&path, &ann, json!({"max_minor": 6_000, "currency": "EUR"})).problem(422, "key_reused");
    let bob = [("onsale-buyer", "bob"), ("idempotency-key", "bid-1")];
    hall.house.post(&path, &bob, body.clone()).problem(422, "key_reused");
    hall.house.post(&path, &bob[..1], body).problem(409, "over");
}

#[test]
fn words_change_until_the_close_and_terms_until_the_start() {
    let hall = Hall::open();
    let auction = hall.auction(json!({"starts_at": Time(START + 1_000), "reserve_minor": 3_000}));
    let path = format!("/v1/auctions/{auction}");
    let change = |body: &str| hall.house.send("PATCH", &path, &[], Some(body));
    assert_eq!(hall.house.get(&path).json()["status"], "scheduled");
    hall.bid(&auction, "ann", 5_000).problem(409, "not_started");
    let told = change("{\"start_minor\": 2000, \"increment\": \"ebay_us\", \"soft_close\": null}").json();
    assert_eq!(told["start_minor"], 2_000);
    assert_eq!((&told["increment"], &told["soft_close"]), (&json!("ebay_us"), &json!(null)));
    assert_eq!(told["reserve_minor"], 3_000, "what was not named stays");
    assert_eq!(change("{\"start_minor\": 4000}").problem(422, "invalid")["field"], "reserve_minor");
    assert_eq!(change("{\"reserve_minor\": null}").json()["reserve_minor"], json!(null));
    assert_eq!(change("{}").problem(422, "invalid")["field"], "body");
    assert_eq!(change("{\"seller\": \"bob\"}").problem(422, "invalid")["field"], "seller");
    hall.clock.set(START + 1_000);
    change("{\"start_minor\": 1000}").problem(409, "status_conflict");
    assert_eq!(change("{\"name\": \"Clock\"}").json()["name"], "Clock");
    let same = change("{\"name\": \"Clock\"}");
    assert_eq!((same.status, &same.json()["name"]), (200, &json!("Clock")));

    let cancel = |body| hall.house.post(&format!("{path}/cancel"), &[], body);
    assert_eq!(cancel(json!({"reason": ""})).problem(422, "invalid")["field"], "reason");
    let told = cancel(json!({"reason": "broken"}));
    assert_eq!((told.status, &told.json()["status"]), (200, &json!("cancelled")), "{told:?}");
    cancel(json!({"reason": "broken"})).problem(409, "auction_cancelled");
    hall.bid(&auction, "ann", 5_000).problem(409, "auction_cancelled");
    change("{\"name\": \"X\"}").problem(409, "auction_cancelled");
    assert_eq!(hall.house.get(&path).json()["status"], "cancelled");
}

#[test]
fn watchers_come_and_go() {
    let hall = Hall::open();
    let auction = hall.auction(json!({}));
    let path = format!("/v1/auctions/{auction}/watchers");
    assert_eq!(hall.as_buyer("POST", &path, "ann", None).status, 201);
    assert_eq!(hall.as_buyer("POST", &path, "ann", None).status, 200);
    assert_eq!(hall.as_buyer("POST", &path, "bob", None).status, 201);
    let all = hall.house.get(&path).json();
    assert_eq!(all["data"], json!([{"watcher": "ann"}, {"watcher": "bob"}]));
    let page = hall.house.get(&format!("{path}?limit=1")).json();
    let next = page["next"].as_str().expect("there is another");
    let page = hall.house.get(&format!("{path}?limit=1&after={next}")).json();
    assert_eq!((&page["data"], page.get("next")), (&json!([{"watcher": "bob"}]), None));
    assert_eq!(hall.as_buyer("DELETE", &path, "ann", None).json()["watching"], false);
    assert_eq!(hall.house.get(&format!("/v1/auctions/{auction}")).json()["watchers"], 1);
    assert_eq!(hall.house.post(&path, &[], json!({})).problem(422, "invalid")["field"], "Onsale-Buyer");
    hall.house.get("/v1/auctions/auc_0000000000000000/watchers").problem(404, "listing_unknown");
}

#[test]
fn auctions_ending_soon_and_a_buyers_own() {
    let hall = Hall::open();
    let late = hall.auction(json!({"ends_at": Time(START + 3 * HOUR)}));
    let soon = hall.auction(json!({"ends_at": Time(START + HOUR)}));
    let scheduled = hall.auction(json!({"starts_at": Time(START + 60_000), "ends_at": Time(START + HOUR)}));
    let middle = hall.auction(json!({"ends_at": Time(START + 2 * HOUR)}));
    let ids = |path: &str| {
        let page = hall.house.get(path).json();
        let ids = page["data"].as_array().expect("a list").iter().map(|one| one["id"].clone());
        (json!(ids.collect::<Vec<_>>()), page["next"].as_str().map(str::to_owned))
    };
    let before = |end: i64| format!("/v1/auctions?ending_before={}", Time(end));
    assert_eq!(
        ids(&before(START + 2 * HOUR)),
        (json!([soon]), None),
        "not at that instant, and open ones only"
    );
    let all = before(START + 9 * HOUR);
    assert_eq!(ids(&all).0, json!([soon, middle, late]));
    let (first, next) = ids(&format!("{all}&limit=2"));
    assert_eq!(first, json!([soon, middle]));
    assert_eq!(ids(&format!("{all}&limit=2&after={}", next.expect("more"))), (json!([late]), None));
    assert_eq!(ids("/v1/auctions?limit=3").0.as_array().map(Vec::len), Some(3));
    assert_eq!(hall.house.get("/v1/auctions?after=x").problem(422, "invalid")["field"], "after");
    assert_eq!(hall.house.get(&format!("{all}&after=x")).problem(422, "invalid")["field"], "after");
    hall.house.get("/v1/auctions?ending_before=soon").problem(422, "invalid");

    hall.bid(&late, "ann", 5_000);
    hall.bid(&soon, "ann", 7_000);
    hall.bid(&soon, "bob", 9_000);
    let mine = hall.as_buyer("GET", "/v1/buyers/ann/bids", "ann", None).json();
    let line = |told: &Value, auction: &str, field: &str| {
        let all = told["data"].as_array().expect("a list");
        all.iter().find(|one| one["auction"] == auction).map(|one| one[field].clone())
    };
    let known =
        |told: &Value, auction: &str| (line(told, auction, "leading"), line(told, auction, "max_minor"));
    assert_eq!(known(&mine, &soon), (Some(json!(false)), Some(json!(7_000))), "{mine}");
    assert_eq!(known(&mine, &late), (Some(json!(true)), Some(json!(5_000))));
    let shown = hall.house.get("/v1/buyers/ann/bids").json();
    assert_eq!(known(&shown, &late), (Some(json!(true)), Some(json!(null))));
    hall.clock.set(START + HOUR);
    hall.sweep(&soon);
    let mine = hall.as_buyer("GET", "/v1/buyers/ann/bids", "ann", None).json();
    assert_eq!(mine["data"].as_array().map(Vec::len), Some(1), "lost, and over");
    let won = hall.as_buyer("GET", "/v1/buyers/bob/bids", "bob", None).json();
    assert_eq!(
        (&won["data"][0]["award"]["status"], &won["data"][0]["status"]),
        (&json!("pending"), &json!("closed"))
    );
    let nobody = hall.house.get("/v1/buyers/zoe/bids").json();
    assert_eq!(nobody["data"], json!([]));
    let _ = scheduled;
}

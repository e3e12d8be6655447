//! The end of an auction to the millisecond, soft close, buying at once, and what comes after.

use crate::house::ms;
use onsale_edge::http::time::Time;
use serde_json::{Value, json};

use super::hall::{HOUR, Hall, START};

#[test]
fn a_bid_one_millisecond_before_the_end_counts_and_one_at_the_end_is_late() {
    let hall = Hall::open();
    for (at, status, standing) in [
        (START + HOUR - 1, 201, json!("leading")),
        (START + HOUR, 409, json!(null)),
        (START + HOUR + 1, 409, json!(null)),
    ] {
        hall.clock.set(START);
        let auction = hall.auction(json!({"soft_close": null}));
        hall.clock.set(at);
        let answer = hall.bid(&auction, "ann", 5_000);
        assert_eq!((answer.status, &answer.json()["standing"]), (status, &standing), "{at}: {answer:?}");
        if status == 409 {
            answer.problem(409, "over");
            let closed = &hall.facts(&auction)[1];
            assert_eq!((&closed["kind"], &closed["how"]), (&json!("auction_closed"), &json!("no_bids")));
        }
    }
}

#[test]
fn a_late_bid_moves_the_end_and_a_refused_one_does_not() {
    let hall = Hall::open();
    let auction = hall.auction(json!({}));
    hall.clock.set(START + HOUR - 10_000);
    hall.bid(&auction, "ann", 999).problem(409, "bid_too_low");
    let path = format!("/v1/auctions/{auction}");
    assert_eq!(ms(&hall.house.get(&path).json()["ends_at"]), START + HOUR);
    assert_eq!(ms(&hall.bid(&auction, "ann", 2_000).json()["ends_at"]), START + HOUR + 20_000);
    assert_eq!(
        ms(&hall.bid(&auction, "ann", 3_000).json()["ends_at"]),
        START + HOUR + 20_000,
        "a raise moves nothing"
    );
    hall.clock.set(START + HOUR + 19_999);
    assert_eq!(ms(&hall.bid(&auction, "bob", 2_500).json()["ends_at"]), START + HOUR + 49_999);
    let shown = hall.house.get(&path).json();
    assert_eq!((&shown["original_ends_at"], &shown["extensions"]), (&json!(Time(START + HOUR)), &json!(2)));
    hall.clock.set(START + HOUR + 49_999);
    hall.bid(&auction, "bob", 9_000).problem(409, "over");
    let shown = hall.house.get(&path).json();
    assert_eq!((&shown["status"], &shown["result"]["how"]), (&json!("closed"), &json!("won")));
    let award = &shown["result"]["awards"][0];
    assert_eq!((&award["bidder"], &award["price_minor"]), (&json!("ann"), &json!(2_600)));
    assert_eq!(
        (&award["status"], &award["expires_at"]),
        (&json!("pending"), &json!(Time(START + 49 * HOUR + 49_999)))
    );
}

#[test]
fn of_two_who_buy_at_once_one_has_it() {
    let hall = Hall::open();
    for round in 0..5 {
        let wish = json!({"buy_now": {"price_minor": 5_000, "policy": "always"}});
        let auction = hall.auction(wish);
        let path = format!("/v1/auctions/{auction}/buy-now");
        let buy = |buyer: String| hall.as_buyer("POST", &path, &buyer, Some("{\"currency\": \"EUR\"}"));
        let answers: Vec<(String, u16, Value)> = std::thread::scope(|scope| {
            let buyers = (0..6).map(|n| {
                scope.spawn(move || {
                    let buyer = format!("buyer-{n}");
                    let answer = buy(buyer.clone());
                    (buyer, answer.status, answer.json())
                })
            });
            let buyers: Vec<_> = buyers.collect();
            buyers.into_iter().map(|buyer| buyer.join().expect("no panic")).collect()
        });
        let bought: Vec<_> = answers.iter().filter(|(_, status, _)| *status == 201).collect();
        assert_eq!(bought.len(), 1, "round {round}: {answers:?}");
        let (buyer, _, told) = bought[0];
        assert_eq!((&told["standing"], &told["price_minor"]), (&json!("bought"), &json!(5_000)));
        assert_eq!((&told["expires_at"], &told["ends_at"]), (&json!(Time(START + 48 * HOUR)), &json!(null)));
        assert_eq!(told["expires_in_seconds"], 48 * HOUR / 1_000);
        for (_, status, told) in answers.iter().filter(|(other, _, _)| other != buyer) {
            assert_eq!((*status, &told["code"]), (409, &json!("over")));
        }
        let shown = hall.house.get(&format!("/v1/auctions/{auction}")).json();
        assert_eq!(shown["result"]["awards"][0]["bidder"], format!("{buyer}"));
        let closes = hall.facts(&auction).iter().filter(|fact| fact["kind"] == "auction_closed").count();
        assert_eq!(closes, 1);
    }
}

#[test]
fn buying_is_on_offer_as_long_as_the_policy_says() {
    let hall = Hall::open();
    let buy = |auction: &str, buyer: &str| {
        let path = format!("/v1/auctions/{auction}/buy-now");
        hall.as_buyer("POST", &path, buyer, Some("{\"currency\": \"EUR\"}"))
    };
    let gone = hall.auction(json!({"buy_now": {"price_minor": 5_000, "policy": "until_first_bid"}}));
    assert_eq!(hall.house.get(&format!("/v1/auctions/{gone}")).json()["buy_now_minor"], 5_000);
    assert_eq!(hall.bid(&gone, "ann", 1_000).status, 201);
    buy(&gone, "bob").problem(409, "buy_now_gone");
    assert_eq!(hall.house.get(&format!("/v1/auctions/{gone}")).json()["buy_now_minor"], json!(null));
    buy(&hall.auction(json!({})), "bob").problem(409, "buy_now_gone");
    let by_bid = hall.auction(json!({"buy_now": {"price_minor": 5_000, "policy": "always"}}));
    let told = hall.bid(&by_bid, "ann", 8_000).json();
    assert_eq!(
        (&told["standing"], &told["price_minor"], &told["max_minor"]),
        (&json!("bought"), &json!(5_000), &json!(null))
    );
    buy(&by_bid, "sam").problem(409, "over");
    let own = hall.auction(json!({"buy_now": {"price_minor": 5_000, "policy": "always"}}));
    buy(&own, "sam").problem(403, "seller");
}

#[test]
fn an_award_that_is_not_paid_goes_to_the_next_who_may_decline_it() {
    let hall = Hall::open();
    let auction = hall.auction(json!({"soft_close": null}));
    for (bidder, max) in [("ann", 5_000), ("bob", 3_000), ("cem", 4_000)] {
        assert_eq!(hall.bid(&auction, bidder, max).status, 201);
    }
    let decline =
        |buyer: &str| hall.as_buyer("POST", &format!("/v1/auctions/{auction}/decline"), buyer, None);
    hall.clock.set(START + HOUR);
    hall.sweep(&auction);
    decline("ann").problem(409, "award_binding");
    decline("bob").problem(404, "award_unknown");
    hall.clock.set(START + 49 * HOUR);
    hall.sweep(&auction);
    let awards =
        |n: usize| hall.house.get(&format!("/v1/auctions/{auction}")).json()["result"]["awards"][n].clone();
    assert_eq!((&awards(0)["status"], &awards(1)["bidder"]), (&json!("unpaid"), &json!("cem")));
    assert_eq!(awards(1)["price_minor"], 4_000, "at cem's own maximum");
    assert_eq!(decline("cem").status, 200);
    assert_eq!((&awards(1)["status"], &awards(2)["bidder"]), (&json!("declined"), &json!("bob")));
    decline("cem").problem(410, "expired");
}

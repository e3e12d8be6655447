//! A living maximum is its bidder's own, and the reserve its seller's: whatever else is asked for, neither is there.

use onsale_edge::http::time::Time;
use std::io::{BufReader, Write};

use serde_json::json;

use super::hall::{HOUR, Hall, START};
use crate::house::{KEY, read_chunk, read_head};

const MAXIMUM: &str = "918273";
const RESERVE: &str = "756483";

#[test]
fn nobody_but_the_bidder_is_told_a_maximum() {
    let hall = Hall::open();
    let auction = hall.auction(json!({"reserve_minor": 756_483, "ends_at": Time(START + 20 * HOUR)}));
    let path = format!("/v1/auctions/{auction}");
    let mut stream = hall.house.connect();
    let head =
        format!("GET {path}/stream?after=0 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sent");

    assert_eq!(hall.bid(&auction, "ann", 700_000).status, 201);
    assert_eq!(hall.bid(&auction, "bob", 5_000).status, 201);
    let staff = |bid: u16| json!({"bid": bid, "reason": "a slip"});
    let raised = hall.bid(&auction, "ann", 918_273);
    assert!(String::from_utf8_lossy(&raised.body).contains(MAXIMUM), "to the bidder alone");
    let mut told = Vec::new();
    let mut note =
        |what: &str, body: Vec<u8>| told.push((what.to_owned(), String::from_utf8_lossy(&body).into_owned()));
    note("outbid", hall.bid(&auction, "bob", 800_000).body);
    note("retraction", hall.house.post(&format!("{path}/retractions"), &[], staff(4)).body);
    note(
        "ban",
        hall.house.post(&format!("{path}/bans"), &[], json!({"bidder": "eve", "reason": "shill"})).body,
    );
    // The reserve was met by the bid that is gone: only what stands now counts.
    for (what, path) in [
        ("show", path.clone()),
        ("list", "/v1/auctions".to_owned()),
        ("ending", format!("/v1/auctions?ending_before={}", START + 30 * HOUR)),
        ("history", format!("{path}/history")),
        ("watchers", format!("{path}/watchers")),
        ("facts", format!("{path}/facts")),
        ("bids of ann", "/v1/buyers/ann/bids".to_owned()),
    ] {
        note(what, hall.house.get(&path).body);
        note(what, hall.as_buyer("GET", &path, "bob", None).body);
    }
    hall.clock.set(START + 20 * HOUR);
    hall.sweep(&auction);
    note("result", hall.house.get(&path).body);
    note("history after", hall.house.get(&format!("{path}/history")).body);
    note("facts after", hall.house.get(&format!("{path}/facts")).body);

    let mut reader = BufReader::new(stream);
    assert_eq!(read_head(&mut reader).0, 200);
    let mut streamed = String::new();
    while !streamed.contains("auction_closed") {
        let chunk = read_chunk(&mut reader).expect("goes on");
        streamed.push_str(std::str::from_utf8(&chunk).expect("text"));
    }
    assert!(streamed.contains("event: bid_placed"), "{streamed}");
    told.push(("stream".to_owned(), streamed));
    for (what, text) in &told {
        assert!(!text.is_empty() && !text.contains(MAXIMUM), "{what} tells the maximum: {text}");
    }
}

#[test]
fn the_reserve_is_told_to_its_seller_alone_until_it_is_met() {
    let hall = Hall::open();
    let auction = hall.auction(json!({"reserve_minor": 756_483}));
    let path = format!("/v1/auctions/{auction}");
    let own = hall.as_buyer("GET", &path, "sam", None).json();
    assert_eq!((&own["reserve_minor"], &own["reserve"]), (&json!(756_483), &json!("not_met")));
    assert_eq!(hall.bid(&auction, "ann", 5_000).status, 201);
    for asked in [path.clone(), format!("{path}/facts"), format!("{path}/history"), "/v1/auctions".to_owned()]
    {
        for buyer in ["ann", "bob"] {
            let answer = hall.as_buyer("GET", &asked, buyer, None);
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(answer.status == 200 && !text.contains(RESERVE), "{asked} as {buyer}: {text}");
        }
    }
    let met = hall.bid(&auction, "bob", 900_000).json();
    assert_eq!(met["price_minor"], 756_483, "met, it is the price");
    assert_eq!(hall.house.get(&path).json()["reserve"], "met");
}

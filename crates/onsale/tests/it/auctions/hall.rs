//! A server on the embedded engine in memory, and a clock that stands still until the test moves it.

use onsale_edge::http::time::Time;
use std::sync::Arc;

use onsale_domain::{Command, ListingId, Millis};
use onsale_engine::disk::MemoryDisk;
use onsale_engine::embedded::clock::ManualClock;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use onsale_engine::{Engine, Request, journal};
use serde_json::{Value, json};

use crate::house::{Answer, House};

/// Somewhere in 2027.
pub(crate) const START: Millis = 1_800_000_000_000;
pub(crate) const HOUR: Millis = 3_600_000;

pub(crate) struct Hall {
    pub house: House<EmbeddedEngine>,
    pub clock: Arc<ManualClock>,
}

impl Hall {
    pub(crate) fn open() -> Hall {
        Hall::open_as(|engine| House::serve(|_| {}, engine))
    }

    /// The same with accounts, whose time is the machine's.
    pub(crate) fn with_accounts() -> Hall {
        Hall::open_as(House::with_accounts_on)
    }

    fn open_as(serve: impl FnOnce(Arc<EmbeddedEngine>) -> House<EmbeddedEngine>) -> Hall {
        let clock = Arc::new(ManualClock::at(START));
        let options = Options {
            shards: 2,
            // The tests say when the house looks at its clock: what is due is written by whoever comes first.
            sweeps: false,
            clock: clock.clone(),
            journal: journal::Options { segment_bytes: 1 << 20, ..journal::Options::default() },
            ..Options::default()
        };
        let engine = EmbeddedEngine::open_on(Arc::new(MemoryDisk::new(7)), options).expect("opens");
        Hall { house: serve(Arc::new(engine)), clock }
    }

    /// An auction of sam's, open for an hour from now, from 1000 by 100 in euros, with what else is wished.
    pub(crate) fn wish(&self, more: Value) -> Value {
        let mut wish = json!({
            "name": "Station clock", "seller": "sam", "currency": "EUR", "start_minor": 1_000,
            "increment": 100, "starts_at": Time(START), "ends_at": Time(START + HOUR),
        });
        for (name, value) in more.as_object().expect("an object") {
            wish[name] = value.clone();
        }
        wish
    }

    pub(crate) fn auction(&self, more: Value) -> String {
        let made = self.house.post("/v1/auctions", &[], self.wish(more));
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["id"].as_str().expect("an id").to_owned()
    }

    pub(crate) fn bid(&self, auction: &str, bidder: &str, max_minor: i64) -> Answer {
        self.bid_in(auction, bidder, json!({"max_minor": max_minor, "currency": "EUR"}))
    }

    pub(crate) fn bid_in(&self, auction: &str, bidder: &str, body: Value) -> Answer {
        self.house.post(&format!("/v1/auctions/{auction}/bids"), &[("onsale-buyer", bidder)], body)
    }

    pub(crate) fn as_buyer(&self, method: &str, path: &str, buyer: &str, body: Option<&str>) -> Answer {
        self.house.send(method, path, &[("onsale-buyer", buyer)], body)
    }

    pub(crate) fn facts(&self, auction: &str) -> Vec<Value> {
        let page = self.house.get(&format!("/v1/auctions/{auction}/facts?limit=500"));
        assert_eq!(page.status, 200, "{page:?}");
        page.json()["data"].as_array().expect("a list").clone()
    }

    /// What the engine's own timer would do.
    pub(crate) fn sweep(&self, auction: &str) {
        let listing = ListingId::parse(auction).expect("an id");
        let sweep = Request { listing, command: Command::ExpireDue { limit: 64 }, key: None, by: None };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(self.house.engine.submit(sweep)).expect("answers");
    }
}

//! Redis' memory for each held seat of an event of 50,000, every one held by another buyer.

use std::time::Duration;

use anyhow::{Context, Result};
use onsale_engine_redis::Keys;

use super::drive::{Limit, run};
use super::{House, OUR_YES};
use crate::contest::{Contestant, Round};
use crate::rivals::redis::Instance;

const SEATS: u64 = 50_000;

pub struct BytesPerHeldSeat {
    pub instance: Instance,
}

impl Contestant for BytesPerHeldSeat {
    fn subject(&self) -> String {
        "redis_bytes_per_held_seat".to_owned()
    }

    fn prepare(&mut self) -> Result<()> {
        self.instance.start()
    }

    fn once(&self) -> bool {
        true
    }

    fn round(&mut self, _length: Duration) -> Result<Round> {
        self.instance.clear()?;
        let house = House::open(&self.instance, 1, SEATS)?;
        let keys = Keys::new("", &house.listing(0)?);
        let state: Vec<&str> =
            keys.all().iter().map(String::as_str).filter(|key| *key != keys.facts()).collect();
        let (free, stream) = (self.weight(&state)?, self.weight(&[keys.facts()])?);
        let all = self.used()?;
        run(self.instance.address()?, OUR_YES, Limit::Calls(SEATS), house.holds())?;
        let per_seat = |bytes: i64| bytes as f64 / SEATS as f64;
        let held = self.weight(&state)? - free;
        let told = self.weight(&[keys.facts()])? - stream;
        let rest = self.used()? - all - held - told;
        Ok(vec![("", per_seat(held)), ("stream", per_seat(told)), ("dedup", per_seat(rest))])
    }
}

impl BytesPerHeldSeat {
    fn weight(&self, keys: &[&str]) -> Result<i64> {
        let of = |key: &&str| -> Result<i64> {
            let told = self.instance.ask(&["MEMORY", "USAGE", key, "SAMPLES", "0"])?;
            Ok(told.integer().unwrap_or_default())
        };
        keys.iter().map(of).sum()
    }

    fn used(&self) -> Result<i64> {
        let told = self.instance.ask(&["INFO", "memory"])?;
        let crate::rivals::redis::resp::Reply::Text(text) = told else {
            anyhow::bail!("INFO answered {told:?}")
        };
        let line = text.lines().find_map(|line| line.strip_prefix("used_memory:"));
        line.context("used_memory")?.trim().parse().context("a number of bytes")
    }
}

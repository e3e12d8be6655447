//! Redis' memory for each held seat of an event of 50,000, every one held by another buyer.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use onsale_engine_redis::Keys;

use super::drive::{Limit, run};
use super::{House, OUR_YES};
use crate::contest::{Contestant, Round};
use crate::rivals::redis::Instance;
use crate::rivals::redis::resp::Reply;

const SEATS: u64 = 50_000;

pub(super) struct BytesPerHeldSeat {
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
        let (free, stream) = (weight(&self.instance, &state)?, weight(&self.instance, &[keys.facts()])?);
        let all = used(&self.instance)?;
        run(self.instance.address()?, OUR_YES, Limit::Calls(SEATS), house.holds())?;
        let per_seat = |bytes: i64| bytes as f64 / SEATS as f64;
        let held = weight(&self.instance, &state)? - free;
        let told = weight(&self.instance, &[keys.facts()])? - stream;
        let rest = used(&self.instance)? - all - held - told;
        Ok(vec![("", per_seat(held)), ("stream", per_seat(told)), ("dedup", per_seat(rest))])
    }
}

/// What keys weigh together; one that is not there weighs nothing.
pub(super) fn weight(instance: &Instance, keys: &[&str]) -> Result<i64> {
    let of = |key: &&str| -> Result<i64> {
        let told = instance.ask(&["MEMORY", "USAGE", key, "SAMPLES", "0"])?;
        Ok(told.integer().unwrap_or_default())
    };
    keys.iter().map(of).sum()
}

pub(super) fn used(instance: &Instance) -> Result<i64> {
    let told = instance.ask(&["INFO", "memory"])?;
    let Reply::Text(text) = told else { bail!("INFO answered {told:?}") };
    let line = text.lines().find_map(|line| line.strip_prefix("used_memory:"));
    line.context("used_memory")?.trim().parse().context("a number of bytes")
}

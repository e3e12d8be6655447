//! What time it is where decisions are made. A server's own clock is never asked: two servers whose clocks differ by
//! a minute tell the same time, because both tell that of Redis.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use onsale_domain::Millis;
use redis::{FromRedisValue, Value};

use crate::link::{Link, LinkError, StartTimer};

#[derive(Debug)]
pub(super) struct Clock {
    /// Set by hand in tests; scripts are told this time then.
    by_hand: Option<Arc<AtomicI64>>,
    born: Instant,
    /// What Redis said minus what had passed since `born`.
    ahead: AtomicI64,
}

impl Clock {
    pub(super) fn new(by_hand: Option<Arc<AtomicI64>>) -> Clock {
        Clock { by_hand, born: Instant::now(), ahead: AtomicI64::new(0) }
    }

    pub(super) fn now(&self) -> Millis {
        match &self.by_hand {
            Some(clock) => clock.load(Ordering::Relaxed),
            None => self.passed() + self.ahead.load(Ordering::Relaxed),
        }
    }

    /// What scripts are told: 0 lets them ask Redis.
    pub(super) fn told(&self) -> Millis {
        self.by_hand.as_ref().map_or(0, |clock| clock.load(Ordering::Relaxed))
    }

    /// Milliseconds since this engine was opened.
    pub(super) fn passed(&self) -> i64 {
        i64::try_from(self.born.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// The first time: a node may be taken for one that loads its data a moment longer than it does, so a start waits for
    /// the answer as it has waited for everything before.
    pub(super) async fn measure_first(&self, link: &Link) -> Result<(), LinkError> {
        let mut timer = StartTimer::new();
        loop {
            match self.measure(link).await {
                Err(error) if error.is_retryable() => timer.with(error).await?,
                measured => return measured,
            }
        }
    }

    /// Asks Redis; half of the way there and back is taken to lie behind its answer.
    pub(super) async fn measure(&self, link: &Link) -> Result<(), LinkError> {
        if self.by_hand.is_some() {
            return Ok(());
        }
        let sent = self.passed();
        let told = read(link.query(&redis::cmd("TIME")).await?);
        let back = self.passed();
        if let Some(told) = told {
            self.ahead.store(told + (back - sent) / 2 - back, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Seconds and microseconds as two texts.
fn read(value: Value) -> Option<Millis> {
    let (seconds, micros): (i64, i64) = FromRedisValue::from_redis_value(value).ok()?;
    Some(seconds * 1_000 + micros / 1_000)
}

#[cfg(test)]
mod tests {
    use onsale_redis_servers::{Brand, Server};

    use super::*;

    #[tokio::test]
    async fn a_start_goes_on_when_a_node_that_was_loading_is_known_to_be_up() {
        let redis = Server::start(Brand::Redis);
        let link = Link::open(redis.url().as_str()).await.expect("a link");
        let node = link.map().masters[0].clone();
        // As the watch leaves it whose look came just before the end of the loading; its next look finds it up.
        node.set_down(LinkError::Loading { node: node.name().to_owned() });
        assert_eq!(Clock::new(None).measure_first(&link).await, Ok(()));
        assert!(node.is_up());
    }
}

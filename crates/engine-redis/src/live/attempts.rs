//! Refused attempts of all servers: noted in memory when they are answered, written behind the answers in batches, the last
//! thousand of each listing. They decide nothing: what is lost with a server, or while Redis is away, is a line of a list.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use onsale_domain::attempts::{Attempt, AttemptsFound};
use onsale_domain::limits::ATTEMPTS_KEPT;
use onsale_domain::refusal::InTheWay;
use onsale_domain::{BuyerId, Code, Command, ListingId, Millis, Refusal};
use onsale_engine::EngineError;
use parking_lot::Mutex;
use redis::FromRedisValue;

use super::Inner;
use crate::reply::{code, obstacle};

/// How long an attempt waits to be written, at most, while Redis is there.
const BEHIND: Duration = Duration::from_millis(250);
/// How long nobody must have been refused for a list to be dropped.
const KEPT_S: i64 = 7 * 86_400;

#[derive(Debug, Default)]
pub(super) struct AttemptBuffer(Mutex<BTreeMap<ListingId, Waiting>>);

/// What is not written yet. In a flood the oldest lines give way; all are counted.
#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<String>,
    counts: BTreeMap<u8, u64>,
    /// How many lines gave way.
    lost: u64,
}

impl AttemptBuffer {
    /// What was wrong in any state is no attempt.
    pub(super) fn note(&self, listing: ListingId, at: Millis, command: &Command, refusal: &Refusal) {
        let Some(buyer) = command.attempt_by().filter(|_| refusal.code != Code::Invalid) else { return };
        let in_the_way: Vec<String> = refusal.in_the_way.iter().map(write_obstacle).collect();
        let line = format!(
            "{at}|{}|{}|{}|{}",
            command.verb().name,
            refusal.code as u8,
            in_the_way.join(","),
            buyer.as_str()
        );
        let mut all = self.0.lock();
        let waiting = all.entry(listing).or_default();
        *waiting.counts.entry(refusal.code as u8).or_default() += 1;
        if waiting.lines.len() == ATTEMPTS_KEPT {
            waiting.lines.pop_front();
            waiting.lost += 1;
        }
        waiting.lines.push_back(line);
    }
}

/// Writes what was noted until the engine stops.
pub(super) async fn run(inner: Arc<Inner>) {
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = tokio::time::sleep(BEHIND) => {}
        }
        let listings: Vec<ListingId> = inner.attempts.0.lock().keys().copied().collect();
        for listing in listings {
            let _ = inner.write_attempts(listing).await;
        }
    }
}

impl Inner {
    async fn write_attempts(&self, listing: ListingId) -> Result<(), EngineError> {
        let Some(waiting) = self.attempts.0.lock().remove(&listing) else { return Ok(()) };
        let (list, counts) = (self.across.attempts(&listing), self.across.attempt_counts(&listing));
        let many = waiting.lines.len() as u64 + waiting.lost;
        let next = self.link.at(&counts, redis::cmd("HINCRBY").arg(&counts).arg("next").arg(many)).await?;
        let next = u64::from_redis_value(next).unwrap_or(many);
        let first = next - waiting.lines.len() as u64;
        let mut push = redis::cmd("RPUSH");
        push.arg(&list);
        for (number, line) in (first..).zip(&waiting.lines) {
            push.arg(format!("{number}|{line}"));
        }
        self.link.at(&list, &push).await?;
        let oldest = -(ATTEMPTS_KEPT as i64);
        self.link.at(&list, redis::cmd("LTRIM").arg(&list).arg(oldest).arg(-1)).await?;
        for (code, count) in &waiting.counts {
            self.link.at(&counts, redis::cmd("HINCRBY").arg(&counts).arg(*code).arg(*count)).await?;
        }
        for key in [&list, &counts] {
            self.link.at(key, redis::cmd("EXPIRE").arg(key).arg(KEPT_S)).await?;
        }
        Ok(())
    }

    /// What all servers have written, and this one has noted.
    pub(super) async fn attempts(
        &self,
        listing: ListingId,
        from: u64,
        limit: usize,
    ) -> Result<AttemptsFound, EngineError> {
        self.write_attempts(listing).await?;
        let (list, counts) = (self.across.attempts(&listing), self.across.attempt_counts(&listing));
        let lines = self.link.at(&list, redis::cmd("LRANGE").arg(&list).arg(0).arg(-1)).await?;
        let lines = Vec::<String>::from_redis_value(lines).unwrap_or_default();
        let told = self.link.at(&counts, redis::cmd("HGETALL").arg(&counts)).await?;
        let told = BTreeMap::<String, u64>::from_redis_value(told).unwrap_or_default();
        let mut found = AttemptsFound { next: told.get("next").copied().unwrap_or(0), ..Default::default() };
        for (field, count) in &told {
            found.counts.extend(field.parse().ok().and_then(|it| code(it).ok()).map(|code| (code, *count)));
        }
        found.counts.sort_unstable();
        // Of two servers each writes its own batch: a number says what came first.
        let mut all: Vec<(u64, Attempt)> = lines.iter().filter_map(|line| read_line(line)).collect();
        all.sort_by_key(|(number, _)| *number);
        found.attempts = all.into_iter().filter(|(number, _)| *number >= from).take(limit).collect();
        Ok(found)
    }
}

fn write_obstacle(one: &InTheWay) -> String {
    match one {
        InTheWay::Seat(index, why) => format!("s{index}:{}", *why as u8),
        InTheWay::Area(index, why) => format!("a{index}:{}", *why as u8),
        InTheWay::Sku(index, why) => format!("k{index}:{}", *why as u8),
    }
}

fn read_line(line: &str) -> Option<(u64, Attempt)> {
    let mut parts = line.splitn(6, '|');
    let (number, at) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let named = parts.next()?;
    let verb = Command::verbs().map(|verb| verb.name).find(|verb| *verb == named)?;
    let refused = code(parts.next()?.parse().ok()?).ok()?;
    let in_the_way = parts.next()?.split(',').filter(|one| !one.is_empty());
    let in_the_way = in_the_way.map(obstacle).collect::<Result<_, _>>().ok()?;
    let buyer = BuyerId::parse(parts.next()?)?;
    Some((number, Attempt { at, buyer, verb, code: refused, in_the_way }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_and_a_strange_one_is_passed_over() {
        let line = "7|1700|checkout|49|k3:49,k1:47|a|b";
        let (number, attempt) = read_line(line).expect("a line");
        assert_eq!(
            (number, attempt.at, attempt.verb, attempt.code),
            (7, 1700, "checkout", Code::NotEnoughStock)
        );
        assert_eq!(
            attempt.in_the_way,
            [InTheWay::Sku(3, Code::NotEnoughStock), InTheWay::Sku(1, Code::SoldOut)]
        );
        assert_eq!(attempt.buyer.as_str(), "a|b");
        for strange in ["", "7|1700|checkout|49|", "x|1700|checkout|49||a", "7|1700|fly|49||a"] {
            assert!(read_line(strange).is_none(), "{strange}");
        }
    }
}

//! Slows down who guesses. What is counted is named by a hash, so that the table holds no address; a try is counted before
//! it is made, so that a thousand at once are no more tries than a thousand in a row.

use onsale_domain::Tenant;
use onsale_domain::time::Millis;
use onsale_sql::{Query, Sql, SqlError, Tx, query};
use sha2::{Digest, Sha256};

static BEGIN: Query = query!("attempts/begin");
static LOCK: Query = query!("attempts/lock");
static SET: Query = query!("attempts/set");
static FORGET: Query = query!("attempts/forget");

/// So many wrong passwords cost nothing: people mistype.
const FREE_FAILURES: i64 = 5;
/// After this long without a try, the count begins anew.
pub(crate) const WINDOW_MS: i64 = 15 * 60_000;
/// The first wait; each further failure doubles it, up to the window.
const WAIT_MS: i64 = 30_000;

/// Letters that a stranger may cause to be sent to one address within an hour: nobody's mailbox is filled through us.
const LETTERS_MAX: i64 = 5;
const LETTERS_WINDOW_MS: i64 = 3_600_000;

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// Sign-ins to an address from devices that nobody has signed in from before, whether or not there is an account.
    Email(Tenant, &'a str),
    /// Sign-ins from a device that has signed in before: strangers who guess do not slow its owner down.
    Device(&'a str),
    /// The password of somebody who is signed in.
    Person(&'a str),
    /// Letters that strangers asked for.
    Letters(Tenant, &'a str),
}

impl Subject<'_> {
    fn hash(self) -> [u8; 32] {
        let (name, tenant, text) = match self {
            Subject::Email(tenant, key) => ("email", tenant.number(), key),
            Subject::Device(device) => ("device", 0, device),
            Subject::Person(user) => ("person", 0, user),
            Subject::Letters(tenant, key) => ("letters", tenant.number(), key),
        };
        // The text comes last, and the name has no zero byte, so no two inputs run together.
        let digest = Sha256::new().chain_update(name).chain_update([0]).chain_update(tenant.to_be_bytes());
        digest.chain_update(text).finalize().into()
    }
}

/// What is known of one subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    failures: i64,
    last_ms: Millis,
    /// Nothing is tried before this.
    free_ms: Millis,
}

impl Count {
    /// The same count after the clock went back: waits keep their length, and do not grow by the jump.
    fn with_clock(self, now: Millis) -> Count {
        if now >= self.last_ms {
            return self;
        }
        let wait = (self.free_ms - self.last_ms).clamp(0, WINDOW_MS);
        Count { failures: self.failures, last_ms: now, free_ms: now + wait }
    }

    /// Counts one more try, or tells how long to wait.
    fn with_try(self, now: Millis) -> Result<Count, i64> {
        if now < self.free_ms {
            return Err(self.free_ms - now);
        }
        let failures = if now - self.last_ms >= WINDOW_MS { 1 } else { self.failures + 1 };
        // 2^5 × 30 s is more than the window already.
        let doublings = (failures - FREE_FAILURES).clamp(0, 5);
        let wait = if failures < FREE_FAILURES { 0 } else { (WAIT_MS << doublings).min(WINDOW_MS) };
        Ok(Count { failures, last_ms: now, free_ms: now + wait })
    }
}

/// Counts a try in a transaction of its own; `Err` is how long to wait.
pub(crate) async fn count(sql: &Sql, subject: Subject<'_>, now: Millis) -> Result<Result<(), i64>, SqlError> {
    let mut tx = sql.begin().await?;
    let found = lock(&mut tx, subject, now).await?;
    let counted = found.with_clock(now).with_try(now);
    let next = counted.unwrap_or(found.with_clock(now));
    if next != found {
        set(&mut tx, subject, next).await?;
    }
    tx.commit().await?;
    Ok(counted.map(drop))
}

/// Counts a letter in the transaction that would send it; `false`: no more for now.
pub(crate) async fn count_letter(tx: &mut Tx, subject: Subject<'_>, now: Millis) -> Result<bool, SqlError> {
    let found = lock(tx, subject, now).await?.with_clock(now);
    // `free_ms` is where the hour began.
    let is_new = found.failures == 0 || now - found.free_ms >= LETTERS_WINDOW_MS || now < found.free_ms;
    let count = if is_new { Count { failures: 0, last_ms: now, free_ms: now } } else { found };
    if count.failures >= LETTERS_MAX {
        return Ok(false);
    }
    set(tx, subject, Count { failures: count.failures + 1, last_ms: now, ..count }).await?;
    Ok(true)
}

/// After the right password.
pub(crate) async fn forget(tx: &mut Tx, subject: Subject<'_>) -> Result<(), SqlError> {
    tx.execute(&FORGET, &[subject.hash().into()]).await.map(drop)
}

async fn lock(tx: &mut Tx, subject: Subject<'_>, now: Millis) -> Result<Count, SqlError> {
    tx.execute(&BEGIN, &[subject.hash().into(), now.into()]).await?;
    let rows = tx.query(&LOCK, &[subject.hash().into()]).await?;
    // A sweep may take the row between the two; then nothing was counted for long.
    rows.first().map_or(Ok(Count { failures: 0, last_ms: now, free_ms: now }), |row| {
        Ok(Count { failures: row.int(0)?, last_ms: row.int(1)?, free_ms: row.int(2)? })
    })
}

async fn set(tx: &mut Tx, subject: Subject<'_>, count: Count) -> Result<(), SqlError> {
    let row = [subject.hash().into(), count.failures.into(), count.last_ms.into(), count.free_ms.into()];
    tx.execute(&SET, &row).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries at once whenever it may, and collects the waits in seconds.
    fn waits(tries: usize) -> Vec<i64> {
        let (mut count, mut now) = (Count::default(), 1_000_000);
        let mut waits = Vec::new();
        for _ in 0..tries {
            count = count.with_try(now).unwrap_or_else(|wait| {
                now += wait;
                waits.push(wait / 1_000);
                count.with_try(now).expect("over at its instant")
            });
        }
        waits
    }

    #[test]
    fn five_tries_are_free_and_then_each_waits_longer() {
        assert_eq!(waits(5), Vec::<i64>::new());
        assert_eq!(waits(8), [30, 60, 120]);
        assert_eq!(waits(12)[5..], [900], "a wait as long as the window begins the count anew");
    }

    #[test]
    fn a_clock_that_jumps_back_makes_no_wait_longer() {
        let mut count = Count::default();
        for now in 3_600_000..3_600_005 {
            count = count.with_try(now).expect("free");
        }
        let after = count.with_clock(1_000);
        assert_eq!(after.with_try(1_000), Err(WAIT_MS));
        assert!(after.with_try(1_000 + WAIT_MS).is_ok());
        let ahead = Count { failures: 9, last_ms: 5_000, free_ms: i64::MAX };
        assert_eq!(ahead.with_clock(0).with_try(0), Err(WINDOW_MS));
    }

    #[test]
    fn a_quiet_quarter_of_an_hour_begins_the_count_anew() {
        let count = Count { failures: 4, last_ms: 0, free_ms: 0 };
        assert_eq!(count.with_try(WINDOW_MS - 1).map(|count| count.failures), Ok(5));
        assert_eq!(count.with_try(WINDOW_MS).map(|count| count.failures), Ok(1));
    }

    #[test]
    fn subjects_do_not_meet() {
        let tenant = Tenant::new(1).expect("a tenant");
        let all = [
            Subject::Email(Tenant::DEFAULT, "a"),
            Subject::Email(tenant, "a"),
            Subject::Letters(tenant, "a"),
            Subject::Device("a"),
            Subject::Person("a"),
        ];
        let hashes: hashbrown::HashSet<_> = all.iter().map(|subject| subject.hash()).collect();
        assert_eq!(hashes.len(), all.len());
    }
}

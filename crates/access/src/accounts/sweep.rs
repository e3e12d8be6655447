//! Removes what is over: sessions, tokens, counts, old letters, and guests of whom nothing is left. Correctness never waits
//! for it; every reader looks at the time itself.

use onsale_domain::time::Millis;
use onsale_sql::{Query, query};

use super::Accounts;
use super::Failure;
use crate::attempts::WINDOW_MS;
use crate::sessions::end_in;

static SESSIONS_OVER: Query = query!("sessions/find_over");
static TOKENS_OVER: Query = query!("tokens/forget_over");
static ATTEMPTS_OVER: Query = query!("attempts/forget_over");
static LETTERS_OLD: Query = query!("letters/forget_old");
static LEFT_GUESTS: Query = query!("people/find_left_guests");
static FORGET_PERSON: Query = query!("people/forget");
static FORGET_PREFERENCES: Query = query!("preferences/forget");
static FORGET_FAVOURITES: Query = query!("favourites/forget");

/// Of each kind at once: others wait for the transaction.
const AT_ONCE: i64 = 500;
const DAY_MS: i64 = 24 * 3_600_000;
/// So long it can be seen whether a letter was sent.
const LETTERS_KEPT_MS: i64 = 7 * DAY_MS;
/// A guest's orders outlive the guest's row; so long staff can look the guest up.
const GUESTS_KEPT_MS: i64 = 60 * DAY_MS;
/// Letters are counted by the hour, and waits take a quarter of one.
const ATTEMPTS_KEPT_MS: i64 = 4 * WINDOW_MS;

/// What one sweep has removed. If any is at the limit of 500, there may be more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub sessions: u64,
    pub tokens: u64,
    pub attempts: u64,
    pub letters: u64,
    pub guests: u64,
}

impl Accounts {
    pub async fn sweep(&self, now_ms: Millis) -> Result<Swept, Failure> {
        let limit = || AT_ONCE.into();
        let mut swept = Swept::default();
        let over = self.sql.query(&SESSIONS_OVER, &[now_ms.into(), limit()]).await?;
        let left = (now_ms - GUESTS_KEPT_MS).into();
        let guests = self.sql.query(&LEFT_GUESTS, &[left, limit()]).await?;
        let mut tx = self.sql.begin().await?;
        for row in &over {
            // No server lets such a session in, so none has to be told.
            swept.sessions += u64::from(end_in(&mut tx, row.text(1)?, row.text(0)?).await?);
        }
        swept.tokens = tx.execute(&TOKENS_OVER, &[now_ms.into(), limit()]).await?;
        swept.attempts = tx.execute(&ATTEMPTS_OVER, &[(now_ms - ATTEMPTS_KEPT_MS).into(), limit()]).await?;
        swept.letters = tx.execute(&LETTERS_OLD, &[(now_ms - LETTERS_KEPT_MS).into(), limit()]).await?;
        for row in &guests {
            let user = row.text(0)?;
            tx.execute(&FORGET_PREFERENCES, &[user.into()]).await?;
            tx.execute(&FORGET_FAVOURITES, &[user.into()]).await?;
            swept.guests += tx.execute(&FORGET_PERSON, &[user.into()]).await?;
        }
        tx.commit().await?;
        Ok(swept)
    }
}

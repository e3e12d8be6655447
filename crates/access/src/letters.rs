//! Letters that wait to be sent. Accounts add them in the transaction of what they tell; the mail sender takes them for a
//! while, so that one which dies loses none, and a letter whose token was used or has expired is not sent any more.

mod outgoing;

use onsale_domain::Tenant;
use onsale_domain::time::Millis;
use onsale_sql::{Query, Row, Sql, SqlError, Tx, query};

pub use self::outgoing::Outgoing;
use crate::context::Context;
pub use crate::mail::LetterKind;
use crate::random;
use crate::secrets::{OneTimeTokens, Purpose, Secret};

static ADD: Query = query!("letters/add");
static FIND_DUE: Query = query!("letters/find_due");
static TAKE: Query = query!("letters/take");
static SET_DONE: Query = query!("letters/set_done");
static PUT_OFF: Query = query!("letters/put_off");
static GIVE_UP: Query = query!("letters/give_up");
static FORGET: Query = query!("letters/forget");

/// How long a sender has before another one takes the letter: longer than a mail server may think about one.
const TAKEN_MS: i64 = 120_000;
/// No try is put off further. What seems to wait longer was written before the clock went back, and is due.
const PUT_OFF_MS_MAX: i64 = 6 * 3_600_000;
/// With an hour between tries, two days of a mail server that is down.
const TRIES_MAX: i64 = 48;

/// A letter to add.
pub(crate) struct NewLetter<'a> {
    pub(crate) kind: LetterKind,
    pub(crate) user: Option<&'a str>,
    pub(crate) email: &'a str,
    pub(crate) token: Option<[u8; 16]>,
    /// What the templates say beside the link: of a new device its name and, in a second line, its address; of a changed
    /// e-mail address the new one.
    pub(crate) details: &'a str,
}

pub(crate) async fn add(tx: &mut Tx, letter: &NewLetter<'_>, context: &Context<'_>) -> Result<(), SqlError> {
    let row = [
        random::id("let_").into(),
        context.tenant_number().into(),
        letter.kind.as_str().into(),
        letter.user.into(),
        letter.email.into(),
        letter.token.into(),
        letter.details.into(),
        context.now_ms.into(),
    ];
    tx.execute(&ADD, &row).await.map(drop)
}

/// A letter that its taker has to send within two minutes, and then call [`Letters::done`] or [`Letters::failed`].
#[derive(Clone, Debug)]
pub struct Letter {
    /// `let_…`
    pub id: String,
    pub tenant: Tenant,
    pub kind: LetterKind,
    pub user: Option<String>,
    pub email: String,
    /// What the link in it carries.
    pub token: Option<Secret>,
    pub details: String,
    pub created_ms: Millis,
    /// How often it was taken before.
    pub tries: u32,
}

/// For the sender.
#[derive(Clone, Debug)]
pub struct Letters {
    sql: Sql,
    tokens: OneTimeTokens,
}

impl Letters {
    pub fn new(sql: Sql, tokens: OneTimeTokens) -> Letters {
        Letters { sql, tokens }
    }

    /// Takes what is due, the oldest first. Two senders never take the same letter.
    pub async fn take(&self, limit: u32, now_ms: Millis) -> Result<Vec<Letter>, SqlError> {
        let params = [now_ms.into(), (now_ms + PUT_OFF_MS_MAX).into(), limit.into()];
        let due = self.sql.query(&FIND_DUE, &params).await?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let mut taken = Vec::new();
        let mut tx = self.sql.begin().await?;
        for row in &due {
            match self.read(row, now_ms)? {
                None => {
                    tx.execute(&FORGET, &[row.text(0)?.into()]).await?;
                }
                Some(letter) => {
                    let until = (now_ms + TAKEN_MS).into();
                    let params = [letter.id.as_str().into(), row.int(8)?.into(), until];
                    if tx.execute(&TAKE, &params).await? == 1 {
                        taken.push(letter);
                    }
                }
            }
        }
        tx.commit().await?;
        Ok(taken)
    }

    /// It was sent.
    pub async fn done(&self, id: &str) -> Result<(), SqlError> {
        let mut tx = self.sql.begin().await?;
        tx.execute(&SET_DONE, &[id.into()]).await?;
        tx.commit().await
    }

    /// It was not sent; after two days of tries it is given up.
    pub async fn failed(&self, id: &str, next_try_ms: Millis, now_ms: Millis) -> Result<(), SqlError> {
        let next = next_try_ms.clamp(now_ms, now_ms + PUT_OFF_MS_MAX);
        let mut tx = self.sql.begin().await?;
        tx.execute(&PUT_OFF, &[id.into(), next.into(), TRIES_MAX.into()]).await?;
        tx.commit().await
    }

    /// It can never be sent: nobody tries again.
    pub async fn give_up(&self, id: &str) -> Result<(), SqlError> {
        let mut tx = self.sql.begin().await?;
        tx.execute(&GIVE_UP, &[id.into()]).await?;
        tx.commit().await
    }

    /// `None`: the token in it was used, or is over.
    fn read(&self, row: &Row, now_ms: Millis) -> Result<Option<Letter>, SqlError> {
        let token = match row.blob_or_none(5)? {
            None => None,
            Some(id) => {
                let purpose = row.text_or_none(9)?.and_then(Purpose::parse);
                let is_over = row.int_or_none(10)?.is_none_or(|expires_ms| now_ms >= expires_ms);
                let Some(purpose) = purpose.filter(|_| !is_over) else { return Ok(None) };
                let id: [u8; 16] = id.try_into().map_err(|_| row.is_not(5, "an id of 16 bytes"))?;
                Some(self.tokens.secret(purpose, u128::from_be_bytes(id)))
            }
        };
        let tenant = u32::try_from(row.int(1)?).ok().and_then(Tenant::new);
        Ok(Some(Letter {
            id: row.text(0)?.to_owned(),
            tenant: tenant.ok_or_else(|| row.is_not(1, "a tenant"))?,
            kind: LetterKind::parse(row.text(2)?).ok_or_else(|| row.is_not(2, "a kind of letter"))?,
            user: row.text_or_none(3)?.map(str::to_owned),
            email: row.text(4)?.to_owned(),
            token,
            details: row.text(6)?.to_owned(),
            created_ms: row.int(7)?,
            tries: u32::try_from(row.int(11)?).unwrap_or(u32::MAX),
        }))
    }
}

//! The same key, the same answer, outside of listings: the answer to a request that carried an idempotency key is kept in the
//! transaction of what the request did. No crash leaves one without the other.

use hmac::{Hmac, KeyInit, Mac};
use onsale_sql::{Query, SqlError, Tx, query};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::Sha256;

static CLAIM: Query = query!("answers/claim");
static KEEP: Query = query!("answers/keep");
static FIND: Query = query!("answers/find");
static CLEAN: Query = query!("answers/clean");

/// As long as a caller may repeat a request.
pub const KEPT_MS: i64 = 24 * 3_600_000;
/// Rows that are deleted in one transaction, so that nobody waits long for it.
pub(crate) const CLEANED_MAX: i64 = 1_000;

/// What a request is remembered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Hash of tenant, principal's family, method, path and idempotency key.
    pub scope: [u8; 32],
    /// Hash of what is asked, without its secrets: this is stored, and a hash that is made quickly is guessed quickly.
    pub fingerprint: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nobody has asked this: do it, then [`Answers::keep`] its answer, then commit.
    New,
    /// It was done; this was the answer.
    Done(Vec<u8>),
    /// The same key was used for something else.
    Reused,
}

/// Keeps answers sealed, by a key made from the house key: that of a request for a key has the key in it.
#[derive(Clone)]
pub struct Answers {
    house: Hmac<Sha256>,
}

impl std::fmt::Debug for Answers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Answers(…)")
    }
}

impl Answers {
    pub fn new(house_key: &[u8]) -> Answers {
        let house = Hmac::<Sha256>::new_from_slice(house_key);
        Answers { house: house.unwrap_or_else(|_| unreachable!("HMAC takes a key of any length")) }
    }

    /// The first step of a transaction. Of two requests with one key that run at once, the second waits here for the first.
    pub async fn claim(&self, tx: &mut Tx, request: &Request, now_ms: i64) -> Result<Claim, SqlError> {
        let Request { scope, fingerprint } = request;
        let row = [scope.into(), fingerprint.into(), (now_ms + KEPT_MS).into(), now_ms.into()];
        if tx.execute(&CLAIM, &row).await? == 1 {
            return Ok(Claim::New);
        }
        let rows = tx.query(&FIND, &[scope.into()]).await?;
        // It was over between the two statements, and another server has cleaned up.
        let Some(row) = rows.first() else {
            return Err(SqlError::Busy("the answer is just over".to_owned()));
        };
        if row.blob(0)? != fingerprint {
            return Ok(Claim::Reused);
        }
        let answer = row.blob_or_none(1)?.and_then(|sealed| self.open(request, sealed));
        // Sealed by a house key that was changed since: it was done, and cannot be told any more.
        Ok(answer.map_or(Claim::Reused, Claim::Done))
    }

    /// The last step but the commit.
    pub async fn keep(&self, tx: &mut Tx, request: &Request, answer: &[u8]) -> Result<(), SqlError> {
        let sealed = self.seal(request, answer)?;
        match tx.execute(&KEEP, &[(&request.scope).into(), sealed.into()]).await? {
            1 => Ok(()),
            _ => Err(SqlError::Statement("an answer was kept that nobody has claimed".to_owned())),
        }
    }

    /// Of the scope alone, so that each key seals few answers.
    fn key(&self, request: &Request) -> Option<LessSafeKey> {
        let mut derived = self.house.clone();
        derived.update(b"onsale answer 1");
        derived.update(&request.scope);
        UnboundKey::new(&CHACHA20_POLY1305, &derived.finalize().into_bytes()).ok().map(LessSafeKey::new)
    }

    /// The nonce, then the answer with its tag.
    fn seal(&self, request: &Request, answer: &[u8]) -> Result<Vec<u8>, SqlError> {
        let cannot = || SqlError::Statement("an answer cannot be sealed".to_owned());
        let nonce: [u8; NONCE_LEN] = rand::random();
        let mut text = answer.to_vec();
        let key = self.key(request).ok_or_else(cannot)?;
        key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(request.fingerprint),
            &mut text,
        )
        .map_err(|_| cannot())?;
        Ok([&nonce[..], &text].concat())
    }

    fn open(&self, request: &Request, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.key(request)?.open_in_place(nonce, Aad::from(request.fingerprint), &mut text);
        opened.ok().map(|answer| answer.to_vec())
    }
}

/// Forgets some of what is over; returns how many.
pub async fn clean(tx: &mut Tx, now_ms: i64) -> Result<u64, SqlError> {
    tx.execute(&CLEAN, &[now_ms.into(), CLEANED_MAX.into()]).await
}

//! A request that carries an idempotency key is done once: what it did and its answer are committed together, and the same
//! request gets the same answer again. A refusal did nothing, so nothing is kept of it.

use onsale_sql::{Sql, SqlError, Tx};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::accounts::{Failure, Refusal};
use crate::answers::{Answers, Claim, Request};
use crate::context::Context;

/// The idempotency key of a request, and where answers are kept.
#[derive(Clone, Copy, Debug)]
pub struct Once<'a> {
    pub answers: &'a Answers,
    pub request: Request,
}

/// A transaction for a request that was not done yet, or its answer.
pub(crate) enum Begun<T> {
    New(Tx),
    Done(T),
}

/// The answer of a request that was done already: asked before any work, and before a password that has changed since.
pub(crate) async fn answered<T: DeserializeOwned>(
    sql: &Sql,
    context: &Context<'_>,
) -> Result<Option<T>, Failure> {
    if context.once.is_none() {
        return Ok(None);
    }
    match begin(sql, context).await? {
        // Dropped, so nothing was claimed.
        Begun::New(_) => Ok(None),
        Begun::Done(answer) => Ok(Some(answer)),
    }
}

/// Begins the transaction of what is asked. Of two equal requests at once, the second waits here for the first.
pub(crate) async fn begin<T: DeserializeOwned>(
    sql: &Sql,
    context: &Context<'_>,
) -> Result<Begun<T>, Failure> {
    let mut tx = sql.begin().await?;
    let Some(once) = &context.once else { return Ok(Begun::New(tx)) };
    match once.answers.claim(&mut tx, &once.request, context.now_ms).await? {
        Claim::New => Ok(Begun::New(tx)),
        Claim::Reused => Err(Refusal::KeyReused.into()),
        Claim::Done(bytes) => {
            let damaged = |_| SqlError::Damaged("a kept answer is not JSON as we write it".to_owned());
            Ok(Begun::Done(serde_json::from_slice(&bytes).map_err(damaged)?))
        }
    }
}

/// Keeps the answer and commits.
pub(crate) async fn finish<T: Serialize>(
    mut tx: Tx,
    context: &Context<'_>,
    answer: &T,
) -> Result<(), Failure> {
    if let Some(once) = &context.once {
        let cannot = |_| SqlError::Statement("an answer has no JSON form".to_owned());
        let bytes = serde_json::to_vec(answer).map_err(cannot)?;
        once.answers.keep(&mut tx, &once.request, &bytes).await?;
    }
    Ok(tx.commit().await?)
}

//! Tokens that letters carry and that work once. Issued and used inside the transactions of those who allow something
//! for them: whoever deletes the row may do it, so of two who try at once one does.

use onsale_sql::{Query, Row, Sql, SqlError, Tx, Value, query};

use crate::context::Context;
use crate::email::Email;
use crate::random;
use crate::secrets::{OneTimeTokens, Purpose, Secret, SecretKind};

static ADD: Query = query!("tokens/add");
static FIND: Query = query!("tokens/find");
static USE: Query = query!("tokens/use");
static FORGET_OF_USER: Query = query!("tokens/forget_of_user");
static FORGET_OF_EMAIL: Query = query!("tokens/forget_of_email");

/// What a new token is to allow.
pub(crate) struct NewToken<'a> {
    pub(crate) purpose: Purpose,
    pub(crate) user: Option<&'a str>,
    /// The address that it proves, or is to be put in the place of another.
    pub(crate) email: &'a Email,
    /// Of the account that is to be made.
    pub(crate) password_hash: Option<&'a str>,
}

/// What a token allows.
#[derive(Debug)]
pub(crate) struct OneTimeToken {
    pub(crate) user: Option<String>,
    pub(crate) email: String,
    pub(crate) password_hash: Option<String>,
}

/// Adds a token and returns the id from which its secret is made.
pub(crate) async fn issue(
    tx: &mut Tx,
    tokens: &OneTimeTokens,
    new: &NewToken<'_>,
    context: &Context<'_>,
) -> Result<[u8; 16], SqlError> {
    let id = random::bits();
    let row: [Value; 10] = [
        id.to_be_bytes().into(),
        tokens.secret(new.purpose, id).hash().into(),
        context.tenant_number().into(),
        new.purpose.as_str().into(),
        new.user.into(),
        new.email.as_str().into(),
        new.email.key().into(),
        new.password_hash.into(),
        context.now_ms.into(),
        (context.now_ms + new.purpose.lifetime_ms()).into(),
    ];
    tx.execute(&ADD, &row).await?;
    Ok(id.to_be_bytes())
}

/// A token as it came in a request. Only its form was checked.
pub(crate) struct Presented {
    purpose: Purpose,
    hash: [u8; 32],
}

impl Presented {
    pub(crate) fn parse(purpose: Purpose, text: &str) -> Option<Presented> {
        let secret = Secret::parse(SecretKind::OneTime, text)?;
        Some(Presented { purpose, hash: secret.hash() })
    }

    fn params(&self, context: &Context<'_>) -> [Value; 4] {
        [
            self.hash.into(),
            context.tenant_number().into(),
            self.purpose.as_str().into(),
            context.now_ms.into(),
        ]
    }

    /// Looks without using it.
    pub(crate) async fn find(
        &self,
        sql: &Sql,
        context: &Context<'_>,
    ) -> Result<Option<OneTimeToken>, SqlError> {
        sql.query(&FIND, &self.params(context)).await?.first().map(read).transpose()
    }

    /// Uses it, in the transaction of what it allows.
    pub(crate) async fn consume(
        &self,
        tx: &mut Tx,
        context: &Context<'_>,
    ) -> Result<Option<OneTimeToken>, SqlError> {
        tx.query(&USE, &self.params(context)).await?.first().map(read).transpose()
    }
}

fn read(row: &Row) -> Result<OneTimeToken, SqlError> {
    Ok(OneTimeToken {
        user: row.text_or_none(1)?.map(str::to_owned),
        email: row.text_or_none(2)?.unwrap_or_default().to_owned(),
        password_hash: row.text_or_none(3)?.map(str::to_owned),
    })
}

/// Whoever changes a password or an address makes the letters before it worthless.
pub(crate) async fn forget_of_user(tx: &mut Tx, user: &str) -> Result<(), SqlError> {
    tx.execute(&FORGET_OF_USER, &[user.into()]).await.map(drop)
}

pub(crate) async fn forget_of_email(
    tx: &mut Tx,
    email_key: &str,
    purpose: Purpose,
    context: &Context<'_>,
) -> Result<(), SqlError> {
    let params = [context.tenant_number().into(), email_key.into(), purpose.as_str().into()];
    tx.execute(&FORGET_OF_EMAIL, &params).await.map(drop)
}

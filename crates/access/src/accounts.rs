//! Accounts: who people are in a tenant, and how they prove it. Nothing here tells a stranger whether an address has an
//! account. A guest has an id and a session, and may become an account under the same id.

mod data;
mod disable;
mod email_change;
mod favourites;
mod guest;
mod password;
mod person;
mod preferences;
mod proof;
mod refusal;
mod register;
mod reset;
mod roles;
mod sign_in;
mod sweep;

use onsale_sql::{Query, Sql, query};

use crate::context::Context;
use crate::email::Email;
use crate::passwords::{Passwords, check_new};
use crate::secrets::OneTimeTokens;
use crate::sessions::{Device, SessionRules};
pub use data::{Export, SentLetter};
pub use favourites::{FAVOURITES_MAX, Favourite};
pub use person::{Account, AccountState};
pub use preferences::{PREFERRED_CHARS_MAX, PREFERRED_PRICE_MAX, PREFERRED_WORDS_MAX, Preferences};
pub use refusal::{Failure, Refusal, SqlError};
pub use sweep::Swept;

static LIST: Query = query!("people/list");

/// The facade of everything about people; cheap to clone.
#[derive(Clone, Debug)]
pub struct Accounts {
    sql: Sql,
    passwords: Passwords,
    tokens: OneTimeTokens,
    rules: SessionRules,
}

/// From which device somebody signs in, and how.
#[derive(Clone, Copy, Debug)]
pub struct SignInFrom<'a> {
    pub device: &'a Device,
    /// What an earlier sign-in gave the device to keep ([`crate::sessions::SessionStarted::device_token`]).
    pub device_token: Option<&'a str>,
    /// The session that the request carried: it ends if it is the same person's. A guest's session goes on beside the
    /// account's, so that what the guest holds can still be paid for.
    pub replaces: Option<&'a str>,
    pub is_remembered: bool,
}

impl Accounts {
    pub fn new(sql: Sql, passwords: Passwords, tokens: OneTimeTokens, rules: SessionRules) -> Accounts {
        Accounts { sql, passwords, tokens, rules }
    }

    /// A person of this tenant, also a guest or one who was deleted.
    pub async fn find(&self, user: &str, context: &Context<'_>) -> Result<Account, Failure> {
        Ok(self.person(user, context).await?.into_account())
    }

    /// For staff who look for somebody.
    pub async fn find_by_email(&self, email: &str, context: &Context<'_>) -> Result<Account, Failure> {
        let email = read_email("email", email)?;
        let found = person::find_by_email(&self.sql, &email, context).await?;
        Ok(found.ok_or(Refusal::UserUnknown)?.into_account())
    }

    /// Accounts in the order of their ids, without guests and without those that were deleted.
    pub async fn list(
        &self,
        after: &str,
        limit: u32,
        context: &Context<'_>,
    ) -> Result<Vec<Account>, Failure> {
        let params = [context.tenant_number().into(), after.into(), limit.into()];
        let rows = self.sql.query(&LIST, &params).await?;
        let people = rows.iter().map(person::read).collect::<Result<Vec<_>, _>>()?;
        Ok(people.into_iter().map(person::PersonRow::into_account).collect())
    }

    async fn person(&self, user: &str, context: &Context<'_>) -> Result<person::PersonRow, Failure> {
        Ok(person::find(&self.sql, user, context).await?.ok_or(Refusal::UserUnknown)?)
    }
}

fn read_email(field: &'static str, text: &str) -> Result<Email, Refusal> {
    Email::parse(text).map_err(|problem| Refusal::Field { field, problem: problem.sentence() })
}

fn check_password(field: &'static str, password: &str, email: &Email) -> Result<(), Refusal> {
    check_new(password, email).map_err(|problem| Refusal::Field { field, problem: problem.sentence() })
}

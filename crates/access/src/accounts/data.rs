//! Gives people all that is stored of them, and deletes it. Facts name the id alone, so the id stays, and nothing that it
//! names can be taken back.

use onsale_domain::time::Millis;
use onsale_sql::{Query, query};

use super::person::{self, AccountState};
use super::{Account, Accounts, Favourite, Preferences};
use super::{Failure, Refusal};
use crate::attempts::{self, Subject};
use crate::context::Context;
use crate::notes::{self, Action};
use crate::one_time;
use crate::role::Roles;
use crate::sessions::{SessionEntry, Sessions, end_all_in, forget_devices};

static EMPTY: Query = query!("people/empty");
static FORGET_PREFERENCES: Query = query!("preferences/forget");
static FORGET_FAVOURITES: Query = query!("favourites/forget");
static FORGET_LETTERS: Query = query!("letters/forget_of_user");
static LETTERS: Query = query!("letters/list_of_user");

/// All that is stored of a person here.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Export {
    pub account: Account,
    pub preferences: Preferences,
    pub favourites: Vec<Favourite>,
    pub sessions: Vec<SessionEntry>,
    pub letters: Vec<SentLetter>,
}

/// That a letter was written; its words are not kept.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SentLetter {
    /// As [`crate::letters::LetterKind`] writes it.
    pub kind: String,
    /// `waiting`, `sent` or `given_up`.
    pub state: String,
    pub created_ms: Millis,
}

impl Accounts {
    /// Account, sessions, preferences, favourites, letters. What was bought is in the orders, which the edge adds.
    pub async fn export(&self, user: &str, context: &Context<'_>) -> Result<Export, Failure> {
        let account = self.person(user, context).await?.into_account();
        let sessions = Sessions::new(self.sql.clone()).list(user, context.now_ms).await?;
        let mut letters = Vec::new();
        for row in self.sql.query(&LETTERS, &[user.into()]).await? {
            let (kind, state) = (row.text(0)?.to_owned(), row.text(1)?.to_owned());
            letters.push(SentLetter { kind, state, created_ms: row.int(2)? });
        }
        let exported = Export {
            account,
            preferences: self.preferences(user, context).await?,
            favourites: self.favourites(user, context).await?,
            sessions,
            letters,
        };
        let mut tx = self.sql.begin().await?;
        notes::audit(&mut tx, user, Action::DataExported, user, context).await?;
        tx.commit().await?;
        Ok(exported)
    }

    /// Empties everything personal and ends all sessions. An account needs its password; a guest has none to give.
    pub async fn delete(
        &self,
        user: &str,
        password: Option<&str>,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        match self.person(user, context).await?.state {
            AccountState::Guest => {}
            AccountState::Active => {
                let password = password.ok_or(Refusal::CredentialsWrong)?;
                self.prove(user, password, context).await?;
            }
            AccountState::Disabled | AccountState::Deleted => return Err(Refusal::UserUnknown.into()),
        }
        self.empty(user, user, context).await
    }

    /// The same by staff, for whoever asks by letter.
    pub async fn delete_by_staff(&self, user: &str, by: &str, context: &Context<'_>) -> Result<(), Failure> {
        self.empty(user, by, context).await
    }

    async fn empty(&self, user: &str, by: &str, context: &Context<'_>) -> Result<(), Failure> {
        let mut tx = self.sql.begin().await?;
        let person = person::lock(&mut tx, user, context).await?.ok_or(Refusal::UserUnknown)?;
        if person.state == AccountState::Deleted {
            return Err(Refusal::UserUnknown.into());
        }
        end_all_in(&mut tx, user, None).await?;
        forget_devices(&mut tx, user).await?;
        one_time::forget_of_user(&mut tx, user).await?;
        for query in [&FORGET_PREFERENCES, &FORGET_FAVOURITES, &FORGET_LETTERS] {
            tx.execute(query, &[user.into()]).await?;
        }
        attempts::forget(&mut tx, Subject::Person(user)).await?;
        if let Some(key) = &person.email_key {
            attempts::forget(&mut tx, Subject::Email(context.tenant, key)).await?;
            attempts::forget(&mut tx, Subject::Letters(context.tenant, key)).await?;
        }
        tx.execute(&EMPTY, &[user.into(), Roles::BUYER.to_string().into(), context.now_ms.into()]).await?;
        notes::audit(&mut tx, by, Action::AccountDeleted, user, context).await?;
        notes::changed_person(&mut tx, user, context.now_ms).await?;
        Ok(tx.commit().await?)
    }
}

//! One row of the table of people, and what is shown of it.

use onsale_domain::time::Millis;
use onsale_sql::{Query, Row, Sql, SqlError, Tx, Value, query};

use super::{Failure, Refusal};
use crate::context::Context;
use crate::email::Email;
use crate::role::Roles;

static FIND: Query = query!("people/find");
static FIND_BY_EMAIL: Query = query!("people/find_by_email");
static LOCK: Query = query!("people/lock");
static ADD: Query = query!("people/add");

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    /// Has no e-mail and no password yet.
    Guest,
    Active,
    /// Signs in nowhere, until somebody enables it.
    Disabled,
    /// The id is all that is left.
    Deleted,
}

impl AccountState {
    const ALL: [AccountState; 4] =
        [AccountState::Guest, AccountState::Active, AccountState::Disabled, AccountState::Deleted];

    pub fn as_str(self) -> &'static str {
        match self {
            AccountState::Guest => "guest",
            AccountState::Active => "active",
            AccountState::Disabled => "disabled",
            AccountState::Deleted => "deleted",
        }
    }
}

/// What people see of their account, and staff of others'.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Account {
    /// `usr_…`
    pub user: String,
    pub state: AccountState,
    /// Proved to be theirs; `None` for guests and those who were deleted.
    pub email: Option<String>,
    #[serde(serialize_with = "roles_as_names")]
    pub roles: Roles,
    pub created_ms: Millis,
}

fn roles_as_names<S: serde::Serializer>(roles: &Roles, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(roles.iter().map(crate::role::Role::as_str))
}

pub(super) struct PersonRow {
    pub(super) user: String,
    pub(super) state: AccountState,
    pub(super) email: Option<String>,
    pub(super) email_key: Option<String>,
    pub(super) password_hash: Option<String>,
    pub(super) roles: Roles,
    created_ms: Millis,
}

impl PersonRow {
    pub(super) fn into_account(self) -> Account {
        Account {
            user: self.user,
            state: self.state,
            email: self.email,
            roles: self.roles,
            created_ms: self.created_ms,
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.state == AccountState::Active
    }
}

pub(super) async fn find(
    sql: &Sql,
    user: &str,
    context: &Context<'_>,
) -> Result<Option<PersonRow>, SqlError> {
    let rows = sql.query(&FIND, &[user.into(), context.tenant_number().into()]).await?;
    rows.first().map(read).transpose()
}

pub(super) async fn find_by_email(
    sql: &Sql,
    email: &Email,
    context: &Context<'_>,
) -> Result<Option<PersonRow>, SqlError> {
    let rows = sql.query(&FIND_BY_EMAIL, &[context.tenant_number().into(), email.key().into()]).await?;
    rows.first().map(read).transpose()
}

pub(super) async fn find_by_email_in(
    tx: &mut Tx,
    email: &Email,
    context: &Context<'_>,
) -> Result<Option<PersonRow>, SqlError> {
    let rows = tx.query(&FIND_BY_EMAIL, &[context.tenant_number().into(), email.key().into()]).await?;
    rows.first().map(read).transpose()
}

/// Nobody else changes this person before the transaction ends.
pub(super) async fn lock(
    tx: &mut Tx,
    user: &str,
    context: &Context<'_>,
) -> Result<Option<PersonRow>, SqlError> {
    let rows = tx.query(&LOCK, &[user.into(), context.tenant_number().into()]).await?;
    rows.first().map(read).transpose()
}

/// The same for a guest or an account; who is disabled or deleted changes nothing.
pub(super) async fn lock_living(
    tx: &mut Tx,
    user: &str,
    context: &Context<'_>,
) -> Result<PersonRow, Failure> {
    let person = lock(tx, user, context).await?.filter(|person| match person.state {
        AccountState::Guest | AccountState::Active => true,
        AccountState::Disabled | AccountState::Deleted => false,
    });
    Ok(person.ok_or(Refusal::UserUnknown)?)
}

/// A person to add: a guest, or an account with an address and a password.
pub(super) struct NewPerson<'a> {
    pub(super) user: &'a str,
    pub(super) account: Option<(&'a Email, &'a str)>,
    pub(super) roles: Roles,
}

pub(super) async fn add(tx: &mut Tx, new: &NewPerson<'_>, context: &Context<'_>) -> Result<(), SqlError> {
    let state = if new.account.is_some() { AccountState::Active } else { AccountState::Guest };
    let row: [Value; 8] = [
        new.user.into(),
        context.tenant_number().into(),
        state.as_str().into(),
        new.account.map(|(email, _)| email.as_str()).into(),
        new.account.map(|(email, _)| email.key()).into(),
        new.account.map(|(_, hash)| hash).into(),
        new.roles.to_string().into(),
        context.now_ms.into(),
    ];
    tx.execute(&ADD, &row).await.map(drop)
}

pub(super) fn read(row: &Row) -> Result<PersonRow, SqlError> {
    let state = row.text(2)?;
    let state = AccountState::ALL.into_iter().find(|known| known.as_str() == state);
    let text = |column| Ok::<_, SqlError>(row.text_or_none(column)?.map(str::to_owned));
    Ok(PersonRow {
        user: row.text(0)?.to_owned(),
        state: state.ok_or_else(|| row.is_not(2, "a state"))?,
        email: text(3)?,
        email_key: text(4)?,
        password_hash: text(5)?,
        roles: Roles::parse(row.text(6)?).ok_or_else(|| row.is_not(6, "roles"))?,
        created_ms: row.int(7)?,
    })
}

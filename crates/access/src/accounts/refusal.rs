//! What accounts and sessions answer when they say no. A refusal is an answer with a public code; a database that fails
//! is another thing, and both travel together as a `Failure`.

use onsale_sql::SqlError;
use thiserror::Error;

use crate::passwords::Busy;

/// A "no" that its reader can do something about. Its text is read by strangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// A field of the body cannot be taken; the sentence says why and what to do.
    #[error("{problem}")]
    Field { field: &'static str, problem: &'static str },
    /// Nothing was done: there was no place in the queue.
    #[error("too many passwords are being checked; try again in a few seconds")]
    Busy,
    /// The right password is not looked at either before the time has passed.
    #[error("too many wrong passwords; try again later, or set a new password by e-mail")]
    TooManyAttempts { retry_after_ms: i64 },
    /// Never which of the two.
    #[error("there is no account with this e-mail address, or the password is wrong")]
    CredentialsWrong,
    /// Said only to who has the right password.
    #[error("the account is disabled; ask the shop")]
    AccountDisabled,
    /// Never which of these.
    #[error("the link is mistyped, was used already or has expired; ask for a new one")]
    TokenInvalid,
    /// Said only to who has proved that the address is theirs.
    #[error("the e-mail address has an account already; sign in there")]
    EmailTaken,
    #[error("a guest has no password and no e-mail address yet; register first")]
    NotAnAccount,
    #[error("there is no such person")]
    UserUnknown,
    #[error("there is no such session")]
    SessionUnknown,
    /// Its successor is in use.
    #[error("the token was replaced a moment ago; use the new one")]
    TokenRotated,
    #[error("this idempotency key was used for another request; take a new one")]
    KeyReused,
    #[error("a person has {most} favourites at most; remove some first")]
    FavouritesFull { most: usize },
}

impl Refusal {
    /// Stable, public, never used for anything else.
    pub fn code(self) -> &'static str {
        match self {
            Refusal::Field { .. } => "field_invalid",
            Refusal::Busy => "sign_in_busy",
            Refusal::TooManyAttempts { .. } => "too_many_attempts",
            Refusal::CredentialsWrong => "credentials_wrong",
            Refusal::AccountDisabled => "account_disabled",
            Refusal::TokenInvalid => "token_invalid",
            Refusal::EmailTaken => "email_taken",
            Refusal::NotAnAccount => "not_an_account",
            Refusal::UserUnknown => "user_unknown",
            Refusal::SessionUnknown => "session_unknown",
            Refusal::TokenRotated => "token_rotated",
            Refusal::KeyReused => "key_reused",
            Refusal::FavouritesFull { .. } => "favourites_full",
        }
    }
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error(transparent)]
    Failed(#[from] SqlError),
}

impl From<Busy> for Failure {
    fn from(_: Busy) -> Failure {
        Failure::Refused(Refusal::Busy)
    }
}

//! What accounts and sessions answer when they say no. A refusal is an answer with a public code; a database that fails
//! is another thing, and both travel together as a `Failure`.

use onsale_sql::SqlError;
use thiserror::Error;

use crate::passwords::Busy;

/// A "no" that its reader can do something about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A field of the body cannot be taken; the sentence says why and what to do.
    Field {
        field: &'static str,
        problem: &'static str,
    },
    /// Too many passwords are being checked; nothing was done.
    Busy,
    /// Too many wrong passwords. The right one is not looked at before the time has passed either.
    TooManyAttempts {
        retry_after_ms: i64,
    },
    /// No such account, or not its password: never which.
    CredentialsWrong,
    /// Said only to who has the right password.
    AccountDisabled,
    /// A secret from a letter that is unknown, used, expired, for something else or of another tenant: never which.
    TokenInvalid,
    /// Said only to who has proved that the address is theirs.
    EmailTaken,
    /// A guest has no password and no e-mail yet.
    NotAnAccount,
    UserUnknown,
    SessionUnknown,
    /// This token was replaced a moment ago, and its successor is in use: use that one.
    TokenRotated,
    FavouritesFull {
        most: usize,
    },
}

impl Refusal {
    /// Stable, public, never used for anything else.
    pub fn code(&self) -> &'static str {
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
            Refusal::FavouritesFull { .. } => "favourites_full",
        }
    }
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    #[error("refused: {}", .0.code())]
    Refused(Refusal),
    #[error(transparent)]
    Failed(#[from] SqlError),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

impl From<Busy> for Failure {
    fn from(_: Busy) -> Failure {
        Failure::Refused(Refusal::Busy)
    }
}

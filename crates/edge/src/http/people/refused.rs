//! What accounts and sessions refuse, as the problem it is told as.

use onsale_access::accounts::SqlError;
use onsale_access::accounts::{Failure, Refusal};
use onsale_domain::Code;

use crate::http::problem::{Problem, catalog};

/// So long it takes until there is a place for a password again, in seconds.
const RETRY_BUSY_S: u32 = 2;

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Problem {
        match failure {
            Failure::Refused(refusal) => of_refusal(refusal),
            Failure::Failed(error) => of_database(&error),
        }
    }
}

fn of_refusal(refusal: Refusal) -> Problem {
    let entry = match refusal {
        Refusal::Field { field, problem } => return Problem::invalid(field, problem),
        Refusal::Busy => return Problem::of(catalog::SIGN_IN_BUSY).retry_after(RETRY_BUSY_S),
        Refusal::TooManyAttempts { retry_after_ms } => {
            let seconds = u32::try_from(retry_after_ms.max(0).div_euclid(1_000) + 1).unwrap_or(u32::MAX);
            return Problem::of(catalog::TOO_MANY_ATTEMPTS).retry_after(seconds);
        }
        Refusal::TokenInvalid => return Problem::of(catalog::TOKEN_INVALID).in_field("token"),
        Refusal::KeyReused => return Problem::code(Code::KeyReused).in_header("Idempotency-Key"),
        Refusal::FavouritesFull { most } => {
            return Problem::of(catalog::FAVOURITES_FULL).with_limit(u32::try_from(most).unwrap_or(u32::MAX));
        }
        Refusal::CredentialsWrong => catalog::CREDENTIALS_WRONG,
        Refusal::AccountDisabled => catalog::ACCOUNT_DISABLED,
        Refusal::EmailTaken => catalog::EMAIL_TAKEN,
        Refusal::NotAnAccount => catalog::NOT_AN_ACCOUNT,
        Refusal::UserUnknown => catalog::USER_UNKNOWN,
        Refusal::SessionUnknown => catalog::SESSION_UNKNOWN,
        Refusal::TokenRotated => catalog::TOKEN_ROTATED,
    };
    Problem::of(entry)
}

/// The cause goes to the log: strangers learn nothing of the database.
fn of_database(error: &SqlError) -> Problem {
    match error {
        SqlError::Unavailable(_) | SqlError::Busy(_) => {
            tracing::debug!(%error, "accounts cannot be used now: {error}");
            Problem::of(catalog::ACCESS_UNAVAILABLE)
        }
        SqlError::Unknown(_) => {
            tracing::warn!(%error, "accounts: {error}");
            Problem::of(catalog::TIMED_OUT)
        }
        SqlError::Full(_) => {
            tracing::error!(%error, "accounts: {error}");
            Problem::of(catalog::DISK_FULL)
        }
        SqlError::InUse(_)
        | SqlError::NewerSchema { .. }
        | SqlError::OlderSchema { .. }
        | SqlError::Damaged(_)
        | SqlError::Configuration(_)
        | SqlError::Duplicate(_)
        | SqlError::Constraint(_)
        | SqlError::Statement(_) => {
            tracing::error!(%error, "accounts: {error}");
            Problem::of(catalog::INTERNAL)
        }
    }
}

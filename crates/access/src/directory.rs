//! Who carries a credential: answered from memory, from SQL when it is not known, and forgotten within a second of a change.

mod sessions;

pub use sessions::{FoundSession, NoSessions, SessionFuture, SessionUse, Sessions};

use thiserror::Error;

/// Why a credential opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Denied {
    /// Not a credential of ours: mistyped or cut off.
    #[error("the credential is mistyped or cut off")]
    Malformed,
    #[error("the credential is not known")]
    Unknown,
    #[error("the credential has expired")]
    Expired,
    #[error("the credential was revoked")]
    Revoked,
    #[error("the tenant is disabled")]
    TenantDisabled,
    /// Nobody can say at the moment; never a reason to let somebody in.
    #[error("credentials cannot be checked at the moment")]
    Unavailable,
}

//! What accounts and sessions leave behind in the transaction that changes something: what other servers must forget, and
//! what the audit trail tells. Names actions once.

use onsale_sql::{SqlError, Tx};

use crate::audit::{self, Entry};
use crate::changes::{self, Subject, SubjectKind};
use crate::context::Context;

/// What the audit trail tells of people. Names are public: operators search for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    AccountMade,
    SignedIn,
    SignInFailed,
    SignedOut,
    SessionsEnded,
    SessionTokenReused,
    PasswordChanged,
    ResetAsked,
    PasswordReset,
    EmailChangeAsked,
    EmailChanged,
    RolesChanged,
    AccountDisabled,
    AccountEnabled,
    DataExported,
    AccountDeleted,
}

impl Action {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Action::AccountMade => "account_made",
            Action::SignedIn => "signed_in",
            Action::SignInFailed => "sign_in_failed",
            Action::SignedOut => "signed_out",
            Action::SessionsEnded => "sessions_ended",
            Action::SessionTokenReused => "session_token_reused",
            Action::PasswordChanged => "password_changed",
            Action::ResetAsked => "reset_asked",
            Action::PasswordReset => "password_reset",
            Action::EmailChangeAsked => "email_change_asked",
            Action::EmailChanged => "email_changed",
            Action::RolesChanged => "roles_changed",
            Action::AccountDisabled => "account_disabled",
            Action::AccountEnabled => "account_enabled",
            Action::DataExported => "data_exported",
            Action::AccountDeleted => "account_deleted",
        }
    }
}

/// `who` did this to `subject`: ids, never personal data.
pub(crate) async fn audit(
    tx: &mut Tx,
    who: &str,
    action: Action,
    subject: &str,
    context: &Context<'_>,
) -> Result<(), SqlError> {
    let entry = Entry {
        at_ms: context.now_ms,
        tenant: context.tenant,
        who: who.to_owned(),
        action: action.as_str().to_owned(),
        subject: subject.to_owned(),
        address: context.address.to_owned(),
        request: context.request_id.to_owned(),
    };
    audit::append(tx, &entry).await
}

/// Every server reads this person's sessions anew. The last step before the commit.
pub(crate) async fn changed_person(tx: &mut Tx, user: &str, now_ms: i64) -> Result<(), SqlError> {
    changes::record(tx, &Subject::new(SubjectKind::User, user), now_ms).await
}

/// Every server reads this session anew. The last step before the commit.
pub(crate) async fn changed_session(tx: &mut Tx, session: &str, now_ms: i64) -> Result<(), SqlError> {
    changes::record(tx, &Subject::new(SubjectKind::Session, session), now_ms).await
}

//! Signs in. Without an account the same rows are read and written and the same hash is made. Whoever guesses waits longer
//! and longer; a device that has signed in before is counted on its own, so its owner does not wait for strangers.

use onsale_sql::{Query, SqlError, Tx, query};

use super::person;
use super::{Accounts, SignInFrom, read_email};
use super::{Failure, Refusal};
use crate::attempts::{self, Subject};
use crate::context::Context;
use crate::letters::{self, LetterKind, NewLetter};
use crate::notes::{self, Action};
use crate::once::{self, Begun};
use crate::passwords::Verdict;
use crate::sessions::{self, KnownDevice, NewSession, SessionStarted, known_device};

static SET_PASSWORD: Query = query!("people/set_password");

/// For whom a session begins, after the password was right.
pub(super) struct StartFor<'a> {
    pub(super) user: &'a str,
    /// Where a letter about a new device goes.
    pub(super) email: &'a str,
    pub(super) known: Option<&'a KnownDevice>,
    pub(super) from: SignInFrom<'a>,
}

impl Accounts {
    pub async fn sign_in(
        &self,
        email: &str,
        password: &str,
        from: SignInFrom<'_>,
        context: &Context<'_>,
    ) -> Result<SessionStarted, Failure> {
        let email = read_email("email", email)?;
        if let Some(answer) = once::answered(&self.sql, context).await? {
            return Ok(answer);
        }
        // The place in the queue comes first: who finds none has caused no work.
        let mut work = self.passwords.reserve()?;
        let found = person::find_by_email(&self.sql, &email, context).await?;
        let user = found.as_ref().map_or("", |person| person.user.as_str());
        let known = known_device(&self.sql, from.device_token, user).await?;
        let subject = match &known {
            Some(known) => Subject::Device(&known.id),
            None => Subject::Email(context.tenant, email.key()),
        };
        if let Err(retry_after_ms) = attempts::count(&self.sql, subject, context.now_ms).await? {
            return Err(Refusal::TooManyAttempts { retry_after_ms }.into());
        }
        let stored = found.as_ref().and_then(|person| person.password_hash.as_deref());
        let verdict = work.check(password, stored).await?;
        let stronger = match verdict {
            Verdict::Right => None,
            Verdict::RightButWeak => Some(work.make(password).await?),
            Verdict::Wrong => {
                self.note_failure(user, context).await?;
                return Err(Refusal::CredentialsWrong.into());
            }
        };
        drop(work);
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        // What was read before the hash may have changed while it was made.
        let locked = person::lock(&mut tx, user, context).await?;
        let person = locked.filter(|person| person.password_hash.as_deref() == stored);
        let person = person.ok_or(Refusal::CredentialsWrong)?;
        if !person.is_active() {
            return Err(Refusal::AccountDisabled.into());
        }
        if let (Some(hash), Some(stored)) = (stronger, stored) {
            tx.execute(&SET_PASSWORD, &[user.into(), stored.into(), hash.into(), context.now_ms.into()])
                .await?;
        }
        attempts::forget(&mut tx, subject).await?;
        let address = person.email.as_deref().unwrap_or_default();
        let started = self
            .start_session(&mut tx, &StartFor { user, email: address, known: known.as_ref(), from }, context)
            .await?;
        notes::audit(&mut tx, user, Action::SignedIn, &started.session, context).await?;
        if started.has_ended_others {
            notes::changed_person(&mut tx, user, context.now_ms).await?;
        }
        once::finish(tx, context, &started).await?;
        Ok(started)
    }

    pub(super) async fn start_session(
        &self,
        tx: &mut Tx,
        start: &StartFor<'_>,
        context: &Context<'_>,
    ) -> Result<SessionStarted, SqlError> {
        let session = NewSession {
            user: start.user,
            device: start.from.device,
            known: start.known,
            is_remembered: start.from.is_remembered,
            is_guest: false,
            replaces: start.from.replaces,
        };
        let started = sessions::start(tx, self.rules, &session, context).await?;
        if started.is_new_device {
            let letter = NewLetter {
                kind: LetterKind::NewDevice,
                user: Some(start.user),
                email: start.email,
                token: None,
                details: start.from.device.shown(),
            };
            letters::add(tx, &letter, context).await?;
        }
        Ok(started)
    }

    /// Written also without an account, so that a failure takes the same work.
    async fn note_failure(&self, user: &str, context: &Context<'_>) -> Result<(), SqlError> {
        let mut tx = self.sql.begin().await?;
        notes::audit(&mut tx, "nobody", Action::SignInFailed, user, context).await?;
        tx.commit().await
    }
}

//! Asks somebody who is signed in for the password once more, before what could take the account away from its owner.

use super::Accounts;
use super::person::{self, PersonRow};
use super::{Failure, Refusal};
use crate::attempts::{self, Subject};
use crate::context::Context;
use crate::passwords::{PasswordWork, Verdict};

impl Accounts {
    /// The person as it was when the password was right, and the place in the queue for what is hashed next.
    pub(super) async fn prove(
        &self,
        user: &str,
        password: &str,
        context: &Context<'_>,
    ) -> Result<(PersonRow, PasswordWork), Failure> {
        let mut work = self.passwords.reserve()?;
        let person = person::find(&self.sql, user, context).await?.ok_or(Refusal::UserUnknown)?;
        if !person.is_active() {
            return Err(Refusal::NotAnAccount.into());
        }
        let subject = Subject::Person(user);
        if let Err(retry_after_ms) = attempts::count(&self.sql, subject, context.now_ms).await? {
            return Err(Refusal::TooManyAttempts { retry_after_ms }.into());
        }
        match work.check(password, person.password_hash.as_deref()).await? {
            Verdict::Right | Verdict::RightButWeak => {}
            Verdict::Wrong => return Err(Refusal::CredentialsWrong.into()),
        }
        let mut tx = self.sql.begin().await?;
        attempts::forget(&mut tx, subject).await?;
        tx.commit().await?;
        Ok((person, work))
    }
}

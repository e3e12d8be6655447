//! Registers an account: a letter to the address, and the account once its link is opened by who knows the password. Until
//! then nothing changes and the address is not taken, so nobody blocks, or prepares, an account for somebody else.

use onsale_sql::{Query, Tx, query};

use super::person::{self, NewPerson};
use super::sign_in::StartFor;
use super::{Accounts, SignInFrom, check_password, read_email};
use super::{Failure, Refusal};
use crate::attempts::{self, Subject};
use crate::context::Context;
use crate::email::Email;
use crate::letters::{self, LetterKind, NewLetter};
use crate::notes::{self, Action};
use crate::once::{self, Begun};
use crate::one_time::{self, NewToken, Presented};
use crate::passwords::Verdict;
use crate::random;
use crate::role::Roles;
use crate::secrets::Purpose;
use crate::sessions::SessionStarted;

static MAKE_ACCOUNT: Query = query!("people/make_account");

impl Accounts {
    /// Asks for an account. The answer is the same whether or not the address has one: its owner is told by letter.
    /// `guest` is the guest who asks, and whose id the account will have.
    pub async fn register(
        &self,
        email: &str,
        password: &str,
        guest: Option<&str>,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        let email = read_email("email", email)?;
        check_password("password", password, &email)?;
        if let Some(answer) = once::answered(&self.sql, context).await? {
            return Ok(answer);
        }
        // Hashed in any case: the time that the answer takes tells nothing either.
        let hash = self.passwords.reserve()?.make(password).await?;
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        let subject = Subject::Letters(context.tenant, email.key());
        if attempts::count_letter(&mut tx, subject, context.now_ms).await? {
            match person::find_by_email_in(&mut tx, &email, context).await? {
                Some(owner) => {
                    // To the address as its owner wrote it, never as a stranger did.
                    let address = owner.email.as_deref().unwrap_or_default();
                    let letter = NewLetter {
                        kind: LetterKind::AlreadyRegistered,
                        user: Some(&owner.user),
                        email: address,
                        token: None,
                        details: "",
                    };
                    letters::add(&mut tx, &letter, context).await?;
                }
                None => self.send_verification(&mut tx, &email, &hash, guest, context).await?,
            }
        }
        once::finish(tx, context, &()).await
    }

    async fn send_verification(
        &self,
        tx: &mut Tx,
        email: &Email,
        hash: &str,
        guest: Option<&str>,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        let new = NewToken { purpose: Purpose::Registration, user: guest, email, password_hash: Some(hash) };
        let token = one_time::issue(tx, &self.tokens, &new, context).await?;
        let letter = NewLetter {
            kind: LetterKind::Verification,
            user: guest,
            email: email.as_str(),
            token: Some(token),
            details: "",
        };
        Ok(letters::add(tx, &letter, context).await?)
    }

    /// Makes the account and signs in. Asks for the password once more: whoever reads the mail and opens a link that a
    /// stranger has caused makes no account whose password the stranger knows.
    pub async fn confirm_registration(
        &self,
        token: &str,
        password: &str,
        from: SignInFrom<'_>,
        context: &Context<'_>,
    ) -> Result<SessionStarted, Failure> {
        let presented = Presented::parse(Purpose::Registration, token).ok_or(Refusal::TokenInvalid)?;
        if let Some(answer) = once::answered(&self.sql, context).await? {
            return Ok(answer);
        }
        let mut work = self.passwords.reserve()?;
        let asked = presented.find(&self.sql, context).await?.ok_or(Refusal::TokenInvalid)?;
        if work.check(password, asked.password_hash.as_deref()).await? == Verdict::Wrong {
            return Err(Refusal::CredentialsWrong.into());
        }
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        let used = presented.consume(&mut tx, context).await?.ok_or(Refusal::TokenInvalid)?;
        let email = read_email("email", &used.email)?;
        let hash = used.password_hash.as_deref().ok_or(Refusal::TokenInvalid)?;
        if person::find_by_email_in(&mut tx, &email, context).await?.is_some() {
            // Rolled back: the token stays, and is as useless as before.
            return Err(Refusal::EmailTaken.into());
        }
        let user = make_account(&mut tx, used.user.as_deref(), &email, hash, context).await.map_err(taken)?;
        // Other links to this address would make a second account.
        one_time::forget_of_email(&mut tx, email.key(), Purpose::Registration, context).await?;
        let started = self
            .start_session(
                &mut tx,
                &StartFor { user: &user, email: email.as_str(), known: None, from },
                context,
            )
            .await?;
        notes::audit(&mut tx, &user, Action::AccountMade, &user, context).await?;
        // The guest's other sessions are an account's now.
        notes::changed_person(&mut tx, &user, context.now_ms).await?;
        once::finish(tx, context, &started).await.map_err(taken)?;
        Ok(started)
    }

    /// Makes an account whose address is known to be right: by an operator at the console, and for demos.
    pub async fn add(
        &self,
        email: &str,
        password: &str,
        roles: Roles,
        context: &Context<'_>,
    ) -> Result<String, Failure> {
        let email = read_email("email", email)?;
        check_password("password", password, &email)?;
        let hash = self.passwords.reserve()?.make(password).await?;
        let user = random::id("usr_");
        let mut tx = self.sql.begin().await?;
        let new = NewPerson { user: &user, account: Some((&email, &hash)), roles };
        person::add(&mut tx, &new, context).await.map_err(|error| taken(error.into()))?;
        notes::audit(&mut tx, "console", Action::AccountMade, &user, context).await?;
        tx.commit().await?;
        Ok(user)
    }
}

/// The guest who asked becomes the account; a guest who has become another account meanwhile, or is gone, gets a new id.
async fn make_account(
    tx: &mut Tx,
    guest: Option<&str>,
    email: &Email,
    hash: &str,
    context: &Context<'_>,
) -> Result<String, Failure> {
    if let Some(guest) = guest {
        let params = [
            guest.into(),
            context.tenant_number().into(),
            email.as_str().into(),
            email.key().into(),
            hash.into(),
            context.now_ms.into(),
        ];
        if tx.execute(&MAKE_ACCOUNT, &params).await? == 1 {
            return Ok(guest.to_owned());
        }
    }
    let user = random::id("usr_");
    person::add(tx, &NewPerson { user: &user, account: Some((email, hash)), roles: Roles::BUYER }, context)
        .await?;
    Ok(user)
}

/// Two accounts with one address, made at the same moment: the database lets one pass.
fn taken(failure: Failure) -> Failure {
    match failure {
        Failure::Failed(error) if error.is_unique_violation() => Refusal::EmailTaken.into(),
        Failure::Failed(_) | Failure::Refused(_) => failure,
    }
}

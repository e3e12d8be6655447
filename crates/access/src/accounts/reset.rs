//! Sets a new password for who can read the account's mail.

use onsale_sql::{Query, query};

use super::person;
use super::{Accounts, check_password, read_email};
use super::{Failure, Refusal};
use crate::attempts::{self, Subject};
use crate::context::Context;
use crate::letters::{self, LetterKind, NewLetter};
use crate::notes::{self, Action};
use crate::once::{self, Begun};
use crate::one_time::{self, NewToken, Presented};
use crate::secrets::Purpose;
use crate::sessions::{end_all_in, forget_devices};

static SET_PASSWORD: Query = query!("people/set_password");

impl Accounts {
    /// Sends a letter if the address has an account; the answer is the same without.
    pub async fn ask_for_reset(&self, email: &str, context: &Context<'_>) -> Result<(), Failure> {
        let email = read_email("email", email)?;
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        let subject = Subject::Letters(context.tenant, email.key());
        if attempts::count_letter(&mut tx, subject, context.now_ms).await? {
            let owner = person::find_by_email_in(&mut tx, &email, context).await?;
            let owner = owner.filter(person::PersonRow::is_active);
            if let Some(owner) = &owner {
                // To the address as its owner wrote it: what a stranger wrote may only look the same.
                let address = read_email("email", owner.email.as_deref().unwrap_or_default())?;
                let new = NewToken {
                    purpose: Purpose::Reset,
                    user: Some(&owner.user),
                    email: &address,
                    password_hash: None,
                };
                let token = one_time::issue(&mut tx, &self.tokens, &new, context).await?;
                let letter = NewLetter {
                    kind: LetterKind::Reset,
                    user: Some(&owner.user),
                    email: address.as_str(),
                    token: Some(token),
                    details: "",
                };
                letters::add(&mut tx, &letter, context).await?;
            }
            let user = owner.as_ref().map_or("", |owner| owner.user.as_str());
            notes::audit(&mut tx, "nobody", Action::ResetAsked, user, context).await?;
        }
        once::finish(tx, context, &()).await
    }

    /// Uses the letter's token. Ends every session, and forgets every device: whoever was in is out. Returns whose it was.
    pub async fn reset_password(
        &self,
        token: &str,
        new: &str,
        context: &Context<'_>,
    ) -> Result<String, Failure> {
        let presented = Presented::parse(Purpose::Reset, token).ok_or(Refusal::TokenInvalid)?;
        if let Some(answer) = once::answered(&self.sql, context).await? {
            return Ok(answer);
        }
        let asked = presented.find(&self.sql, context).await?.ok_or(Refusal::TokenInvalid)?;
        check_password("new_password", new, &read_email("email", &asked.email)?)?;
        let hash = self.passwords.reserve()?.make(new).await?;
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        let used = presented.consume(&mut tx, context).await?.ok_or(Refusal::TokenInvalid)?;
        let user = used.user.ok_or(Refusal::TokenInvalid)?;
        let person = person::lock(&mut tx, &user, context).await?.filter(person::PersonRow::is_active);
        let person = person.ok_or(Refusal::TokenInvalid)?;
        let params = [
            user.as_str().into(),
            person.password_hash.as_deref().into(),
            hash.into(),
            context.now_ms.into(),
        ];
        tx.execute(&SET_PASSWORD, &params).await?;
        one_time::forget_of_user(&mut tx, &user).await?;
        end_all_in(&mut tx, &user, None).await?;
        forget_devices(&mut tx, &user).await?;
        // Whoever reads the mail is not slowed down by those who guessed.
        let key = person.email_key.as_deref().unwrap_or_default();
        attempts::forget(&mut tx, Subject::Email(context.tenant, key)).await?;
        let letter = NewLetter {
            kind: LetterKind::PasswordChanged,
            user: Some(&user),
            email: person.email.as_deref().unwrap_or_default(),
            token: None,
            details: "",
        };
        letters::add(&mut tx, &letter, context).await?;
        notes::audit(&mut tx, &user, Action::PasswordReset, &user, context).await?;
        notes::changed_person(&mut tx, &user, context.now_ms).await?;
        once::finish(tx, context, &user).await?;
        Ok(user)
    }
}

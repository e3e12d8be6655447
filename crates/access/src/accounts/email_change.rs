//! Puts a new address in the place of the old one, after the password was asked for and the new address has proved itself.

use onsale_sql::{Query, query};

use super::person;
use super::{Accounts, read_email};
use super::{Failure, Refusal};
use crate::attempts::{self, Subject};
use crate::context::Context;
use crate::letters::{self, LetterKind, NewLetter};
use crate::notes::{self, Action};
use crate::once::{self, Begun};
use crate::one_time::{self, NewToken, Presented};
use crate::secrets::Purpose;

static SET_EMAIL: Query = query!("people/set_email");

impl Accounts {
    /// Sends a letter to the new address. The answer is the same if somebody has it already: its owner is told by letter.
    pub async fn ask_for_email_change(
        &self,
        user: &str,
        password: &str,
        new_email: &str,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        let email = read_email("new_email", new_email)?;
        if let Some(answer) = once::answered(&self.sql, context).await? {
            return Ok(answer);
        }
        self.prove(user, password, context).await?;
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        let subject = Subject::Letters(context.tenant, email.key());
        if attempts::count_letter(&mut tx, subject, context.now_ms).await? {
            let owner = person::find_by_email_in(&mut tx, &email, context).await?;
            // One's own address may be written in another way, say with capitals.
            let other = owner.filter(|owner| owner.user != user);
            let token = match &other {
                Some(_) => None,
                None => {
                    let new = NewToken {
                        purpose: Purpose::EmailChange,
                        user: Some(user),
                        email: &email,
                        password_hash: None,
                    };
                    Some(one_time::issue(&mut tx, &self.tokens, &new, context).await?)
                }
            };
            let letter = NewLetter {
                kind: if other.is_some() { LetterKind::AlreadyRegistered } else { LetterKind::EmailChange },
                user: Some(other.as_ref().map_or(user, |owner| &owner.user)),
                email: other.as_ref().and_then(|owner| owner.email.as_deref()).unwrap_or(email.as_str()),
                token,
                details: "",
            };
            letters::add(&mut tx, &letter, context).await?;
        }
        notes::audit(&mut tx, user, Action::EmailChangeAsked, user, context).await?;
        once::finish(tx, context, &()).await
    }

    /// Uses the letter's token. The old address is told, and links that were sent to it open nothing any more.
    pub async fn confirm_email_change(&self, token: &str, context: &Context<'_>) -> Result<String, Failure> {
        let presented = Presented::parse(Purpose::EmailChange, token).ok_or(Refusal::TokenInvalid)?;
        let mut tx = match once::begin(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(answer) => return Ok(answer),
        };
        let used = presented.consume(&mut tx, context).await?.ok_or(Refusal::TokenInvalid)?;
        let user = used.user.ok_or(Refusal::TokenInvalid)?;
        let email = read_email("email", &used.email)?;
        let person = person::lock(&mut tx, &user, context).await?.filter(person::PersonRow::is_active);
        let person = person.ok_or(Refusal::TokenInvalid)?;
        let params = [user.as_str().into(), email.as_str().into(), email.key().into(), context.now_ms.into()];
        tx.execute(&SET_EMAIL, &params).await.map_err(|error| match error.is_unique_violation() {
            true => Failure::Refused(Refusal::EmailTaken),
            false => Failure::Failed(error),
        })?;
        one_time::forget_of_user(&mut tx, &user).await?;
        let letter = NewLetter {
            kind: LetterKind::EmailChanged,
            user: Some(&user),
            email: person.email.as_deref().unwrap_or_default(),
            token: None,
            details: "",
        };
        letters::add(&mut tx, &letter, context).await?;
        notes::audit(&mut tx, &user, Action::EmailChanged, &user, context).await?;
        notes::changed_person(&mut tx, &user, context.now_ms).await?;
        once::finish(tx, context, &user).await?;
        Ok(user)
    }
}

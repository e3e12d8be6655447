//! Changes the password of somebody who is signed in and knows the old one.

use onsale_sql::{Query, SqlError, query};

use super::{Accounts, check_password, read_email};
use super::{Failure, Refusal};
use crate::context::Context;
use crate::letters::{self, LetterKind, NewLetter};
use crate::notes::{self, Action};
use crate::once::{self, Begun};
use crate::one_time;
use crate::secrets::{Secret, SecretKind};
use crate::sessions::{end_all_in, replace_token};

static SET_PASSWORD: Query = query!("people/set_password");

impl Accounts {
    /// Ends all other sessions, and gives this one a new token.
    pub async fn change_password(
        &self,
        user: &str,
        session: &str,
        old: &str,
        new: &str,
        context: &Context<'_>,
    ) -> Result<Secret, Failure> {
        if let Some(kept) = once::answered::<String>(&self.sql, context).await? {
            return read_kept(&kept);
        }
        let person = self.person(user, context).await?;
        let email = read_email("email", person.email.as_deref().ok_or(Refusal::NotAnAccount)?)?;
        check_password("new_password", new, &email)?;
        let (person, mut work) = self.prove(user, old, context).await?;
        let hash = work.make(new).await?;
        drop(work);
        let mut tx = match once::begin::<String>(&self.sql, context).await? {
            Begun::New(tx) => tx,
            Begun::Done(kept) => return read_kept(&kept),
        };
        let stored = person.password_hash.as_deref();
        let params = [user.into(), stored.into(), hash.into(), context.now_ms.into()];
        if tx.execute(&SET_PASSWORD, &params).await? == 0 {
            // Changed by somebody else in this moment: the old one is not right any more.
            return Err(Refusal::CredentialsWrong.into());
        }
        one_time::forget_of_user(&mut tx, user).await?;
        end_all_in(&mut tx, user, Some(session)).await?;
        let token = replace_token(&mut tx, session, context.now_ms).await?.ok_or(Refusal::SessionUnknown)?;
        let letter = NewLetter {
            kind: LetterKind::PasswordChanged,
            user: Some(user),
            email: email.as_str(),
            token: None,
            details: "",
        };
        letters::add(&mut tx, &letter, context).await?;
        notes::audit(&mut tx, user, Action::PasswordChanged, user, context).await?;
        notes::changed_person(&mut tx, user, context.now_ms).await?;
        once::finish(tx, context, &token.text()).await?;
        Ok(token)
    }
}

fn read_kept(text: &str) -> Result<Secret, Failure> {
    let damaged = || SqlError::Damaged("a kept answer is not a token".to_owned());
    Ok(Secret::parse(SecretKind::Session, text).ok_or_else(damaged)?)
}

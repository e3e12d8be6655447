//! Disables an account, and enables it again.

use onsale_sql::{Query, query};

use super::Accounts;
use super::person::{self, AccountState};
use super::{Failure, Refusal};
use crate::context::Context;
use crate::notes::{self, Action};
use crate::one_time;
use crate::sessions::end_all_in;

static SET_STATE: Query = query!("people/set_state");

impl Accounts {
    /// Ends all sessions; what was bought stays bought.
    pub async fn disable(&self, user: &str, by: &str, context: &Context<'_>) -> Result<(), Failure> {
        self.set_state(user, AccountState::Disabled, Action::AccountDisabled, by, context).await
    }

    pub async fn enable(&self, user: &str, by: &str, context: &Context<'_>) -> Result<(), Failure> {
        self.set_state(user, AccountState::Active, Action::AccountEnabled, by, context).await
    }

    async fn set_state(
        &self,
        user: &str,
        state: AccountState,
        action: Action,
        by: &str,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        let mut tx = self.sql.begin().await?;
        let person = person::lock(&mut tx, user, context).await?.ok_or(Refusal::UserUnknown)?;
        match person.state {
            AccountState::Active | AccountState::Disabled => {}
            AccountState::Guest | AccountState::Deleted => return Err(Refusal::NotAnAccount.into()),
        }
        if person.state != state {
            tx.execute(&SET_STATE, &[user.into(), state.as_str().into(), context.now_ms.into()]).await?;
            one_time::forget_of_user(&mut tx, user).await?;
            end_all_in(&mut tx, user, None).await?;
            notes::audit(&mut tx, by, action, user, context).await?;
            notes::changed_person(&mut tx, user, context.now_ms).await?;
        }
        Ok(tx.commit().await?)
    }
}

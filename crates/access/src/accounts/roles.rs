//! Gives roles and takes them. Whether the caller may is the edge's question; the change applies to all sessions at once.

use onsale_sql::{Query, query};

use super::Accounts;
use super::person;
use super::{Failure, Refusal};
use crate::context::Context;
use crate::notes::{self, Action};
use crate::role::{Role, Roles};

static SET_ROLES: Query = query!("people/set_roles");

impl Accounts {
    pub async fn give_role(
        &self,
        user: &str,
        role: Role,
        by: &str,
        context: &Context<'_>,
    ) -> Result<Roles, Failure> {
        self.set_roles(user, by, context, |roles| roles.with(role)).await
    }

    pub async fn take_role(
        &self,
        user: &str,
        role: Role,
        by: &str,
        context: &Context<'_>,
    ) -> Result<Roles, Failure> {
        self.set_roles(user, by, context, |roles| roles.without(role)).await
    }

    async fn set_roles(
        &self,
        user: &str,
        by: &str,
        context: &Context<'_>,
        change: impl FnOnce(Roles) -> Roles,
    ) -> Result<Roles, Failure> {
        let mut tx = self.sql.begin().await?;
        let person = person::lock(&mut tx, user, context).await?.ok_or(Refusal::UserUnknown)?;
        if !person.is_active() {
            return Err(Refusal::NotAnAccount.into());
        }
        let roles = change(person.roles);
        if roles != person.roles {
            tx.execute(&SET_ROLES, &[user.into(), roles.to_string().into(), context.now_ms.into()]).await?;
            notes::audit(&mut tx, by, Action::RolesChanged, user, context).await?;
            notes::changed_person(&mut tx, user, context.now_ms).await?;
        }
        tx.commit().await?;
        Ok(roles)
    }
}

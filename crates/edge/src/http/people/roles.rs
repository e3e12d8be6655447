//! `/v1/users/{user}/roles/{role}`: what a person may do. Nobody gives or takes what goes beyond their own scopes.

use axum::response::Response;
use onsale_access::role::Role;

use super::asking::Asking;
use super::users;
use crate::http::extract::PathParams;
use crate::http::problem::{Problem, catalog};

/// Give a person a role
///
/// `buyer`, `seller`, `box_office`, `operator` or `admin`. All their sessions have it within a second. Only a role whose scopes the caller
/// has is given.
#[utoipa::path(put, path = "/v1/users/{user}/roles/{role}", tag = "users",
    responses((status = 200, body = super::wire::UserBody), (status = 409)))]
pub async fn give(asking: Asking, params: PathParams) -> Result<Response, Problem> {
    let role = role(&asking, params.second())?;
    let accounts = &asking.access.accounts;
    accounts.give_role(params.first(), role, asking.staff(), &asking.context()).await?;
    users::user(&asking, params.first()).await
}

/// Take a role from a person
///
/// All their sessions are without it within a second. Everybody stays a buyer.
#[utoipa::path(delete, path = "/v1/users/{user}/roles/{role}", tag = "users",
    responses((status = 200, body = super::wire::UserBody), (status = 409)))]
pub async fn take(asking: Asking, params: PathParams) -> Result<Response, Problem> {
    let role = role(&asking, params.second())?;
    let accounts = &asking.access.accounts;
    accounts.take_role(params.first(), role, asking.staff(), &asking.context()).await?;
    users::user(&asking, params.first()).await
}

fn role(asking: &Asking, text: &str) -> Result<Role, Problem> {
    let names = Role::ALL.map(Role::as_str).join(", ");
    let unknown = || Problem::parameter("role", format!("must be one of {names}"));
    let role = Role::parse(text).ok_or_else(unknown)?;
    let lacking = role.scopes().iter().find(|scope| !asking.principal.may(*scope));
    match lacking {
        None => Ok(role),
        Some(scope) => {
            let why = format!("the role {text} has the scope {}, which you do not have", scope.as_str());
            Err(Problem::with(catalog::MISSING_SCOPE, why))
        }
    }
}

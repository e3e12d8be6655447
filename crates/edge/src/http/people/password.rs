//! Passwords: another one by who knows the old one, and a new one by who reads the account's mail.

use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::accounts::LetterSent;
use super::asking::Asking;
use super::done;
use super::sessions::remembered_seconds;
use super::wire::{self, TokenChanged};
use crate::http::extract::{Caller, Json};
use crate::http::problem::Problem;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChange {
    #[schema(example = "hedgehog moon 7")]
    old_password: String,
    /// Of any characters, and not among those that are guessed first.
    #[schema(example = "wombat under stars")]
    new_password: String,
}

/// Change my password
///
/// Ends all other sessions and gives this one another token; the account's address is told by letter.
#[utoipa::path(put, path = "/v1/me/password", tag = "me", request_body = PasswordChange,
    responses((status = 200, body = TokenChanged), (status = 404), (status = 409), (status = 429, description = "Too many wrong passwords")))]
pub async fn change(
    asking: Asking,
    caller: Caller,
    Json(body): Json<PasswordChange>,
) -> Result<Response, Problem> {
    let person = asking.person()?;
    wire::check_given_password("old_password", &body.old_password)?;
    let seconds = remembered_seconds(&asking, &person.session).await?;
    let context = asking.context_once(&caller, &());
    let (user, session) = (person.user.as_str(), &*person.session);
    let accounts = &asking.access.accounts;
    let token =
        accounts.change_password(user, session, &body.old_password, &body.new_password, &context).await?;
    Ok(TokenChanged::answer(session, &token, asking.carrier(), seconds))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPasswordReset {
    #[schema(example = "ann@example.org")]
    email: String,
}

/// Ask for a new password
///
/// A letter with a token goes to the address if it has an account; the answer is the same without.
#[utoipa::path(post, path = "/v1/password-resets", tag = "accounts", request_body = NewPasswordReset,
    responses((status = 202, body = LetterSent)))]
pub async fn ask_for_reset(asking: Asking, Json(body): Json<NewPasswordReset>) -> Result<Response, Problem> {
    wire::check_email("email", &body.email)?;
    asking.access.accounts.ask_for_reset(&body.email, &asking.context()).await?;
    Ok(LetterSent::answer(body.email))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordReset {
    /// From the letter; good for an hour and once.
    #[schema(example = "onsale_one_…")]
    token: String,
    #[schema(example = "wombat under stars")]
    new_password: String,
}

/// Set a new password with a letter's token
///
/// Ends every session: whoever was in is out. Sign in with the new password then.
#[utoipa::path(post, path = "/v1/password-resets/use", tag = "accounts", request_body = PasswordReset,
    responses((status = 204)))]
pub async fn use_reset(asking: Asking, Json(body): Json<PasswordReset>) -> Result<Response, Problem> {
    wire::check_token("token", &body.token)?;
    asking.access.accounts.reset_password(&body.token, &body.new_password, &asking.context()).await?;
    Ok(done())
}

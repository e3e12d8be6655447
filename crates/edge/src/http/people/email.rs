//! Another e-mail address: asked for with the password, and proved by a letter to the new one.

use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::accounts::LetterSent;
use super::asking::Asking;
use super::{done, wire};
use crate::http::extract::{Caller, Json};
use crate::http::problem::Problem;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EmailChange {
    #[schema(example = "hedgehog moon 7")]
    password: String,
    #[schema(example = "ann@example.com")]
    new_email: String,
}

/// Ask for another e-mail address
///
/// A letter with a token goes to the new address; until it is used the account keeps the old one. The answer is the same if somebody has
/// the address already.
#[utoipa::path(post, path = "/v1/me/email", tag = "me", request_body = EmailChange,
    responses((status = 202, body = LetterSent), (status = 404), (status = 409), (status = 429, description = "Too many wrong passwords")))]
pub async fn ask(asking: Asking, caller: Caller, Json(body): Json<EmailChange>) -> Result<Response, Problem> {
    let person = asking.person()?;
    wire::check_given_password("password", &body.password)?;
    wire::check_email("new_email", &body.new_email)?;
    let context = asking.context_once(&caller, &body.new_email);
    let accounts = &asking.access.accounts;
    accounts.ask_for_email_change(person.user.as_str(), &body.password, &body.new_email, &context).await?;
    Ok(LetterSent::answer(body.new_email))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EmailConfirmation {
    /// From the letter; good for 24 hours and once.
    #[schema(example = "onsale_one_…")]
    token: String,
}

/// Prove another e-mail address
///
/// Puts it in the old one's place, which is told by letter. Links that were sent before open nothing any more.
#[utoipa::path(post, path = "/v1/email-changes/use", tag = "accounts", request_body = EmailConfirmation,
    responses((status = 204), (status = 409, description = "The address has an account")))]
pub async fn confirm(asking: Asking, Json(body): Json<EmailConfirmation>) -> Result<Response, Problem> {
    wire::check_token("token", &body.token)?;
    asking.access.accounts.confirm_email_change(&body.token, &asking.context()).await?;
    Ok(done())
}

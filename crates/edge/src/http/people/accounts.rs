//! `/v1/accounts`: signing up. A letter proves the address; until then nothing changes, and nobody learns whether it has an account.

use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asking::Asking;
use super::wire::{self, DeviceBody, SessionBegun};
use crate::http::extract::{Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    #[schema(example = "ann@example.org")]
    email: String,
    /// Of any characters, and not among those that are guessed first.
    #[schema(example = "hedgehog moon 7")]
    password: String,
}

/// That a letter is on its way, if one is: the answer is the same whether or not the address has an account.
#[derive(Debug, Serialize, ToSchema)]
pub struct LetterSent {
    /// The address that was asked for.
    #[schema(example = "ann@example.org")]
    email: String,
}

impl LetterSent {
    pub fn answer(email: String) -> Response {
        reply::json(StatusCode::ACCEPTED, &LetterSent { email })
    }
}

/// Sign up
///
/// A letter with a token goes to the address, for `POST /v1/accounts/verify`; only then there is an account. The answer is the same if
/// the address has one already: its owner is told by letter. A guest who asks keeps everything: the account will have the guest's id.
#[utoipa::path(post, path = "/v1/accounts", tag = "accounts", request_body = NewAccount,
    responses((status = 202, body = LetterSent)))]
pub async fn register(
    asking: Asking,
    caller: Caller,
    Json(body): Json<NewAccount>,
) -> Result<Response, Problem> {
    wire::check_email("email", &body.email)?;
    let guest = asking.signed_in().filter(|person| person.is_guest).map(|person| person.user.as_str());
    let context = asking.context_once(&caller, &body.email);
    asking.access.accounts.register(&body.email, &body.password, guest, &context).await?;
    Ok(LetterSent::answer(body.email))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// From the letter; good for 24 hours and once.
    #[schema(example = "onsale_one_…")]
    token: String,
    /// The one that was chosen when signing up: who only reads the letters makes no account.
    #[schema(example = "hedgehog moon 7")]
    password: String,
    /// True: the session's token goes into a cookie. Without it browsers get a cookie, and programs the token.
    #[serde(default)]
    cookie: Option<bool>,
    #[serde(default)]
    remember_me: bool,
    #[serde(default)]
    #[schema(example = "mobile")]
    device_type: Option<String>,
    #[serde(default)]
    #[schema(example = "Ann's phone")]
    device_name: Option<String>,
}

/// Prove an address and sign in
///
/// Makes the account. The token works once; the password is asked for once more.
#[utoipa::path(post, path = "/v1/accounts/verify", tag = "accounts", request_body = Verification,
    responses((status = 201, body = SessionBegun), (status = 409, description = "The address has an account")))]
pub async fn verify(asking: Asking, Json(body): Json<Verification>) -> Result<Response, Problem> {
    wire::check_token("token", &body.token)?;
    wire::check_given_password("password", &body.password)?;
    let told = DeviceBody { device_type: body.device_type, device_name: body.device_name };
    wire::check_device(&told)?;
    let carrier = asking.new_carrier(body.cookie)?;
    let device = asking.device(&told);
    let from = asking.sign_in_from(&device, None, body.remember_me);
    let accounts = &asking.access.accounts;
    let started = accounts.confirm_registration(&body.token, &body.password, from, &asking.context()).await?;
    Ok(wire::begun(&started, carrier, body.remember_me, asking.now_ms))
}

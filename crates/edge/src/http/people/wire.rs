//! Bodies that several routes about people share, and the checks of their texts.

use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::accounts::{Account, AccountState};
use onsale_access::email::EMAIL_BYTES_MAX;
use onsale_access::passwords::PASSWORD_CHARS_MAX;
use onsale_access::role::Role;
use onsale_access::sessions::SessionStarted;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asking::Carrier;
use super::cookies;
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::time::Time;

/// Characters of a token from a letter or a device; ours have half as many.
pub const TOKEN_CHARS_MAX: usize = 128;
/// What a device says of itself; longer texts are cut where they are kept.
pub const DEVICE_TYPE_CHARS_MAX: usize = 32;
pub const DEVICE_NAME_CHARS_MAX: usize = 64;

/// What a program or a page says of the device that it runs on.
#[derive(Debug, Default)]
pub struct DeviceBody {
    pub device_type: Option<String>,
    pub device_name: Option<String>,
}

/// What somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UserState {
    /// Has no e-mail address and no password yet.
    Guest,
    Active,
    /// Signs in nowhere, until staff enables it.
    Disabled,
    /// The id is all that is left.
    Deleted,
}

impl From<AccountState> for UserState {
    fn from(state: AccountState) -> UserState {
        match state {
            AccountState::Guest => UserState::Guest,
            AccountState::Active => UserState::Active,
            AccountState::Disabled => UserState::Disabled,
            AccountState::Deleted => UserState::Deleted,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = User)]
pub struct UserBody {
    #[schema(example = "usr_0000000000000000000000000a")]
    user: String,
    state: UserState,
    /// Proved to be theirs; guests and those who were deleted have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "ann@example.org")]
    email: Option<String>,
    #[schema(example = json!(["buyer"]))]
    roles: Vec<&'static str>,
    created_at: Time,
}

impl From<Account> for UserBody {
    fn from(account: Account) -> UserBody {
        UserBody {
            user: account.user,
            state: account.state.into(),
            email: account.email,
            roles: account.roles.iter().map(Role::as_str).collect(),
            created_at: Time(account.created_ms),
        }
    }
}

/// A session that has begun.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionBegun {
    /// Who is signed in, which is also the name they buy under.
    #[schema(example = "usr_0000000000000000000000000a")]
    user: String,
    #[schema(example = "ses_0000000000000000000000000b")]
    session: String,
    /// For `Authorization: Bearer`; a browser has it in its cookie instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// For the device to keep and to send at the next sign-in; absent if it has one, or has it in a cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_token: Option<String>,
    /// Then it ends, however often it is used.
    expires_at: Time,
    /// It ends after so many seconds without a use.
    idle_seconds: i64,
    /// Of an account that was used from other devices before: its owner is told by letter.
    new_device: bool,
}

/// A session's token alone, after it was changed.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenChanged {
    #[schema(example = "ses_0000000000000000000000000b")]
    session: String,
    /// For `Authorization: Bearer`; a browser has it in its cookie instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl TokenChanged {
    pub fn answer(
        session: &str,
        token: &onsale_access::secrets::Secret,
        carrier: Carrier,
        seconds: Option<i64>,
    ) -> Response {
        let shown = (carrier == Carrier::Body).then(|| token.text());
        let mut response =
            reply::json(StatusCode::OK, &TokenChanged { session: session.to_owned(), token: shown });
        if carrier == Carrier::Cookie {
            cookies::set_session(&mut response, token, seconds);
        }
        response
    }
}

/// 201 with the session, its token where it belongs.
pub fn begun(started: &SessionStarted, carrier: Carrier, is_remembered: bool, now_ms: i64) -> Response {
    let text = |secret: &onsale_access::secrets::Secret| (carrier == Carrier::Body).then(|| secret.text());
    let told = SessionBegun {
        user: started.user.clone(),
        session: started.session.clone(),
        token: text(&started.token),
        device_token: started.device_token.as_ref().and_then(text),
        expires_at: Time(started.expires_ms),
        idle_seconds: started.idle_ms / 1_000,
        new_device: started.is_new_device,
    };
    let location = format!("/v1/sessions/{}", started.session);
    let mut response = reply::located(reply::json(StatusCode::CREATED, &told), location);
    if carrier == Carrier::Cookie {
        let seconds = is_remembered.then(|| cookie_seconds(started.expires_ms, now_ms));
        cookies::set_session(&mut response, &started.token, seconds);
        if let Some(token) = &started.device_token {
            cookies::set_device(&mut response, token);
        }
    }
    response
}

pub fn cookie_seconds(expires_ms: i64, now_ms: i64) -> i64 {
    expires_ms.saturating_sub(now_ms).max(0) / 1_000
}

/// A password that is compared with one that is stored: anything that could be one.
pub fn check_given_password(field: &str, password: &str) -> Result<(), Problem> {
    check_text(field, password, 1, PASSWORD_CHARS_MAX)
}

/// A token of a letter: whether it opens something is decided later.
pub fn check_token(field: &str, token: &str) -> Result<(), Problem> {
    check_text(field, token, 1, TOKEN_CHARS_MAX)
}

/// In characters; a longer address than mail carries is refused where it is read.
pub fn check_email(field: &str, email: &str) -> Result<(), Problem> {
    check_text(field, email, 3, EMAIL_BYTES_MAX)
}

pub fn check_device(device: &DeviceBody) -> Result<(), Problem> {
    let check = |field, text: &Option<String>, most| {
        text.as_ref().map_or(Ok(()), |text| check_text(field, text, 0, most))
    };
    check("device_type", &device.device_type, DEVICE_TYPE_CHARS_MAX)?;
    check("device_name", &device.device_name, DEVICE_NAME_CHARS_MAX)
}

pub fn check_text(field: &str, text: &str, least: usize, most: usize) -> Result<(), Problem> {
    // Counting stops early: a body may hold many.
    let characters = text.chars().take(most + 1).count();
    match (least..=most).contains(&characters) {
        true => Ok(()),
        false => Err(Problem::invalid(field, format!("must have {least} to {most} characters"))),
    }
}

//! `GET /v1/me/export`: all that is stored of a person, with what they bought.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::accounts::SentLetter;
use serde::Serialize;
use utoipa::ToSchema;

use super::asking::Asking;
use super::favourites::FavouriteBody;
use super::preferences::PreferencesBody;
use super::sessions::SessionBody;
use super::wire::UserBody;
use crate::app::App;
use crate::http::ordering::buyer;
use crate::http::ordering::wire::OrderBody;
use crate::http::problem::Problem;
use crate::http::reply;
use crate::http::time::Time;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Export)]
pub struct ExportBody<'a> {
    account: UserBody,
    preferences: PreferencesBody,
    favourites: Vec<FavouriteBody>,
    sessions: Vec<SessionBody>,
    letters: Vec<LetterBody>,
    /// The latest hundred of each listing.
    orders: Vec<OrderBody<'a>>,
}

/// That a letter was written; its words are not kept.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Letter)]
pub struct LetterBody {
    #[schema(example = "verification")]
    kind: String,
    /// `waiting`, `sent` or `given_up`.
    #[schema(example = "sent")]
    state: String,
    created_at: Time,
}

impl From<SentLetter> for LetterBody {
    fn from(letter: SentLetter) -> LetterBody {
        LetterBody { kind: letter.kind, state: letter.state, created_at: Time(letter.created_ms) }
    }
}

/// All that is stored of me
///
/// Account, sessions, preferences, favourites, which letters were sent, and orders. Without passwords and tokens: those are stored as
/// hashes alone.
#[utoipa::path(get, path = "/v1/me/export", tag = "me", responses((status = 200, body = ExportBody), (status = 404)))]
pub async fn export(State(app): State<Arc<App>>, asking: Asking) -> Result<Response, Problem> {
    let person = asking.person()?;
    let found = buyer::all_of(&app, &asking.principal, &person.user).await?;
    let stored = asking.access.accounts.export(person.user.as_str(), &asking.context()).await?;
    let now = app.engine.now();
    let told = ExportBody {
        account: stored.account.into(),
        preferences: stored.preferences.into(),
        favourites: stored.favourites.into_iter().map(FavouriteBody::from).collect(),
        sessions: stored.sessions.into_iter().map(|entry| SessionBody::new(entry, &person.session)).collect(),
        letters: stored.letters.into_iter().map(LetterBody::from).collect(),
        orders: found.iter().map(|(labels, order)| OrderBody::new(order, labels, now)).collect(),
    };
    Ok(reply::json(StatusCode::OK, &told))
}

//! `/v1/me/preferences`: by what things are suggested to a person, and which notices they want.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Response;
use onsale_access::accounts::Preferences;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asking::Asking;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::reply;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Preferences)]
#[serde(deny_unknown_fields)]
pub struct PreferencesBody {
    #[serde(default)]
    #[schema(example = json!(["Music"]))]
    preferred_categories: Vec<String>,
    #[serde(default)]
    #[schema(example = json!(["Lisbon"]))]
    preferred_locations: Vec<String>,
    #[serde(default)]
    #[schema(example = json!(["jazz"]))]
    interests: Vec<String>,
    /// The least price, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = 1000)]
    price_range_min: Option<i64>,
    /// The highest price, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = 9000)]
    price_range_max: Option<i64>,
    /// Which notices are wanted, by their names.
    #[serde(default)]
    #[schema(example = json!({"seat_offered": true}))]
    notification_settings: BTreeMap<String, bool>,
}

impl From<Preferences> for PreferencesBody {
    fn from(known: Preferences) -> PreferencesBody {
        PreferencesBody {
            preferred_categories: known.preferred_categories,
            preferred_locations: known.preferred_locations,
            interests: known.interests,
            price_range_min: known.price_range_min,
            price_range_max: known.price_range_max,
            notification_settings: known.notification_settings,
        }
    }
}

impl From<PreferencesBody> for Preferences {
    fn from(body: PreferencesBody) -> Preferences {
        Preferences {
            preferred_categories: body.preferred_categories,
            preferred_locations: body.preferred_locations,
            interests: body.interests,
            price_range_min: body.price_range_min,
            price_range_max: body.price_range_max,
            notification_settings: body.notification_settings,
        }
    }
}

/// What I prefer
///
/// Empty until it is set.
#[utoipa::path(get, path = "/v1/me/preferences", tag = "me",
    responses((status = 200, body = PreferencesBody), (status = 404)))]
pub async fn show(asking: Asking) -> Result<Response, Problem> {
    let person = asking.person()?;
    let known = asking.access.accounts.preferences(person.user.as_str(), &asking.context()).await?;
    Ok(reply::json(StatusCode::OK, &PreferencesBody::from(known)))
}

/// Say what I prefer
///
/// In the place of everything that was said before: what is left out is empty.
#[utoipa::path(put, path = "/v1/me/preferences", tag = "me", request_body = PreferencesBody,
    responses((status = 200, body = PreferencesBody), (status = 404)))]
pub async fn set(asking: Asking, Json(body): Json<PreferencesBody>) -> Result<Response, Problem> {
    let person = asking.person()?;
    let wish = Preferences::from(body);
    asking.access.accounts.set_preferences(person.user.as_str(), &wish, &asking.context()).await?;
    Ok(reply::json(StatusCode::OK, &PreferencesBody::from(wish)))
}

//! `/v1/buyer-tokens`: a merchant's server vouches for one of its buyers, so that a browser can act for that buyer.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_access::principal::Who;
use onsale_domain::ListingId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access_change::{AccessCaller, Begun, KeptAnswer, refused};
use super::extract::{self, BUYER_RULE, Json, find_listing};
use super::gate::FIXED_KEY;
use super::problem::{Problem, catalog};
use super::table::{RouteDeclaration, declare};
use super::time::Time;
use crate::app::App;

/// The route of buyer tokens.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![declare!("buyer_tokens.create", create, Vouch, Buy, keyed, in_access)]
}

/// For whom the token is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBuyerToken {
    /// Your own id of the buyer.
    #[schema(example = "ann")]
    buyer: String,
    /// How long it works.
    #[schema(example = 900)]
    ttl_seconds: u32,
    /// It shows and buys of these alone. Absent: of all of yours.
    #[schema(example = json!(["evt_0000000000000001"]))]
    listings: Option<Vec<String>>,
}

/// A buyer token. It is stored nowhere.
#[derive(Serialize, ToSchema)]
pub struct BuyerToken {
    /// Send it as `Authorization: Bearer <token>`, or in `Onsale-Buyer-Token` beside a publishable key.
    #[schema(example = "onsale_bt_…")]
    token: String,
    buyer: String,
    expires_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    listings: Option<Vec<String>>,
}

impl std::fmt::Debug for BuyerToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuyerToken").field("buyer", &self.buyer).finish_non_exhaustive()
    }
}

/// Make a token for one of your buyers
///
/// For a browser or a socket that acts for this buyer: it holds, orders, pays and sees what is theirs. It ends with its time, or when the
/// key that made it is revoked.
#[utoipa::path(post, path = "/v1/buyer-tokens", tag = "keys", request_body = NewBuyerToken,
    responses((status = 200, body = BuyerToken)))]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: AccessCaller,
    Json(body): Json<NewBuyerToken>,
) -> Result<Response, Problem> {
    let Who::Key(holder) = &caller.principal().who else { return Err(Problem::of(catalog::MISSING_SCOPE)) };
    if &*holder.key == FIXED_KEY {
        return Err(Problem::of(catalog::KEY_CONFIGURED));
    }
    let buyer = extract::buyer(&body.buyer).ok_or_else(|| Problem::invalid("buyer", BUYER_RULE))?;
    let listings = match &body.listings {
        Some(named) => Some(own_listings(&app, &caller, named).await?),
        None => None,
    };
    let issue = |now_ms: i64| {
        let what = (i64::from(body.ttl_seconds) * 1_000, listings.as_deref());
        let vouchers = &caller.access.vouchers;
        vouchers.issue_for(caller.principal(), holder, &buyer, what, now_ms)
    };
    let change = match caller.begin(&body).await? {
        Begun::New(change) => change,
        Begun::Done(answer) => return Ok(answer),
    };
    let (token, voucher) = issue(change.now_ms).map_err(|refusal| refused(refusal.into()))?;
    let told = BuyerToken {
        token,
        buyer: body.buyer.clone(),
        expires_at: Time(voucher.expires_ms),
        listings: body.listings.clone(),
    };
    change.finish("buyer_token_created", &body.buyer, KeptAnswer::of(axum::http::StatusCode::OK, &told)).await
}

/// Another tenant's are told as those that nobody has.
async fn own_listings(app: &App, caller: &AccessCaller, named: &[String]) -> Result<Vec<ListingId>, Problem> {
    // As many are looked up as a token can name; whether there are too many, it says itself.
    let mut found = Vec::new();
    for (place, text) in named.iter().enumerate() {
        let unknown =
            || Problem::invalid(format!("listings[{place}]"), "must be the id of a listing of yours");
        let listing = ListingId::parse(text).ok_or_else(unknown)?;
        if place < onsale_access::vouchers::LISTINGS_MAX
            && !find_listing(app, caller.principal(), listing).await?
        {
            return Err(unknown());
        }
        found.push(listing);
    }
    Ok(found)
}

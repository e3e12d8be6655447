//! `POST /v1/orders`: an order takes a hold or a checkout code, and fixes what there is to pay.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use onsale_domain::id::{read_inside, read_inside_of};
use onsale_domain::order::command::{EntryKey, GoodsKey, PlaceOrder};
use onsale_domain::order::{OrderCommand, OrderFact};
use onsale_domain::{Code, Command, EntryId, Fact, HoldId, ListingId, ListingKind, OrderId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::order_key;
use super::wire::{GoodsBody, Labels, goods_body, order_text};
use crate::app::App;
use crate::http::credential;
use crate::http::extract::{Caller, Json, look_up};
use crate::http::lost;
use crate::http::problem::{Problem, ProblemBody};
use crate::http::reply::{self, own_fact};
use crate::http::sales::code::CodePath;
use crate::http::time::Time;
use crate::http::wire::At;

/// One of them: a hold, with its `Hold-Token`; a checkout code; an auction that `Onsale-Buyer` has won, or has the next
/// chance of; an entry of `Onsale-Buyer` whose place is kept for him.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"hold": "hld_default_01kz0000000000000000000000_01kz0000000000000000000001"}))]
pub struct NewOrder {
    pub hold: Option<String>,
    pub code: Option<String>,
    pub auction: Option<String>,
    pub entry: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Placed<'a> {
    #[schema(example = "ord_default_01kz0000000000000000000000_01kz0000000000000000000002")]
    id: String,
    /// Pays and cancels this order; only its buyer is told.
    key: String,
    listing: String,
    buyer: &'a str,
    #[schema(example = "pending")]
    status: &'static str,
    #[serde(flatten)]
    goods: GoodsBody<'a>,
    goods_minor: i64,
    fee_minor: i64,
    #[schema(example = 9100)]
    total_minor: i64,
    #[schema(example = "EUR")]
    currency: &'a str,
    placed_at: Time,
    #[schema(value_type = String, example = "1-8")]
    position: At,
}

/// Place an order for a hold, a checkout code, an auction that was won, or a place that is kept
#[utoipa::path(post, path = "/v1/orders", tag = "orders", request_body = NewOrder,
    params(("Hold-Token" = Option<String>, Header), ("Onsale-Buyer" = Option<String>, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 201, body = Placed), (status = 409, description = "Another order has taken it", body = ProblemBody),
              (status = 410, body = ProblemBody), (status = 412, body = ProblemBody)))]
pub async fn place(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<NewOrder>,
) -> Result<Response, Problem> {
    let (listing, goods, credential, fence) = goods(&app, &caller, &headers, &body).await?;
    let labels = Labels::of(&*app.engine, &listing)?;
    let origin = caller.origin(&listing, &(credential, &body));
    let fees = app.config.fees;
    let place = PlaceOrder { order: OrderId(app.new_number()), goods, fees };
    let command = Command::Order(OrderCommand::Place(place));
    let answer = match reply::submit(&app, listing, command, origin, None).await {
        Ok(answer) => answer,
        Err(problem) => return Err(lost::instead(&app, listing, fence, problem).await),
    };
    let (_, placed) = own_fact(&answer, |fact| {
        if let Fact::Order(OrderFact::Placed(placed)) = fact { Some(placed) } else { None }
    })?;
    let body = Placed {
        id: order_text(&listing, placed.order),
        key: order_key(&app.tokens, &listing, placed.order, &placed.buyer),
        listing: listing.to_string(),
        buyer: placed.buyer.as_str(),
        status: "pending",
        goods: goods_body(&placed.goods, &labels),
        goods_minor: placed.goods_minor,
        fee_minor: placed.fee_minor,
        total_minor: placed.goods_minor + placed.fee_minor,
        currency: placed.currency.as_str(),
        placed_at: Time(reply::time_of(&answer)),
        position: At(reply::position_of(&answer)),
    };
    let location = format!("/v1/orders/{}", body.id);
    Ok(reply::created(&answer, &location, &body))
}

/// What is ordered, the credential that opens it, and its fence if the credential names one.
async fn goods(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: &NewOrder,
) -> Result<(ListingId, GoodsKey, String, Option<u64>), Problem> {
    let (buyer, keyed) = (caller.buyer.as_ref(), caller.key.is_some());
    match (&body.hold, &body.code, &body.auction, &body.entry) {
        (Some(hold), None, None, None) => {
            let (event, number) = read_inside("hld", hold).ok_or_else(|| Problem::code(Code::HoldUnknown))?;
            look_up(app, event).await?;
            if app.engine.view(&event).is_none() {
                return Err(Problem::code(Code::HoldUnknown));
            }
            let checked = credential::check(app, event, HoldId(number), headers, buyer, keyed).await?;
            let fence = Some(checked.key.fence);
            Ok((event, GoodsKey::Hold(checked.key), checked.text.to_owned(), fence))
        }
        (None, Some(code), None, None) => {
            let code = CodePath::find(app, code).await?;
            let key = code.key(app, buyer, keyed).await?;
            Ok((code.sale, GoodsKey::Checkout(key), String::new(), code.fence()))
        }
        (None, None, Some(auction), None) => {
            let unknown = || Problem::code(Code::ListingUnknown);
            let listing = ListingId::parse(auction).filter(|id| id.kind == ListingKind::Auction);
            let listing = known(app, listing.ok_or_else(unknown)?).await?;
            Ok((listing, GoodsKey::Award(caller.buyer()?.clone()), String::new(), None))
        }
        (None, None, None, Some(entry)) => {
            let found = read_inside_of(ListingKind::Registration, "ent", entry);
            let (listing, number) = found.ok_or_else(|| Problem::code(Code::EntryUnknown))?;
            let listing = known(app, listing).await?;
            let key = EntryKey { entry: EntryId(number), buyer: caller.buyer()?.clone() };
            Ok((listing, GoodsKey::Entry(key), String::new(), None))
        }
        _ => Err(Problem::invalid("hold", "exactly one of hold, code, auction and entry")),
    }
}

async fn known(app: &App, listing: ListingId) -> Result<ListingId, Problem> {
    look_up(app, listing).await?;
    app.engine.view(&listing).map(|_| listing).ok_or_else(|| Problem::code(Code::ListingUnknown))
}

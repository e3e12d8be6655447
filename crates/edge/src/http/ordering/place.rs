//! `POST /v1/orders`: an order takes a hold or a checkout, and fixes what there is to pay.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use onsale_domain::id::read_inside_of;
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
use crate::http::problem::Problem;
use crate::http::reply::{self, own_fact};
use crate::http::sales::code::CheckoutPath;
use crate::http::time::Time;
use crate::http::wire::At;
use crate::http::words::OrderStatus;

/// One of them: a hold, with its `Hold-Token`; a checkout, with its `Checkout-Code`; an auction that `Onsale-Buyer` has won, or has the next
/// chance of; an entry of `Onsale-Buyer` whose place is being kept.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1, max_properties = 1)]
pub struct NewOrder {
    pub hold: Option<String>,
    pub checkout: Option<String>,
    pub auction: Option<String>,
    pub entry: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Placed<'a> {
    id: String,
    /// Pays and cancels this order, in the header `Order-Key`; only its buyer is told.
    key: String,
    listing: String,
    buyer: &'a str,
    status: OrderStatus,
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

/// Place an order for a hold, a checkout, an auction that was won, or a place that is kept
///
/// The order fixes what there is to pay, and takes the goods until it is paid or cancelled. Its key pays and cancels it.
#[utoipa::path(post, path = "/v1/orders", tag = "orders", request_body = NewOrder,
    params(("Hold-Token" = Option<String>, Header), ("Checkout-Code" = Option<String>, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 201, body = Placed), (status = 409, description = "Another order has taken it"), (status = 410), (status = 412), (status = 403), (status = 404)))]
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
    let place = |number| {
        Command::Order(OrderCommand::Place(PlaceOrder { order: OrderId(number), goods: goods.clone(), fees }))
    };
    let tell = |refusal: &_| Problem::refused(refusal, None);
    let answer = match reply::submit_new(&app, listing, origin, tell, place).await {
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
        status: OrderStatus::Pending,
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
    match (&body.hold, &body.checkout, &body.auction, &body.entry) {
        (Some(hold), None, None, None) => {
            let found = read_inside_of(ListingKind::Event, "hld", hold);
            let (event, number) = found.ok_or_else(|| Problem::code(Code::HoldUnknown))?;
            look_up(app, event).await?;
            if app.engine.view(&event).is_none() {
                return Err(Problem::code(Code::HoldUnknown));
            }
            let checked = credential::check(app, event, HoldId(number), headers, buyer, keyed).await?;
            let fence = Some(checked.key.fence);
            Ok((event, GoodsKey::Hold(checked.key), checked.text.to_owned(), fence))
        }
        (None, Some(checkout), None, None) => {
            let path = CheckoutPath::find(app, checkout, headers).await?;
            let key = path.key(app, buyer, keyed).await?;
            let code = path.code().unwrap_or_default().to_owned();
            Ok((path.sale, GoodsKey::Checkout(key), code, path.fence()))
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
        _ => Err(Problem::invalid("hold", "exactly one of hold, checkout, auction and entry")),
    }
}

async fn known(app: &App, listing: ListingId) -> Result<ListingId, Problem> {
    look_up(app, listing).await?;
    app.engine.view(&listing).map(|_| listing).ok_or_else(|| Problem::code(Code::ListingUnknown))
}

//! `POST /v1/holds/{hold}/order` and the same of checkouts, auctions and entries: an order takes what its buyer has, and fixes
//! what there is to pay.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use onsale_domain::order::command::{EntryKey, GoodsKey, PlaceOrder};
use onsale_domain::order::fact::OrderPlaced;
use onsale_domain::order::{BookedOrder, OrderCommand, OrderFact, OrderStatus};
use onsale_domain::{Code, Command, EntryId, Fact, HoldId, ListingId, Millis, OrderId};

use super::wire::{Labels, OrderBody};
use super::{order_in, order_key};
use crate::app::App;
use crate::http::credential;
use crate::http::extract::{AuctionPath, Caller, EntryPath, HoldPath, Json};
use crate::http::lost;
use crate::http::problem::Problem;
use crate::http::reply::{self, own_fact};
use crate::http::sales::checkouts::Nothing;
use crate::http::sales::code::CheckoutPath;
use crate::http::wire::At;

/// Place an order for a hold
///
/// The order fixes what there is to pay, and takes the hold until it is paid or cancelled. Its key pays and cancels it.
#[utoipa::path(post, path = "/v1/holds/{hold}/order", tag = "orders", request_body = Nothing,
    params(("Hold-Token" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 201, body = OrderBody), (status = 409, description = "Another order has taken it"), (status = 410), (status = 412)))]
pub async fn of_hold(
    State(app): State<Arc<App>>,
    at: HoldPath,
    caller: Caller,
    headers: HeaderMap,
    Json(body): Json<Nothing>,
) -> Result<Response, Problem> {
    let Nothing {} = body;
    let (buyer, keyed, hold) = (caller.buyer.as_ref(), caller.key.is_some(), HoldId(at.number));
    let checked = credential::check(&app, at.listing, hold, &headers, buyer, keyed).await?;
    let fence = checked.key.fence;
    match place(&app, &caller, at.listing, GoodsKey::Hold(checked.key), checked.text).await {
        Ok(placed) => Ok(placed),
        Err(problem) => Err(lost::or_bought(&app, at.listing, (hold, fence), problem).await),
    }
}

/// Place an order for a checkout
///
/// The order fixes what there is to pay, and takes the code until it is paid or cancelled. Its key pays and cancels it.
#[utoipa::path(post, path = "/v1/checkouts/{checkout}/order", tag = "orders", request_body = Nothing,
    params(("Checkout-Code" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 201, body = OrderBody), (status = 403), (status = 409, description = "Another order has taken it"), (status = 410), (status = 412)))]
pub async fn of_checkout(
    State(app): State<Arc<App>>,
    path: CheckoutPath,
    caller: Caller,
    Json(body): Json<Nothing>,
) -> Result<Response, Problem> {
    let Nothing {} = body;
    let key = path.key(&app, caller.buyer.as_ref(), caller.key.is_some()).await?;
    let code = path.code().unwrap_or_default();
    match place(&app, &caller, path.sale, GoodsKey::Checkout(key), code).await {
        Ok(placed) => Ok(placed),
        Err(problem) => {
            let problem = lost::instead(&app, path.sale, path.fence(), problem).await;
            Err(lost::bought(&app, path.sale, path.checkout.0, problem).await)
        }
    }
}

/// Place an order for what an auction came to
///
/// By whoever has won it, or has the next chance of it. The order fixes what there is to pay; its key pays and cancels it.
#[utoipa::path(post, path = "/v1/auctions/{auction}/order", tag = "orders", request_body = Nothing,
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 201, body = OrderBody), (status = 409, description = "Another order has taken it"), (status = 410)))]
pub async fn of_auction(
    State(app): State<Arc<App>>,
    at: AuctionPath,
    caller: Caller,
    Json(body): Json<Nothing>,
) -> Result<Response, Problem> {
    let Nothing {} = body;
    app.engine.view(&at.listing).ok_or_else(|| Problem::code(Code::ListingUnknown))?;
    match place(&app, &caller, at.listing, GoodsKey::Award(caller.buyer()?.clone()), "").await {
        Ok(placed) => Ok(placed),
        // An auction has one thing to sell: its number is 0.
        Err(problem) => Err(lost::bought(&app, at.listing, 0, problem).await),
    }
}

/// Place an order for a place that is kept
///
/// The order fixes what there is to pay, and takes the place until it is paid or cancelled. Its key pays and cancels it.
#[utoipa::path(post, path = "/v1/entries/{entry}/order", tag = "orders", request_body = Nothing,
    params(("Onsale-Buyer" = String, Header)),
    responses((status = 201, body = OrderBody), (status = 403), (status = 409, description = "Another order has taken it"), (status = 410)))]
pub async fn of_entry(
    State(app): State<Arc<App>>,
    at: EntryPath,
    caller: Caller,
    Json(body): Json<Nothing>,
) -> Result<Response, Problem> {
    let Nothing {} = body;
    let key = EntryKey { entry: EntryId(at.number), buyer: caller.buyer()?.clone() };
    place(&app, &caller, at.listing, GoodsKey::Entry(key), "").await
}

/// `credential` opens the goods, where they need one.
async fn place(
    app: &App,
    caller: &Caller,
    listing: ListingId,
    goods: GoodsKey,
    credential: &str,
) -> Result<Response, Problem> {
    let labels = Labels::of(&*app.engine, &listing)?;
    let origin = caller.origin(&listing, &credential);
    let fees = app.config.fees;
    let place = |number| {
        Command::Order(OrderCommand::Place(PlaceOrder { order: OrderId(number), goods: goods.clone(), fees }))
    };
    let tell = |refusal: &_| Problem::refused(refusal, None);
    let answer = reply::submit_new(app, listing, origin, tell, place).await?;
    let (_, placed) = own_fact(&answer, |fact| {
        if let Fact::Order(OrderFact::Placed(placed)) = fact { Some(placed) } else { None }
    })?;
    let at = reply::time_of(&answer);
    reply::seen(app, &listing, &answer).await?;
    let known = order_in(app, listing, placed.order).await?;
    // Its own fact does not say how long a hold or code still lives.
    let order = just_placed(placed, at, known.and_then(|order| order.until));
    let mut body = OrderBody::new(&order, &labels, at);
    body.key = Some(order_key(&app.tokens, &listing, placed.order, &placed.buyer));
    body.position = Some(At(reply::position_of(&answer)));
    let location = format!("/v1/orders/{}", body.id);
    Ok(reply::created(&answer, &location, &body))
}

/// The order as its own fact tells it: the same for the first answer and for every replay, but for when its goods are over, which
/// paying moves.
fn just_placed(placed: &OrderPlaced, at: Millis, until: Option<Millis>) -> BookedOrder {
    BookedOrder {
        order: placed.order,
        buyer: placed.buyer.clone(),
        placed_at: at,
        status: OrderStatus::Pending,
        goods: placed.goods.clone(),
        goods_minor: placed.goods_minor,
        fee_minor: placed.fee_minor,
        currency: placed.currency,
        until,
        closed_at: None,
        settled: false,
        returned_minor: 0,
        payments: Vec::new(),
    }
}

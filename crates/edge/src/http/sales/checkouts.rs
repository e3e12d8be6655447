//! `…/checkouts` and `/v1/checkouts/{code}`: reserve units, look at what a code reserves, use it or give it back.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::id::write_inside;
use onsale_domain::stock::command::{Checkout, Purchase};
use onsale_domain::stock::{CheckoutState, PurchaseState, SaleCommand, SaleFact, SaleFound};
use onsale_domain::{BuyerId, CheckoutId, Code, Command, Fact, ListingId, Millis, OrderId, Outcome};
use onsale_engine::Answer;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::code::{self, CheckoutPath};
use super::names::Skus;
use super::wire::{LineBody, LinePriced, checkout_text};
use crate::app::App;
use crate::http::confirm::DirectPurchase;
use crate::http::extract::{Caller, Json, SalePath};
use crate::http::json::{ByHand, Object};
use crate::http::lost;
use crate::http::problem::{Problem, catalog};
use crate::http::reply::{self, own_fact};
use crate::http::time::Time;
use crate::http::wire::{At, EndedBody, listing_text, seconds};
use crate::http::words::{CheckoutStatus, EndedStatus};
use crate::token::Tokens;

/// 1 to 20 lines, all or nothing. A SKU may come twice: its lines are summed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"lines": [{"sku": "tee-m", "count": 2}]}))]
pub struct NewCheckout {
    pub lines: Vec<LineBody>,
    /// 30 to 3,600; the sale's own if absent.
    pub checkout_seconds: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Checkout)]
pub struct CheckoutBody<'a> {
    pub id: String,
    /// The single-use code, for the header `Checkout-Code`: it buys or cancels, and is shown to its buyer only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    pub sale: String,
    pub buyer: &'a str,
    pub status: CheckoutStatus,
    pub lines: Vec<LinePriced<'a>>,
    pub total_minor: i64,
    #[schema(example = "EUR")]
    pub currency: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placed_at: Option<Time>,
    /// The code is over at this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// How long that is after the answer was first given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purchased_at: Option<Time>,
}

impl<'a> CheckoutBody<'a> {
    /// `tokens` only if the caller may use the code.
    pub fn living(
        state: &'a CheckoutState,
        now: Millis,
        skus: &'a Skus,
        tokens: Option<&Tokens>,
    ) -> CheckoutBody<'a> {
        let sale = &skus.view.listing;
        let id = checkout_text(sale, state.checkout);
        CheckoutBody {
            code: tokens.map(|tokens| code::make(tokens, sale, state)),
            id,
            sale: listing_text(sale),
            buyer: state.buyer.as_str(),
            status: match state.order {
                Some(_) => CheckoutStatus::Ordered,
                None => CheckoutStatus::Reserved,
            },
            lines: skus.priced(&state.lines),
            total_minor: state.total_minor,
            currency: skus.currency(),
            placed_at: Some(Time(state.placed_at)),
            expires_at: Some(Time(state.until)),
            expires_in_seconds: Some(Time(state.until).seconds_after(now)),
            order: state.order.map(|order| write_inside("ord", sale, order.0)),
            purchased_at: None,
        }
    }

    pub fn bought(state: &'a PurchaseState, skus: &'a Skus) -> CheckoutBody<'a> {
        let sale = &skus.view.listing;
        CheckoutBody {
            id: checkout_text(sale, state.checkout),
            code: None,
            sale: sale.to_string(),
            buyer: state.buyer.as_str(),
            status: CheckoutStatus::Purchased,
            lines: skus.priced(&state.lines),
            total_minor: state.total_minor,
            currency: skus.currency(),
            placed_at: None,
            expires_at: None,
            expires_in_seconds: None,
            order: Some(write_inside("ord", sale, state.order.0)),
            purchased_at: Some(Time(state.at)),
        }
    }

    pub fn location(&self) -> String {
        ["/v1/checkouts/", &self.id].concat()
    }
}

impl ByHand for CheckoutBody<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let mut body = Object::begin(out);
        body.text("id", &self.id);
        if let Some(code) = &self.code {
            body.text("code", code);
        }
        body.text("sale", &self.sale);
        body.text("buyer", self.buyer);
        body.text("status", self.status.as_str());
        body.list("lines", &self.lines, |line, priced| {
            line.text("sku", priced.sku);
            line.number("count", priced.count);
            line.number("price_minor", priced.price_minor);
        });
        body.number("total_minor", self.total_minor);
        body.text("currency", self.currency);
        for (key, value) in [("placed_at", self.placed_at), ("expires_at", self.expires_at)] {
            if let Some(at) = value {
                body.time(key, at);
            }
        }
        if let Some(seconds) = self.expires_in_seconds {
            body.number("expires_in_seconds", seconds);
        }
        if let Some(order) = &self.order {
            body.text("order", order);
        }
        if let Some(at) = self.purchased_at {
            body.time("purchased_at", at);
        }
        body.end();
    }
}

/// Check out: reserve units and get a code for them
///
/// All lines or none: the units are kept for the buyer until `expires_at`. The code in the answer buys or cancels them.
#[utoipa::path(post, path = "/v1/sales/{sale}/checkouts", tag = "checkouts", request_body = NewCheckout,
    params(("Onsale-Buyer" = String, Header)), responses((status = 201, body = CheckoutBody)))]
pub async fn place(
    State(app): State<Arc<App>>,
    at: SalePath,
    caller: Caller,
    Json(body): Json<NewCheckout>,
) -> Result<Response, Problem> {
    let mut skus = Skus::of(&*app.engine, &at.listing)?;
    let buyer = caller.buyer()?;
    let origin = caller.origin(&at.listing, &body);
    let (lines, checkout_ms) = (skus.counts(&body.lines), body.checkout_seconds.map(seconds));
    let checkout = |number| {
        let (checkout, buyer, lines) = (CheckoutId(number), buyer.clone(), lines.clone());
        Command::Sale(SaleCommand::Checkout(Checkout { checkout, buyer, lines, checkout_ms }))
    };
    let tell = |refusal: &_| Problem::refused_sale(refusal, &skus);
    let answer = reply::submit_new(&app, at.listing, origin, tell, checkout).await?;
    let state = checked_out(&answer)?;
    let body = CheckoutBody::living(&state, state.placed_at, &skus, Some(&app.tokens));
    Ok(reply::placed(&answer, body.location(), &body))
}

/// The checkout as its own fact tells it: the same for the first answer and for every replay.
pub fn checked_out(answer: &Answer) -> Result<CheckoutState, Problem> {
    let placed_at = reply::time_of(answer);
    let (fence, mut state) = own_fact(answer, |fact| {
        let Fact::Sale(SaleFact::CheckedOut { checkout, buyer, lines, until }) = fact else { return None };
        Some(CheckoutState {
            checkout: *checkout,
            fence: 0,
            buyer: buyer.clone(),
            placed_at,
            until: *until,
            order: None,
            total_minor: lines.iter().map(|line| line.total_minor()).sum(),
            lines: lines.clone(),
        })
    })?;
    state.fence = fence;
    Ok(state)
}

/// A checkout that lives or was bought, or what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum CheckoutShown<'a> {
    Known(CheckoutBody<'a>),
    Ended(EndedBody),
}

/// Look at a checkout
///
/// The code is shown to its buyer, named by `Onsale-Buyer` or proved by the code itself. What became of one that is over is answered
/// for an hour.
#[utoipa::path(get, path = "/v1/checkouts/{checkout}", tag = "checkouts",
    params(("Onsale-Buyer" = Option<String>, Header), ("Checkout-Code" = Option<String>, Header)),
    responses((status = 200, body = CheckoutShown), (status = 412)))]
pub async fn show(
    State(app): State<Arc<App>>,
    path: CheckoutPath,
    caller: Caller,
) -> Result<Response, Problem> {
    let found = path.ask(&app).await?;
    let skus = Skus::of(&*app.engine, &path.sale)?;
    // Whoever shows a code must show the right one.
    let proved = |buyer: &BuyerId| match path.code() {
        Some(_) if path.is_for(&app.tokens, buyer) => Ok(true),
        Some(_) => Err(path.wrong()),
        None if caller.principal.knows(buyer) => Ok(caller.buyer.as_ref() == Some(buyer)),
        None => Err(Problem::code(Code::CheckoutUnknown)),
    };
    match &found {
        SaleFound::Checkout(state) => {
            let tokens = proved(&state.buyer)?.then_some(&app.tokens);
            let body = CheckoutBody::living(state, app.engine.now(), &skus, tokens);
            Ok(reply::json(StatusCode::OK, &CheckoutShown::Known(body)))
        }
        SaleFound::Purchase(state) => {
            proved(&state.buyer)?;
            Ok(reply::json(StatusCode::OK, &CheckoutShown::Known(CheckoutBody::bought(state, &skus))))
        }
        SaleFound::Ended(_) if path.code().is_some() && !path.is_ours(&app.tokens) => Err(path.wrong()),
        // Whose it was is forgotten: who has the code may ask, a merchant's server and staff.
        SaleFound::Ended(_) if path.code().is_none() && !caller.asks_for_everybody() => {
            Err(Problem::code(Code::CheckoutUnknown))
        }
        SaleFound::Ended(end) => {
            let order = lost::order_text_of(&app, path.sale, path.checkout.0).await?;
            let id = checkout_text(&path.sale, path.checkout);
            let body = EndedBody { order, ..EndedBody::new(id, &path.sale, *end) };
            Ok(reply::json(StatusCode::OK, &CheckoutShown::Ended(body)))
        }
        SaleFound::Nothing | SaleFound::Checkouts(_) | SaleFound::Purchases(_) => {
            let unknown = path.unknown(&app).await;
            if unknown.code_text() != catalog::of(Code::Lost).code {
                return Err(unknown);
            }
            let id = checkout_text(&path.sale, path.checkout);
            let body = EndedBody::new(id, &path.sale, EndedStatus::Lost);
            Ok(reply::json(StatusCode::OK, &CheckoutShown::Ended(body)))
        }
    }
}

/// The same whether the code is used now or was used before.
#[derive(Debug, Serialize, ToSchema)]
pub struct CheckoutPurchased {
    /// The checkout, which is over.
    id: String,
    order: String,
    sale: String,
    purchased_at: Time,
}

/// Use a code: what it reserves is bought
///
/// A code is used once. Used again by its owner it is answered the same. With `paid_elsewhere` if it costs anything: the money was taken
/// elsewhere. To have it taken by a payment provider, place an order for the code instead.
#[utoipa::path(post, path = "/v1/checkouts/{checkout}/purchase", tag = "checkouts", request_body = DirectPurchase,
    params(("Checkout-Code" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = CheckoutPurchased), (status = 403, description = "Another buyer's code"), (status = 410), (status = 412)))]
pub async fn purchase(
    State(app): State<Arc<App>>,
    path: CheckoutPath,
    caller: Caller,
    Json(body): Json<DirectPurchase>,
) -> Result<Response, Problem> {
    caller.settles(body.paid_elsewhere)?;
    let checkout_key = path.key(&app, caller.buyer.as_ref(), caller.key.is_some()).await?;
    let origin = caller.origin(&path.sale, &(path.code(), &body));
    let purchase = |order| {
        let (key, settled) = (checkout_key.clone(), body.paid_elsewhere);
        Command::Sale(SaleCommand::Purchase(Purchase { key, order, settled }))
    };
    let answer = path.submit_order(&app, origin, purchase).await?;
    let (order, at) = purchased(&answer)?;
    Ok(reply::yes(StatusCode::OK, &answer, &CheckoutPurchased::new(&path.sale, path.checkout, order, at)))
}

impl CheckoutPurchased {
    pub fn new(
        sale: &ListingId,
        checkout: CheckoutId,
        order: OrderId,
        purchased_at: Millis,
    ) -> CheckoutPurchased {
        CheckoutPurchased {
            id: checkout_text(sale, checkout),
            order: write_inside("ord", sale, order.0),
            sale: sale.to_string(),
            purchased_at: Time(purchased_at),
        }
    }
}

/// Under which order, and when: now, or the first time.
pub fn purchased(answer: &Answer) -> Result<(OrderId, Millis), Problem> {
    if let Outcome::AlreadyPurchased(state) = &answer.outcome {
        return Ok((state.order, state.at));
    }
    let (_, order) = own_fact(answer, |fact| {
        if let Fact::Sale(SaleFact::Purchased { order, .. }) = fact { Some(*order) } else { None }
    })?;
    Ok((order, reply::time_of(answer)))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CheckoutCancelled {
    id: String,
    cancelled_at: Time,
    #[schema(value_type = String, example = "1-6")]
    position: At,
}

/// Cancel a checkout: what it reserves returns
///
/// The units are available again at once.
#[utoipa::path(post, path = "/v1/checkouts/{checkout}/cancel", tag = "checkouts", request_body = Nothing,
    params(("Checkout-Code" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = CheckoutCancelled), (status = 410), (status = 403), (status = 412)))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    path: CheckoutPath,
    caller: Caller,
    Json(body): Json<Nothing>,
) -> Result<Response, Problem> {
    let Nothing {} = body;
    let checkout_key = path.key(&app, caller.buyer.as_ref(), caller.key.is_some()).await?;
    let origin = caller.origin(&path.sale, &path.code());
    let command = Command::Sale(SaleCommand::CancelCheckout(checkout_key));
    let answer = path.submit(&app, command, origin).await?;
    let told = CheckoutCancelled {
        id: checkout_text(&path.sale, path.checkout),
        cancelled_at: Time(reply::time_of(&answer)),
        position: At(reply::position_of(&answer)),
    };
    Ok(reply::yes(StatusCode::OK, &answer, &told))
}

/// A body that has nothing to say.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_by_hand_is_what_serde_writes() {
        let odd = "\u{1} \"quoted\" back\\slash é 席\n";
        let line = |sku| LinePriced { sku, count: u32::MAX, price_minor: i64::MIN };
        let full = CheckoutBody {
            id: "cod_1".to_owned(),
            code: Some(odd.to_owned()),
            sale: "sal_1".to_owned(),
            buyer: odd,
            status: CheckoutStatus::Reserved,
            lines: vec![line(odd), line("A")],
            total_minor: -1,
            currency: "EUR",
            placed_at: Some(Time(1)),
            expires_at: Some(Time(2)),
            expires_in_seconds: Some(600),
            order: Some(odd.to_owned()),
            purchased_at: Some(Time(3)),
        };
        let bare = CheckoutBody {
            id: String::new(),
            code: None,
            sale: String::new(),
            buyer: "",
            status: CheckoutStatus::Purchased,
            lines: Vec::new(),
            total_minor: 0,
            currency: "",
            placed_at: None,
            expires_at: None,
            expires_in_seconds: None,
            order: None,
            purchased_at: None,
        };
        for body in [full, bare] {
            let mut written = Vec::new();
            body.write(&mut written);
            assert_eq!(String::from_utf8(written).ok(), serde_json::to_string(&body).ok());
        }
    }
}

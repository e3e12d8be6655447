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

use super::code::{self, CodePath};
use super::names::Skus;
use super::wire::{LineAsked, LinePriced, checkout_text};
use crate::app::App;
use crate::http::credential::ended;
use crate::http::extract::{self, Caller, Json, SalePath};
use crate::http::json::{ByHand, Object};
use crate::http::problem::{Problem, ProblemBody};
use crate::http::reply::{self, own_fact};
use crate::http::time::Time;
use crate::http::wire::{At, listing_text, seconds};
use crate::token::Tokens;

/// 1 to 20 lines, all or nothing. A SKU may come twice: its lines are summed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"lines": [{"sku": "tee-m", "count": 2}]}))]
pub struct NewCheckout {
    pub lines: Vec<LineAsked>,
    /// 30 to 3,600; the sale's own if absent.
    pub checkout_seconds: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Checkout)]
pub struct CheckoutBody<'a> {
    #[schema(example = "cod_default_01kz0000000000000000000000_01kz0000000000000000000001")]
    pub id: String,
    /// The single-use code: it buys or cancels, and only its buyer is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    pub sale: String,
    pub buyer: &'a str,
    /// `reserved`, `ordered` (an order has taken it) or `purchased`.
    #[schema(example = "reserved")]
    pub status: &'static str,
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
            code: tokens.map(|tokens| code::make(tokens, &id, sale, state)),
            id,
            sale: listing_text(sale),
            buyer: state.buyer.as_str(),
            status: if state.order.is_some() { "ordered" } else { "reserved" },
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
            status: "purchased",
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
        body.text("status", self.status);
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
#[utoipa::path(post, path = "/v1/sales/{sale}/checkouts", tag = "checkouts", request_body = NewCheckout,
    params(("sale" = String, Path), ("Onsale-Buyer" = String, Header, description = "Who buys"),
           ("Idempotency-Key" = Option<String>, Header, description = "Same key, same answer")),
    responses((status = 201, body = CheckoutBody), (status = 409, body = ProblemBody), (status = "4XX", body = ProblemBody)))]
pub async fn place(
    State(app): State<Arc<App>>,
    at: SalePath,
    caller: Caller,
    Json(body): Json<NewCheckout>,
) -> Result<Response, Problem> {
    let mut skus = Skus::of(&*app.engine, &at.listing)?;
    let buyer = caller.buyer()?;
    let origin = caller.origin(&at.listing, &body);
    let command = Command::Sale(SaleCommand::Checkout(Checkout {
        checkout: CheckoutId(app.new_number()),
        buyer: buyer.clone(),
        lines: skus.counts(&body.lines),
        checkout_ms: body.checkout_seconds.map(seconds),
    }));
    let tell = |refusal: &_| Problem::refused_sale(refusal, &skus);
    let answer = reply::submit_told(&app, at.listing, command, origin, tell).await?;
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

/// Look at a checkout, by its code or its id
///
/// The code is told to its buyer, named by `Onsale-Buyer` or proved by the code itself.
#[utoipa::path(get, path = "/v1/checkouts/{code}", tag = "checkouts",
    params(("code" = String, Path), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 200, body = CheckoutBody), (status = 404, body = ProblemBody), (status = 410, body = ProblemBody)))]
pub async fn show(State(app): State<Arc<App>>, code: CodePath, caller: Caller) -> Result<Response, Problem> {
    let found = code.ask(&app).await?;
    let skus = Skus::of(&*app.engine, &code.sale)?;
    // Whoever shows a code must show the right one.
    let proved = |buyer: &BuyerId| match code.has_secret() {
        true if code.is_for(&app.tokens, buyer) => Ok(true),
        true => Err(Problem::code(Code::CheckoutUnknown)),
        false => Ok(caller.buyer.as_ref() == Some(buyer)),
    };
    match &found {
        SaleFound::Checkout(state) => {
            let tokens = proved(&state.buyer)?.then_some(&app.tokens);
            Ok(reply::json(StatusCode::OK, &CheckoutBody::living(state, app.engine.now(), &skus, tokens)))
        }
        SaleFound::Purchase(state) => {
            proved(&state.buyer)?;
            Ok(reply::json(StatusCode::OK, &CheckoutBody::bought(state, &skus)))
        }
        SaleFound::Ended(_) if code.has_secret() && !code.is_ours(&app.tokens) => {
            Err(Problem::code(Code::CheckoutUnknown))
        }
        SaleFound::Ended(end) => Err(Problem::code(ended(*end))),
        SaleFound::Nothing | SaleFound::Checkouts(_) | SaleFound::Purchases(_) => {
            Err(code.unknown(&app).await)
        }
    }
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct NewPurchase {
    /// The order's id, `ord_…` of this sale; made by the server if absent.
    pub order: Option<String>,
    /// Whether the money was taken elsewhere. The API key may say so, and does if this is absent; `false` buys as the
    /// buyer himself may: only what costs nothing.
    pub settled: Option<bool>,
}

/// The same whether the code is used now or was used before.
#[derive(Debug, Serialize, ToSchema)]
pub struct Purchased {
    /// The checkout, which is over.
    id: String,
    #[schema(example = "ord_default_01kz0000000000000000000000_01kz0000000000000000000002")]
    order: String,
    sale: String,
    purchased_at: Time,
}

/// Use a code: what it reserves is bought
#[utoipa::path(post, path = "/v1/checkouts/{code}/purchase", tag = "checkouts", request_body = NewPurchase,
    params(("code" = String, Path), ("Onsale-Buyer" = Option<String>, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = Purchased), (status = 403, description = "Another buyer's code", body = ProblemBody),
              (status = 410, body = ProblemBody), (status = "4XX", body = ProblemBody)))]
pub async fn purchase(
    State(app): State<Arc<App>>,
    code: CodePath,
    caller: Caller,
    Json(body): Json<NewPurchase>,
) -> Result<Response, Problem> {
    let order = match &body.order {
        None => app.new_number(),
        Some(text) => extract::inside(&code.sale, "ord", text, Code::OrderUnknown)
            .map_err(|_| Problem::invalid("order", "an id of the form ord_… that belongs to this sale"))?,
    };
    let checkout_key = code.key(&app, caller.buyer.as_ref(), caller.key.is_some()).await?;
    let origin = caller.origin(&code.sale, &body);
    let settled = body.settled.unwrap_or(true);
    let purchase = Purchase { key: checkout_key, order: OrderId(order), settled };
    let command = Command::Sale(SaleCommand::Purchase(purchase));
    let answer = code.submit(&app, command, origin).await?;
    let (order, at) = purchased(&answer)?;
    Ok(reply::yes(StatusCode::OK, &answer, &Purchased::new(&code.sale, code.checkout, order, at)))
}

impl Purchased {
    pub fn new(sale: &ListingId, checkout: CheckoutId, order: OrderId, purchased_at: Millis) -> Purchased {
        Purchased {
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
#[utoipa::path(post, path = "/v1/checkouts/{code}/cancel", tag = "checkouts",
    params(("code" = String, Path), ("Onsale-Buyer" = Option<String>, Header),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = CheckoutCancelled), (status = 410, body = ProblemBody), (status = "4XX", body = ProblemBody)))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    code: CodePath,
    caller: Caller,
    Json(body): Json<Nothing>,
) -> Result<Response, Problem> {
    let Nothing {} = body;
    let checkout_key = code.key(&app, caller.buyer.as_ref(), caller.key.is_some()).await?;
    let origin = caller.origin(&code.sale, &());
    let command = Command::Sale(SaleCommand::CancelCheckout(checkout_key));
    let answer = code.submit(&app, command, origin).await?;
    let told = CheckoutCancelled {
        id: checkout_text(&code.sale, code.checkout),
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
            status: "reserved",
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
            status: "",
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

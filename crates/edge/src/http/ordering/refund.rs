//! `POST /v1/orders/{order}/refund`: staff gives back what was sold, wholly or in part; what was paid for it is owed
//! in the same step, and the provider asked.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::auction::AuctionCommand;
use onsale_domain::auction::command::RefundAward;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::order::{BookedOrder, OrderStatus};
use onsale_domain::registration::command::{CancelEntry, RegistrationCommand};
use onsale_domain::seats::EventCommand;
use onsale_domain::seats::command::RefundOrder;
use onsale_domain::stock::SaleCommand;
use onsale_domain::stock::command::RefundPurchase;
use onsale_domain::{Code, Command, ListingKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderPath;
use super::wire::{Labels, OrderBody};
use crate::app::App;
use crate::http::extract::{Caller, Json};
use crate::http::problem::{Problem, catalog};
use crate::http::reply;
use crate::http::sales::wire::LineBody;
use crate::http::wire::AreaPlaces;

/// Nothing named: all that is left of the order. Of an auction's order only the money goes back.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"seats": ["A-1-3"], "reason": "cannot come"}))]
pub struct NewRefund {
    #[serde(default)]
    pub seats: Vec<String>,
    #[serde(default)]
    pub areas: Vec<AreaPlaces>,
    #[serde(default)]
    pub lines: Vec<LineBody>,
    /// How much of what was paid for an auction's award; nothing said: all that is left.
    #[schema(example = json!(null))]
    pub amount_minor: Option<i64>,
    /// Whether units of stock can be sold again; otherwise they are written off.
    #[serde(default = "yes")]
    pub restock: bool,
    pub reason: String,
}

fn yes() -> bool {
    true
}

/// Refund an order, wholly or in part
///
/// Nothing named: all that is left of it. What was paid for it by a provider is owed in the same step: the answer is the order as it is now,
/// under the same key, too, and its payments say what goes back.
#[utoipa::path(post, path = "/v1/orders/{order}/refund", tag = "orders", request_body = NewRefund,
    responses((status = 200, body = OrderBody)))]
pub async fn refund(
    State(app): State<Arc<App>>,
    path: OrderPath,
    caller: Caller,
    Json(body): Json<NewRefund>,
) -> Result<Response, Problem> {
    let mut labels = Labels::of(&*app.engine, &path.listing)?;
    let (order, reason) = (path.order, body.reason.clone());
    if body.amount_minor.is_some() && path.listing.kind != ListingKind::Auction {
        return Err(Problem::invalid("amount_minor", "only an auction's order is refunded by an amount"));
    }
    let command = match &mut labels {
        Labels::Seats(names) => {
            if !body.lines.is_empty() {
                return Err(Problem::invalid("lines", "an event's order has seats and areas"));
            }
            let (seats, areas) = (names.seats(&body.seats), names.areas(&body.areas));
            Command::Event(EventCommand::RefundOrder(RefundOrder { order, seats, areas, reason }))
        }
        Labels::Skus(skus) => {
            if !body.seats.is_empty() || !body.areas.is_empty() {
                return Err(Problem::invalid("seats", "a sale's order has lines"));
            }
            let (lines, restock) = (skus.counts(&body.lines), body.restock);
            Command::Sale(SaleCommand::Refund(RefundPurchase { order, lines, restock, reason }))
        }
        Labels::Whole(_) => {
            let known = path.booked(&app).await?;
            whole(&path, &body, known.as_deref())?
        }
    };
    let origin = caller.origin(&path.listing, &body);
    let names = match &labels {
        Labels::Seats(names) => Some(names),
        Labels::Skus(_) | Labels::Whole(_) => None,
    };
    let answer = match reply::submit(&app, path.listing, command, origin, names).await {
        Ok(answer) => answer,
        Err(problem) => return Err(not_refundable(&app, &path, problem).await),
    };
    app.payments.nudge();
    path.changed(&app, &answer).await
}

/// What is pending, was called off or is over has nothing to refund, and of what was refunded nothing is left: the order is known all the
/// same, so the problem is not that anything else is unknown or over.
async fn not_refundable(app: &App, path: &OrderPath, problem: Problem) -> Problem {
    let of_goods = [Code::OrderUnknown, Code::EntryUnknown, Code::Released, Code::Expired];
    let is_of_goods = of_goods.map(|code| catalog::of(code).code).contains(&problem.code_text());
    match is_of_goods && path.booked(app).await.is_ok_and(|order| order.is_some()) {
        true => Problem::code(Code::NotRefundable),
        false => problem,
    }
}

/// A place comes back whole, by cancelling its entry. Of an auction only the money goes back: what was sold stays sold.
fn whole(path: &OrderPath, body: &NewRefund, known: Option<&BookedOrder>) -> Result<Command, Problem> {
    if !body.seats.is_empty() || !body.areas.is_empty() || !body.lines.is_empty() {
        return Err(Problem::invalid("seats", "this order has no parts"));
    }
    let order = known.ok_or_else(|| Problem::code(Code::OrderUnknown))?;
    if let OrderedGoods::Entry { entry, .. } = order.goods {
        // Cancelling the entry would take the place from whoever has it unpaid, or paid it through another order since.
        if !matches!(order.status, OrderStatus::Confirmed | OrderStatus::Refunded) {
            return Err(Problem::code(Code::NotRefundable));
        }
        return Ok(Command::Registration(RegistrationCommand::CancelEntry(CancelEntry {
            entry,
            buyer: None,
        })));
    }
    let (order, amount_minor, reason) = (path.order, body.amount_minor, body.reason.clone());
    Ok(Command::Auction(AuctionCommand::RefundAward(RefundAward { order, amount_minor, reason })))
}

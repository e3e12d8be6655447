//! `POST /v1/orders/{order}/refund`: staff gives back what was sold, wholly or in part; what was paid for it is owed
//! in the same step, and the provider asked.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::auction::command::RefundAward;
use onsale_domain::auction::{AuctionCommand, AuctionFact};
use onsale_domain::order::OrderFact;
use onsale_domain::order::fact::OrderedGoods;
use onsale_domain::registration::RegistrationFact;
use onsale_domain::registration::command::{CancelEntry, RegistrationCommand};
use onsale_domain::seats::command::RefundOrder;
use onsale_domain::seats::{EventCommand, EventFact};
use onsale_domain::stock::command::RefundPurchase;
use onsale_domain::stock::{SaleCommand, SaleFact};
use onsale_domain::{Code, Command, Fact, ListingKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderPath;
use super::wire::{Labels, RefundBody};
use crate::app::App;
use crate::http::extract::{Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply::{self, own_fact};
use crate::http::sales::wire::LineAsked;
use crate::http::wire::{AreaAsked, At};

/// Nothing named: all that is left of the order. Of an auction's order only the money goes back.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"seats": ["A-1-3"], "reason": "cannot come"}))]
pub struct NewRefund {
    #[serde(default)]
    pub seats: Vec<String>,
    #[serde(default)]
    pub areas: Vec<AreaAsked>,
    #[serde(default)]
    pub lines: Vec<LineAsked>,
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

#[derive(Debug, Serialize, ToSchema)]
pub struct OrderReturned {
    order: String,
    /// The price of what was given back.
    #[schema(example = 4500)]
    returned_minor: i64,
    /// What is paid back for it: nothing, if the money was taken elsewhere.
    refunds: Vec<RefundBody>,
    #[schema(value_type = String, example = "1-12")]
    position: At,
}

/// Refund an order, wholly or in part
///
/// Nothing named: all that is left of it. What was paid for it by a provider is owed in the same step.
#[utoipa::path(post, path = "/v1/orders/{order}/refund", tag = "orders", request_body = NewRefund,
    responses((status = 200, body = OrderReturned)))]
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
        Labels::Whole(_) => whole(&app, &path, &body).await?,
    };
    let origin = caller.origin(&path.listing, &body);
    let names = match &labels {
        Labels::Seats(names) => Some(names),
        Labels::Skus(_) | Labels::Whole(_) => None,
    };
    let answer = reply::submit(&app, path.listing, command, origin, names).await?;
    let (_, returned_minor) = own_fact(&answer, |fact| {
        if let Fact::Event(EventFact::OrderRefunded { amount_minor, .. })
        | Fact::Sale(SaleFact::Refunded { amount_minor, .. }) = fact
        {
            return Some(*amount_minor);
        }
        if let Fact::Auction(AuctionFact::AwardRefunded { amount_minor, .. })
        | Fact::Registration(RegistrationFact::EntryCancelled { amount_minor, .. }) = fact
        {
            return Some(*amount_minor);
        }
        None
    })?;
    let owed = answer.facts().filter_map(|(_, fact)| {
        if let Fact::Order(OrderFact::RefundOwed { amount_minor, why, .. }) = fact {
            return Some(RefundBody { amount_minor: *amount_minor, why: (*why).into(), paid: false });
        }
        None
    });
    let body = OrderReturned {
        order: path.id(),
        returned_minor,
        refunds: owed.collect(),
        position: At(reply::position_of(&answer)),
    };
    app.payments.nudge();
    Ok(reply::yes(StatusCode::OK, &answer, &body))
}

/// A place comes back whole, by cancelling its entry. Of an auction only the money goes back: what was sold stays sold.
async fn whole(app: &App, path: &OrderPath, body: &NewRefund) -> Result<Command, Problem> {
    if !body.seats.is_empty() || !body.areas.is_empty() || !body.lines.is_empty() {
        return Err(Problem::invalid("seats", "this order has no parts"));
    }
    let order = path.booked(app).await?.ok_or_else(|| Problem::code(Code::OrderUnknown))?;
    if let OrderedGoods::Entry { entry, .. } = order.goods {
        return Ok(Command::Registration(RegistrationCommand::CancelEntry(CancelEntry {
            entry,
            buyer: None,
        })));
    }
    let (order, amount_minor, reason) = (path.order, body.amount_minor, body.reason.clone());
    Ok(Command::Auction(AuctionCommand::RefundAward(RefundAward { order, amount_minor, reason })))
}

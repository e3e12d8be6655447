//! A hold or code that its listing does not know may have been lost: Redis had answered it and then forgot the end of the
//! log. Its fence names the position of its fact; a position that is behind the end of its own epoch was lost.

use onsale_domain::id::write_inside;
use onsale_domain::listing::split_fence;
use onsale_domain::order::{BookedOrder, OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::{Code, Command, HoldId, ListingId, Question};
use onsale_engine::{Answer, EngineError, Position};

use super::extract::Origin;
use super::names::Names;
use super::problem::{Problem, catalog};
use super::reply;
use crate::app::App;

/// Submits a command about what was granted by this fence.
pub async fn submit(
    app: &App,
    listing: ListingId,
    fence: u64,
    command: Command,
    origin: Origin,
    names: Option<&Names>,
) -> Result<Answer, Problem> {
    match reply::submit(app, listing, command, origin, names).await {
        Ok(answer) => Ok(answer),
        Err(problem) => Err(instead(app, listing, Some(fence), problem).await),
    }
}

/// The same problem, or `lost` if it says that a hold or code is unknown and the fact of its fence was lost.
pub async fn instead(app: &App, listing: ListingId, fence: Option<u64>, problem: Problem) -> Problem {
    let unknown = [Code::HoldUnknown, Code::CheckoutUnknown].map(|code| catalog::of(code).code);
    match fence.filter(|_| unknown.contains(&problem.code_text())) {
        Some(fence) if is_lost(app, listing, fence).await => Problem::code(Code::Lost),
        Some(_) | None => problem,
    }
}

/// The same of a hold; and if it says that the hold was bought, which order has done that.
pub async fn or_bought(
    app: &App,
    event: ListingId,
    (hold, fence): (HoldId, u64),
    problem: Problem,
) -> Problem {
    let problem = instead(app, event, Some(fence), problem).await;
    bought(app, event, hold.0, problem).await
}

/// The same problem; if it says that the goods of this number were bought, with the order that has done that.
pub async fn bought(app: &App, listing: ListingId, goods: u64, problem: Problem) -> Problem {
    let bought = [Code::HoldConfirmed, Code::CheckoutPurchased, Code::AwardSettled];
    if !bought.map(|code| catalog::of(code).code).contains(&problem.code_text()) {
        return problem;
    }
    match order_of(app, listing, goods).await {
        Ok(Some(order)) => problem.of_order(&listing, order.order),
        Ok(None) | Err(_) => problem,
    }
}

/// The order that has taken, or has bought, the goods of this number; of goods that are over the last one that had taken them.
pub async fn order_of(
    app: &App,
    listing: ListingId,
    goods: u64,
) -> Result<Option<Box<BookedOrder>>, Problem> {
    let found = app.engine.ask(listing, OrdersQuery::OfGoods(goods).into()).await?;
    Ok(if let Some(OrdersFound::Order(order)) = OrdersQuery::answer(found) { Some(order) } else { None })
}

/// The id of the order that goods which are over were taken by, as long as that is known.
pub async fn order_text_of(app: &App, listing: ListingId, goods: u64) -> Result<Option<String>, Problem> {
    let order = order_of(app, listing, goods).await?;
    Ok(order.map(|order| write_inside("ord", &listing, order.order.0)))
}

/// The id of the order that has taken living goods: one that is over has given them back.
pub async fn taken_by(app: &App, listing: ListingId, goods: u64) -> Result<Option<String>, Problem> {
    let order = order_of(app, listing, goods).await?;
    let order = order.filter(|order| !matches!(order.status, OrderStatus::Expired | OrderStatus::Cancelled));
    Ok(order.map(|order| write_inside("ord", &listing, order.order.0)))
}

pub async fn is_lost(app: &App, listing: ListingId, fence: u64) -> bool {
    let (epoch, offset) = split_fence(fence);
    let granted = Position { epoch, offset };
    // The position to go on from is before a lost one and behind a trimmed one.
    let found = app.engine.facts_after(listing, granted, 1).await;
    let Err(EngineError::Reload(left)) = found else { return false };
    // Of the newest epoch nothing was lost: such a fence is invented.
    left < granted && app.engine.view(&listing).is_some_and(|view| view.position.epoch > epoch)
}

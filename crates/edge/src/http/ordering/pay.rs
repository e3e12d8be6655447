//! `POST /v1/orders/{order}/pay`: pins the goods and has the provider asked; or confirms at once if there is nothing to
//! pay, or if the merchant says that the money was taken elsewhere: the API key has scope `settle`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use onsale_domain::order::command::{OrderKey, PayOrder};
use onsale_domain::order::{OrderCommand, OrderFact};
use onsale_domain::{Code, Command, Fact, PaymentId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderPath;
use super::wire::OrderBody;
use crate::app::App;
use crate::http::extract::{Caller, Json};
use crate::http::problem::Problem;
use crate::http::reply::{self, find_fact};

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"method": "succeed"}))]
pub struct Pay {
    /// What to take the money from, in the provider's words. The simulated provider takes `succeed`, `decline`, `action`,
    /// `delay`, `duplicate`, `reorder`, `lost`, `silent` and `down`.
    pub method: Option<String>,
    /// The money was taken elsewhere: confirmed at once.
    #[serde(default)]
    pub paid_elsewhere: bool,
}

/// Pay an order
///
/// The goods are kept while the provider is asked. The answer is the order as it is now, with the `payment` that was asked for; under the
/// same key it is the order as it is then. Ask for the order to see how it ends.
#[utoipa::path(post, path = "/v1/orders/{order}/pay", tag = "orders", request_body = Pay,
    params(("Order-Key" = String, Header), ("Onsale-Buyer" = Option<String>, Header)),
    responses((status = 202, description = "The provider is asked", body = OrderBody), (status = 200, description = "Nothing had to be asked: confirmed", body = OrderBody), (status = 410), (status = 412)))]
pub async fn pay(
    State(app): State<Arc<App>>,
    path: OrderPath,
    caller: Caller,
    Json(body): Json<Pay>,
) -> Result<Response, Problem> {
    caller.settles(body.paid_elsewhere)?;
    let buyer = path.buyer(&app, caller.buyer.as_ref()).await?;
    let origin = caller.origin(&path.listing, &(path.key(), &body));
    let (pay_until, settled) = (app.engine.now() + app.config.pay_ms, body.paid_elsewhere);
    let pay = |number| {
        let key = OrderKey { order: path.order, buyer: buyer.clone() };
        let (payment, method) = (PaymentId(number), body.method.clone());
        Command::Order(OrderCommand::Pay(PayOrder { key, payment, pay_until, method, settled }))
    };
    let tell = |refusal: &_| Problem::refused(refusal, None);
    let answer = reply::submit_new(&app, path.listing, origin, tell, pay).await?;
    let asked = find_fact(&answer, |fact| {
        if let Fact::Order(OrderFact::PaymentAsked { payment, .. }) = fact { Some(*payment) } else { None }
    });
    app.payments.nudge();
    let order = path.booked_after(&app, &answer).await?.ok_or_else(|| Problem::code(Code::OrderUnknown))?;
    path.answered(&app, &answer, &order, asked.map(|(_, payment)| payment))
}

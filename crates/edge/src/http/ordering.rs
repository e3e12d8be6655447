//! `/v1/orders`: place an order for what a buyer has, find it again, pay it, cancel it, give things back. One file per verb;
//! what a provider does meanwhile is in `payments.rs`.

pub mod buyer;
pub mod cancel;
pub mod pay;
pub mod place;
pub mod refund;
pub mod show;
pub mod wire;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use onsale_access::principal::Principal;
use onsale_domain::id::{read_base32, read_inside, write_inside};
use onsale_domain::order::{BookedOrder, OrdersFound, OrdersQuery};
use onsale_domain::{BuyerId, Code, ListingId, ListingKind, OrderId, PaymentId};
use onsale_domain::{Found, Query};
use onsale_engine::Answer;

use self::wire::{Labels, OrderBody, payment_text};
use super::extract::{find_listing, path_params};
use super::gate;
use super::problem::Problem;
use super::table::{RouteDeclaration, declare};
use super::wire::At;
use super::{payments, reply};
use crate::app::App;
use crate::token::{ORDER, PROOF_CHARS, Tokens, push_proof, same};

/// Kinds of listings that have orders.
pub const KINDS: [ListingKind; 4] =
    [ListingKind::Event, ListingKind::Sale, ListingKind::Registration, ListingKind::Auction];

pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("orders.create_for_hold", place::of_hold, Buy, Buy, keyed),
        declare!("orders.create_for_checkout", place::of_checkout, Buy, Buy, keyed),
        declare!("orders.create_for_auction", place::of_auction, Buy, Buy, keyed),
        declare!("orders.create_for_entry", place::of_entry, Buy, Buy, keyed),
        declare!("orders.list", show::list, Staff, Read, compressed),
        declare!("orders.show", show::show, Buy, Read),
        declare!("orders.pay", pay::pay, Buy, Buy, keyed),
        declare!("orders.cancel", cancel::cancel, Buy, Buy, keyed),
        declare!("orders.refund", refund::refund, BoxOffice, Staff, keyed),
        declare!("buyers.orders", buyer::list, Buy, Search, compressed),
        declare!("payments.show", payments::show, Buy, Read),
        declare!("payments.receive_webhook", payments::receive, Provider, Free),
    ]
}

const ORDER_KEY: HeaderName = HeaderName::from_static("order-key");
const KEY_PREFIX: &str = "ok_";

/// The order in a path, and the key of the request if it has one: what only the order's buyer was told.
#[derive(Debug)]
pub struct OrderPath {
    pub listing: ListingId,
    pub order: OrderId,
    key: Option<String>,
}

/// The key of an order, for its buyer.
pub fn order_key(tokens: &Tokens, listing: &ListingId, order: OrderId, buyer: &BuyerId) -> String {
    let mut text = String::with_capacity(KEY_PREFIX.len() + PROOF_CHARS);
    text.push_str(KEY_PREFIX);
    push_proof(&mut text, tokens.seal(ORDER, listing, order.0, 0, buyer));
    text
}

/// The order of a listing, as the listing's book has it or as what was bought without the book says.
pub async fn order_in(
    app: &App,
    listing: ListingId,
    order: OrderId,
) -> Result<Option<Box<BookedOrder>>, Problem> {
    let found = app.engine.ask(listing, Query::Orders(OrdersQuery::Order(order))).await?;
    if let Found::Orders(OrdersFound::Order(order)) = found { Ok(Some(order)) } else { Ok(None) }
}

impl OrderPath {
    /// Reads the id and the request's key, and makes sure that the listing is known here, if any server knows it.
    pub async fn find(
        app: &App,
        principal: &Principal,
        id: &str,
        headers: &HeaderMap,
    ) -> Result<OrderPath, Problem> {
        let unknown = || Problem::code(Code::OrderUnknown);
        let found = read_inside("ord", id).filter(|(listing, _)| KINDS.contains(&listing.kind));
        let (listing, number) = found.ok_or_else(unknown)?;
        if !find_listing(app, principal, listing).await? {
            return Err(unknown());
        }
        let key = headers.get(ORDER_KEY).map(|value| value.to_str().unwrap_or_default().to_owned());
        Ok(OrderPath { listing, order: OrderId(number), key })
    }

    /// The key as the request says it.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    pub async fn booked(&self, app: &App) -> Result<Option<Box<BookedOrder>>, Problem> {
        order_in(app, self.listing, self.order).await
    }

    /// The order as it is after an answer, or later.
    pub async fn booked_after(
        &self,
        app: &App,
        answer: &Answer,
    ) -> Result<Option<Box<BookedOrder>>, Problem> {
        reply::seen(app, &self.listing, answer).await?;
        self.booked(app).await
    }

    /// The answer to a change of the order: the whole of it as it is now, at the position of the change. Asked again under the same
    /// key, as it is then.
    async fn changed(&self, app: &App, answer: &Answer) -> Result<Response, Problem> {
        let order = self.booked_after(app, answer).await?.ok_or_else(|| Problem::code(Code::OrderUnknown))?;
        self.answered(app, answer, &order, None)
    }

    /// The same with what is known of the order, and with the payment that the change has asked for: the provider may have answered
    /// meanwhile, and its caller must know which payment it was.
    fn answered(
        &self,
        app: &App,
        answer: &Answer,
        order: &BookedOrder,
        asked: Option<PaymentId>,
    ) -> Result<Response, Problem> {
        let labels = Labels::of(&*app.engine, &self.listing)?;
        let mut body = OrderBody::new(order, &labels, app.engine.now());
        body.position = Some(At(reply::position_of(answer)));
        let Some(payment) = asked else { return Ok(reply::yes(StatusCode::OK, answer, &body)) };
        body.payment = Some(payment_text(&self.listing, payment));
        Ok(reply::yes(StatusCode::ACCEPTED, answer, &body))
    }

    /// The buyer for whom whoever has the key acts. With the right buyer's header nothing is looked up.
    pub async fn buyer(&self, app: &App, given: Option<&BuyerId>) -> Result<BuyerId, Problem> {
        if self.key.is_none() {
            return Err(Problem::token_missing("Order-Key"));
        }
        if let Some(buyer) = given.filter(|buyer| self.is_for(&app.tokens, buyer)) {
            return Ok(buyer.clone());
        }
        let order = self.booked(app).await?.ok_or_else(|| Problem::code(Code::OrderUnknown))?;
        match given.is_none() && self.is_for(&app.tokens, &order.buyer) {
            true => Ok(order.buyer),
            false => Err(Problem::wrong_token("Order-Key")),
        }
    }

    /// Whether the house made this key for this buyer; takes the same time either way.
    pub fn is_for(&self, tokens: &Tokens, buyer: &BuyerId) -> bool {
        let right = tokens.seal(ORDER, &self.listing, self.order.0, 0, buyer);
        let given = self.key().and_then(|key| key.strip_prefix(KEY_PREFIX)).and_then(read_base32);
        given.is_some_and(|given| same(given, right))
    }

    pub fn id(&self) -> String {
        write_inside("ord", &self.listing, self.order.0)
    }
}

impl FromRequestParts<Arc<App>> for OrderPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let principal = gate::principal(parts)?;
        let params = path_params(parts, app).await?;
        let text = params.iter().next().map_or("", |(_, value)| value);
        OrderPath::find(app, &principal, text, &parts.headers).await
    }
}

//! `/v1/orders`: place an order for a hold or a checkout code, pay it, cancel it, give things back. One file per verb;
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
use onsale_domain::id::{read_base32, read_inside_of, write_base32, write_inside};
use onsale_domain::order::{BookedOrder, OrdersFound, OrdersQuery};
use onsale_domain::{BuyerId, Code, ListingId, ListingKind, OrderId};
use onsale_domain::{Found, Query};
use subtle::ConstantTimeEq;

use super::extract::{look_up, path_params};
use super::payments;
use super::problem::{Problem, catalog};
use super::table::{Declared, declare};
use crate::app::App;
use crate::token::{ORDER, Tokens};

/// Kinds of listings that have orders.
pub const KINDS: [ListingKind; 4] =
    [ListingKind::Event, ListingKind::Sale, ListingKind::Registration, ListingKind::Auction];

pub fn routes() -> Vec<Declared> {
    vec![
        declare!("orders.create", place::place, Buy, Buy, keyed),
        declare!("orders.show", show::show, Buy, Read),
        declare!("orders.pay", pay::pay, Buy, Buy, keyed),
        declare!("orders.cancel", cancel::cancel, Buy, Buy, keyed),
        declare!("orders.refund", refund::refund, Staff, Staff, keyed),
        declare!("buyers.orders", buyer::list, Buy, Search, compressed),
        declare!("payments.show", payments::show, Buy, Read),
        declare!("payments.receive_webhook", payments::receive, Provider, Free),
    ]
}

/// An order's id, or its key: the id, and behind a dot what only its buyer was told.
#[derive(Debug)]
pub struct OrderPath {
    pub listing: ListingId,
    pub order: OrderId,
    secret: Option<u128>,
}

/// The key of an order, for its buyer.
pub fn order_key(tokens: &Tokens, listing: &ListingId, order: OrderId, buyer: &BuyerId) -> String {
    let secret = write_base32(tokens.seal(ORDER, listing, order.0, 0, buyer));
    [&write_inside("ord", listing, order.0), ".", std::str::from_utf8(&secret).unwrap_or_default()].concat()
}

impl OrderPath {
    /// An order's id does not say of which kind its listing is; no two listings share a number.
    pub async fn find(app: &App, text: &str) -> Result<OrderPath, Problem> {
        let unknown = || Problem::code(Code::OrderUnknown);
        let (id, secret) = match text.split_once('.') {
            Some((id, secret)) => (id, Some(read_base32(secret).ok_or_else(unknown)?)),
            None => (text, None),
        };
        let of_kinds = || KINDS.into_iter().filter_map(|kind| read_inside_of(kind, "ord", id));
        let seen = || of_kinds().find(|(listing, _)| app.engine.view(listing).is_some());
        let mut trouble = None;
        if seen().is_none() {
            // Of three kinds there is none, and what is wrong there need not be wrong with the fourth.
            for (listing, _) in of_kinds() {
                trouble = look_up(app, listing).await.err().or(trouble);
            }
        }
        let (listing, number) = seen().ok_or_else(|| trouble.unwrap_or_else(unknown))?;
        Ok(OrderPath { listing, order: OrderId(number), secret })
    }

    /// The order in the listing's book, if it went through it.
    pub async fn booked(&self, app: &App) -> Result<Option<Box<BookedOrder>>, Problem> {
        let query = Query::Orders(OrdersQuery::Order(self.order));
        let found = app.engine.ask(self.listing, query).await?;
        if let Found::Orders(OrdersFound::Order(order)) = found {
            return Ok(Some(order));
        }
        Ok(None)
    }

    /// The buyer for whom whoever has the key acts. With the right buyer's header nothing is looked up.
    pub async fn buyer(&self, app: &App, given: Option<&BuyerId>) -> Result<BuyerId, Problem> {
        if self.secret.is_none() {
            let why = "this is an order's id; its key goes on behind a dot, and only its buyer was told";
            return Err(Problem::with(catalog::WRONG_TOKEN, why));
        }
        if let Some(buyer) = given.filter(|buyer| self.is_for(&app.tokens, buyer)) {
            return Ok(buyer.clone());
        }
        let order = self.booked(app).await?.ok_or_else(|| Problem::code(Code::OrderUnknown))?;
        match given.is_none() && self.is_for(&app.tokens, &order.buyer) {
            true => Ok(order.buyer),
            false => Err(Problem::of(catalog::WRONG_TOKEN)),
        }
    }

    /// Whether the house made this key for this buyer; takes the same time either way.
    fn is_for(&self, tokens: &Tokens, buyer: &BuyerId) -> bool {
        let right = tokens.seal(ORDER, &self.listing, self.order.0, 0, buyer);
        self.secret.is_some_and(|secret| secret.to_be_bytes().ct_eq(&right.to_be_bytes()).into())
    }

    pub fn id(&self) -> String {
        write_inside("ord", &self.listing, self.order.0)
    }
}

impl FromRequestParts<Arc<App>> for OrderPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let params = path_params(parts, app).await?;
        let text = params.iter().next().map_or("", |(_, value)| value);
        OrderPath::find(app, text).await
    }
}

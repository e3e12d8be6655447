//! Everything the verdict is made of: exported facts, what is served, and what buyers were told. It can be written to a
//! file and judged again, by anybody.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::bidding::Terms;
use crate::cli::load::auction::check::Heard;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub events: Vec<Event>,
    pub sales: Vec<Sale>,
    pub auctions: Vec<Auction>,
    /// Every order as `GET /v1/orders/{order}` shows it at the end.
    pub orders: Vec<Value>,
    pub promises: Vec<Promise>,
    /// What was wrong with the answers themselves.
    pub broken: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Event {
    pub id: String,
    pub seats: Vec<String>,
    pub areas: Vec<(String, u64)>,
    pub facts: Vec<Value>,
    /// `GET …/seats`.
    pub shown: Value,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Sale {
    pub id: String,
    pub facts: Vec<Value>,
    /// `GET /v1/sales/{sale}`, and the position it tells in a header.
    pub shown: Value,
    pub position: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Auction {
    pub id: String,
    pub facts: Vec<Value>,
    pub shown: Value,
    pub terms: Terms,
    pub heard: Heard,
}

/// An answer that says something happened: there must be such a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Promise {
    /// The fact's kind, and the field by which it is found.
    pub kind: String,
    pub field: String,
    pub id: String,
    /// What else the fact must say.
    pub says: Vec<(String, Value)>,
}

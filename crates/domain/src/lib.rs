//! The rules of the house: what a command may do to a listing, decided purely.
//! Called by every engine; never asks for the time, randomness, a file or a network.

pub mod about;
pub mod attempts;
pub mod auction;
pub mod by;
pub mod chart;
pub mod command;
pub mod desk;
pub mod drawing;
pub mod ended;
pub mod event;
pub mod fact;
pub mod field;
mod fields;
pub mod id;
pub mod kind;
pub mod kinds;
pub mod layout;
pub mod limits;
pub mod listing;
pub mod money;
pub mod order;
pub mod outcome;
pub mod query;
pub mod refusal;
pub mod registration;
pub mod seats;
pub mod series;
pub mod step_writer;
pub mod stock;
pub mod time;
pub mod venue;
pub mod verb;

pub use by::By;
pub use command::Command;
pub use fact::Fact;
pub use id::{
    BuyerId, CheckoutId, EntryId, HoldId, ListingId, ListingKind, OrderId, PaymentId, PaymentName, Tenant,
};
pub use kind::Kind;
pub use listing::{Listing, Step};
pub use outcome::Outcome;
pub use query::{Found, Query, Question};
pub use refusal::{Code, Refusal};
pub use time::Millis;

//! The engine on real servers: the contract, two servers on one Redis, deadlines, and bad days.

#[path = "live/absent.rs"]
mod absent;
#[path = "live/auctions.rs"]
mod auctions;
#[path = "live/bad_days.rs"]
mod bad_days;
#[path = "live/contract.rs"]
mod contract;
#[path = "live/creations.rs"]
mod creations;
#[path = "live/damaged.rs"]
mod damaged;
#[path = "live/deadlines.rs"]
mod deadlines;
#[path = "live/derived.rs"]
mod derived;
#[path = "live/door.rs"]
mod door;
#[path = "live/epochs.rs"]
mod epochs;
#[path = "live/few.rs"]
mod few;
#[path = "live/history.rs"]
mod history;
#[path = "live/house.rs"]
mod house;
#[path = "live/kinds.rs"]
mod kinds;
#[path = "live/made_again.rs"]
mod made_again;
#[path = "live/one_away.rs"]
mod one_away;
#[path = "live/said.rs"]
mod said;
#[path = "live/strange.rs"]
mod strange;
#[path = "live/together.rs"]
mod together;

mod support;

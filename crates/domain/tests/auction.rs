//! The rules of auctions: as tables, against a naive second opinion, and through random histories.
//! `ONSALE_SEED=<number>` repeats a random run, `ONSALE_TABLE=<words>` runs some tables only,
//! `ONSALE_AUCTION_BIDS=10000000` compares as many bids with the second opinion.

#[path = "auction/compared.rs"]
mod compared;
#[path = "support/dice.rs"]
mod dice;
#[path = "auction/histories.rs"]
mod histories;
#[path = "auction/listing.rs"]
mod listing;
#[path = "auction/lot.rs"]
mod lot;
#[path = "auction/reference.rs"]
mod reference;
#[path = "auction/tables.rs"]
mod tables;
#[path = "auction/world.rs"]
mod world;

#[expect(clippy::disallowed_methods, reason = "seed and length of a test are given from outside")]
fn given(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

//! The rules of auctions: as tables, against a naive second opinion, and through random histories.
//! `ONSALE_SEED=<number>` repeats a random run, `ONSALE_TABLE=<words>` runs some tables only,
//! `ONSALE_AUCTION_BIDS=1000000` compares as many bids with the second opinion.

#[path = "auction/compared.rs"]
mod compared;
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
#[path = "auction/words.rs"]
mod words;
#[path = "auction/world.rs"]
mod world;

#[expect(clippy::disallowed_methods, reason = "seed and length of a test are given from outside")]
fn given(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn seed() -> u64 {
    let given = given("ONSALE_SEED").and_then(|seed| seed.parse().ok());
    // The address of a local is as good as a die here, and needs no clock.
    given.unwrap_or_else(|| std::ptr::from_ref(&given).addr() as u64 ^ u64::from(std::process::id()) << 20)
}

//! `onsale demo`: a server with a theatre and an arena on sale, and three commands to try.

pub mod arena;
pub mod create;
pub mod plan;
pub mod theatre;

use onsale_domain::event::Tier;
use onsale_domain::id::read_base32;
use onsale_domain::layout::Layout;
use onsale_domain::{ListingId, ListingKind, Tenant};

/// A venue and the event in it.
#[derive(Debug)]
pub struct House {
    pub venue: ListingId,
    pub venue_name: &'static str,
    pub place: &'static str,
    pub event_name: &'static str,
    pub description: &'static str,
    pub currency: &'static str,
    pub tiers: Vec<Tier>,
    pub layout: Layout,
}

/// A venue's id that ends in a word, so that the demo's commands can be pasted and read.
fn numbered(word: &str) -> ListingId {
    let number = read_base32(&format!("{word:0>26}"));
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Venue, number: number.unwrap_or_default() }
}

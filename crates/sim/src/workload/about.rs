//! What is asked of a listing whatever kind it is: to be made with words of its own, described anew, deleted.

use onsale_domain::about::{About, Card};
use onsale_domain::listing::{Creation, Describe, ListingCommand};
use onsale_domain::{Command, ListingId, ListingKind};
use onsale_engine::Request;

use super::Workload;
use crate::auditor::Auditor;
use crate::rng::Rng;

impl Workload {
    pub(super) fn of_every_kind(&mut self, rng: &mut Rng, auditor: &Auditor, clock: i64) -> Request {
        let own = |listing: &&ListingId| listing.kind != ListingKind::Desk;
        let all: Vec<ListingId> = auditor.listings.keys().filter(own).copied().collect();
        let listing = rng.pick(&all).copied();
        let command = match rng.below(3) {
            0 => ListingCommand::Delete,
            _ => {
                let About { metadata, card, .. } = about(rng);
                let describe = Describe {
                    metadata: rng.chance(500).then_some(metadata),
                    card: rng.chance(500).then_some(card),
                };
                ListingCommand::Describe(Box::new(describe))
            }
        };
        match listing {
            Some(listing) if rng.chance(900) => self.request(rng, listing, Command::Listing(command)),
            Some(_) | None => {
                let Request { listing, command, key, by } = self.create(rng, clock);
                let command = Command::Create(Box::new(Creation { command, about: about(rng) }));
                Request { listing, command, key, by }
            }
        }
    }
}

/// Now and then out of bounds.
fn about(rng: &mut Rng) -> About {
    let country = Some(if rng.chance(100) { "pt" } else { "PT" }.to_owned());
    let card = Card { country, tags: vec!["open air".into()], ..Card::default() };
    About {
        external_id: rng.chance(500).then(|| "shop-7".into()),
        metadata: rng.chance(500).then(|| format!("{{\"n\":{}}}", rng.below(3))),
        card: rng.chance(500).then_some(card),
    }
}

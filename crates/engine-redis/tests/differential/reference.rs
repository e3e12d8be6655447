//! The domain itself with a memory of keys: what every other engine is compared with.

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_domain::listing::Key;
use onsale_domain::{Code, Command, Listing, ListingId, Millis, Outcome, Refusal, Step};
use onsale_engine::{Answer, Position};

pub(crate) struct Reference {
    pub listing: Listing,
    records: BTreeMap<u128, (u128, Millis, Arc<Step>)>,
}

impl Reference {
    pub(crate) fn new(id: ListingId) -> Reference {
        Reference { listing: Listing::new(id, 1), records: BTreeMap::new() }
    }

    fn position(&self) -> Position {
        Position { epoch: self.listing.epoch, offset: self.listing.offset }
    }

    pub(crate) fn submit(&mut self, command: &Command, key: Option<Key>, clock: Millis) -> Answer {
        let now = clock.max(self.listing.last_at);
        if let Some(key) = key
            && let Some((fingerprint, kept, step)) = self.records.get(&key.scope)
            && now < *kept
        {
            let (position, same) = (self.position(), *fingerprint == key.fingerprint);
            let reused = || Outcome::Refused(Box::new(Refusal::of(Code::KeyReused)));
            return match same {
                true => {
                    let (at, step) = (step.at, Some(step.clone()));
                    Answer { position, at, outcome: Outcome::Done, replayed: true, told: step.into() }
                }
                false => {
                    Answer { position, at: now, told: Default::default(), outcome: reused(), replayed: false }
                }
            };
        }
        let (first, mut facts) = (self.listing.offset + 1, Vec::new());
        let outcome = self.listing.execute(command, clock, &mut facts);
        let key = key.filter(|_| outcome == Outcome::Done);
        let (listing, epoch) = (self.listing.id, self.listing.epoch);
        let step = (!facts.is_empty())
            .then(|| Arc::new(Step { listing, epoch, first, at: now, key, facts, by: None }));
        if let (Some(key), Some(step)) = (key, &step) {
            let kept = now + command.verb().key_ms();
            self.records.insert(key.scope, (key.fingerprint, kept, step.clone()));
        }
        Answer { position: self.position(), at: now, outcome, replayed: false, told: step.into() }
    }
}

//! One auction as an engine would hold it, in memory: position, time, facts. Every fact goes through its bytes.

use onsale_domain::auction::{Auction, AuctionCommand, AuctionFact, check_invariants};
use onsale_domain::refusal::{Code, Refusal};
use onsale_domain::{Millis, Outcome};

#[derive(Default)]
pub struct Lot {
    pub auction: Option<Auction>,
    pub last_at: Millis,
    pub log: Vec<(Millis, AuctionFact)>,
}

/// What a command came to: its facts in order, and the yes or the no.
pub type Answer = (Vec<AuctionFact>, Result<Outcome, Refusal>);

impl Lot {
    pub fn execute(&mut self, command: &AuctionCommand, clock: Millis) -> Answer {
        let now = clock.max(self.last_at);
        let mut facts = Vec::new();
        let outcome = match (&mut self.auction, command) {
            (None, AuctionCommand::CreateAuction(details)) => Auction::create(details, now).map(|fact| {
                self.auction = Auction::created_by(&fact);
                facts.push(fact);
                Outcome::Done
            }),
            (None, _) => Err(Refusal::of(Code::ListingUnknown)),
            (Some(auction), _) => auction.execute(command, now, &mut |fact| facts.push(fact)),
        };
        if !facts.is_empty() {
            self.last_at = now;
        }
        self.log.extend(facts.iter().map(|fact| (now, through_bytes(fact))));
        (facts, outcome)
    }

    pub fn auction(&self) -> &Auction {
        self.auction.as_ref().expect("an auction was created")
    }

    /// Counts everything again; the slow half of every test.
    pub fn check(&self) -> Result<(), String> {
        self.auction.as_ref().map_or(Ok(()), check_invariants)
    }

    /// The same auction, made from its facts alone.
    pub fn replayed(&self) -> Option<Auction> {
        let mut facts = self.log.iter();
        let mut auction = Auction::created_by(&facts.next()?.1);
        for (at, fact) in facts {
            auction.as_mut()?.apply(fact, *at);
        }
        auction
    }

    /// The same auction, read back from its image.
    pub fn reread(&self) -> Option<Auction> {
        let bytes = minicbor::to_vec(self.auction.as_ref()?.image()).expect("memory takes it");
        Some(Auction::from_image(minicbor::decode(&bytes).expect("an image reads back")))
    }
}

fn through_bytes(fact: &AuctionFact) -> AuctionFact {
    let bytes = minicbor::to_vec(fact).expect("memory takes it");
    let back: AuctionFact = minicbor::decode(&bytes).expect("a fact reads back");
    assert_eq!(back, *fact, "a fact was read back as another");
    back
}

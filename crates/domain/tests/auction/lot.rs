//! One auction as an engine would hold it, in memory: position, time, facts. Every fact goes through its bytes.

use onsale_domain::auction::{Auction, AuctionCommand, AuctionFact, check_invariants};
use onsale_domain::refusal::{Code, Refusal};
use onsale_domain::step_writer::StepWriter;
use onsale_domain::{Command, Fact, Kind, Millis, Outcome};

#[derive(Default)]
pub(crate) struct Lot {
    pub auction: Option<Auction>,
    pub last_at: Millis,
    pub log: Vec<(Millis, AuctionFact)>,
}

/// What a command came to: its facts in order, and the yes or the no.
pub(crate) type Answer = (Vec<AuctionFact>, Result<Outcome, Refusal>);

/// Asks an auction that exists.
pub(crate) fn asked(auction: &mut Auction, command: &Command, now: Millis) -> Answer {
    let mut written = Vec::new();
    let mut writer = StepWriter::new(now, 0, &mut written);
    let outcome = if let Command::Auction(command) = command {
        auction.execute(command, &mut writer)
    } else {
        auction.sweep(64, &mut writer)
    };
    let own =
        |fact: Fact| if let Fact::Auction(fact) = fact { fact } else { panic!("{fact:?} of an auction") };
    (written.into_iter().map(own).collect(), outcome)
}

impl Lot {
    pub(crate) fn execute(&mut self, command: &Command, clock: Millis) -> Answer {
        let now = clock.max(self.last_at);
        let mut facts = Vec::new();
        let outcome = match (&mut self.auction, command) {
            (None, Command::Auction(create @ AuctionCommand::CreateAuction(_))) => {
                Auction::create(create, now).map(|created| {
                    self.auction = created.first().and_then(Auction::created_by);
                    facts = created;
                    Outcome::Done
                })
            }
            (None, _) => Err(Refusal::of(Code::ListingUnknown)),
            (Some(auction), _) => {
                let outcome;
                (facts, outcome) = asked(auction, command, now);
                outcome
            }
        };
        if !facts.is_empty() {
            self.last_at = now;
        }
        self.log.extend(facts.iter().map(|fact| (now, through_bytes(fact))));
        (facts, outcome)
    }

    pub(crate) fn auction(&self) -> &Auction {
        self.auction.as_ref().expect("an auction was created")
    }

    /// Counts everything again; the slow half of every test.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.auction.as_ref().map_or(Ok(()), check_invariants)
    }

    /// The same auction, made from its facts alone.
    pub(crate) fn replayed(&self) -> Option<Auction> {
        let mut facts = self.log.iter();
        let mut auction = Auction::created_by(&facts.next()?.1);
        for (at, fact) in facts {
            auction.as_mut()?.apply(fact, *at);
        }
        auction
    }

    /// The same auction, read back from its image.
    pub(crate) fn reread(&self) -> Option<Auction> {
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

//! An auction as a listing: its position goes on, images and logs bring it back, it keeps to its own commands, the outer
//! sweep closes it, and refused bids are kept beside the state.

use onsale_domain::auction::fact::Closing;
use onsale_domain::auction::{AuctionCommand, AuctionFact, AuctionFound, AuctionQuery};
use onsale_domain::listing::BodyView;
use onsale_domain::registration::RegistrationCommand;
use onsale_domain::seats::EventQuery;
use onsale_domain::{Code, Command, Fact, Listing, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_domain::{Found, Query};

use onsale_tables::auction::{command, name, usual};

const HOUR: Millis = 3_600_000;

/// A listing with the log of its facts; after every command its copies are compared.
struct Logged {
    listing: Listing,
    log: Vec<(Millis, Fact)>,
}

impl Logged {
    fn new(kind: ListingKind) -> Logged {
        let id = ListingId { tenant: Tenant::DEFAULT, kind, number: 7 };
        Logged { listing: Listing::new(id, 3), log: Vec::new() }
    }

    fn ask(&mut self, command: Command, now: Millis) -> (Outcome, Vec<Fact>) {
        let (before, mut facts) = (self.listing.offset, Vec::new());
        let outcome = self.listing.execute(&command, now, &mut facts);
        assert_eq!(self.listing.offset, before + facts.len() as u64, "every fact has its offset");
        self.listing.check_invariants().expect("adds up");
        self.log.extend(facts.iter().map(|fact| (now, fact.clone())));
        let mut replayed = Listing::new(self.listing.id, 3);
        self.log.iter().for_each(|(at, fact)| replayed.apply(fact, *at));
        let reread = Listing::from_image(&self.listing.image()).expect("an image is read");
        for copy in [replayed, reread] {
            assert_eq!(copy.canonical_image(), self.listing.canonical_image());
            assert_eq!((copy.next_due(), copy.offset), (self.listing.next_due(), self.listing.offset));
        }
        (outcome, facts)
    }

    fn say(&mut self, words: &str, now: Millis) -> (Outcome, Vec<Fact>) {
        self.ask(command(words, &usual()).expect("a command"), now)
    }

    fn refused(&mut self, command: Command, now: Millis) -> Option<Code> {
        self.ask(command, now).0.refused().map(|refusal| refusal.code)
    }
}

#[test]
fn an_auction_lives_as_a_listing() {
    let mut auction = Logged::new(ListingKind::Auction);
    let close = || Command::ExpireDue { limit: 1 };
    assert_eq!(auction.refused(close(), 0), Some(Code::ListingUnknown));
    assert_eq!(auction.say("create", 0).1.len(), 1);
    assert_eq!(auction.listing.next_due(), Some(HOUR));
    assert_eq!(auction.say("create", 0).0.refused().map(|no| no.code), Some(Code::ListingExists));
    assert_eq!(auction.say("bid ann 2000", 1).0, Outcome::Done);
    assert_eq!(auction.say("bid bob 1099", 2).0.refused().map(|no| no.code), Some(Code::BidTooLow));
    assert_eq!(auction.say("bid bob 0", 3).0.refused().map(|no| no.code), Some(Code::Invalid));
    let attempts: Vec<_> = auction.listing.attempts().expect("one").since(0).map(|(_, one)| one).collect();
    assert_eq!(attempts.len(), 1, "what is wrong in itself is no attempt");
    assert_eq!((attempts[0].at, attempts[0].verb, &attempts[0].buyer), (2, "place_bid", &name("bob")));
    let own = Query::Auction(AuctionQuery::Bidder(name("ann")));
    let Found::Auction(AuctionFound::Bidder(own)) = auction.listing.ask(&own, 3) else { panic!("a bidder") };
    assert_eq!((own.leading, own.max_minor), (true, Some(2_000)));
    assert_eq!(auction.listing.ask(&Query::Event(EventQuery::HoldsOf(name("ann"))), 3), Found::Nothing);
    let Some(BodyView::Auction(view)) = auction.listing.view() else { panic!("an auction") };
    assert_eq!((view.price_minor, view.leader), (Some(1_000), Some(name("ann"))));
    let foreign = Command::Registration(RegistrationCommand::Close);
    assert_eq!(auction.refused(foreign, 3), Some(Code::WrongKind));

    assert_eq!(auction.ask(close(), HOUR - 1).0, Outcome::Unchanged);
    let (outcome, facts) = auction.ask(close(), HOUR);
    let [Fact::Auction(AuctionFact::AuctionClosed { how: Closing::Won, award: Some(award) })] = &facts[..]
    else {
        panic!("{facts:?}")
    };
    assert_eq!((outcome, &award.bidder, award.price_minor), (Outcome::Done, &name("ann"), 1_000));
    assert_eq!(auction.listing.next_due(), Some(HOUR + 48 * HOUR), "then the award is due");
    assert_eq!(auction.ask(close(), HOUR).0, Outcome::Unchanged, "closed once");
    assert_eq!(auction.ask(close(), 49 * HOUR).1.len(), 1, "passed on to nobody");
    assert_eq!(auction.listing.next_due(), None);
}

#[test]
fn an_auction_is_created_under_its_own_kind_of_id_alone() {
    for kind in ListingKind::ALL {
        let create = command("create", &usual()).expect("a command");
        assert!(create.creates() && create.is_sealed());
        let code = Logged::new(kind).refused(create, 0);
        assert_eq!(code, (kind != ListingKind::Auction).then_some(Code::ListingUnknown));
    }
}

#[test]
fn bids_and_purchases_are_attempts_and_nothing_else_is() {
    for words in ["bid ann 1", "buy ann"] {
        let asked = command(words, &usual()).expect("a command");
        assert_eq!(asked.attempt_by(), Some(&name("ann")));
    }
    for words in ["watch ann", "retract #1 by ann", "decline ann", "ban ann", "sweep"] {
        let asked = command(words, &usual()).expect("a command");
        assert_eq!(asked.attempt_by(), None, "{words}");
    }
    assert!(!Command::Auction(AuctionCommand::WatchAuction(name("ann"))).is_sealed());
}

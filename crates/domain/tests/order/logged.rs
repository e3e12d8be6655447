//! Two listings with their logs; whatever one is asked, its copies must answer and become the same.

use onsale_domain::{Command, Fact, Listing, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_domain::{Found, Query};
use onsale_tables::order::Listings;

const EPOCH: u64 = 1;

pub(crate) struct TwoLogs {
    pub logs: [Logged; 2],
}

impl Default for TwoLogs {
    fn default() -> TwoLogs {
        TwoLogs { logs: [ListingKind::Sale, ListingKind::Event].map(Logged::new) }
    }
}

impl Listings for TwoLogs {
    fn run(&mut self, on_event: bool, command: &Command, now: Millis) -> (Outcome, Vec<Fact>) {
        self.logs[usize::from(on_event)].run(command, now)
    }

    fn ask(&self, on_event: bool, query: &Query) -> Found {
        self.logs[usize::from(on_event)].listing.ask(query, 0)
    }

    fn offset(&self, on_event: bool) -> u64 {
        self.logs[usize::from(on_event)].listing.offset
    }
}

pub(crate) struct Logged {
    pub listing: Listing,
    pub log: Vec<(Millis, Fact)>,
}

impl Logged {
    fn new(kind: ListingKind) -> Logged {
        let id = ListingId { tenant: Tenant::DEFAULT, kind, number: 3 };
        Logged { listing: Listing::new(id, EPOCH), log: Vec::new() }
    }

    pub(crate) fn run(&mut self, command: &Command, clock: Millis) -> (Outcome, Vec<Fact>) {
        let mut replayed = Listing::new(self.listing.id, EPOCH);
        self.log.iter().for_each(|(at, fact)| replayed.apply(fact, *at));
        let reread = Listing::from_image(&self.listing.image()).expect("an image is read");
        let mut facts = Vec::new();
        let outcome = self.listing.execute(command, clock, &mut facts);
        if let Err(wrong) = self.listing.check_invariants() {
            panic!("{wrong} after {command:?} -> {outcome:?} {facts:?}");
        }
        for mut copy in [replayed, reread] {
            let mut again = Vec::new();
            assert_eq!(copy.execute(command, clock, &mut again), outcome, "a copy answers otherwise");
            assert_eq!(again, facts, "a copy decides otherwise");
            assert_eq!(copy.canonical_image(), self.listing.canonical_image(), "a copy is another");
            assert_eq!(copy.next_due(), self.listing.next_due());
        }
        let at = self.listing.last_at;
        self.log.extend(facts.iter().map(|fact| (at, fact.clone())));
        (outcome, facts)
    }
}

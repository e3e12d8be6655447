//! The tables of orders over the port: the same text that the domain's own tests play, asked of an engine.

use onsale_domain::{Command, Fact, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_domain::{Found, Query};
pub(super) use onsale_tables::order::tables as all;
use onsale_tables::order::{self, Listings};

use super::Harness;
use crate::engine::Request;

/// An event and a sale, kept by an engine.
struct OverThePort<'a> {
    harness: &'a mut dyn Harness,
    /// Before every command, so that nothing is known but what is durable.
    restarts: bool,
}

/// Plays a table, with a restart before every command if it shall be.
pub(super) fn play(lines: &str, harness: &mut dyn Harness, restarts: bool) -> Result<(), String> {
    order::play(lines, &mut OverThePort { harness, restarts })
}

fn id(on_event: bool) -> ListingId {
    let kind = if on_event { ListingKind::Event } else { ListingKind::Sale };
    ListingId { tenant: Tenant::DEFAULT, kind, number: 3 }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime for one thread can be built").block_on(future)
}

impl Listings for OverThePort<'_> {
    fn run(&mut self, on_event: bool, command: &Command, now: Millis) -> (Outcome, Vec<Fact>) {
        if self.restarts {
            self.harness.restart();
        }
        self.harness.set_clock(now);
        let request = Request { listing: id(on_event), command: command.clone(), key: None, by: None };
        let answer = block(self.harness.engine().submit(request)).expect("answers");
        self.harness.check_invariants(&id(on_event)).expect("adds up");
        (answer.outcome.clone(), answer.facts().map(|(_, fact)| fact.clone()).collect())
    }

    fn ask(&self, on_event: bool, query: &Query) -> Found {
        block(self.harness.engine().ask(id(on_event), query.clone())).expect("answers")
    }

    fn offset(&self, on_event: bool) -> u64 {
        self.harness.engine().view(&id(on_event)).map_or(0, |view| view.position.offset)
    }
}

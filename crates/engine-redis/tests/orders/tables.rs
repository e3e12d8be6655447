//! The tables of orders that the domain's own tests play, decided by Lua.

use onsale_domain::{Command, Fact, ListingId, ListingKind, Millis, Outcome, Tenant};
use onsale_domain::{Found, Query};
use onsale_engine_redis::caller::{ScriptCaller, Stamp};
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::picture::Picture;
use onsale_engine_redis::reply::Reply;
use onsale_engine_redis::state;
use tokio::runtime::Handle;

use crate::house::{Listings, play_all};
use crate::lua;
use crate::server::Server;

struct OnLua {
    handle: Handle,
    caller: ScriptCaller,
    operations: u128,
}

fn id(on_event: bool) -> ListingId {
    let kind = if on_event { ListingKind::Event } else { ListingKind::Sale };
    ListingId { tenant: Tenant::DEFAULT, kind, number: 3 }
}

impl OnLua {
    /// Every command is prepared from nothing but what Redis has.
    fn picture(&self, on_event: bool) -> Picture {
        self.handle.block_on(self.caller.picture(id(on_event))).expect("a state that reads")
    }
}

impl Listings for OnLua {
    fn run(&mut self, on_event: bool, command: &Command, now: Millis) -> (Outcome, Vec<Fact>) {
        let picture = self.picture(on_event);
        self.operations += 1;
        let stamp = Stamp::Operation(self.operations);
        let told = self.handle.block_on(self.caller.submit(&picture, command, stamp, now, now));
        let Reply::Answer(answer) = told.expect("an answer") else { panic!("nobody else is here") };
        if let Some(kept) = self.handle.block_on(self.caller.state(id(on_event))).expect("a state") {
            state::check(&kept, id(on_event)).expect("adds up");
        }
        (answer.outcome.clone(), answer.facts().map(|(_, fact)| fact.clone()).collect())
    }

    fn ask(&self, on_event: bool, query: &Query) -> Found {
        let listing = self.picture(on_event).listing;
        listing.ask(query, listing.last_at)
    }

    fn offset(&self, on_event: bool) -> u64 {
        self.picture(on_event).listing.offset
    }
}

#[test]
fn every_table_of_orders_is_answered_by_lua_as_written() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = Server::start();
    let scripts = lua::scripts("tables");
    let link = runtime.block_on(async {
        let link = server.link().await;
        link.load(scripts.iter()).await.expect("scripts that compile");
        link
    });
    for compact_from in [usize::MAX, 0] {
        let mut houses = 0;
        play_all(|| {
            houses += 1;
            let prefix = format!("{compact_from}:{houses}:");
            let terms = Terms { epoch: 1, compact_from, strict: true, plain: true };
            let caller = ScriptCaller { link: link.clone(), scripts: scripts.clone(), prefix, terms };
            Box::new(OnLua { handle: runtime.handle().clone(), caller, operations: 0 })
        });
    }
}

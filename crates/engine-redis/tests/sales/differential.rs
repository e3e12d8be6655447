//! The same seeded histories of a sale on the domain and on Lua.

use onsale_domain::{Listing, ListingId, Millis, Step};
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::desk::Desk;

use super::world::World;
use crate::differential::chance::Chance;
use crate::differential::histories::{self, Ask, Asked, histories, is_full, is_told, seeds};
use crate::differential::tally::{Reachable, print};
use crate::lua;
use crate::server::Server;

impl histories::World for World {
    const REACHABLE: Reachable = super::reachable::REACHABLE;

    fn of_seed(seed: u64) -> World {
        World::new(seed)
    }

    fn chance(&mut self) -> &mut Chance {
        &mut self.chance
    }

    fn now(&self) -> Millis {
        self.now
    }

    fn pass_time(&mut self) {
        World::pass_time(self);
    }

    fn fresh(&mut self) -> u128 {
        World::fresh(self)
    }

    fn listing(&self) -> ListingId {
        self.sale
    }

    fn ask(&mut self, about: &Listing) -> Ask {
        World::ask(self, about)
    }

    fn asked(&mut self) -> &mut Asked {
        &mut self.asked
    }

    fn learn(&mut self, step: &Step) {
        World::learn(self, step);
    }
}

#[test]
fn lua_sells_as_the_domain_does() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = Server::start();
    let scripts = lua::scripts("sales");
    let link = runtime.block_on(async {
        let link = server.link().await;
        link.load(&scripts).await.expect("scripts that compile");
        link
    });
    let terms = Terms { epoch: 1, compact_from: usize::MAX, strict: true, plain: true };
    let desk = Desk { link, scripts, prefix: "sales:".to_owned(), terms };
    let told = is_told();
    let tally = runtime.block_on(histories::<World>(&desk, seeds(80, 500), told));
    let tally = tally.unwrap_or_else(|why| panic!("{why}"));
    print(&[("sales", &tally)]);
    if !told {
        let complaints = tally.complaints(if is_full() { 20 } else { 2 });
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
        assert!(tally.accepted * 100 >= tally.commands * 25, "too few were accepted");
    }
}

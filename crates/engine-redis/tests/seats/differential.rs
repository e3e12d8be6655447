//! The same seeded histories of an event on the domain and on Lua, on each layout.

use onsale_engine_redis::caller::ScriptCaller;
use onsale_engine_redis::commands::Terms;

use super::world::World;
use crate::differential::histories::{self, histories, is_full, is_told, seeds};
use crate::differential::tally::{Reachable, Tally, print};
use crate::lua;
use crate::server::Server;

impl histories::World for World {
    const REACHABLE: Reachable = super::asks::REACHABLE;
}

#[test]
fn lua_decides_as_the_domain_does() {
    let (seeds, told) = (seeds(100, 501), is_told());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = Server::start();
    let scripts = lua::scripts("differential");
    let link = runtime.block_on(async {
        let link = server.link().await;
        link.load(scripts.iter()).await.expect("scripts that compile");
        link
    });
    let mut columns = Vec::new();
    for (name, compact_from) in [("hash", usize::MAX), ("compact", 0)] {
        let terms = Terms { epoch: 1, compact_from, strict: true, plain: true };
        let prefix = format!("{name}:");
        let caller = ScriptCaller { link: link.clone(), scripts: scripts.clone(), prefix, terms };
        let tally = runtime.block_on(histories::<World>(&caller, seeds.clone(), told));
        columns.push((name, tally.unwrap_or_else(|why| panic!("{name}: {why}"))));
    }
    let columns: Vec<(&str, &Tally)> = columns.iter().map(|(name, tally)| (*name, tally)).collect();
    print(&columns);
    let least = if is_full() { 50 } else { 5 };
    for (name, tally) in columns.iter().filter(|_| !told) {
        let complaints = tally.complaints(least);
        assert!(complaints.is_empty(), "{name}:\n{}", complaints.join("\n"));
        assert!(tally.accepted * 100 >= tally.commands * 40, "{name}: too few were accepted");
    }
}

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
fn lua_decides_as_the_domain_does_in_the_hash_layout() {
    compare("hash", usize::MAX);
}

#[test]
fn lua_decides_as_the_domain_does_in_the_compact_layout() {
    compare("compact", 0);
}

fn compare(name: &str, compact_from: usize) {
    let (seeds, told) = (seeds(100, 501), is_told());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = Server::start();
    let scripts = lua::scripts("differential");
    let link = runtime.block_on(async {
        let link = server.link().await;
        link.load(scripts.iter()).await.expect("scripts that compile");
        link
    });
    let terms = Terms { epoch: 1, compact_from, strict: true, plain: true };
    let caller = ScriptCaller { link, scripts, prefix: format!("{name}:"), terms };
    let tally: Tally = runtime
        .block_on(histories::<World>(&caller, seeds, told))
        .unwrap_or_else(|why| panic!("{name}: {why}"));
    print(&[(name, &tally)]);
    let least = if is_full() { 50 } else { 5 };
    if !told {
        let complaints = tally.complaints(least);
        assert!(complaints.is_empty(), "{name}:\n{}", complaints.join("\n"));
        assert!(tally.accepted * 100 >= tally.commands * 40, "{name}: too few were accepted");
    }
}

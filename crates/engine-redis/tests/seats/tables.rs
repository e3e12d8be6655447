//! The contract's tables, decided by Lua.

use onsale_engine::contract::suite;

use super::engine::LuaEngine;
use crate::lua;
use crate::server::Server;

fn run(compact_from: usize) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = Server::start();
    let scripts = lua::scripts("tables");
    let link = runtime.block_on(async {
        let link = server.link().await;
        link.load(scripts.iter()).await.expect("scripts that compile");
        link
    });
    let mut houses = 0;
    suite::run_all(|| {
        houses += 1;
        let prefix = format!("house-{houses}:");
        let handle = runtime.handle().clone();
        Box::new(LuaEngine::new(handle, link.clone(), scripts.clone(), prefix, compact_from))
    });
}

#[test]
fn lua_keeps_the_contract_in_the_hash_layout() {
    run(usize::MAX);
}

#[test]
fn lua_keeps_the_contract_in_the_compact_layout() {
    run(0);
}

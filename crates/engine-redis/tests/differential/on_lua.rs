//! Runs the histories of one kind of listing on a server of their own.

use onsale_engine_redis::caller::ScriptCaller;
use onsale_engine_redis::commands::Terms;
use onsale_engine_redis::damage;
use onsale_engine_redis::link::{Config, Link};

use crate::differential::histories::{World, histories, is_full, is_told, seeds};
use crate::differential::tally::print;
use crate::lua;
use crate::server::Server;

/// A few of them, or many if all is asked for.
pub(crate) fn compare_on_lua<W: World>(name: &str, few: u64, many: u64) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = Server::start();
    let scripts = lua::scripts(name);
    let link = runtime.block_on(async {
        let link = server.link().await;
        link.load(scripts.iter()).await.expect("scripts that compile");
        link
    });
    let terms = Terms { epoch: 1, compact_from: usize::MAX, strict: true, plain: true };
    let caller = ScriptCaller { link, scripts, prefix: format!("{name}:"), terms };
    let told = is_told();
    let tally = runtime.block_on(histories::<W>(&caller, seeds(few, many), told));
    let tally = tally.unwrap_or_else(|why| panic!("{name}: {why}"));
    print(&[(name, &tally)]);
    runtime.block_on(none_is_damaged(&server.url(), &caller.prefix));
    if !told {
        let complaints = tally.complaints(if is_full() { 10 } else { 1 });
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
        assert!(tally.accepted * 100 >= tally.commands * 20, "too few were accepted");
    }
}

/// No key that a script has written may be taken for another program's.
pub(crate) async fn none_is_damaged(url: &str, prefix: &str) {
    let config = Config { prefix: prefix.to_owned(), command_ms: 30_000, ..Config::from(url) };
    let link = Link::open(config).await.expect("a link");
    let listings = damage::scan(&link, &link.map().masters[0]).await.expect("the listings");
    assert!(!listings.is_empty(), "histories leave listings behind");
    for listing in listings {
        let found = damage::find(&link, listing).await.expect("an answer");
        assert_eq!(found, None, "a sound listing is told to be damaged");
    }
}

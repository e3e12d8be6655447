//! The same seeded histories of orders on the domain and on Lua.

use onsale_domain::order::OrderCommand;
use onsale_engine_redis::caller::ScriptCaller;
use onsale_engine_redis::commands::Terms;

use super::goods::Goods;
use super::reachable::{OF_GOODS, REACHABLE};
use super::world::World;
use crate::differential::histories::{histories, is_full, is_told, seeds};
use crate::differential::tally::print;
use crate::server::Server;
use crate::{auctions, lua, registrations, sales, seats};

fn compare<G: Goods>(name: &str, compact_from: usize, few: u64, many: u64) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = Server::start();
    let scripts = lua::scripts("orders");
    let link = runtime.block_on(async {
        let link = server.link().await;
        link.load(scripts.iter()).await.expect("scripts that compile");
        link
    });
    let terms = Terms { epoch: 1, compact_from, strict: true, plain: true };
    let caller = ScriptCaller { link, scripts, prefix: format!("{name}:"), terms };
    let told = is_told();
    let tally = runtime.block_on(histories::<World<G>>(&caller, seeds(few, many), told));
    let tally = tally.unwrap_or_else(|why| panic!("{name}: {why}"));
    print(&[(name, &tally)]);
    if told {
        return;
    }
    // The seeds are fixed, so what they reach is, too.
    let of_goods = OF_GOODS.iter().filter(|(of, _)| *of == G::NAME).flat_map(|(_, cells)| *cells);
    let of_orders = REACHABLE.iter().take(OrderCommand::VERBS.len());
    let own = of_orders.flat_map(|(verb, outcomes, _)| outcomes.iter().map(move |outcome| (*verb, *outcome)));
    let least = if is_full() { 10 } else { 1 };
    for (verb, outcome) in of_goods.copied().chain(own) {
        let count = tally.reached(verb, outcome);
        assert!(count >= least, "{name}: {verb} {outcome}: only {count}");
    }
}

#[test]
fn lua_takes_orders_for_holds_as_the_domain_does() {
    compare::<seats::world::World>("hash", usize::MAX, 60, 400);
}

#[test]
fn lua_takes_orders_for_holds_of_large_charts_as_the_domain_does() {
    compare::<seats::world::World>("compact", 0, 30, 200);
}

#[test]
fn lua_takes_orders_for_codes_as_the_domain_does() {
    compare::<sales::world::World>("codes", usize::MAX, 60, 400);
}

#[test]
fn lua_takes_orders_for_awards_as_the_domain_does() {
    compare::<auctions::world::World>("awards", usize::MAX, 80, 600);
}

#[test]
fn lua_takes_orders_for_places_as_the_domain_does() {
    compare::<registrations::world::World>("entries", usize::MAX, 80, 600);
}

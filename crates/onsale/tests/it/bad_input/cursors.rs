//! A cursor is a place in one list: it may come from before a restart, and from no other list.

use std::sync::Arc;

use onsale_edge::http::table::table;
use onsale_engine::embedded::{EmbeddedEngine, Options};
use serde_json::Value;

use super::before_each;
use crate::document::operation;
use crate::house::House;

#[test]
fn a_cursor_from_before_a_restart_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || {
        let engine = Arc::new(EmbeddedEngine::open(folder.path(), Options::default()).expect("opens"));
        (House::serve(|_| {}, engine.clone()), engine)
    };
    let (house, engine) = open();
    let mut made: Vec<String> = (0..3).map(|_| house.event()).collect();
    made.sort();
    let holds: Vec<Value> =
        ["A-1-1", "A-1-3"].iter().map(|seat| house.hold(&made[0], "ann", &[seat])["id"].clone()).collect();
    let next = |house: &House<EmbeddedEngine>, path: &str| {
        let page = house.get(&format!("{path}limit=1")).json();
        page["next"].as_str().map(str::to_owned).unwrap_or_else(|| panic!("{path} has more: {page}"))
    };
    let lists = ["/v1/events?", "/v1/buyers/ann/holds?", &format!("/v1/events/{}/facts?", made[0])];
    let cursors = lists.map(|path| (path, next(&house, path)));
    let pages = |house: &House<EmbeddedEngine>| {
        cursors
            .each_ref()
            .map(|(path, next)| house.get(&format!("{path}after={next}")).json()["data"].clone())
    };
    let before = pages(&house);
    drop(house);
    engine.close();
    drop(engine);
    let (house, engine) = open();
    assert_eq!(pages(&house)[0], before[0]);
    assert_eq!(pages(&house)[2], before[2]);
    let left = &pages(&house)[1];
    assert_eq!(left.as_array().map(Vec::len), Some(1), "{left}");
    assert!(holds.contains(&left[0]["id"]), "{left}");
    drop(house);
    engine.close();
}

/// Every list that has cursors of its own, found from the document; facts have positions instead.
#[test]
fn a_cursor_of_another_list_or_a_changed_one_is_refused_in_every_list() {
    let other = {
        let house = House::open();
        house.event();
        house.event();
        let page = house.get("/v1/events?limit=1").json();
        page["next"].as_str().expect("there is another").to_owned()
    };
    let (mut lists, mut changed) = (0, other.clone().into_bytes());
    changed[3] = if changed[3] == b'0' { b'1' } else { b'0' };
    let changed = String::from_utf8(changed).expect("text");
    before_each(|player, route, asked| {
        let parameters = operation(route)["parameters"].as_array().into_iter().flatten();
        let is_list = parameters.into_iter().any(|parameter| parameter["name"] == "limit");
        if !is_list || route.operation.ends_with(".facts") {
            return;
        }
        lists += 1;
        let ask = |cursor: &str| {
            let joint = if asked.path.contains('?') { '&' } else { '?' };
            let mut asked = asked.clone();
            asked.path = format!("{}{joint}after={cursor}", asked.path);
            player.ask(route, &asked)
        };
        for cursor in [changed.as_str(), &other[..20], &other.to_uppercase(), ""] {
            assert_eq!(ask(cursor).problem(422, "invalid")["field"], "after", "{} {cursor}", route.operation);
        }
        if route.operation != "events.list" {
            assert_eq!(ask(&other).problem(422, "invalid")["field"], "after", "{}", route.operation);
        }
    });
    let known = table().routes.iter().filter(|route| route.operation.ends_with(".list")).count();
    assert!(lists > known, "{lists} lists");
}

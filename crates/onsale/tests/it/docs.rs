//! The description of the routes, and the pages of the problems.

use std::collections::BTreeSet;

use onsale_edge::http::problem::catalog;
use onsale_edge::http::table::table;

use crate::house::House;

#[test]
fn the_description_contains_every_route() {
    let house = House::open();
    let api = house.get("/openapi.json");
    assert_eq!(api.header("content-type"), Some("application/json"));
    let api = api.json();
    assert_eq!(api["openapi"], "3.1.0");
    let mut described = 0;
    for route in table().routes.iter().filter(|route| route.described) {
        let method = route.method.as_str().to_lowercase();
        let told = &api["paths"][&route.path][&method];
        assert_eq!(told["operationId"], route.operation, "{method} {}", route.path);
        assert!(told["responses"].is_object(), "{method} {}", route.path);
        described += 1;
    }
    let paths = api["paths"].as_object().expect("paths").values();
    let methods = ["get", "post", "patch", "put", "delete"];
    let told: usize =
        paths.map(|path| methods.iter().filter(|method| path[**method].is_object()).count()).sum();
    assert_eq!(told, described, "the document describes what the table declares, and nothing else");
    // Whatever is referred to is there.
    let text = api.to_string();
    let referred: BTreeSet<&str> =
        text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for schema in referred {
        assert!(api["components"]["schemas"][schema].is_object(), "{schema} is referred to and not there");
    }
    assert!(api["components"]["schemas"]["Hold"]["properties"]["token"].is_object(), "{api}");
    for verb in ["get", "patch", "delete"] {
        assert!(api["paths"]["/v1/holds/{hold}"][verb]["responses"].is_object(), "{verb}");
    }
}

#[test]
fn the_page_of_routes_is_the_table() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/routes.md");
    let page = std::fs::read_to_string(page).expect("docs/routes.md");
    assert!(page == table().to_markdown(), "write it anew: cargo run -- routes > docs/routes.md");
}

#[test]
fn the_pages_need_nothing_from_elsewhere() {
    let house = House::open();
    let page = String::from_utf8(house.get("/docs").body).expect("text");
    assert!(page.contains("/openapi.json"));
    assert!(!page.contains("https://") && !page.contains("http://"), "no address of another place");
    assert_eq!(house.get("/").header("location"), Some("/docs"));
    let told = house.get("/nothing").problem(404, "route_unknown");
    let page = house.get(told["type"].as_str().expect("a type"));
    assert_eq!(page.status, 200);
    assert!(String::from_utf8_lossy(&page.body).contains("What to do next"));
    let all = String::from_utf8(house.get("/problems").body).expect("text");
    for entry in catalog::all() {
        let page = house.get(&format!("/problems/{}", entry.code));
        assert_eq!(page.status, 200, "{}", entry.code);
        let page = String::from_utf8(page.body).expect("text");
        let next = entry.next.replace('<', "&lt;").replace('>', "&gt;").replace('`', "");
        let plain = |page: &str| page.replace("<code>", "").replace("</code>", "");
        assert!(plain(&page).contains(&next) && plain(&all).contains(&next), "{}: {page}", entry.code);
    }
    house.get("/problems/nothing").problem(404, "route_unknown");
}

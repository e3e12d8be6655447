//! The description of the routes, and the pages of the problems.

use onsale_server::http::route::ROUTES;

use crate::house::House;

#[test]
fn the_description_contains_every_route() {
    let house = House::open();
    let api = house.get("/openapi.json");
    assert_eq!(api.header("content-type"), Some("application/json"));
    let api = api.json();
    assert_eq!(api["openapi"], "3.1.0");
    let undescribed = ["/", "/openapi.json", "/docs", "/problems", "/problems/{code}", "unknown"];
    for route in ROUTES.iter().filter(|route| !undescribed.contains(route)) {
        assert!(api["paths"][route].is_object(), "{route}");
    }
    let described = api["paths"].as_object().expect("paths").keys();
    for path in described {
        assert!(ROUTES.contains(&path.as_str()), "{path}");
    }
    assert!(api["components"]["schemas"]["Hold"]["properties"]["token"].is_object(), "{api}");
    for verb in ["get", "patch", "delete"] {
        assert!(api["paths"]["/v1/events/{event}/holds/{hold}"][verb]["responses"].is_object(), "{verb}");
    }
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
    assert_eq!(house.get("/problems").status, 200);
    house.get("/problems/nothing").problem(404, "route_unknown");
}

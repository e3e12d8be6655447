//! The table against itself: patterns, names, keys, straight ways, scopes.

use super::*;

#[test]
fn every_route_is_recognised_by_its_own_pattern() {
    let table = table();
    for name in table.path_names().filter(|name| *name != "unknown") {
        let path = name.replace(['{', '}'], "");
        assert_eq!(table.path_name(table.path_number(&path)), name);
    }
    for path in
        ["/v1/events/x/y/z/a/b/c", "/nothing", "/v1/events//holds", "/v1/events/x/holds/", "//", "/v1/"]
    {
        assert_eq!(table.path_number(path), table.unknown(), "{path}");
    }
}

#[test]
fn an_operation_and_a_method_of_a_path_stand_once() {
    let (mut operations, mut places) = (BTreeSet::new(), BTreeSet::new());
    for route in &table().routes {
        assert!(operations.insert(route.operation), "{} stands twice", route.operation);
        assert!(places.insert((&route.path, route.method.as_str())), "{} {}", route.method, route.path);
        assert!(!route.path.is_empty() && !route.statuses.is_empty(), "{} says too little", route.operation);
        let changes = route.method != Method::GET;
        // A webhook names its event, and a code is used once: they bring their own key.
        let is_open = route.scope.needed().is_empty();
        let may_be_repeated = route.keyed || route.repeatable || is_open || !changes;
        assert!(may_be_repeated, "{} changes something and heeds no key", route.operation);
    }
}

#[test]
fn only_plainly_spelled_buying_goes_straight() {
    let table = table();
    let of = |method: Method, path: &str| table.straight(table.path_number(path), &method, path);
    assert_eq!(of(Method::POST, "/v1/events/e/holds"), Some(Straight::PlaceHold));
    assert_eq!(of(Method::PATCH, "/v1/holds/h"), Some(Straight::ChangeHold));
    assert_eq!(of(Method::DELETE, "/v1/holds/h"), Some(Straight::ReleaseHold));
    assert_eq!(of(Method::POST, "/v1/holds/h/confirm"), Some(Straight::ConfirmHold));
    assert_eq!(of(Method::POST, "/v1/sales/s/checkouts"), Some(Straight::CheckOut));
    assert_eq!(of(Method::POST, "/v1/checkouts/c/purchase"), Some(Straight::Purchase));
    assert_eq!(of(Method::POST, "/v1/checkouts/c/cancel"), Some(Straight::CancelCheckout));
    assert_eq!(of(Method::POST, "/v1/auctions/a/bids"), Some(Straight::PlaceBid));
    for path in [
        "/v1/events/e/holds/",
        "/v1/events//holds",
        "/v1/events/%65/holds",
        "/v1/events/e/seats",
        "/v1/sales/%73/checkouts",
        "/v1/checkouts/c",
        "/v1/auctions/a/bids/",
        "/v1/auctions/a/buy-now",
    ] {
        assert_eq!(of(Method::POST, path), None, "{path}");
    }
    assert_eq!(of(Method::GET, "/v1/events/e/holds"), None);
    assert_eq!(of(Method::GET, "/v1/holds/h"), None);
    assert_eq!(of(Method::GET, "/v1/sales/s/checkouts"), None);
}

#[test]
fn what_is_none_of_ours_is_open_and_everything_else_is_for_whom_it_says() {
    let table = table();
    let scope = |method: Method, path: &str| table.scope(table.path_number(path), &method);
    for path in ["/livez", "/v1/time", "/docs", "/nothing", "/pictures/s/i"] {
        assert_eq!(scope(Method::GET, path), Scope::Open, "{path}");
    }
    assert_eq!(scope(Method::POST, "/v1/payments/webhooks/simulated"), Scope::Provider);
    assert_eq!(scope(Method::HEAD, "/v1/orders"), Scope::Staff);
    assert_eq!(scope(Method::GET, "/v1/events"), Scope::Read);
    assert_eq!(scope(Method::POST, "/v1/events"), Scope::Listings);
    assert_eq!(scope(Method::POST, "/v1/orders/o/refund"), Scope::BoxOffice);
    // The router answers that there is no such method.
    assert_eq!(scope(Method::PUT, "/v1/events"), Scope::Open);
}

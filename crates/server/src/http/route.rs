//! Which route a path belongs to, as a small number: for metrics and for time limits, without asking the router.

/// Names of all routes as metrics show them; the last stands for whatever is none of ours.
pub const ROUTES: [&str; 79] = [
    "/",
    "/livez",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/problems",
    "/problems/{code}",
    "/v1/time",
    "/v1/venues",
    "/v1/venues/{venue}",
    "/v1/venues/{venue}/layouts",
    "/v1/events",
    "/v1/events/{event}",
    "/v1/events/{event}/chart",
    "/v1/events/{event}/seats",
    "/v1/events/{event}/seats/{seat}/queue",
    "/v1/events/{event}/availability",
    "/v1/events/{event}/holds",
    "/v1/events/{event}/holds/{hold}",
    "/v1/events/{event}/holds/{hold}/confirm",
    "/v1/events/{event}/blocks",
    "/v1/events/{event}/overrides",
    "/v1/events/{event}/refunds",
    "/v1/events/{event}/orders/{order}",
    "/v1/events/{event}/attempts",
    "/v1/events/{event}/facts",
    "/v1/events/{event}/stream",
    "/v1/buyers/{buyer}/holds",
    "/v1/sales",
    "/v1/sales/{sale}",
    "/v1/sales/{sale}/skus",
    "/v1/sales/{sale}/skus/{sku}",
    "/v1/sales/{sale}/attempts",
    "/v1/sales/{sale}/checkouts",
    "/v1/sales/{sale}/facts",
    "/v1/sales/{sale}/stream",
    "/v1/checkouts/{code}",
    "/v1/checkouts/{code}/purchase",
    "/v1/checkouts/{code}/cancel",
    "/v1/buyers/{buyer}/checkouts",
    "/pictures/{sale}/{item}",
    "/v1/series",
    "/v1/series/{series}",
    "/v1/series/{series}/facts",
    "/v1/series/{series}/stream",
    "/v1/registrations",
    "/v1/registrations/{registration}",
    "/v1/registrations/{registration}/entries",
    "/v1/registrations/{registration}/entries/{entry}",
    "/v1/registrations/{registration}/entries/{entry}/confirm",
    "/v1/registrations/{registration}/attempts",
    "/v1/registrations/{registration}/facts",
    "/v1/registrations/{registration}/stream",
    "/checkout",
    "/purchase",
    "/v1/auctions",
    "/v1/auctions/{auction}",
    "/v1/auctions/{auction}/cancel",
    "/v1/auctions/{auction}/bids",
    "/v1/auctions/{auction}/buy-now",
    "/v1/auctions/{auction}/retractions",
    "/v1/auctions/{auction}/decline",
    "/v1/auctions/{auction}/watchers",
    "/v1/auctions/{auction}/bans",
    "/v1/auctions/{auction}/bans/{bidder}",
    "/v1/auctions/{auction}/history",
    "/v1/auctions/{auction}/facts",
    "/v1/auctions/{auction}/stream",
    "/v1/buyers/{buyer}/bids",
    "/v1/orders",
    "/v1/orders/{order}",
    "/v1/orders/{order}/pay",
    "/v1/orders/{order}/cancel",
    "/v1/orders/{order}/refunds",
    "/v1/buyers/{buyer}/orders",
    "/v1/payments/{payment}",
    "/v1/payments/webhooks/{provider}",
    "unknown",
];

pub const HOLDS: usize = place("/v1/events/{event}/holds");
pub const HOLD: usize = place("/v1/events/{event}/holds/{hold}");
pub const CONFIRM: usize = place("/v1/events/{event}/holds/{hold}/confirm");
pub const CHECKOUTS: usize = place("/v1/sales/{sale}/checkouts");
pub const PURCHASE: usize = place("/v1/checkouts/{code}/purchase");
pub const CANCEL_CHECKOUT: usize = place("/v1/checkouts/{code}/cancel");
pub const BIDS: usize = place("/v1/auctions/{auction}/bids");

/// The route's place in [`ROUTES`].
pub fn of(path: &str) -> usize {
    let inner = path.strip_prefix('/').unwrap_or(path).as_bytes();
    let mut parts = [&b""[..]; 6];
    let mut count = 0;
    for part in inner.split(|byte| *byte == b'/') {
        // No route of ours has an empty word, but the first.
        if count == parts.len() || part.is_empty() && !inner.is_empty() {
            return ROUTES.len() - 1;
        }
        parts[count] = part;
        count += 1;
    }
    let name = match parts[..count] {
        // What is asked most is not looked for by name.
        [b"v1", b"events", _, b"holds"] => return HOLDS,
        [b"v1", b"events", _, b"holds", _] => return HOLD,
        [b"v1", b"events", _, b"holds", _, b"confirm"] => return CONFIRM,
        [b"v1", b"sales", _, b"checkouts"] => return CHECKOUTS,
        [b"v1", b"checkouts", _, b"purchase"] => return PURCHASE,
        [b"v1", b"checkouts", _, b"cancel"] => return CANCEL_CHECKOUT,
        [b"v1", b"auctions", _, b"bids"] => return BIDS,
        [b""] => "/",
        [b"v1", b"events", _, b"seats", _, b"queue"] => "/v1/events/{event}/seats/{seat}/queue",
        [b"v1", b"events", _, b"orders", _] => "/v1/events/{event}/orders/{order}",
        [b"v1", b"events", _, b"chart"] => "/v1/events/{event}/chart",
        [b"v1", b"events", _, b"seats"] => "/v1/events/{event}/seats",
        [b"v1", b"events", _, b"availability"] => "/v1/events/{event}/availability",
        [b"v1", b"events", _, b"blocks"] => "/v1/events/{event}/blocks",
        [b"v1", b"events", _, b"overrides"] => "/v1/events/{event}/overrides",
        [b"v1", b"events", _, b"refunds"] => "/v1/events/{event}/refunds",
        [b"v1", b"events", _, b"attempts"] => "/v1/events/{event}/attempts",
        [b"v1", b"events", _, b"facts"] => "/v1/events/{event}/facts",
        [b"v1", b"events", _, b"stream"] => "/v1/events/{event}/stream",
        [b"v1", b"events", _] => "/v1/events/{event}",
        [b"v1", b"venues", _] => "/v1/venues/{venue}",
        [b"v1", b"venues", _, b"layouts"] => "/v1/venues/{venue}/layouts",
        [b"v1", b"buyers", _, b"holds"] => "/v1/buyers/{buyer}/holds",
        [b"v1", b"auctions", _] => "/v1/auctions/{auction}",
        [b"v1", b"auctions", _, b"cancel"] => "/v1/auctions/{auction}/cancel",
        [b"v1", b"auctions", _, b"buy-now"] => "/v1/auctions/{auction}/buy-now",
        [b"v1", b"auctions", _, b"retractions"] => "/v1/auctions/{auction}/retractions",
        [b"v1", b"auctions", _, b"decline"] => "/v1/auctions/{auction}/decline",
        [b"v1", b"auctions", _, b"watchers"] => "/v1/auctions/{auction}/watchers",
        [b"v1", b"auctions", _, b"bans"] => "/v1/auctions/{auction}/bans",
        [b"v1", b"auctions", _, b"bans", _] => "/v1/auctions/{auction}/bans/{bidder}",
        [b"v1", b"auctions", _, b"history"] => "/v1/auctions/{auction}/history",
        [b"v1", b"auctions", _, b"facts"] => "/v1/auctions/{auction}/facts",
        [b"v1", b"auctions", _, b"stream"] => "/v1/auctions/{auction}/stream",
        [b"v1", b"buyers", _, b"bids"] => "/v1/buyers/{buyer}/bids",
        [b"problems", _] => "/problems/{code}",
        [b"v1", b"sales", _] => "/v1/sales/{sale}",
        [b"v1", b"sales", _, b"skus"] => "/v1/sales/{sale}/skus",
        [b"v1", b"sales", _, b"skus", _] => "/v1/sales/{sale}/skus/{sku}",
        [b"v1", b"sales", _, b"attempts"] => "/v1/sales/{sale}/attempts",
        [b"v1", b"sales", _, b"facts"] => "/v1/sales/{sale}/facts",
        [b"v1", b"sales", _, b"stream"] => "/v1/sales/{sale}/stream",
        [b"v1", b"checkouts", _] => "/v1/checkouts/{code}",
        [b"v1", b"buyers", _, b"checkouts"] => "/v1/buyers/{buyer}/checkouts",
        [b"v1", b"series", _] => "/v1/series/{series}",
        [b"v1", b"series", _, b"facts"] => "/v1/series/{series}/facts",
        [b"v1", b"series", _, b"stream"] => "/v1/series/{series}/stream",
        [b"v1", b"registrations", _] => "/v1/registrations/{registration}",
        [b"v1", b"registrations", _, b"entries"] => "/v1/registrations/{registration}/entries",
        [b"v1", b"registrations", _, b"entries", _] => "/v1/registrations/{registration}/entries/{entry}",
        [b"v1", b"registrations", _, b"entries", _, b"confirm"] => {
            "/v1/registrations/{registration}/entries/{entry}/confirm"
        }
        [b"v1", b"registrations", _, b"attempts"] => "/v1/registrations/{registration}/attempts",
        [b"v1", b"registrations", _, b"facts"] => "/v1/registrations/{registration}/facts",
        [b"v1", b"registrations", _, b"stream"] => "/v1/registrations/{registration}/stream",
        [b"pictures", _, _] => "/pictures/{sale}/{item}",
        [b"v1", b"orders", _] => "/v1/orders/{order}",
        [b"v1", b"orders", _, b"pay"] => "/v1/orders/{order}/pay",
        [b"v1", b"orders", _, b"cancel"] => "/v1/orders/{order}/cancel",
        [b"v1", b"orders", _, b"refunds"] => "/v1/orders/{order}/refunds",
        [b"v1", b"buyers", _, b"orders"] => "/v1/buyers/{buyer}/orders",
        [b"v1", b"payments", b"webhooks", _] => "/v1/payments/webhooks/{provider}",
        [b"v1", b"payments", _] => "/v1/payments/{payment}",
        _ => path,
    };
    ROUTES.iter().position(|known| *known == name).unwrap_or(ROUTES.len() - 1)
}

/// The place of a name that is there, found by the compiler.
const fn place(name: &str) -> usize {
    let mut place = 0;
    while !same(ROUTES[place], name) {
        place += 1;
    }
    place
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_recognised_by_its_own_pattern() {
        for (place, route) in ROUTES.iter().enumerate() {
            let path = route.replace(['{', '}'], "");
            assert_eq!(of(&path), place, "{route}");
        }
        assert_eq!(ROUTES[of("/v1/events/x/y/z/a/b/c")], "unknown");
        assert_eq!(ROUTES[of("/nothing")], "unknown");
        for path in ["/v1/events//holds", "/v1/events/x/holds/", "//", "/v1/"] {
            assert_eq!(ROUTES[of(path)], "unknown", "{path}");
        }
    }
}

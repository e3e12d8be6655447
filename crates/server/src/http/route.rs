//! Which route a path belongs to, as a small number: for metrics and for time limits, without asking the router.

/// Names of all routes as metrics show them; the last stands for whatever is none of ours.
pub const ROUTES: [&str; 29] = [
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
    "/v1/events/{event}/facts",
    "/v1/events/{event}/stream",
    "/v1/buyers/{buyer}/holds",
    "unknown",
];

/// The route's place in [`ROUTES`].
pub fn of(path: &str) -> usize {
    let inner = path.strip_prefix('/').unwrap_or(path);
    let mut parts = [""; 6];
    let mut count = 0;
    for part in inner.split('/') {
        if count == parts.len() {
            return ROUTES.len() - 1;
        }
        parts[count] = part;
        count += 1;
    }
    let name = match parts[..count] {
        [""] => "/",
        ["v1", "events", _, "holds"] => "/v1/events/{event}/holds",
        ["v1", "events", _, "holds", _] => "/v1/events/{event}/holds/{hold}",
        ["v1", "events", _, "holds", _, "confirm"] => "/v1/events/{event}/holds/{hold}/confirm",
        ["v1", "events", _, "seats", _, "queue"] => "/v1/events/{event}/seats/{seat}/queue",
        ["v1", "events", _, "orders", _] => "/v1/events/{event}/orders/{order}",
        ["v1", "events", _, "chart"] => "/v1/events/{event}/chart",
        ["v1", "events", _, "seats"] => "/v1/events/{event}/seats",
        ["v1", "events", _, "availability"] => "/v1/events/{event}/availability",
        ["v1", "events", _, "blocks"] => "/v1/events/{event}/blocks",
        ["v1", "events", _, "overrides"] => "/v1/events/{event}/overrides",
        ["v1", "events", _, "refunds"] => "/v1/events/{event}/refunds",
        ["v1", "events", _, "facts"] => "/v1/events/{event}/facts",
        ["v1", "events", _, "stream"] => "/v1/events/{event}/stream",
        ["v1", "events", _] => "/v1/events/{event}",
        ["v1", "venues", _] => "/v1/venues/{venue}",
        ["v1", "venues", _, "layouts"] => "/v1/venues/{venue}/layouts",
        ["v1", "buyers", _, "holds"] => "/v1/buyers/{buyer}/holds",
        ["problems", _] => "/problems/{code}",
        _ => path,
    };
    ROUTES.iter().position(|known| *known == name).unwrap_or(ROUTES.len() - 1)
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
    }
}

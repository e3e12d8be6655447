//! What a route may answer. A handler names its yes and what only it refuses; the rest follows from its line in the table,
//! in this one place.

use std::collections::BTreeSet;

use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};

use super::{Route, Scope};

/// Whatever is asked: a request that cannot be read, headers that are too large, a mistake of ours, too much at once.
pub(super) const ALWAYS: [u16; 4] = [400, 431, 500, 503];

/// Every status that this route may answer.
pub(super) fn of(route: &Route, operation: &Operation) -> BTreeSet<u16> {
    let mut statuses = BTreeSet::from(ALWAYS);
    statuses.extend(operation.responses.responses.keys().filter_map(|status| status.parse::<u16>().ok()));
    if !matches!(route.scope, Scope::Open | Scope::Provider) {
        // What it carries is wrong, or not enough.
        statuses.extend([401, 403]);
    }
    // Where accounts are off there is nothing of theirs.
    if names_something(&route.path) || route.in_access {
        statuses.insert(404);
    }
    if operation.request_body.is_some() {
        statuses.insert(413);
        // What a provider sends is checked by its signature, not by its type.
        if route.scope != Scope::Provider {
            statuses.extend([415, 422]);
        }
    }
    let outside_the_path = has_parameter(operation, |place| *place != ParameterIn::Path);
    if outside_the_path || names_a_person(&route.path) || route.refuses_query() {
        statuses.insert(422);
    }
    if route.keyed {
        // Another request under the same key; and what a listing refuses whatever is asked of it.
        statuses.extend([409, 422]);
    }
    statuses
}

/// Whether an operation takes a parameter from such a place.
pub(super) fn has_parameter(operation: &Operation, is_such: impl Fn(&ParameterIn) -> bool) -> bool {
    let is_there =
        |given: &RefOr<Parameter>| matches!(given, RefOr::T(given) if is_such(&given.parameter_in));
    operation.parameters.iter().flatten().any(is_there)
}

/// Whether a path has the id of something that may not be there.
fn names_something(path: &str) -> bool {
    path.split('/').any(|word| word.starts_with('{') && !PEOPLE.contains(&word))
}

/// People are named as their merchants name them: any name could be somebody's.
const PEOPLE: [&str; 2] = ["{buyer}", "{bidder}"];

fn names_a_person(path: &str) -> bool {
    path.split('/').any(|word| PEOPLE.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::super::table;

    fn of(operation: &str) -> Vec<u16> {
        let route = table().routes.iter().find(|route| route.operation == operation);
        route.map(|route| route.statuses.iter().copied().collect()).unwrap_or_default()
    }

    #[test]
    fn what_follows_from_a_line_of_the_table_is_in_its_statuses() {
        // A body, a key, an id in the path; and what its handler says of itself.
        assert_eq!(
            of("holds.change"),
            [200, 400, 401, 403, 404, 409, 410, 412, 413, 415, 422, 431, 500, 503],
            "it has all of them"
        );
        // A person's name in the path is not looked for.
        assert_eq!(of("buyers.holds"), [200, 400, 401, 403, 422, 431, 500, 503]);
        assert_eq!(of("server.live"), [200, 400, 431, 500, 503]);
        // No key, and a signature instead of a type.
        assert_eq!(of("payments.receive_webhook"), [200, 400, 404, 413, 431, 500, 503]);
    }
}

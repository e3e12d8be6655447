//! The table of routes. A route is declared once: its method, path and statuses stand at its handler, everything else in
//! the line that names it in its resource's `routes()`. The router, the straight way, metrics, the check of keys, the
//! OpenAPI document and `docs/routes.md` are made from this; nobody keeps a second list.

mod page;
mod roles;
mod scope;
mod statuses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::http::Method;
use axum::routing::MethodRouter;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem, Paths};
use utoipa::openapi::{RefOr, schema::Schema};

pub use self::scope::Scope;
use crate::app::App;

/// Which limit of speed counts a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Not limited: whoever watches the house asks often.
    Free,
    Read,
    /// Passwords and the tokens of letters: what guesses are made with.
    Auth,
    /// Looks over many listings.
    Search,
    Buy,
    Staff,
    /// Connections that stay open.
    Stream,
}

/// Routes that go straight to their handler: the maps and boxes of a router cost more than the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Straight {
    PlaceHold,
    ChangeHold,
    ReleaseHold,
    ConfirmHold,
    CheckOut,
    Purchase,
    CancelCheckout,
    PlaceBid,
}

/// What there is to know of a route without calling it.
#[derive(Clone, Debug)]
pub struct Route {
    pub method: Method,
    pub path: String,
    /// `<resource>.<what is done>`, unique: the name of a generated client's function.
    pub operation: &'static str,
    /// What it may answer: by its handler's own account, and what follows from the rest of this line.
    pub statuses: BTreeSet<u16>,
    pub scope: Scope,
    pub rate: Rate,
    /// Whether an `Idempotency-Key` is heeded.
    pub keyed: bool,
    /// Whether asking for it twice changes no more than asking once, so that it needs no key.
    pub repeatable: bool,
    /// Whether it speaks of people and not of a listing: it has no position in a log.
    pub of_people: bool,
    pub straight: Option<Straight>,
    /// Whether it reads one listing and says at which position, in a header.
    pub positioned: bool,
    /// Whether it is about keys, tenants or people: they are in a database beside the listings, and have no positions.
    pub in_access: bool,
    /// Whether its handler reads parameters behind the question mark.
    pub takes_query: bool,
    /// Whether the document describes it; pages for people are not described.
    pub described: bool,
}

impl Route {
    /// Whether a parameter behind the question mark is refused whatever it is called. Pages and files may be given one
    /// that only says which version is meant, and the address that a provider was told may have one of its own.
    pub fn refuses_query(&self) -> bool {
        !self.takes_query && self.path.starts_with("/v1/") && self.scope != Scope::Provider
    }
}

/// A line of the table with what it takes to serve it.
pub struct RouteDeclaration {
    pub route: Route,
    handler: MethodRouter<Arc<App>>,
    item: PathItem,
    schemas: Vec<(String, RefOr<Schema>)>,
}

/// Declares a route: its operation, its handler, its scope and its rate class, then what else is so.
macro_rules! declare {
    ($operation:literal, $handler:path, $scope:ident, $rate:ident $(, $more:ident $(($with:expr))?)*) => {
        $crate::http::table::RouteDeclaration::new(
            $operation,
            utoipa_axum::routes!($handler),
            $crate::http::table::Scope::$scope,
            $crate::http::table::Rate::$rate,
        )$(.$more($($with)?))*
    };
}

pub(crate) use declare;

impl std::fmt::Debug for RouteDeclaration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.route.fmt(f)
    }
}

type HandlerParts = (Vec<(String, RefOr<Schema>)>, Paths, MethodRouter<Arc<App>>);

impl RouteDeclaration {
    pub fn new(operation: &'static str, handled: HandlerParts, scope: Scope, rate: Rate) -> RouteDeclaration {
        let (schemas, paths, handler) = handled;
        let (path, item) = paths.paths.into_iter().next().unwrap_or_default();
        let method = operation_of(&item).map_or(Method::GET, |(method, _)| method);
        let route = Route {
            method,
            path,
            operation,
            statuses: BTreeSet::new(),
            scope,
            rate,
            keyed: false,
            repeatable: false,
            of_people: false,
            straight: None,
            positioned: false,
            in_access: false,
            takes_query: false,
            described: true,
        };
        RouteDeclaration { route, handler, item, schemas }
    }

    /// An `Idempotency-Key` is heeded.
    pub fn keyed(mut self) -> RouteDeclaration {
        self.route.keyed = true;
        self
    }

    /// Asking for it twice changes no more than asking once.
    pub fn repeatable(mut self) -> RouteDeclaration {
        self.route.repeatable = true;
        self
    }

    /// It speaks of people and of no listing.
    pub fn of_people(mut self) -> RouteDeclaration {
        self.route.of_people = true;
        self
    }

    /// Its answers may be large.
    pub fn compressed(mut self) -> RouteDeclaration {
        self.handler = self.handler.layer(CompressionLayer::new().quality(CompressionLevel::Fastest));
        self
    }

    pub fn straight(mut self, way: Straight) -> RouteDeclaration {
        self.route.straight = Some(way);
        self
    }

    /// It says at which position of the listing it reads.
    pub fn positioned(mut self) -> RouteDeclaration {
        self.route.positioned = true;
        self
    }

    /// What it is about is no listing.
    pub fn in_access(mut self) -> RouteDeclaration {
        self.route.in_access = true;
        self
    }

    /// A page for people: not in the document for programs.
    pub fn undescribed(mut self) -> RouteDeclaration {
        self.route.described = false;
        self
    }
}

/// The one operation that a handler's own description has.
fn operation_of(item: &PathItem) -> Option<(Method, &Operation)> {
    let all = [
        (Method::GET, &item.get),
        (Method::POST, &item.post),
        (Method::PATCH, &item.patch),
        (Method::PUT, &item.put),
        (Method::DELETE, &item.delete),
    ];
    all.into_iter().find_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

/// Every route, resource by resource.
fn declared() -> Vec<RouteDeclaration> {
    [
        super::venues::routes(),
        super::events::routes(),
        super::sales::routes(),
        super::series::routes(),
        super::registrations::routes(),
        super::auctions::routes(),
        super::ordering::routes(),
        super::people::routes(),
        super::keys::routes(),
        super::buyer_tokens::routes(),
        super::tenants::routes(),
        super::audit::routes(),
        super::compat::routes(),
        super::docs::routes(),
        super::health::routes(),
    ]
    .into_iter()
    .flatten()
    .map(|mut one| {
        if let Some((_, operation)) = operation_of(&one.item) {
            one.route.takes_query = statuses::has_parameter(operation, |place| *place == ParameterIn::Query);
            one.route.statuses = statuses::of(&one.route, operation);
        }
        one
    })
    .collect()
}

/// The router over all routes, without its state.
pub fn router() -> Router<Arc<App>> {
    let mut by_path: BTreeMap<String, MethodRouter<Arc<App>>> = BTreeMap::new();
    for one in declared() {
        let known = by_path.remove(&one.route.path).unwrap_or_default();
        by_path.insert(one.route.path, known.merge(one.handler));
    }
    by_path.into_iter().fold(Router::new(), |router, (path, methods)| router.route(&path, methods))
}

/// A route with what its handler says of it, for the document.
pub(super) struct RouteDescription {
    pub route: Route,
    pub operation: Operation,
    pub schemas: Vec<(String, RefOr<Schema>)>,
}

/// Every route that the document describes.
pub(super) fn described() -> impl Iterator<Item = RouteDescription> {
    let described = declared().into_iter().filter(|one| one.route.described);
    described.filter_map(|RouteDeclaration { route, item, schemas, .. }| {
        let (_, operation) = operation_of(&item)?;
        Some(RouteDescription { route, operation: operation.clone(), schemas })
    })
}

/// The table as it was declared, with an index by path.
#[derive(Debug)]
pub struct Table {
    pub routes: Vec<Route>,
    paths: Vec<PathEntry>,
}

/// One path with what is done there.
#[derive(Debug)]
struct PathEntry {
    path: String,
    /// `None` stands for any one word.
    words: Vec<Option<Box<[u8]>>>,
    straight: Vec<(Method, Straight)>,
    scopes: Vec<(Method, Scope)>,
    /// What is done here and refuses whatever stands behind a question mark.
    without_query: Vec<Method>,
}

/// The place of a path in the table, as a small number for metrics; [`UNKNOWN`] if it is none of ours.
pub type PathNumber = usize;

/// Words of the longest path.
const WORDS_MAX: usize = 6;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(declared().into_iter().map(|one| one.route)));

pub fn table() -> &'static Table {
    &TABLE
}

impl Table {
    fn new(routes: impl Iterator<Item = Route>) -> Table {
        let routes: Vec<Route> = routes.collect();
        let mut paths: Vec<PathEntry> = Vec::new();
        for route in &routes {
            let known = paths.iter().position(|place| place.path == route.path);
            let place = known.unwrap_or_else(|| {
                paths.push(PathEntry::new(&route.path));
                paths.len() - 1
            });
            let place = &mut paths[place];
            place.scopes.push((route.method.clone(), route.scope));
            if route.refuses_query() {
                place.without_query.push(route.method.clone());
            }
            place.straight.extend(route.straight.map(|way| (route.method.clone(), way)));
        }
        // What is asked most is found first, and a word before whatever may stand in its place.
        paths.sort_by_key(|place| {
            (place.straight.is_empty(), place.words.iter().filter(|word| word.is_none()).count())
        });
        Table { routes, paths }
    }

    /// Names of all paths as metrics show them, the last for whatever is none of ours.
    pub fn path_names(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|place| place.path.as_str()).chain(["unknown"])
    }

    pub fn path_name(&self, number: PathNumber) -> &str {
        self.paths.get(number).map_or("unknown", |place| place.path.as_str())
    }

    /// The number of whatever is none of ours.
    pub fn unknown(&self) -> PathNumber {
        self.paths.len()
    }

    pub fn path_number(&self, path: &str) -> PathNumber {
        let inner = path.strip_prefix('/').unwrap_or(path).as_bytes();
        let mut words = [&b""[..]; WORDS_MAX];
        let mut count = 0;
        for word in inner.split(|byte| *byte == b'/') {
            // No route of ours has an empty word, but the first.
            if count == WORDS_MAX || word.is_empty() && !inner.is_empty() {
                return self.unknown();
            }
            words[count] = word;
            count += 1;
        }
        let words = &words[..count];
        self.paths.iter().position(|place| place.is_of(words)).unwrap_or(self.unknown())
    }

    /// Whom this route is for. Whatever is none of ours is open: there is nothing to see.
    pub fn scope(&self, number: PathNumber, method: &Method) -> Scope {
        // The router answers it from the handler of GET.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let place = self.paths.get(number);
        let found = place.and_then(|place| place.scopes.iter().find(|(of, _)| of == method));
        found.map_or(Scope::Open, |(_, scope)| *scope)
    }

    /// Whether what is asked here refuses whatever stands behind a question mark.
    pub fn refuses_query(&self, number: PathNumber, method: &Method) -> bool {
        // The router answers it from the handler of GET.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.paths.get(number).is_some_and(|place| place.without_query.contains(method))
    }

    /// Which handler is meant, if the route has a straight way and its path needs no decoding.
    pub fn straight(&self, number: PathNumber, method: &Method, path: &str) -> Option<Straight> {
        let ways = &self.paths.get(number)?.straight;
        let (_, way) = ways.iter().find(|(of, _)| of == method)?;
        (!path.bytes().any(|byte| byte == b'%')).then_some(*way)
    }
}

impl PathEntry {
    fn new(path: &str) -> PathEntry {
        let word = |word: &str| match word.starts_with('{') {
            true => None,
            false => Some(word.as_bytes().into()),
        };
        let words = path.strip_prefix('/').unwrap_or(path).split('/').map(word).collect();
        PathEntry {
            path: path.to_owned(),
            words,
            straight: Vec::new(),
            scopes: Vec::new(),
            without_query: Vec::new(),
        }
    }

    fn is_of(&self, words: &[&[u8]]) -> bool {
        self.words.len() == words.len()
            && self.words.iter().zip(words).all(|(own, word)| own.as_ref().is_none_or(|own| **own == **word))
    }
}

#[cfg(test)]
mod tests;

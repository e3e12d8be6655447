//! RFC 9457 `application/problem+json`: the one shape of every answer that is not a yes.

pub mod catalog;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_domain::id::write_inside;
use onsale_domain::refusal::{Detail, InTheWay};
use onsale_domain::{Code, ListingId, OrderId, Refusal};
use onsale_engine::EngineError;
use serde::Serialize;
use utoipa::ToSchema;

use super::names::Names;
use super::sales::names::Skus;
use super::wire::At;
use super::wire_field;
use catalog::{Entry, ProblemCode};

/// How long to wait before trying again when too much is asked at once, in seconds.
const RETRY_BUSY_S: u32 = 1;
/// The same for troubles that somebody must first look at.
const RETRY_TROUBLE_S: u32 = 5;

#[derive(Debug)]
pub struct Problem(Box<ProblemBody>);

/// What is wrong and what to do next. Private causes go to the log, never here.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Where this problem is explained.
    #[serde(rename = "type")]
    #[schema(example = "/problems/seat_held")]
    kind: String,
    #[schema(example = "A seat is held by another")]
    title: &'static str,
    #[schema(example = 409)]
    status: u16,
    /// Stable and made for programs; never reused.
    #[schema(value_type = ProblemCode, example = "seat_held")]
    code: &'static str,
    detail: String,
    /// The field, header or parameter that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// Where that field stands in the body, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/seats/0")]
    pointer: Option<String>,
    /// The request's id, as in the header `X-Request-Id`: name it when you ask for help.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "8c1d5f0a9be24c37")]
    request_id: Option<String>,
    #[serde(flatten)]
    in_the_way: Obstacles,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    /// How much of the limit is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<u32>,
    /// The least that a bid must offer, in minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_next_minor: Option<i64>,
    /// The order that this speaks of: it has taken the goods, or has bought them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "ord_00000a5kq1zxj2tp0f3e8m9w0qhs7v")]
    order: Option<String>,
    /// The listing that has the id already.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "evt_0000000000000001")]
    listing: Option<String>,
    /// The position to go on from, when the one that was asked for is not in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "1-57")]
    position: Option<At>,
    #[serde(skip)]
    retry_after_s: Option<u32>,
}

/// What stood in the way of a command, by its public name.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct Obstacles {
    /// Every seat in the way, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seats: Vec<SeatInTheWay>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    areas: Vec<AreaInTheWay>,
    /// Every SKU in the way, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<LineInTheWay>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SeatInTheWay {
    #[schema(example = "A-1-1")]
    seat: String,
    #[schema(value_type = ProblemCode, example = "seat_held")]
    code: &'static str,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AreaInTheWay {
    #[schema(example = "floor")]
    area: String,
    #[schema(value_type = ProblemCode, example = "area_full")]
    code: &'static str,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LineInTheWay {
    #[schema(example = "tee-m")]
    sku: String,
    #[schema(value_type = ProblemCode, example = "sold_out")]
    code: &'static str,
}

impl ProblemBody {
    fn in_body(&mut self, field: String) {
        self.pointer = Some(pointer(&field));
        self.field = Some(field);
    }
}

/// The JSON pointer of a field: `/lines/2/count` for `lines[2].count`. `body` is the whole of it.
fn pointer(field: &str) -> String {
    if field == "body" {
        return String::new();
    }
    let words = field.split(['.', '[']).map(|word| word.trim_end_matches(']'));
    words.map(|word| format!("/{}", word.replace('~', "~0").replace('/', "~1"))).collect()
}

impl Problem {
    pub fn of(entry: Entry) -> Problem {
        Problem::with(entry, entry.next)
    }

    pub fn with(entry: Entry, detail: impl Into<String>) -> Problem {
        let told = ProblemBody {
            kind: format!("/problems/{}", entry.code),
            title: entry.title,
            status: entry.status,
            code: entry.code,
            detail: detail.into(),
            field: None,
            pointer: None,
            request_id: None,
            in_the_way: Obstacles::default(),
            limit: None,
            taken: None,
            min_next_minor: None,
            order: None,
            listing: None,
            position: None,
            retry_after_s: None,
        };
        Problem(Box::new(told))
    }

    pub fn code(code: Code) -> Problem {
        Problem::of(catalog::of(code))
    }

    /// 422: a field of the body has a value that cannot be; `body` is the whole of it.
    pub fn invalid(field: impl Into<String>, why: impl Into<String>) -> Problem {
        let mut problem = Problem::with(catalog::of(Code::Invalid), why);
        problem.0.in_body(field.into());
        problem
    }

    /// 422: a field of the body could not be read as what it is; `place` is its name and its JSON pointer.
    pub fn misread((field, pointer): (String, String), why: impl Into<String>) -> Problem {
        let mut problem = Problem::with(catalog::of(Code::Invalid), why);
        (problem.0.field, problem.0.pointer) = (Some(field), Some(pointer));
        problem
    }

    /// 422: a header, or a parameter of the path or the query, has a value that cannot be.
    pub fn parameter(name: impl Into<String>, why: impl Into<String>) -> Problem {
        let mut problem = Problem::with(catalog::of(Code::Invalid), why);
        problem.0.field = Some(name.into());
        problem
    }

    /// 400: a header is missing or there twice, or a part of the path cannot be decoded.
    pub fn header(name: impl Into<String>, why: impl Into<String>) -> Problem {
        let mut problem = Problem::with(catalog::MALFORMED, why);
        problem.0.field = Some(name.into());
        problem
    }

    /// The same problem, of a field of the body.
    pub fn of_field(mut self, field: &str) -> Problem {
        self.0.in_body(field.to_owned());
        self
    }

    /// The same problem, of a header.
    pub fn of_header(mut self, name: &str) -> Problem {
        self.0.field = Some(name.to_owned());
        self
    }

    /// 412: what this header says does not open it.
    pub fn wrong_token(header: &str) -> Problem {
        let mut problem = Problem::of(catalog::WRONG_TOKEN);
        problem.0.field = Some(header.to_owned());
        problem
    }

    /// 412: the header that opens it is not there.
    pub fn token_missing(header: &str) -> Problem {
        let mut problem = Problem::wrong_token(header);
        problem.0.detail = format!("the header {header} is missing");
        problem
    }

    /// A refusal in the words of the outside: labels for numbers.
    pub fn refused(refusal: &Refusal, names: Option<&Names>) -> Problem {
        let mut problem = Problem::code(refusal.code);
        let told = &mut problem.0;
        match &refusal.detail {
            Detail::None => {}
            Detail::Field { field, why } => {
                told.in_body(wire_field::name(field));
                told.detail = why.clone();
            }
            Detail::Limit { limit, taken } => {
                (told.limit, told.taken) = (Some(*limit), Some(*taken));
                if refusal.code == Code::BuyerLimit {
                    told.detail = format!("The limit is {limit}, and you have {taken}. Ask for fewer.");
                }
            }
            // Its name needs the listing's: see `naming`.
            Detail::Order(_) => {}
            Detail::MinNext(least) => told.min_next_minor = Some(*least),
        }
        if let Some(names) = names {
            told.in_the_way = Obstacles::of_event(&refusal.in_the_way, names);
            if told.field.is_none()
                && let Some(field) = names.unknown_field(refusal.code)
            {
                told.in_body(field);
            }
        }
        problem
    }

    /// A refusal of a sale: SKUs by their own names.
    pub fn refused_sale(refusal: &Refusal, skus: &Skus) -> Problem {
        let mut problem = Problem::refused(refusal, None);
        problem.0.in_the_way = Obstacles::of_sale(&refusal.in_the_way, skus);
        problem
    }

    /// The seat that a refusal calls unknown stands in the path.
    pub fn of_seat_in_path(mut self) -> Problem {
        if self.0.code == Code::SeatUnknown.as_str() {
            self.0.field = Some("seat".to_owned());
            self.0.detail = "The chart has the ids of all seats.".to_owned();
        }
        self
    }

    /// Names the order, the listing or the header that a refusal of this listing speaks of.
    pub fn naming(mut self, listing: &ListingId, refusal: &Refusal) -> Problem {
        if refusal.code == Code::KeyReused {
            self.0.field = Some("Idempotency-Key".to_owned());
        }
        if let Detail::Order(order) = refusal.detail {
            return self.of_order(listing, order);
        }
        if refusal.code == Code::ListingExists { self.of_listing(listing) } else { self }
    }

    fn of_listing(mut self, listing: &ListingId) -> Problem {
        self.0.listing = Some(listing.to_string());
        self
    }

    pub fn of_order(mut self, listing: &ListingId, order: OrderId) -> Problem {
        self.0.order = Some(write_inside("ord", listing, order.0));
        self
    }

    /// A field that the body of one route calls otherwise than all others do: what its name begins with, and what it
    /// begins with there.
    pub fn renamed(mut self, from: &str, to: &str) -> Problem {
        let field = self.0.field.as_deref().and_then(|field| field.strip_prefix(from));
        if let Some(rest) = field {
            let named = format!("{to}{rest}");
            let named = named.trim_start_matches('.');
            let named = if named.is_empty() { "body" } else { named };
            self.0.in_body(named.to_owned());
        }
        self
    }

    /// Names the field of the body that it speaks of.
    pub fn in_field(mut self, field: &str) -> Problem {
        self.0.in_body(field.to_owned());
        self
    }

    /// Names the header that it speaks of.
    pub fn in_header(mut self, header: &str) -> Problem {
        self.0.field = Some(header.to_owned());
        self
    }

    pub fn with_limit(mut self, limit: u32) -> Problem {
        self.0.limit = Some(limit);
        self
    }

    pub fn retry_after(mut self, seconds: u32) -> Problem {
        self.0.retry_after_s = Some(seconds);
        self
    }

    /// Its public code.
    pub fn code_text(&self) -> &'static str {
        self.0.code
    }

    pub fn status(&self) -> u16 {
        self.0.status
    }

    pub fn body(&self, request_id: &HeaderValue) -> Vec<u8> {
        let request_id = request_id.to_str().ok().map(str::to_owned);
        serde_json::to_vec(&ProblemBody { request_id, ..(*self.0).clone() }).unwrap_or_default()
    }

    /// The headers that go with its body.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        // Whoever is told to come back is told when.
        let retry_after_s = self.0.retry_after_s.or((self.0.status == 503).then_some(RETRY_BUSY_S));
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.0.status == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        headers
    }
}

impl Obstacles {
    /// Seats and areas of an event; a label that only another request knew is left out.
    pub fn of_event(all: &[InTheWay], names: &Names) -> Obstacles {
        let mut obstacles = Obstacles::default();
        for one in all {
            match one {
                InTheWay::Seat(seat, code) => {
                    let named = names.seat_named(*seat).map(str::to_owned);
                    let code = code.as_str();
                    obstacles.seats.extend(named.map(|seat| SeatInTheWay { seat, code }));
                }
                InTheWay::Area(area, code) => {
                    let named = names.area_named(*area).map(str::to_owned);
                    let code = code.as_str();
                    obstacles.areas.extend(named.map(|area| AreaInTheWay { area, code }));
                }
                InTheWay::Sku(..) => {}
            }
        }
        obstacles
    }

    /// SKUs of a sale.
    pub fn of_sale(all: &[InTheWay], skus: &Skus) -> Obstacles {
        let line = |one: &InTheWay| match one {
            InTheWay::Sku(sku, code) => {
                Some(LineInTheWay { sku: skus.text(*sku).to_owned(), code: code.as_str() })
            }
            InTheWay::Seat(..) | InTheWay::Area(..) => None,
        };
        Obstacles { lines: all.iter().filter_map(line).collect(), ..Obstacles::default() }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Problem {
        let (entry, retry) = match &error {
            EngineError::Busy => (catalog::BUSY, Some(RETRY_BUSY_S)),
            EngineError::UnknownListing => (catalog::of(Code::ListingUnknown), None),
            EngineError::Reload(position) => {
                let mut problem = Problem::of(catalog::RELOAD);
                problem.0.position = Some(At(*position));
                return problem;
            }
            EngineError::DiskFull => (catalog::DISK_FULL, Some(RETRY_TROUBLE_S)),
            EngineError::Stopping => (catalog::STOPPING, Some(RETRY_BUSY_S)),
            EngineError::Poisoned(_) => (catalog::POISONED, Some(RETRY_TROUBLE_S)),
            EngineError::Read(why) => {
                tracing::error!(%why, "reading the log failed: {why}");
                (catalog::READ_FAILED, None)
            }
            EngineError::Unavailable(why) => {
                // The link says once that a node is away; not every buyer has to.
                tracing::debug!(%why, "the store cannot be used now: {why}");
                (catalog::STORE_UNAVAILABLE, Some(RETRY_BUSY_S))
            }
            EngineError::Unanswered(why) => {
                tracing::debug!(%why, "the store did not answer: {why}");
                (catalog::TIMED_OUT, Some(RETRY_BUSY_S))
            }
            EngineError::Recovering => (catalog::RECOVERING, Some(RETRY_BUSY_S)),
            EngineError::Unsupported(what) => return Problem::with(catalog::UNSUPPORTED, *what),
            EngineError::Damaged(why) => {
                tracing::error!(%why, "the store is damaged: {why}");
                (catalog::STORE_DAMAGED, None)
            }
        };
        let problem = Problem::of(entry);
        retry.map_or_else(|| Problem::of(entry), |seconds| problem.retry_after(seconds))
    }
}

impl IntoResponse for Problem {
    /// Its body is written by [`finish`]: only there the request's id is known.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = self.headers();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

/// What whoever only reads is told instead: there is no command to send again, and no key.
const FOR_READERS: [(Entry, &str); 4] = [
    (
        catalog::TIMED_OUT,
        "The store does not answer in time. Reading changes nothing: try again in a moment.",
    ),
    (catalog::STORE_UNAVAILABLE, "Try again in a moment; operators run `onsale doctor`."),
    (catalog::RECOVERING, "It is being recovered, which takes seconds: try again in a moment."),
    (catalog::STOPPING, "Try again in a moment."),
];

/// Tells the answer to a read, if it is a problem, without a word of commands.
pub fn for_reader(response: &mut Response) {
    let problem = response.extensions_mut().get_mut::<Arc<Problem>>().and_then(Arc::get_mut);
    let Some(Problem(told)) = problem else { return };
    if let Some((_, next)) = FOR_READERS.iter().find(|(entry, _)| entry.next == told.detail) {
        told.detail = (*next).to_owned();
    }
}

/// Writes the body of an answer that is a problem; every other stays as it is.
pub fn finish(response: &mut Response, request_id: &HeaderValue) {
    if let Some(problem) = response.extensions_mut().remove::<Arc<Problem>>() {
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::from(problem.body(request_id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_only_reads_is_told_of_no_command() {
        for error in [
            EngineError::Unanswered("later".to_owned()),
            EngineError::Unavailable("away".to_owned()),
            EngineError::Recovering,
            EngineError::Stopping,
        ] {
            let mut response = Problem::from(error).into_response();
            for_reader(&mut response);
            let problem = response.extensions().get::<Arc<Problem>>().expect("a problem");
            let detail = problem.0.detail.to_lowercase();
            assert!(detail.contains("try again"), "{detail}");
            assert!(!detail.contains("idempotency-key") && !detail.contains("decided"), "{detail}");
        }
    }

    #[test]
    fn a_field_of_the_body_is_pointed_at_and_a_parameter_is_not() {
        let told = |problem: Problem| {
            let body: serde_json::Value =
                serde_json::from_slice(&problem.body(&HeaderValue::from_static("r-1"))).expect("JSON");
            assert_eq!(body["request_id"], "r-1");
            (body["field"].clone(), body["pointer"].clone())
        };
        let invalid = |field: &str| told(Problem::invalid(field, "wrong"));
        assert_eq!(invalid("lines[2].count"), ("lines[2].count".into(), "/lines/2/count".into()));
        assert_eq!(
            invalid("layout.sections[0].rows[1].seats[3].id").1,
            "/layout/sections/0/rows/1/seats/3/id"
        );
        assert_eq!(invalid("body").1, "");
        assert_eq!(invalid("a/b~c").1, "/a~1b~0c");
        let renamed =
            |field: &str, from: &str, to: &str| told(Problem::invalid(field, "wrong").renamed(from, to));
        assert_eq!(renamed("layout.areas[0].id", "layout", ""), ("areas[0].id".into(), "/areas/0/id".into()));
        assert_eq!(renamed("layout", "layout", ""), ("body".into(), "".into()));
        assert_eq!(renamed("reason", "layout", ""), ("reason".into(), "/reason".into()));
        let parameter = told(Problem::parameter("limit", "1 to 500"));
        assert_eq!(parameter, ("limit".into(), serde_json::Value::Null));
    }
}

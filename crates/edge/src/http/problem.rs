//! RFC 9457 `application/problem+json`: the one shape of every answer that is not a yes.

pub mod catalog;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_domain::refusal::{Detail, InTheWay};
use onsale_domain::{Code, Refusal};
use onsale_engine::EngineError;
use serde::Serialize;
use utoipa::ToSchema;

use super::names::Names;
use super::sales::names::Skus;
use super::wire::At;
use catalog::Entry;

/// How long to wait before trying again when too much is asked at once, in seconds.
const RETRY_BUSY_S: u32 = 1;
/// The same for troubles that somebody must first look at.
const RETRY_TROUBLE_S: u32 = 5;

#[derive(Debug)]
pub struct Problem(Box<ProblemBody>);

/// What is told. Private causes go to the log, never here.
#[derive(Debug, Serialize, ToSchema)]
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
    #[schema(example = "seat_held")]
    code: &'static str,
    detail: String,
    /// The field, header or parameter that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
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
    /// The position to go on from, when the one that was asked for is not in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "1-57")]
    position: Option<At>,
    #[serde(skip)]
    retry_after_s: Option<u32>,
}

/// What stood in the way of a command, by its public name.
#[derive(Debug, Default, Serialize, ToSchema)]
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

#[derive(Debug, Serialize, ToSchema)]
pub struct SeatInTheWay {
    #[schema(example = "A-1-1")]
    seat: String,
    #[schema(example = "seat_held")]
    code: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AreaInTheWay {
    #[schema(example = "floor")]
    area: String,
    #[schema(example = "area_full")]
    code: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LineInTheWay {
    #[schema(example = "tee-m")]
    sku: String,
    #[schema(example = "sold_out")]
    code: &'static str,
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
            in_the_way: Obstacles::default(),
            limit: None,
            taken: None,
            min_next_minor: None,
            position: None,
            retry_after_s: None,
        };
        Problem(Box::new(told))
    }

    pub fn code(code: Code) -> Problem {
        Problem::of(catalog::of(code))
    }

    /// 422: a field, header or parameter has a value that cannot be.
    pub fn invalid(field: impl Into<String>, why: impl Into<String>) -> Problem {
        let mut problem = Problem::with(catalog::of(Code::Invalid), why);
        problem.0.field = Some(field.into());
        problem
    }

    /// 400: a header is missing or there twice.
    pub fn header(name: impl Into<String>, why: impl Into<String>) -> Problem {
        let mut problem = Problem::with(catalog::MALFORMED, why);
        problem.0.field = Some(name.into());
        problem
    }

    /// A refusal in the words of the outside: labels for numbers.
    pub fn refused(refusal: &Refusal, names: Option<&Names>) -> Problem {
        let mut problem = Problem::code(refusal.code);
        let told = &mut problem.0;
        match &refusal.detail {
            Detail::None => {}
            Detail::Field { field, why } => {
                told.field = Some(field.clone());
                told.detail = why.clone();
            }
            Detail::Limit { limit, taken } => {
                (told.limit, told.taken) = (Some(*limit), Some(*taken));
            }
            Detail::Order(_) => told.field = Some("order".to_owned()),
            Detail::MinNext(least) => told.min_next_minor = Some(*least),
        }
        if let Some(names) = names {
            told.in_the_way = Obstacles::of_event(&refusal.in_the_way, names);
        }
        problem
    }

    /// A refusal of a sale: SKUs by their own names.
    pub fn refused_sale(refusal: &Refusal, skus: &Skus) -> Problem {
        let mut problem = Problem::refused(refusal, None);
        problem.0.in_the_way = Obstacles::of_sale(&refusal.in_the_way, skus);
        problem
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

    pub fn body(&self) -> Vec<u8> {
        serde_json::to_vec(&self.0).unwrap_or_default()
    }

    /// The headers that go with its body.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.0.retry_after_s {
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
                InTheWay::Seat(seat, code) => match names.seat_text(*seat) {
                    "" => {}
                    seat => obstacles.seats.push(SeatInTheWay { seat: seat.to_owned(), code: code.as_str() }),
                },
                InTheWay::Area(area, code) => match names.area_text(*area) {
                    "" => {}
                    area => obstacles.areas.push(AreaInTheWay { area: area.to_owned(), code: code.as_str() }),
                },
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
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body()));
        *response.status_mut() =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = self.headers();
        response
    }
}

//! `/v1/series`: sales by a schedule. The clockwork opens them; here a series is made, shown, changed and followed.

pub mod change;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use onsale_domain::limits::NAME_CHARS_MAX;
use onsale_domain::listing::BodyView;
use onsale_domain::series::details::{ItemTemplate, SaleTemplate, SeriesDetails};
use onsale_domain::series::schedule::Schedule;
use onsale_domain::series::{Plan, Series, SeriesCommand, SeriesFact, SlotState, sale_of};
use onsale_domain::stock::details::StockRules;
use onsale_domain::{Code, Command, Fact, ListingId, ListingKind, Millis};
use onsale_engine::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::change::StatusBody;
use super::about::{AboutBody, CardBody, Metadata};
use super::events::currency;
use super::extract::{Caller, LargeJson, SeriesPath};
use super::gate::Visitor;
use super::list::{self, List, ListingFilter, Page, StatusListQuery};
use super::problem::Problem;
use super::query::Query;
use super::reply::{self, own_fact};
use super::table::{RouteDeclaration, declare};
use super::time::Time;
use super::wire::{At, seconds};
use super::words::SkipCause;
use super::{about, delete, facts, new_listing, stream};
use crate::app::App;
use crate::zone::Clocks;

/// How long a sale lasts unless the series says otherwise: until the next one of an hourly series.
const LENGTH_S_DEFAULT: i64 = 3_600;
/// Slots that are shown; older ones are in the facts.
const SLOTS_SHOWN: usize = 24;

/// The routes of series.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("series.create", create, Listings, Staff, keyed),
        declare!("series.list", list, Read, Read, compressed),
        declare!("series.show", show, Read, Read, positioned),
        declare!("series.change", change::change, Listings, Staff, keyed),
        declare!("series.delete", delete::series, Listings, Staff, keyed),
        declare!("series.facts", list_facts, Read, Read, compressed),
        declare!("series.stream", follow, Read, Stream),
    ]
}

/// A new series: a sale with generated items at every slot of its schedule.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "name": "On the hour", "currency": "EUR", "length_seconds": 3600, "buyer_limit": 2,
    "items": [{"price_minor": 900, "stock": 100}],
}))]
pub struct NewSeries {
    pub name: String,
    /// Every full hour of UTC if absent.
    pub schedule: Option<ScheduleBody>,
    /// Slots before this instant do not count; now if absent.
    pub from: Option<Time>,
    /// What each sale is called; the series' own name if absent.
    pub sale_name: Option<String>,
    #[serde(default)]
    pub description: String,
    /// An ISO 4217 code with a minor unit.
    pub currency: String,
    pub buyer_limit: Option<u32>,
    pub checkout_seconds: Option<i64>,
    /// How long a sale lasts: a minute to 31 days, an hour if absent.
    pub length_seconds: Option<i64>,
    /// 1 to 20; those without a name or a picture get one in each sale.
    pub items: Vec<ItemBody>,
    /// The merchant's own name of it, unique among its kind: it is found by that, and never changes.
    #[schema(example = "shop-4711")]
    pub external_id: Option<String>,
    /// A JSON object of at most 2,048 bytes, returned as it was written, and never looked into.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Metadata>,
    pub card: Option<CardBody>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Schedule, example = json!({"cron": "0 18 * * 1-5", "zone": "Europe/Berlin"}))]
pub struct ScheduleBody {
    /// Minute, hour, day of the month, month, day of the week.
    pub cron: String,
    /// The zone on whose clocks the line is read, as the time zone database names it.
    pub zone: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Item)]
pub struct ItemBody {
    /// Its name in every sale; absent: each sale makes up one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Amber kettle")]
    pub name: Option<String>,
    #[schema(example = 900)]
    pub price_minor: i64,
    #[schema(example = 100)]
    pub stock: u32,
    /// An `https` address of at most 2,048 bytes, or an SVG drawing of at most 4,096; absent: each sale draws one of its
    /// own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Series)]
pub struct SeriesBody {
    id: String,
    status: StatusBody,
    #[serde(flatten)]
    details: DetailsBody,
    /// The sale that is on at this moment.
    active_sale: Option<String>,
    /// When the next sale is made, a minute before its slot.
    next_at: Option<Time>,
    /// The last 24 slots and what became of them, latest first.
    slots: Vec<SlotBody>,
    #[schema(value_type = String, example = "1-3")]
    position: At,
    #[serde(flatten)]
    about: AboutBody,
}

/// What a series is, apart from its slots.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SeriesDetails)]
pub struct DetailsBody {
    name: String,
    /// Absent: every full hour of UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<ScheduleBody>,
    from: Time,
    sale_name: String,
    description: String,
    currency: String,
    buyer_limit: u32,
    checkout_seconds: i64,
    length_seconds: i64,
    items: Vec<ItemBody>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Slot)]
pub struct SlotBody {
    slot: Time,
    /// How far the zone's clocks were ahead of UTC.
    offset_seconds: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    sale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_at: Option<Time>,
    /// Why there is no sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<SkipCause>,
}

impl From<&SeriesDetails> for DetailsBody {
    fn from(details: &SeriesDetails) -> DetailsBody {
        let template = &details.template;
        DetailsBody {
            name: details.name.clone(),
            schedule: match &details.schedule {
                Schedule::Hourly => None,
                Schedule::Cron { line, zone } => {
                    Some(ScheduleBody { cron: line.clone(), zone: zone.clone() })
                }
            },
            from: Time(details.from),
            sale_name: template.name.clone(),
            description: template.description.clone(),
            currency: template.currency.as_str().to_owned(),
            buyer_limit: template.rules.buyer_limit,
            checkout_seconds: template.rules.checkout_ms / 1_000,
            length_seconds: template.length_ms / 1_000,
            items: template.items.iter().map(ItemBody::from).collect(),
        }
    }
}

impl From<&ItemTemplate> for ItemBody {
    fn from(item: &ItemTemplate) -> ItemBody {
        ItemBody {
            name: item.name.clone(),
            price_minor: item.price_minor,
            stock: item.stock,
            picture: item.picture.clone(),
        }
    }
}

impl ItemBody {
    pub fn to_domain(&self) -> ItemTemplate {
        ItemTemplate {
            price_minor: self.price_minor,
            stock: self.stock,
            name: self.name.clone(),
            picture: self.picture.clone(),
        }
    }
}

impl SeriesBody {
    fn of(view: &View, series: &Series, now: Millis) -> SeriesBody {
        let plan = Clocks::of(&series.details().schedule).map(|zone| series.plan(now, &zone));
        let slot = |known: &SlotState| SlotBody {
            slot: Time(known.slot.at),
            offset_seconds: known.slot.offset_s,
            sale: known.ends_at.map(|_| sale_of(view.listing, known.slot.at).to_string()),
            ends_at: known.ends_at.map(Time),
            skipped: known.skipped.map(SkipCause::from),
        };
        SeriesBody {
            id: view.listing.to_string(),
            status: series.status().into(),
            details: DetailsBody::from(&**series.details()),
            active_sale: series.active_at(now).map(|sale| sale.to_string()),
            next_at: match plan {
                Some(Plan::WaitUntil(at)) => Some(Time(at)),
                Some(Plan::Ask(_)) => Some(Time(now)),
                Some(Plan::Rest) | None => None,
            },
            slots: series.slots().rev().take(SLOTS_SHOWN).map(slot).collect(),
            position: At(view.position),
            about: AboutBody::of(view),
        }
    }
}

/// The rules check the name of the sales as a sale's own; a wrong one is called here what the body calls it.
fn which_name(problem: Problem, sale_name: Option<&str>) -> Problem {
    let is_name = |name: &str| {
        (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && !name.chars().any(char::is_control)
    };
    if sale_name.is_none_or(is_name) { problem } else { problem.renamed("name", "sale_name") }
}

/// Create a series
///
/// At every slot of its schedule the series opens a sale with items of its own.
#[utoipa::path(post, path = "/v1/series", tag = "series", request_body = NewSeries,
    responses((status = 201, body = SeriesBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    LargeJson(body): LargeJson<NewSeries>,
) -> Result<Response, Problem> {
    let about = about::asked(&body.external_id, &body.metadata, &body.card);
    let listing = new_listing(&app, ListingKind::Series, &caller, &about);
    let origin = caller.origin(&listing, &body);
    let details = body.details(app.engine.now())?;
    let command = Command::Series(SeriesCommand::Create(Box::new(details)));
    let created = reply::create(&app, listing, command, about, origin).await;
    let (listing, answer) = created.map_err(|problem| which_name(problem, body.sale_name.as_deref()))?;
    let (_, details) = own_fact(&answer, |fact| {
        if let Fact::Series(SeriesFact::Created(details)) = fact { Some(details) } else { None }
    })?;
    let told = SeriesBody {
        id: listing.to_string(),
        status: StatusBody::Running,
        details: DetailsBody::from(&**details),
        active_sale: None,
        next_at: None,
        slots: Vec::new(),
        position: At(reply::position_of(&answer)),
        about: AboutBody::of_answer(&answer),
    };
    Ok(reply::created(&answer, &format!("/v1/series/{listing}"), &told))
}

impl NewSeries {
    fn details(&self, now: Millis) -> Result<SeriesDetails, Problem> {
        let default = StockRules::default();
        let schedule = match &self.schedule {
            None => Schedule::Hourly,
            Some(schedule) => {
                Clocks::named(&schedule.zone).ok_or_else(|| {
                    Problem::invalid("schedule.zone", "the name of a time zone, such as Europe/Berlin")
                })?;
                Schedule::Cron { line: schedule.cron.clone(), zone: schedule.zone.clone() }
            }
        };
        Ok(SeriesDetails {
            name: self.name.clone(),
            schedule,
            from: self.from.map_or(now, Time::ms),
            template: SaleTemplate {
                name: self.sale_name.clone().unwrap_or_else(|| self.name.clone()),
                description: self.description.clone(),
                currency: currency(&self.currency)?,
                rules: StockRules {
                    buyer_limit: self.buyer_limit.unwrap_or(default.buyer_limit),
                    checkout_ms: self.checkout_seconds.map_or(default.checkout_ms, seconds),
                },
                length_ms: seconds(self.length_seconds.unwrap_or(LENGTH_S_DEFAULT)),
                items: self.items.iter().map(ItemBody::to_domain).collect(),
            },
        })
    }
}

/// The series as readers see it, or 404.
pub fn find(app: &App, listing: &ListingId) -> Result<(Arc<View>, Arc<Series>), Problem> {
    let view = app.engine.view(listing).ok_or_else(|| Problem::code(Code::ListingUnknown))?;
    let series = series_of(&view).cloned().ok_or_else(|| Problem::code(Code::ListingUnknown))?;
    Ok((view, series))
}

pub fn series_of(view: &View) -> Option<&Arc<Series>> {
    if let BodyView::Series(series) = &view.body { Some(series) } else { None }
}

/// Show a series, the sale that is on now, and its last slots
///
/// With the sale that is on at this moment and when the next one is made.
#[utoipa::path(get, path = "/v1/series/{series}", tag = "series", responses((status = 200, body = SeriesBody)))]
pub async fn show(State(app): State<Arc<App>>, at: SeriesPath) -> Result<Response, Problem> {
    let (view, series) = find(&app, &at.listing)?;
    let mut response = reply::json(StatusCode::OK, &SeriesBody::of(&view, &series, app.engine.now()));
    response.headers_mut().insert(reply::POSITION, reply::position_value(view.position));
    Ok(response)
}

/// Series in order of their ids
///
/// Page by page: go on with `after` as long as an answer has `next`. With a filter a page may be short or empty and have
/// one: a request looks at 2,000 at most. A series starts at its `from`.
#[utoipa::path(get, path = "/v1/series", tag = "series",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query), ("status" = Option<StatusBody>, Query),
           ("starts_after" = Option<Time>, Query), ("starts_before" = Option<Time>, Query),
           ("external_id" = Option<String>, Query),
           ("created_after" = Option<Time>, Query), ("created_before" = Option<Time>, Query)),
    responses((status = 200, body = List<SeriesBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(page): Query<StatusListQuery<StatusBody>>,
) -> Result<Response, Problem> {
    let is_wanted = |view: &View| {
        series_of(view).is_some_and(|series| page.lets_pass(series.status().into(), series.details().from))
    };
    let asked = ListingFilter::from(&page);
    let (found, next) =
        list::listings(&app, &visitor, ("series.list", ListingKind::Series), &asked, is_wanted).await?;
    let now = app.engine.now();
    let series = found.iter().filter_map(|view| Some(SeriesBody::of(view, series_of(view)?, now)));
    Ok(reply::json(StatusCode::OK, &List::new(series.collect(), next)))
}

/// What happened to a series, in order
///
/// Page by page, oldest first: go on with `after`. A step is never torn, so a page may be a little longer than `limit`.
#[utoipa::path(get, path = "/v1/series/{series}/facts", tag = "facts",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query)),
    responses((status = 200, body = facts::FactList), (status = 410, description = "Reload")))]
pub async fn list_facts(
    State(app): State<Arc<App>>,
    at: SeriesPath,
    Query(page): Query<Page>,
) -> Result<Response, Problem> {
    facts::page_of(&app, &at.principal, at.listing, &page).await
}

/// Every fact of a series as it happens, as server-sent events
///
/// Begins with the event `position`, then sends each fact with its position as `id`. `Last-Event-ID` or `after` resumes
/// with all that was missed; the event `reload` names the position to go on from if that is not in the log.
#[utoipa::path(get, path = "/v1/series/{series}/stream", tag = "facts",
    params(("after" = Option<String>, Query), ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 503, description = "Too many streams")))]
pub async fn follow(
    State(app): State<Arc<App>>,
    at: SeriesPath,
    Query(wish): Query<stream::Wish>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    stream::of_listing(app, (at.listing, at.principal), &wish, &headers).await
}

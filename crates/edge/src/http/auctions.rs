//! `/v1/auctions`: create, show, list. Everything else of an auction is in `auctions/`, one file per resource.
//! No answer shows a maximum above the price, but to its bidder.

pub mod bans;
pub mod bids;
pub mod cancel;
pub mod change;
pub mod decline;
pub mod details;
pub mod history;
pub mod log;
pub mod mine;
pub mod retractions;
pub mod watchers;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use onsale_domain::Found;
use onsale_domain::auction::fact::Award;
use onsale_domain::auction::{
    AuctionCommand, AuctionFact, AuctionFound, AuctionQuery, AuctionStatus, AuctionView, AwardState,
    BidderState,
};
use onsale_domain::listing::BodyView;
use onsale_domain::{Code, Command, Fact, ListingId, ListingKind, Millis, Tenant};
use onsale_engine::calendar::Place;
use onsale_engine::{Answer, View};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::details::{DetailsBody, NewAuction};
use super::about::AboutBody;
use super::audience::Audience;
use super::extract::{AuctionPath, Caller, Json};
use super::gate::Visitor;
use super::list::{self, Cursors, List, ListingFilter, StatusListQuery};
use super::problem::Problem;
use super::query::Query;
use super::reply;
use super::table::{RouteDeclaration, Straight, declare};
use super::time::Time;
use super::wire::At;
use super::words::{self, AwardStatus, Closing, ReserveStatus};
use super::{about, delete, new_listing};
use crate::app::App;

/// The routes of auctions.
pub fn routes() -> Vec<RouteDeclaration> {
    vec![
        declare!("auctions.create", create, Listings, Staff, keyed),
        declare!("auctions.list", list, Read, Search, compressed),
        declare!("auctions.show", show, Read, Read, positioned),
        declare!("auctions.change", change::change, Listings, Staff, keyed),
        declare!("auctions.delete", delete::auction, Listings, Staff, keyed),
        declare!("auctions.cancel", cancel::cancel, Listings, Staff, keyed),
        declare!("bids.create", bids::place, Buy, Buy, keyed, straight(Straight::PlaceBid)),
        declare!("auctions.buy_now", bids::buy_now, Buy, Buy, keyed),
        declare!("bids.retract", retractions::retract, Buy, Buy, keyed),
        declare!("awards.decline", decline::decline, Buy, Buy, keyed),
        declare!("watchers.list", watchers::list, Staff, Read),
        declare!("watchers.create", watchers::watch, Buy, Buy, keyed),
        declare!("watchers.delete", watchers::unwatch, Buy, Buy, keyed),
        declare!("bans.create", bans::ban, Staff, Staff, keyed),
        declare!("bans.delete", bans::unban, Staff, Staff, keyed),
        declare!("auctions.history", history::list, Read, Read, compressed),
        declare!("auctions.facts", log::facts, Read, Read, compressed),
        declare!("auctions.stream", log::stream, Read, Stream),
        declare!("buyers.bids", mine::bids, Buy, Search, compressed),
    ]
}

/// An auction as everybody may see it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Auction)]
pub struct AuctionBody {
    pub id: String,
    /// By the clock.
    pub status: words::AuctionStatus,
    #[serde(flatten)]
    pub details: DetailsBody,
    /// The original end; soft close moves `ends_at`.
    pub original_ends_at: Time,
    /// How often the end has moved.
    pub extensions: u32,
    /// What the leader would pay; absent before the first bid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 5100)]
    pub price_minor: Option<i64>,
    /// The least that a bid must offer now.
    #[schema(example = 5200)]
    pub min_next_minor: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "ann")]
    pub leader: Option<String>,
    pub reserve: ReserveStatus,
    /// What buying at once costs, while that is on offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buy_now_minor: Option<i64>,
    /// Accepted bids, retracted ones too.
    pub bids: u32,
    pub bidders: u32,
    pub watchers: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultBody>,
    /// The caller's own part, if `Onsale-Buyer` names one who has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub you: Option<YouBody>,
    /// The listing's position that this describes.
    #[schema(value_type = String, example = "1-3")]
    pub position: At,
    #[serde(flatten)]
    pub about: AboutBody,
}

/// How it ended.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuctionResult)]
pub struct ResultBody {
    pub how: Closing,
    pub closed_at: Time,
    /// Who was given the chance to pay, the winner first.
    pub awards: Vec<AwardBody>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Award)]
pub struct AwardBody {
    #[schema(example = "ann")]
    pub bidder: String,
    /// The bid that earned it; none for a buy-now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bid: Option<u32>,
    pub price_minor: i64,
    /// To be paid before this instant.
    pub expires_at: Time,
    /// 0 if that has passed.
    pub expires_in_seconds: u64,
    pub status: AwardStatus,
}

/// One person's part in an auction; shown to nobody else.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnPart)]
pub struct YouBody {
    pub leading: bool,
    /// The highest maximum of yours that stands. Shown to nobody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_minor: Option<i64>,
    /// Your latest bid that stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_bid: Option<u32>,
    pub bids: u32,
    pub watching: bool,
    pub banned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub award: Option<AwardBody>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    after: Option<String>,
    limit: Option<usize>,
    status: Option<words::AuctionStatus>,
    starts_after: Option<Time>,
    starts_before: Option<Time>,
    ending_before: Option<Time>,
    external_id: Option<String>,
    created_after: Option<Time>,
    created_before: Option<Time>,
}

/// Create an auction
///
/// Bidders name the most they would pay; the price follows from the others. It opens and closes by the clock.
#[utoipa::path(post, path = "/v1/auctions", tag = "auctions", request_body = NewAuction,
    responses((status = 201, body = AuctionBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Json(body): Json<NewAuction>,
) -> Result<Response, Problem> {
    let about = about::asked(&body.external_id, &body.metadata, &body.card);
    let listing = new_listing(&app, ListingKind::Auction, &caller, &about);
    let origin = caller.origin(&listing, &body);
    let details = body.details(app.engine.now())?;
    let command = Command::Auction(AuctionCommand::CreateAuction(Box::new(details)));
    let (listing, answer) = reply::create(&app, listing, command, about, origin).await?;
    let details = own_fact(&answer, |fact| {
        if let AuctionFact::AuctionCreated(details) = fact { Some(details) } else { None }
    })?;
    let starts_later = reply::time_of(&answer) < details.starts_at;
    let status = if starts_later { AuctionStatus::Scheduled } else { AuctionStatus::Open };
    let auction = AuctionBody {
        id: listing.to_string(),
        status: status.into(),
        // Whoever makes it knows its reserve.
        details: DetailsBody::new(details, details.ends_at, true),
        original_ends_at: Time(details.ends_at),
        extensions: 0,
        price_minor: None,
        min_next_minor: details.terms.start_minor,
        leader: None,
        reserve: match details.terms.reserve_minor {
            Some(_) => ReserveStatus::NotMet,
            None => ReserveStatus::None,
        },
        buy_now_minor: details.terms.buy_now.map(|terms| terms.price_minor),
        bids: 0,
        bidders: 0,
        watchers: 0,
        result: None,
        you: None,
        position: At(reply::position_of(&answer)),
        about: AboutBody::of_answer(&answer),
    };
    Ok(reply::created(&answer, &format!("/v1/auctions/{listing}"), &auction))
}

/// Show an auction
///
/// With `Onsale-Buyer` the answer has that buyer's own part, with the maximum; for the seller it has the reserve.
#[utoipa::path(get, path = "/v1/auctions/{auction}", tag = "auctions",
    params(("Onsale-Buyer" = Option<String>, Header)), responses((status = 200, body = AuctionBody)))]
pub async fn show(State(app): State<Arc<App>>, at: AuctionPath, caller: Caller) -> Result<Response, Problem> {
    let own = match caller.buyer.clone() {
        None => Found::Nothing,
        Some(buyer) => app.engine.ask(at.listing, AuctionQuery::Bidder(buyer).into()).await?,
    };
    let view = find(&app, &at.listing)?;
    let audience = Audience::of(&at.principal, &app.tokens);
    let mut body = described(&view, app.engine.now(), &audience).ok_or_else(unknown)?;
    if let (Ok(auction), Some(buyer)) = (of(&view), &caller.buyer)
        && auction.details.seller == *buyer
    {
        body.details.reserve_minor = auction.details.terms.reserve_minor;
    }
    if let Found::Auction(AuctionFound::Bidder(own)) = own {
        body.you = Some(YouBody::new(*own, app.engine.now()));
    }
    let mut response = reply::json(StatusCode::OK, &body);
    response.headers_mut().insert(reply::POSITION, reply::position_value(view.position));
    Ok(response)
}

/// Auctions in order of their ids; with `ending_before`, those that are open and end before then, the soonest first
///
/// Page by page: go on with `after` as long as an answer has `next`. With a filter a page may be short or empty and have
/// one: a request looks at 2,000 at most.
#[utoipa::path(get, path = "/v1/auctions", tag = "auctions",
    params(("after" = Option<String>, Query), ("limit" = Option<usize>, Query), ("status" = Option<words::AuctionStatus>, Query),
           ("starts_after" = Option<Time>, Query), ("starts_before" = Option<Time>, Query),
           ("external_id" = Option<String>, Query),
           ("created_after" = Option<Time>, Query), ("created_before" = Option<Time>, Query),
           ("ending_before" = Option<Time>, Query, description = "Only those that are open and end before then, the soonest first")),
    responses((status = 200, body = List<AuctionBody>)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    Query(wish): Query<Wish>,
) -> Result<Response, Problem> {
    let page = StatusListQuery {
        after: wish.after,
        limit: wish.limit,
        external_id: wish.external_id,
        status: wish.status,
        starts_after: wish.starts_after,
        starts_before: wish.starts_before,
        created_after: wish.created_after,
        created_before: wish.created_before,
    };
    let now = app.engine.now();
    let is_wanted = |view: &View| {
        of(view).is_ok_and(|auction| page.lets_pass(auction.status_at(now).into(), auction.details.starts_at))
    };
    let asked = ListingFilter::from(&page);
    let (found, next) = match wish.ending_before {
        // By name there is one at most, in whatever order.
        Some(before) if page.external_id.is_none() => {
            asked.check()?;
            let is_wanted = |view: &View| asked.lets_pass(view) && is_wanted(view);
            by_end(&app, visitor.tenant, asked.page(), before.0, now, is_wanted)?
        }
        Some(before) => {
            let is_wanted = |view: &View| is_wanted(view) && ends_before(view, before.0, now);
            list::listings(&app, &visitor, ("auctions.list", ListingKind::Auction), &asked, is_wanted).await?
        }
        None => {
            list::listings(&app, &visitor, ("auctions.list", ListingKind::Auction), &asked, is_wanted).await?
        }
    };
    let audience = Audience::of(&visitor, &app.tokens);
    let auctions = found.iter().filter_map(|view| described(view, now, &audience)).collect();
    Ok(reply::json(StatusCode::OK, &List::new(auctions, next)))
}

fn ends_before(view: &View, before: Millis, now: Millis) -> bool {
    of(view).is_ok_and(|auction| auction.status_at(now) == AuctionStatus::Open && auction.ends_at < before)
}

/// Those that are on, by the calendar of their ends.
fn by_end(
    app: &App,
    tenant: Tenant,
    (after, asked): (Option<&str>, Option<usize>),
    before: Millis,
    now: Millis,
    is_wanted: impl Fn(&View) -> bool,
) -> Result<(Vec<Arc<View>>, Option<String>), Problem> {
    // A list of its own: its order is another.
    let cursors = Cursors::new("auctions.list", "ending_before");
    let after = cursors.read(after, |place| {
        let (end, id) = place.split_once('-')?;
        Some((end.parse().ok()?, auction_id(id)?))
    })?;
    let read = |mut place: Option<Place>, count| {
        let mut piece: Vec<(Place, Arc<View>)> = Vec::new();
        while piece.len() < count
            && let Some((at, view)) =
                app.calendar.next(&*app.engine, (tenant, ListingKind::Auction), now, place)
            && at.0 < before
        {
            place = Some(at);
            piece.push((at, view));
        }
        piece
    };
    let is_open = |view: &View| of(view).is_ok_and(|auction| auction.status_at(now) == AuctionStatus::Open);
    let is_wanted = |(_, view): &(Place, Arc<View>)| is_open(view) && is_wanted(view);
    let (found, next) = list::look(after, list::limit(asked)?, read, |(at, _)| *at, is_wanted);
    let next = next.map(|(end, id)| cursors.write(&format!("{end}-{id}")));
    Ok((found.into_iter().map(|(_, view)| view).collect(), next))
}

fn auction_id(text: &str) -> Option<ListingId> {
    ListingId::parse(text).filter(|listing| listing.kind == ListingKind::Auction)
}

fn unknown() -> Problem {
    Problem::code(Code::ListingUnknown)
}

/// The auction as readers see it, or 404.
pub fn find(app: &App, listing: &ListingId) -> Result<Arc<View>, Problem> {
    let view = app.engine.view(listing).ok_or_else(unknown)?;
    of(&view).map(drop)?;
    Ok(view)
}

/// The auction in a view.
pub fn of(view: &View) -> Result<&AuctionView, Problem> {
    if let BodyView::Auction(auction) = &view.body { Ok(auction) } else { Err(unknown()) }
}

/// The first fact of an auction that `pick` recognises; a yes cannot be without it.
fn own_fact<'a, T>(answer: &'a Answer, pick: impl Fn(&'a AuctionFact) -> Option<T>) -> Result<T, Problem> {
    let pick = |fact: &'a Fact| if let Fact::Auction(fact) = fact { pick(fact) } else { None };
    reply::own_fact(answer, pick).map(|(_, found)| found)
}

/// As this audience may see it.
fn described(view: &View, now: Millis, audience: &Audience) -> Option<AuctionBody> {
    let auction = of(view).ok()?;
    let result = auction.closed.as_ref().map(|closed| ResultBody {
        how: closed.how.into(),
        closed_at: Time(closed.at),
        awards: closed
            .awards
            .iter()
            .map(|line| AwardBody {
                bidder: audience.name(&view.listing, &line.award.bidder),
                ..AwardBody::new(&line.award, line.state, now)
            })
            .collect(),
    });
    Some(AuctionBody {
        id: view.listing.to_string(),
        status: auction.status_at(now).into(),
        details: DetailsBody::new(&auction.details, auction.ends_at, false),
        original_ends_at: Time(auction.details.ends_at),
        extensions: auction.extensions,
        price_minor: auction.price_minor,
        min_next_minor: auction.min_next_minor,
        leader: auction.leader.as_ref().map(|leader| audience.name(&view.listing, leader)),
        reserve: auction.reserve.into(),
        buy_now_minor: auction.buy_now_minor,
        bids: auction.bids,
        bidders: auction.bidders,
        watchers: auction.watchers,
        result,
        you: None,
        position: At(view.position),
        about: AboutBody::of(view),
    })
}

/// The answer to a change: the auction as it is now. Whoever may change it may know its reserve.
async fn changed(app: &App, listing: &ListingId, answer: &Answer) -> Result<Response, Problem> {
    let view = reply::seen(app, listing, answer).await?;
    let mut auction = described(&view, app.engine.now(), &Audience::staff());
    if let (Some(told), Ok(known)) = (&mut auction, of(&view)) {
        told.details.reserve_minor = known.details.terms.reserve_minor;
    }
    Ok(reply::changed(answer, &view, &auction))
}

impl YouBody {
    fn new(own: BidderState, now: Millis) -> YouBody {
        YouBody {
            leading: own.leading,
            max_minor: own.max_minor,
            latest_bid: own.latest,
            bids: own.bids,
            watching: own.watching,
            banned: own.banned,
            award: own.award.map(|(given, state)| AwardBody::new(&given, state, now)),
        }
    }
}

impl AwardBody {
    fn new(given: &Award, state: AwardState, now: Millis) -> AwardBody {
        AwardBody {
            bidder: given.bidder.as_str().to_owned(),
            bid: given.bid,
            price_minor: given.price_minor,
            expires_at: Time(given.until),
            expires_in_seconds: Time(given.until).seconds_after(now),
            status: state.into(),
        }
    }
}

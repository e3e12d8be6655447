//! A listing's whole state read back from Redis in one call: how a server starts, how it goes on after a trimmed
//! stream, and how tests compare the two engines.

mod auctions;
mod check;
mod compact;
pub(crate) mod desks;
mod orders;
mod records;
mod registrations;
mod sales;
mod series;

use std::collections::BTreeMap;

use onsale_domain::chart::ChartImage;
use onsale_domain::ended::End;
use onsale_domain::listing::{Listing, Parts};
use onsale_domain::seats::image::{EndedImage, HoldImage, SeatsImage};
use onsale_domain::venue::{Published, Venue};
use onsale_domain::{HoldId, ListingId, Millis};
use redis::Value;

use crate::facts::{self, Fields, Malformed};
use crate::layout::Layout;
use crate::picture::{Picture, Versions};
use crate::reply::{array, bytes, fields};

pub use check::check;

/// Everything a listing has in Redis, by key.
#[derive(Clone, Debug)]
pub struct State {
    pub meta: Fields,
    pub locks: Fields,
    pub queue: Fields,
    pub holds: Fields,
    pub orders: Fields,
    /// Ids with their scores.
    pub ended: Fields,
    pub chart: Vec<u8>,
    pub due: Fields,
    pub open: Fields,
    pub due_chunks: Fields,
}

struct Head {
    layout: String,
    epoch: u64,
    offset: u64,
    at: Millis,
    status: String,
    /// How many seats have a queue; of a sale, the limit for a buyer; of a registration, those who wait; of an
    /// auction, its bids.
    queued: usize,
    /// The next deadline as far as it is known; of an auction, its end.
    mark: Millis,
    seats: usize,
    versions: Versions,
    /// Of a registration, the places that are offered.
    buckets: usize,
}

/// Reads the reply of `read_state`; `None`: there is no such listing.
pub fn read(value: Value) -> Result<Option<State>, Malformed> {
    let parts = array(value)?;
    if parts.is_empty() {
        return Ok(None);
    }
    let mut parts = parts.into_iter();
    let mut next = || parts.next().ok_or_else(|| Malformed::of("state"));
    Ok(Some(State {
        meta: fields(next()?)?,
        locks: fields(next()?)?,
        queue: fields(next()?)?,
        holds: fields(next()?)?,
        orders: fields(next()?)?,
        ended: fields(next()?)?,
        chart: bytes(next()?)?,
        due: fields(next()?)?,
        open: fields(next()?)?,
        due_chunks: fields(next()?)?,
    }))
}

impl State {
    pub fn picture(&self, id: ListingId) -> Result<Picture, Malformed> {
        let Head { layout, epoch, offset, at, versions, .. } = self.head()?;
        if layout == "venue" {
            let listing = Listing::of_parts(id, epoch, offset, at, Parts::Venue(Box::new(self.venue()?)));
            return Ok(Picture { listing, versions: Versions::default(), layout: Layout::Hash });
        }
        let parts = match layout.as_str() {
            "sale" => Some(Parts::Sale(Box::new(sales::image(self)?))),
            "series" => Some(Parts::Series(Box::new(series::image(self)?))),
            "auction" => Some(Parts::Auction(Box::new(auctions::image(self)?))),
            "desk" => Some(Parts::Desk(Box::new(desks::image(self)?))),
            "registration" => Some(Parts::Registration(Box::new(registrations::image(self)?))),
            _ => None,
        };
        if let Some(parts) = parts {
            // They have no chart, and use its place in the head for something else.
            let versions = Versions { chart: 0, ..versions };
            let listing = Listing::of_parts(id, epoch, offset, at, parts).with_orders(orders::image(self)?);
            return Ok(Picture { listing, versions, layout: Layout::Hash });
        }
        let layout = Layout::parse(&layout).ok_or_else(|| Malformed::of("layout"))?;
        let listing = Listing::of_parts(id, epoch, offset, at, Parts::Event(Box::new(self.seats(layout)?)));
        let listing = listing.with_orders(orders::image(self)?);
        Ok(Picture { listing, versions, layout })
    }

    /// The line that every fact writes anew; `lua/lib/head.lua` says what stands where.
    fn head(&self) -> Result<Head, Malformed> {
        let line = self.locks.text("head")?;
        let parts: Vec<&str> = line.split('|').collect();
        let [layout, epoch, offset, at, status, queued, mark, seats, details, chart, buckets] =
            parts.as_slice()
        else {
            return Err(Malformed::of("head"));
        };
        fn number<T: std::str::FromStr>(text: &str) -> Result<T, Malformed> {
            text.parse().map_err(|_| Malformed::of("head"))
        }
        Ok(Head {
            layout: (*layout).to_owned(),
            epoch: number(epoch)?,
            offset: number(offset)?,
            at: number(at)?,
            status: (*status).to_owned(),
            queued: number(queued)?,
            mark: number(mark)?,
            seats: number(seats)?,
            versions: Versions { details: number(details)?, chart: number(chart)? },
            buckets: number(buckets)?,
        })
    }

    fn venue(&self) -> Result<Venue, Malformed> {
        let mut layouts = BTreeMap::new();
        for (version, layout) in self.orders.iter() {
            let version: u32 = version.parse().map_err(|_| Malformed::of("version"))?;
            let layout = minicbor::decode(layout).map_err(|_| Malformed::of("layout"))?;
            layouts.insert(version, Published { version, layout: std::sync::Arc::new(layout) });
        }
        let (name, place) = (self.meta.text("name")?.to_owned(), self.meta.text("place")?.to_owned());
        Ok(Venue { name, place, layouts: layouts.into_values().collect() })
    }

    fn seats(&self, layout: Layout) -> Result<SeatsImage, Malformed> {
        let chart: ChartImage =
            minicbor::decode(self.meta.bytes("chart")?).map_err(|_| Malformed::of("chart"))?;
        let mut blocked_places = Vec::new();
        while let Some(area) = self.meta.get(&format!("area:{}", blocked_places.len())) {
            blocked_places.push(records::area(area)?.blocked);
        }
        Ok(SeatsImage {
            details: facts::details::decode(&self.meta)?,
            status: facts::read_status(&self.head()?.status)?,
            chart,
            blocked: self.blocked(layout)?,
            blocked_places,
            holds: self.all_holds(layout)?,
            orders: orders::sold(self)
                .map(|(id, order)| records::order(id, order))
                .collect::<Result<_, _>>()?,
            places: records::places(&self.queue)?,
            ended: self.all_ended()?,
        })
    }

    fn blocked(&self, layout: Layout) -> Result<Vec<u32>, Malformed> {
        let mut seats = match layout {
            Layout::Compact => {
                compact::seats(self)?.into_iter().filter(|seat| seat.blocked).map(|it| it.index).collect()
            }
            Layout::Hash => {
                let blocked = records::locks(&self.locks).filter(|(_, lock)| records::is_blocked(lock));
                let index = |seat: &str| seat.parse().map_err(|_| Malformed::of("locks"));
                blocked.map(|(seat, _)| index(seat)).collect::<Result<Vec<u32>, _>>()?
            }
        };
        seats.sort_unstable();
        Ok(seats)
    }

    fn all_holds(&self, layout: Layout) -> Result<Vec<HoldImage>, Malformed> {
        match layout {
            Layout::Compact => compact::holds(self),
            Layout::Hash => {
                let holds =
                    self.locks.iter().filter(|(id, record)| id.len() == 26 && record.starts_with(b"h|"));
                let holds = holds.filter(|(id, _)| !id.starts_with('@'));
                holds.map(|(id, hold)| records::hold(id, hold)).collect()
            }
        }
    }

    fn all_ended(&self) -> Result<Vec<EndedImage>, Malformed> {
        let malformed = || Malformed::of("ended");
        let mut all = Vec::new();
        for (id, score) in self.ended.iter() {
            let score = std::str::from_utf8(score).ok().and_then(|score| score.parse::<f64>().ok());
            let score = score.ok_or_else(malformed)? as i64;
            let end = match score % 8 {
                0 => End::Expired,
                1 => End::Released,
                2 => End::Overridden,
                3 => End::Confirmed,
                4 => End::Dissolved,
                5 => End::OverLimit,
                _ => return Err(malformed()),
            };
            let id = facts::read_id(id).map(HoldId).ok_or_else(malformed)?;
            all.push(EndedImage { at: score / 8, id, end });
        }
        all.sort_by_key(|ended| (ended.at, ended.id));
        Ok(all)
    }
}

//! A listing's whole state read back from Redis in one call: how a server starts, how it goes on after a trimmed
//! stream, and how tests compare the two engines.

pub(crate) mod orders;
pub(crate) mod records;

use onsale_domain::ended::End;
use onsale_domain::listing::Listing;
use onsale_domain::{ListingId, Millis};
use redis::Value;

use crate::facts::{self, Fields, Malformed, listing};
use crate::kinds::{self, OWN_HEAD};
use crate::layout::Layout;
use crate::picture::{Picture, Versions};
use crate::reply::{array, bytes, fields};

/// In the score of something that ended the kind of its end stands in the lowest bits of its time (`lua/lib/ended.lua`).
const END_STEP: i64 = End::STEP;

/// What stands in the head of a listing that is deleted, in place of its status; see `lua/listing/delete_listing.lua`.
const DELETED: &str = "deleted";

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

/// The line that every fact writes anew; `lua/lib/head.lua` takes it apart.
pub(crate) struct Head<'a> {
    pub layout: &'a str,
    pub epoch: u64,
    pub offset: u64,
    pub at: Millis,
    pub status: &'a str,
    names: [&'static str; OWN_HEAD],
    own: [&'a str; OWN_HEAD],
}

/// Something that ended lately.
pub(crate) struct EndRecord {
    pub at: Millis,
    pub id: u64,
    pub end: End,
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

/// Counts everything again; the error says what does not add up.
pub fn check(state: &State, id: ListingId) -> Result<(), String> {
    let picture = state.picture(id).map_err(|error| error.to_string())?;
    picture.listing.check_invariants()?;
    if picture.listing.is_deleted() {
        return Ok(());
    }
    orders::check(state)?;
    kinds::check(id.kind, state)
}

impl State {
    /// The rules take in only what they have written: a deadline in another century, a seat beyond the chart or one hold twice ends
    /// in an assertion of theirs. Here that is a damaged listing, which harms itself alone.
    pub fn picture(&self, id: ListingId) -> Result<Picture, Malformed> {
        let taken = std::panic::catch_unwind(|| self.taken_in(id));
        taken.unwrap_or_else(|_| Err(Malformed::of("state")))
    }

    fn taken_in(&self, id: ListingId) -> Result<Picture, Malformed> {
        let Head { layout, epoch, offset, at, .. } = self.head(kinds::head(id.kind))?;
        if !kinds::layouts(id.kind).contains(&layout) {
            return Err(Malformed::of("layout"));
        }
        let created_at = self.meta.get("created_at").map_or(Ok(0), |_| self.meta.number("created_at"))?;
        if self.is_deleted(id)? {
            let listing = Listing::deleted(id, epoch, offset, at).with_created_at(created_at);
            return Ok(Picture { listing, ..Picture::nothing(id) });
        }
        let about = self.meta.text_or_none("about")?.map(listing::read).transpose()?;
        let versions = self.versions(id)?;
        let listing = Listing::of_parts(id, epoch, offset, at, kinds::parts(id.kind, self)?);
        let listing = listing.with_orders(orders::image(self)?).with_about(about).with_created_at(created_at);
        Ok(Picture { listing, versions, layout: Layout::parse(layout).unwrap_or_default() })
    }

    fn is_deleted(&self, id: ListingId) -> Result<bool, Malformed> {
        Ok(self.head(kinds::head(id.kind))?.status == DELETED)
    }

    /// Those of the details and of the chart, where the kind has them.
    fn versions(&self, id: ListingId) -> Result<Versions, Malformed> {
        let head = self.head(kinds::head(id.kind))?;
        let version = |name: &str| if head.names.contains(&name) { head.number(name) } else { Ok(0) };
        Ok(Versions { details: version("details_version")?, chart: version("chart_version")? })
    }

    /// The head of a listing whose kind calls the last fields so.
    pub(crate) fn head(&self, names: [&'static str; OWN_HEAD]) -> Result<Head<'_>, Malformed> {
        Head::read(self.locks.text("head")?, names)
    }

    /// What ended lately: ids with when and how.
    pub(crate) fn all_ended(&self) -> Result<Vec<EndRecord>, Malformed> {
        let malformed = || Malformed::of("ended");
        let mut all = Vec::new();
        for (id, score) in self.ended.iter() {
            let score = std::str::from_utf8(score).ok().and_then(|score| score.parse::<f64>().ok());
            let score = score.ok_or_else(malformed)? as i64;
            let end = usize::try_from(score % END_STEP).ok().and_then(|end| End::ALL.get(end));
            let end = *end.ok_or_else(malformed)?;
            let id = facts::read_id(id).ok_or_else(malformed)?;
            all.push(EndRecord { at: score / END_STEP, id, end });
        }
        all.sort_by_key(|ended| (ended.at, ended.id));
        Ok(all)
    }
}

impl<'a> Head<'a> {
    /// The line, whose kind calls the last fields so.
    pub(crate) fn read(line: &'a str, names: [&'static str; OWN_HEAD]) -> Result<Head<'a>, Malformed> {
        fn number<T: std::str::FromStr>(text: &str) -> Result<T, Malformed> {
            text.parse().map_err(|_| Malformed::of("head"))
        }
        let parts: Vec<&str> = line.split('|').collect();
        let [layout, epoch, offset, at, status, own @ ..] = parts.as_slice() else {
            return Err(Malformed::of("head"));
        };
        let own = own.try_into().map_err(|_| Malformed::of("head"))?;
        let (epoch, offset, at) = (number(epoch)?, number(offset)?, number(at)?);
        Ok(Head { layout, epoch, offset, at, status, names, own })
    }

    /// A field of the kind's own.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, Malformed> {
        let place = self.names.iter().position(|known| *known == name);
        place.and_then(|place| self.own[place].parse().ok()).ok_or_else(|| Malformed::of("head"))
    }
}

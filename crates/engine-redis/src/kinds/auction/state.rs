//! An auction's state read back, and whether what Redis keeps twice agrees with itself.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::auction::fact::Award;
use onsale_domain::auction::image::{AuctionImage, BidImage, PersonImage};
use onsale_domain::auction::numbers::{self, Skip};
use onsale_domain::auction::{AuctionEnd, AwardLine, AwardState};
use onsale_domain::{BuyerId, Millis};

use super::facts as own;
use crate::facts::Malformed;
use crate::state::State;
use crate::state::records::{Parts, same};

pub(super) fn image(state: &State) -> Result<AuctionImage, Malformed> {
    let head = state.head(super::HEAD)?;
    let number = |value: u64| u16::try_from(value).map_err(|_| Malformed::of("head"));
    let (mut people, mut places, mut bids) = (Vec::new(), BTreeMap::new(), Vec::new());
    let banned = banned(state)?;
    let mut skips = Vec::new();
    for (nth, (given, record)) in records(state).into_iter().enumerate() {
        numbers::note(&mut skips, nth as u32 + 1, given);
        let (name, mut bid) = bid(record)?;
        bid.bidder = match places.get(name) {
            Some(place) => *place,
            None => {
                let place = number(people.len() as u64)?;
                people.push(person(state, name, &banned)?);
                places.insert(name.to_owned(), place);
                place
            }
        };
        bids.push(bid);
    }
    // No bid is missing: numbers were skipped nowhere but where it was written down.
    if skips != written_skips(state)? {
        return Err(Malformed::of("bids"));
    }
    // Who has never bid, by name.
    let silent: BTreeSet<&str> =
        state.holds.iter().map(|(name, _)| name).chain(banned.iter().copied()).collect();
    for name in silent.into_iter().filter(|name| !places.contains_key(*name)) {
        people.push(person(state, name, &banned)?);
    }
    let leader = Some(head.number("lead_bid")?).filter(|bid| *bid > 0);
    let cancelled_at = state.locks.get("cancelled").map(|_| state.locks.number("cancelled")).transpose()?;
    Ok(AuctionImage {
        details: own::decode_details(&state.meta)?,
        closed: closed(state)?,
        cancelled_at,
        ends_at: head.number("ends")?,
        extensions: head.number("extensions")?,
        leader,
        price_minor: head.number("price")?,
        people,
        bids,
        skips,
    })
}

fn banned(state: &State) -> Result<BTreeSet<&str>, Malformed> {
    Ok(state.locks.iter().filter_map(|(field, _)| field.strip_prefix('!')).collect())
}

fn person(state: &State, name: &str, banned: &BTreeSet<&str>) -> Result<PersonImage, Malformed> {
    let id = BuyerId::parse(name).ok_or_else(|| Malformed::of("people"))?;
    Ok(PersonImage { name: id, watches: state.holds.get(name).is_some(), banned: banned.contains(name) })
}

/// The bids in their order: the fields that are numbers.
fn records(state: &State) -> BTreeMap<u32, &[u8]> {
    let numbered = |(field, record)| str::parse(field).ok().map(|number| (number, record));
    state.locks.iter().filter_map(numbered).filter(|(number, _)| *number > 0).collect()
}

/// Where numbers were skipped, as `numbers` says: created in epoch|epoch|skipped|from:skipped,…
fn written_skips(state: &State) -> Result<Vec<Skip>, Malformed> {
    let malformed = || Malformed::of("numbers");
    let Some(line) = state.locks.text_or_none("numbers")? else { return Ok(Vec::new()) };
    let list = line.split('|').nth(3).ok_or_else(malformed)?;
    let skip = |text: &str| {
        let (from, skipped) = text.split_once(':')?;
        Some(Skip { from: from.parse().ok()?, skipped: skipped.parse().ok()? })
    };
    list.split(',').filter(|text| !text.is_empty()).map(|text| skip(text).ok_or_else(malformed)).collect()
}

/// A bid and its bidder's name; the bidder's number among the people is not known yet.
fn bid(record: &[u8]) -> Result<(&str, BidImage), Malformed> {
    let mut parts = Parts::new("bid", record, 4)?;
    let (max_minor, at) = (parts.number()?, parts.number()?);
    let retracted = match parts.text()? {
        "" => false,
        "r" => true,
        _ => return Err(Malformed::of("bid")),
    };
    Ok((parts.text()?, BidImage { bidder: 0, max_minor, at, retracted }))
}

fn closed(state: &State) -> Result<Option<AuctionEnd>, Malformed> {
    let Some(record) = state.locks.get("closed") else { return Ok(None) };
    let mut parts = Parts::new("closed", record, 3)?;
    let at = parts.number()?;
    let how = own::read_closing(parts.text()?)?;
    let last_at = parts.number()?;
    let awards = match state.locks.text_or_none("awards")? {
        None => Vec::new(),
        Some(lines) => lines.split('\n').map(award).collect::<Result<_, _>>()?,
    };
    Ok(Some(AuctionEnd { at, how, awards, last_at }))
}

fn award(line: &str) -> Result<AwardLine, Malformed> {
    let mut parts = Parts::new("awards", line.as_bytes(), 5)?;
    let state = match parts.text()? {
        "pending" => AwardState::Pending,
        "settled" => AwardState::Settled,
        "unpaid" => AwardState::Unpaid,
        "declined" => AwardState::Declined,
        "refunded" => AwardState::Refunded,
        _ => return Err(Malformed::of("awards")),
    };
    let bid = match parts.text()? {
        "" => None,
        text => Some(text.parse().map_err(|_| Malformed::of("awards"))?),
    };
    let (price_minor, until) = (parts.number()?, parts.number()?);
    Ok(AwardLine { award: Award { bidder: parts.buyer()?, bid, price_minor, until }, state })
}

/// Counts bids and bans again, and whether the line about the leader is that of the leader's bid.
pub(super) fn check(state: &State) -> Result<(), String> {
    let malformed = |error: Malformed| error.to_string();
    let (image, head) = (image(state).map_err(malformed)?, state.head(super::HEAD).map_err(malformed)?);
    same("the head's bids", &head.number("bids_len").map_err(malformed)?, &image.bids.len())?;
    let nth = image.leader.and_then(|bid| numbers::nth_of(&image.skips, bid));
    let leading = nth.and_then(|nth| image.bids.get(nth as usize - 1));
    let lead = leading
        .map(|bid| format!("{}|{}", bid.max_minor, image.people[usize::from(bid.bidder)].name.as_str()));
    same("the lead", &state.locks.text_or_none("lead").map_err(malformed)?, &lead.as_deref())?;
    let banned = banned(state).map_err(malformed)?.len();
    let counted =
        state.locks.get("banned").map_or(Ok(0), |_| state.locks.number("banned")).map_err(malformed)?;
    same("the banned", &counted, &banned)?;
    let status = match (&image.closed, image.cancelled_at) {
        (Some(_), _) => "closed",
        (None, Some(_)) => "cancelled",
        (None, None) => "live",
    };
    same("the status", &head.status, &status)?;
    let rules = super::commands::rules(&image.details);
    same("the rules", &state.locks.text("rules").map_err(malformed)?, &rules.as_str())?;
    let last: Option<Millis> = image.bids.last().map(|bid| bid.at);
    if last.is_some_and(|at| at > head.at) {
        Err("a bid is younger than the last fact".into())
    } else {
        Ok(())
    }
}

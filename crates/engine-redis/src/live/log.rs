//! Reads a listing's stream, whole steps only.

use std::sync::Arc;

use onsale_domain::{ListingId, Millis, Step};
use onsale_engine::Position;
use redis::Value;

use crate::facts::{self, Fields, Malformed};
use crate::link::Link;
use crate::live::Trouble;
use crate::reply::{array, bytes, fields};

/// Facts read in one call: some hundred kilobytes at most.
pub(super) const PAGE: usize = 512;
/// Facts looked at in one call for the beginning of a step; few steps are longer.
const STEP_PAGE: usize = 64;

/// Steps behind a position, and whether the stream has more.
#[derive(Debug)]
pub(super) struct Page {
    pub steps: Vec<Arc<Step>>,
    pub more: bool,
}

/// The steps right behind `after`, at least one whole one if there is any.
pub(super) async fn after(
    link: &Link,
    key: &str,
    listing: ListingId,
    mut after: Position,
    limit: usize,
) -> Result<Page, Trouble> {
    let mut count = limit.clamp(1, PAGE);
    loop {
        let mut command = redis::cmd("XRANGE");
        command.arg(key).arg(format!("({}-{}", after.epoch, after.offset)).arg("+").arg("COUNT").arg(count);
        let entries = array(link.at(key, &command).await?)?;
        let read = entries.len();
        if let Some(first) = entries.first()
            && !begins_step(first)?
        {
            // The position is inside of a step, which is told from its start.
            after = step_start(link, key, after).await?;
            continue;
        }
        let (steps, cut) = steps(listing, entries)?;
        if !steps.is_empty() || read < count {
            return Ok(Page { steps, more: read == count });
        }
        // One step is longer than what was read: its first fact says how long.
        count = cut.max(count + 1);
    }
}

/// The position right before the step that has the fact at this one in it.
async fn step_start(link: &Link, key: &str, at: Position) -> Result<Position, Trouble> {
    let mut until = at;
    loop {
        let mut command = redis::cmd("XREVRANGE");
        command.arg(key).arg(id(until)).arg("-").arg("COUNT").arg(STEP_PAGE);
        let entries = array(link.at(key, &command).await?)?;
        let Some(last) = entries.last().cloned() else { return Err(Malformed::of("step").into()) };
        for entry in entries {
            let begins = begins_step(&entry)?;
            let (found, _) = entry_of(entry)?;
            if begins {
                return Ok(Position { offset: found.offset - 1, ..found });
            }
        }
        let (last, _) = entry_of(last)?;
        until = Position { offset: last.offset - 1, ..last };
    }
}

/// The last position in the stream that is not behind this one; none if the stream begins behind it.
pub(super) async fn last_until(link: &Link, key: &str, at: Position) -> Result<Option<Position>, Trouble> {
    let mut command = redis::cmd("XREVRANGE");
    command.arg(key).arg(id(at)).arg("-").arg("COUNT").arg(1);
    one(link.at(key, &command).await?)
}

/// The first position in the stream; none if there is nothing in it.
pub(super) async fn first(link: &Link, key: &str) -> Result<Option<Position>, Trouble> {
    let mut command = redis::cmd("XRANGE");
    command.arg(key).arg("-").arg("+").arg("COUNT").arg(1);
    one(link.at(key, &command).await?)
}

/// When the first step of the stream was, and how many facts it has; none if there is nothing in the stream.
pub(super) async fn first_step(link: &Link, key: &str) -> Result<Option<(Millis, usize)>, Trouble> {
    let mut command = redis::cmd("XRANGE");
    command.arg(key).arg("-").arg("+").arg("COUNT").arg(1);
    let Some(entry) = array(link.at(key, &command).await?)?.into_iter().next() else { return Ok(None) };
    let (_, fact) = entry_of(entry)?;
    Ok(Some((facts::at(&fact)?, facts::length(&fact)?)))
}

fn one(entries: Value) -> Result<Option<Position>, Trouble> {
    let entry = array(entries)?.into_iter().next();
    Ok(entry.map(entry_of).transpose()?.map(|(at, _)| at))
}

fn id(at: Position) -> String {
    format!("{}-{}", at.epoch, at.offset)
}

/// Only the first fact of a step says when it was.
fn begins_step(entry: &Value) -> Result<bool, Malformed> {
    Ok(facts::begins_step(&entry_of(entry.clone())?.1))
}

/// Whole steps, and how many facts the cut one at the end has.
pub(super) fn steps(listing: ListingId, entries: Vec<Value>) -> Result<(Vec<Arc<Step>>, usize), Malformed> {
    let mut steps = Vec::new();
    let mut open: Option<(Position, usize, Vec<Fields>)> = None;
    for entry in entries {
        let (at, told) = entry_of(entry)?;
        let (first, count, mut all) = match open.take() {
            Some(open) => open,
            None => (at, facts::length(&told)?, Vec::new()),
        };
        all.push(told);
        if all.len() < count {
            open = Some((first, count, all));
            continue;
        }
        steps.push(Arc::new(facts::decode_step(listing, first.epoch, first.offset, &all)?));
    }
    Ok((steps, open.map_or(0, |(_, count, _)| count)))
}

/// An entry's id is its position.
fn entry_of(entry: Value) -> Result<(Position, Fields), Malformed> {
    let malformed = || Malformed::of("entry");
    let mut parts = array(entry)?.into_iter();
    let id = bytes(parts.next().ok_or_else(malformed)?)?;
    let at = std::str::from_utf8(&id).ok().and_then(position).ok_or_else(malformed)?;
    Ok((at, fields(parts.next().ok_or_else(malformed)?)?))
}

/// `<epoch>-<offset>`
pub(super) fn position(text: &str) -> Option<Position> {
    let (epoch, offset) = text.split_once('-')?;
    Some(Position { epoch: epoch.parse().ok()?, offset: offset.parse().ok()? })
}

//! What a frame's payload is made of: entries, each the opening of a listing or one step of it.
//! Drawn byte by byte in `docs/journal-format.md`; numbers are only ever added, old entries open for ever.

use std::borrow::Cow;

use minicbor::{Decoder, Encoder};
use onsale_domain::by::Actor;
use onsale_domain::listing::Key;
use onsale_domain::seats::EventFact;
use onsale_domain::venue::VenueFact;
use onsale_domain::{By, Fact, ListingId, Millis, Step};
use thiserror::Error;

use crate::packed;

/// A listing's small number in this journal.
pub type ListingNumber = u32;

const OPENED: u8 = 1;
const STEP: u8 = 2;
const HAS_KEY: u8 = 1;
const IS_SEALED: u8 = 2;
const HAS_BY: u8 = 4;
/// The facts are one zstd frame: they have a layout, and are long.
const IS_PACKED: u8 = 8;
/// Who made a step, in one byte; an id follows the last two.
const BY_CLOCK: u8 = 1;
const BY_STAFF: u8 = 2;
const BY_PROVIDER: u8 = 3;
/// kind, then the length of the body.
const ENTRY_HEADER_BYTES: usize = 5;

#[derive(Debug, PartialEq)]
pub enum Entry<'a> {
    Opened { number: ListingNumber, listing: ListingId },
    Step(StepEntry<'a>),
}

/// A step as it stands in the journal, its facts not yet decoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepEntry<'a> {
    pub number: ListingNumber,
    pub epoch: u32,
    pub first: u64,
    pub at: Millis,
    pub key: Option<Key>,
    /// Whether the verb was a sealed one; decides how long its key is kept.
    pub sealed: bool,
    by: Option<(u8, &'a [u8])>,
    pub facts: u32,
    packed: bool,
    encoded: &'a [u8],
}

#[derive(Debug, Error)]
#[error("an entry of the journal cannot be read: {0}")]
pub struct BadEntry(pub String);

impl From<minicbor::decode::Error> for BadEntry {
    fn from(error: minicbor::decode::Error) -> Self {
        BadEntry(error.to_string())
    }
}

impl<'a> StepEntry<'a> {
    pub fn last(&self) -> u64 {
        self.first + u64::from(self.facts) - 1
    }

    pub fn decode(&self, listing: ListingId) -> Result<Step, BadEntry> {
        let facts = self.decode_facts().collect::<Result<Vec<_>, _>>()?;
        let (epoch, first, at, key) = (u64::from(self.epoch), self.first, self.at, self.key);
        let by = self.by()?;
        Ok(Step { listing, epoch, first, at, key, by, facts })
    }

    /// Who made it, if not the buyer of its facts.
    pub fn by(&self) -> Result<Option<By>, BadEntry> {
        let Some((kind, id)) = self.by else { return Ok(None) };
        let actor = || std::str::from_utf8(id).ok().and_then(Actor::parse);
        let by = match kind {
            BY_CLOCK => Some(By::Clock),
            BY_STAFF => actor().map(By::Staff),
            BY_PROVIDER => actor().map(By::Provider),
            _ => None,
        };
        by.map(Some).ok_or_else(|| BadEntry("who made a step cannot be read".into()))
    }

    pub fn decode_facts(&self) -> impl Iterator<Item = Result<Fact, BadEntry>> + 'a {
        let unpack = || packed::unpack(self.encoded).map_err(|error| BadEntry(error.to_string()));
        let mut encoded = if self.packed { unpack() } else { Ok(Cow::Borrowed(self.encoded)) };
        let mut at = 0;
        (0..self.facts).map(move |_| {
            let bytes = match &mut encoded {
                Ok(bytes) => bytes,
                Err(error) => return Err(BadEntry(error.0.clone())),
            };
            let mut decoder = Decoder::new(bytes.get(at..).unwrap_or_default());
            let fact = decoder.decode()?;
            at += decoder.position();
            Ok(fact)
        })
    }
}

pub fn write_opened(into: &mut Vec<u8>, number: ListingNumber, listing: &ListingId) {
    let start = begin(into, OPENED);
    into.extend_from_slice(&number.to_le_bytes());
    encode(listing, into);
    end(into, start);
}

/// What a step needs besides its facts.
#[derive(Clone, Copy, Debug)]
pub struct StepHead<'a> {
    pub number: ListingNumber,
    pub epoch: u32,
    pub first: u64,
    pub at: Millis,
    pub key: Option<Key>,
    pub sealed: bool,
    pub by: Option<&'a By>,
}

pub fn write_step(into: &mut Vec<u8>, head: StepHead<'_>, facts: &[Fact]) {
    let start = begin(into, STEP);
    let flags = if head.key.is_some() { HAS_KEY } else { 0 } | if head.sealed { IS_SEALED } else { 0 };
    into.push(flags | if head.by.is_some() { HAS_BY } else { 0 });
    into.extend_from_slice(&head.number.to_le_bytes());
    into.extend_from_slice(&head.epoch.to_le_bytes()[..2]);
    into.extend_from_slice(&head.first.to_le_bytes()[..5]);
    into.extend_from_slice(&head.at.to_le_bytes()[..6]);
    into.extend_from_slice(&(facts.len() as u32).to_le_bytes()[..3]);
    if let Some(key) = head.key {
        into.extend_from_slice(&key.scope.to_le_bytes());
        into.extend_from_slice(&key.fingerprint.to_le_bytes());
    }
    if let Some(by) = head.by {
        write_by(into, by);
    }
    let from = into.len();
    facts.iter().for_each(|fact| encode(fact, into));
    if facts.iter().any(has_layout) {
        let packed = packed::pack(into.split_off(from));
        // Facts that are not packed begin with an array, so what begins as a frame is one.
        into[start] |= if packed::is_packed(&packed) { IS_PACKED } else { 0 };
        into.extend_from_slice(&packed);
    }
    end(into, start);
}

/// Nothing else in a log is long, and what is short is not worth the time.
fn has_layout(fact: &Fact) -> bool {
    matches!(fact, Fact::Event(EventFact::ChartAdopted(_)) | Fact::Venue(VenueFact::LayoutPublished(_)))
}

fn write_by(into: &mut Vec<u8>, by: &By) {
    let (kind, actor) = match by {
        By::Clock => return into.push(BY_CLOCK),
        By::Staff(actor) => (BY_STAFF, actor),
        By::Provider(actor) => (BY_PROVIDER, actor),
    };
    into.push(kind);
    into.push(actor.as_str().len() as u8);
    into.extend_from_slice(actor.as_str().as_bytes());
}

/// The step whose entry starts these bytes; for those we wrote ourselves a moment ago.
pub fn step_at(listing: ListingId, mut bytes: &[u8]) -> Step {
    match read_one(&mut bytes).and_then(|entry| match entry {
        Entry::Step(step) => step.decode(listing),
        Entry::Opened { .. } => Err(BadEntry("not a step".into())),
    }) {
        Ok(step) => step,
        Err(error) => panic!("what was just written can be read: {error}"),
    }
}

fn encode<T: minicbor::Encode<()>>(value: &T, into: &mut Vec<u8>) {
    match Encoder::new(into).encode(value) {
        Ok(_) => {}
        Err(error) => panic!("writing into memory cannot fail: {error}"),
    }
}

fn begin(into: &mut Vec<u8>, kind: u8) -> usize {
    into.push(kind);
    into.extend_from_slice(&[0; 4]);
    into.len()
}

fn end(into: &mut [u8], start: usize) {
    let len = (into.len() - start) as u32;
    into[start - 4..start].copy_from_slice(&len.to_le_bytes());
}

/// The entries of a payload, in order.
pub fn read(payload: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, BadEntry>> {
    let mut rest = payload;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = read_one(&mut rest);
        if entry.is_err() {
            rest = &[];
        }
        Some(entry)
    })
}

fn read_one<'a>(rest: &mut &'a [u8]) -> Result<Entry<'a>, BadEntry> {
    let header = take(rest, ENTRY_HEADER_BYTES)?;
    let body = take(rest, number(&header[1..5]) as usize)?;
    match header[0] {
        OPENED => {
            let mut body = body;
            let listing_number = number(take(&mut body, 4)?) as u32;
            Ok(Entry::Opened { number: listing_number, listing: minicbor::decode(body)? })
        }
        STEP => Ok(Entry::Step(read_step(body)?)),
        kind => Err(BadEntry(format!("kind {kind} is not known; a newer release wrote it"))),
    }
}

fn read_step(mut body: &[u8]) -> Result<StepEntry<'_>, BadEntry> {
    let flags = take(&mut body, 1)?[0];
    let listing_number = number(take(&mut body, 4)?) as u32;
    let epoch = number(take(&mut body, 2)?) as u32;
    let first = number(take(&mut body, 5)?);
    let at = number(take(&mut body, 6)?) as Millis;
    let facts = number(take(&mut body, 3)?) as u32;
    let key = if flags & HAS_KEY != 0 {
        Some(Key { scope: number_128(take(&mut body, 16)?), fingerprint: number_128(take(&mut body, 16)?) })
    } else {
        None
    };
    let by = if flags & HAS_BY != 0 {
        let kind = take(&mut body, 1)?[0];
        let len = if kind == BY_CLOCK { 0 } else { take(&mut body, 1)?[0] };
        Some((kind, take(&mut body, usize::from(len))?))
    } else {
        None
    };
    if facts == 0 {
        return Err(BadEntry("a step without facts".into()));
    }
    let sealed = flags & IS_SEALED != 0;
    let packed = flags & IS_PACKED != 0;
    Ok(StepEntry { number: listing_number, epoch, first, at, key, sealed, by, facts, packed, encoded: body })
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8], BadEntry> {
    let (taken, left) = rest.split_at_checked(len).ok_or_else(|| BadEntry("it ends too early".into()))?;
    *rest = left;
    Ok(taken)
}

fn number(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

fn number_128(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    all.copy_from_slice(bytes);
    u128::from_le_bytes(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::event::EventStatus;
    use onsale_domain::{ListingKind, Tenant};

    #[test]
    fn entries_read_back_as_they_were_written() {
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
        let facts =
            [Fact::Event(EventFact::StatusChanged { status: EventStatus::OnSale, by_schedule: false })];
        let head = StepHead {
            number: 3,
            epoch: 1,
            first: 1 << 33,
            at: 1_763_000_000_000,
            key: Some(Key { scope: u128::MAX - 5, fingerprint: 9 }),
            sealed: true,
            by: None,
        };
        let mut payload = Vec::new();
        write_opened(&mut payload, 3, &listing);
        write_step(&mut payload, head, &facts);
        let entries: Vec<_> = read(&payload).map(|entry| entry.expect("reads")).collect();
        assert_eq!(entries[0], Entry::Opened { number: 3, listing });
        let Entry::Step(step) = &entries[1] else { panic!("a step") };
        assert_eq!((step.number, step.epoch, step.first, step.at), (3, 1, head.first, head.at));
        assert_eq!((step.key, step.sealed), (head.key, true));
        assert_eq!(step.by().expect("reads"), None);
        let decoded: Vec<_> = step.decode_facts().map(|fact| fact.expect("decodes")).collect();
        assert_eq!(decoded, facts);
    }

    #[test]
    fn who_made_a_step_stands_in_it() {
        let facts =
            [Fact::Event(EventFact::StatusChanged { status: EventStatus::OnSale, by_schedule: false })];
        let actor = Actor::parse("usr_7").expect("an id");
        for by in [By::Clock, By::Staff(actor.clone()), By::Provider(actor)] {
            let head =
                StepHead { number: 3, epoch: 1, first: 1, at: 5, key: None, sealed: false, by: Some(&by) };
            let mut payload = Vec::new();
            write_step(&mut payload, head, &facts);
            let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 };
            let step = step_at(listing, &payload);
            assert_eq!((step.by, step.facts.as_slice()), (Some(by), &facts[..]));
        }
    }

    #[test]
    fn a_layout_takes_a_fraction_of_its_bytes_and_reads_back() {
        use onsale_domain::layout::{Layout, Row, Seat, Section};
        use onsale_domain::venue::fact::LayoutPublished;
        let seat = |n: i32| Seat { id: format!("A-{n}"), label: n.to_string(), x: n, ..Seat::default() };
        let row = |seats: i32| Row { label: "A".into(), seats: (1..=seats).map(seat).collect() };
        let published = |seats: i32| {
            let sections = vec![Section { name: "Stalls".into(), rows: vec![row(seats)] }];
            let layout = Layout { sections, areas: Vec::new() }.into();
            Fact::Venue(VenueFact::LayoutPublished(Box::new(LayoutPublished { version: 1, layout })))
        };
        let listing = ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Venue, number: 7 };
        let head = StepHead { number: 3, epoch: 1, first: 1, at: 5, key: None, sealed: false, by: None };
        for (seats, is_packed) in [(1, false), (2_000, true)] {
            let facts = [published(seats), published(1)];
            let mut payload = Vec::new();
            write_step(&mut payload, head, &facts);
            assert_eq!(step_at(listing, &payload).facts, facts);
            let plain: usize =
                facts.iter().map(|fact| minicbor::to_vec(fact).expect("memory takes it").len()).sum();
            assert_eq!(payload.len() < plain / 2, is_packed, "{} of {plain}", payload.len());
            let len = payload.len();
            payload[len - 9] ^= 1;
            let read: Result<Vec<_>, _> = read(&payload).collect();
            let Entry::Step(step) = &read.expect("the entry is whole")[0] else { panic!("a step") };
            assert_eq!(step.decode_facts().any(|fact| fact.is_err()), is_packed, "{seats}");
        }
    }

    #[test]
    fn a_cut_entry_is_an_error_and_not_a_guess() {
        let mut payload = Vec::new();
        write_opened(
            &mut payload,
            3,
            &ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Event, number: 7 },
        );
        for len in 1..payload.len() {
            assert!(read(&payload[..len]).any(|entry| entry.is_err()), "{len}");
        }
    }
}

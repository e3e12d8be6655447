//! A snapshot, piece by piece: a shard hands out its listings and records between batches, never all at once.
//! Each piece is from its own moment; recovery passes over the facts that a piece already contains.

use minicbor::{Decode, Encode};
use onsale_domain::Listing;
use onsale_domain::listing::Key;
use thiserror::Error;

use super::dedup::Record;
use super::directory::IndexPoint;
use super::shard::Shard;
use super::work::Batch;
use crate::journal::FramePosition;

/// What one batch may carry of a snapshot: encoded in about a millisecond.
const BYTES_PER_BATCH: usize = 1 << 20;
/// Records in one part.
const RECORDS_PER_PART: usize = 8_192;
/// The largest piece of a part; a snapshot file takes at most 16 MiB in one.
const PIECE_BYTES: usize = 8 << 20;

const MORE: u8 = 0;
const LAST: u8 = 1;

/// How far a shard has come with its pieces.
#[derive(Debug, Default)]
pub(super) struct Imaging {
    next_listing: usize,
    /// Where in the history of unsealed and of sealed records the next page begins.
    next_record: [u64; 2],
    sealed: bool,
}

/// One piece of state read back from a snapshot.
#[derive(Debug)]
pub(super) enum RestoredPiece {
    Listing { number: u32, listing: Box<Listing>, index: Vec<IndexPoint> },
    Records(Vec<RecordImage>),
}

#[derive(Debug, Error)]
#[error("a part of the snapshot cannot be read: {0}")]
pub struct BadImage(String);

impl From<minicbor::decode::Error> for BadImage {
    fn from(error: minicbor::decode::Error) -> Self {
        BadImage(error.to_string())
    }
}

#[derive(Encode, Decode)]
enum Part {
    #[n(0)]
    Listing(#[n(0)] ListingImage),
    #[n(1)]
    Records(#[n(0)] Vec<RecordImage>),
}

#[derive(Encode, Decode)]
struct ListingImage {
    #[n(0)]
    number: u32,
    #[cbor(n(1), with = "minicbor::bytes")]
    image: Vec<u8>,
    #[n(2)]
    index: Vec<(u64, u64, u64, u64)>,
}

#[derive(Clone, Copy, Debug, Encode, Decode)]
pub(super) struct RecordImage {
    #[n(0)]
    scope: (u64, u64),
    #[n(1)]
    fingerprint: (u64, u64),
    #[n(2)]
    at: i64,
    #[n(3)]
    first: u64,
    /// The listing's number in the journal, not in the shard.
    #[n(4)]
    pub number: u32,
    #[n(5)]
    facts: u32,
    #[n(6)]
    pub sealed: bool,
}

impl RecordImage {
    /// The record with the listing's index in its shard.
    pub(super) fn record(&self, listing: u32) -> Record {
        let whole = |(high, low): (u64, u64)| u128::from(high) << 64 | u128::from(low);
        let key = Key { scope: whole(self.scope), fingerprint: whole(self.fingerprint) };
        Record::new(key, self.at, listing, self.first, self.facts)
    }
}

impl Shard {
    pub(super) fn begin_images(&mut self) {
        self.imaging.get_or_insert_default();
    }

    /// Adds the next pieces to a batch: at least one, and about a megabyte at most.
    pub(super) fn add_images(&mut self, batch: &mut Batch) {
        let Some(mut imaging) = self.imaging.take() else { return };
        let mut bytes = 0;
        while bytes < BYTES_PER_BATCH {
            let Some(part) = self.next_part(&mut imaging) else {
                batch.images_done = true;
                return;
            };
            bytes += part.len();
            add_pieces(&part, &mut batch.images);
        }
        self.imaging = Some(imaging);
    }

    fn next_part(&self, imaging: &mut Imaging) -> Option<Vec<u8>> {
        if let Some(owned) = self.listings.get(imaging.next_listing) {
            imaging.next_listing += 1;
            let index = owned.slot.index().into_iter();
            let point =
                |point: IndexPoint| (point.first, point.frame.segment, point.frame.at, point.frame.sequence);
            let (number, image) = (owned.slot.number, owned.listing.image());
            return Some(encode(&Part::Listing(ListingImage {
                number,
                image,
                index: index.map(point).collect(),
            })));
        }
        self.next_records(imaging).map(|records| encode(&Part::Records(records)))
    }

    /// The next page of records. Under load new ones come as fast as we write: one short page ends it, since what
    /// came after the snapshot began is in the journal behind it.
    fn next_records(&self, imaging: &mut Imaging) -> Option<Vec<RecordImage>> {
        loop {
            let sealed = imaging.sealed;
            let place = &mut imaging.next_record[usize::from(sealed)];
            let (page, next) = self.dedup.page(sealed, *place, RECORDS_PER_PART);
            let records: Vec<_> = page.map(|record| self.record_image(record, sealed)).collect();
            *place = next;
            if records.len() < RECORDS_PER_PART {
                if sealed && records.is_empty() {
                    return None;
                }
                imaging.sealed = true;
            }
            if !records.is_empty() {
                return Some(records);
            }
        }
    }

    fn record_image(&self, record: &Record, sealed: bool) -> RecordImage {
        RecordImage {
            scope: record.scope(),
            fingerprint: (0, record.fingerprint()),
            at: record.at(),
            first: record.first(),
            number: self.listings[record.listing() as usize].slot.number,
            facts: record.facts(),
            sealed,
        }
    }
}

fn encode(part: &Part) -> Vec<u8> {
    match minicbor::to_vec(part) {
        Ok(bytes) => bytes,
        Err(error) => panic!("writing into memory cannot fail: {error}"),
    }
}

fn add_pieces(part: &[u8], into: &mut Vec<Vec<u8>>) {
    let mut pieces = part.chunks(PIECE_BYTES).peekable();
    while let Some(piece) = pieces.next() {
        let mut bytes = Vec::with_capacity(piece.len() + 1);
        bytes.push(if pieces.peek().is_some() { MORE } else { LAST });
        bytes.extend_from_slice(piece);
        into.push(bytes);
    }
}

/// Puts pieces together again.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pending: Vec<u8>,
}

impl Pieces {
    /// Takes a piece; returns what it completes.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<Option<RestoredPiece>, BadImage> {
        let (last, bytes) = piece.split_first().ok_or_else(|| BadImage("it is empty".into()))?;
        self.pending.extend_from_slice(bytes);
        if *last != LAST {
            return Ok(None);
        }
        let part = minicbor::decode(&self.pending)?;
        self.pending.clear();
        Ok(Some(match part {
            Part::Records(records) => RestoredPiece::Records(records),
            Part::Listing(image) => {
                let point = |(first, segment, at, sequence)| IndexPoint {
                    first,
                    frame: FramePosition { segment, at, sequence },
                };
                let listing = Box::new(Listing::from_image(&image.image)?);
                let index = image.index.into_iter().map(point).collect();
                RestoredPiece::Listing { number: image.number, listing, index }
            }
        }))
    }
}

//! Brings the shards back: the newest whole snapshot, then every frame of the journal behind it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;
use onsale_domain::{Listing, ListingId};
use thiserror::Error;

use super::commit::{Committer, Shared};
use super::dedup::Record;
use super::directory::Slot;
use super::entry::{self, BadEntry, Entry, ListingNumber, StepEntry};
use super::images::{BadImage, Pieces, RestoredPiece};
use super::shard::{FIRST_EPOCH, Shard, position_of};
use super::shard_of;
use crate::disk::Disk;
use crate::engine::View;
use crate::journal::{self, FramePosition, JournalError, Reader, Room};
use crate::snapshot::{self, SnapshotError};

/// An engine put together but not yet running: the simulation drives it step by step, `EmbeddedEngine` gives it threads.
#[derive(Debug)]
pub struct Core {
    pub shards: Vec<Shard>,
    pub committer: Committer,
    pub shared: Arc<Shared>,
    pub reader: Arc<Reader>,
    pub room: Arc<Room>,
    pub report: Report,
}

/// What recovery found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub journal: journal::Report,
    /// The snapshot it started from.
    pub snapshot: Option<String>,
    /// Newer snapshots that were not whole.
    pub passed_over: Vec<String>,
    pub facts: u64,
}

#[derive(Debug, Error)]
pub enum RecoverError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error("frame {sequence} of the journal: {source}")]
    Entry { sequence: u64, source: BadEntry },
    #[error(
        "{name} cannot be read: {source}; remove it and start again, from an older one or from the journal"
    )]
    Image { name: String, source: BadImage },
    #[error(
        "frame {0} names a listing that was never opened; the journal is damaged, restore it from a backup"
    )]
    UnknownListing(u64),
    #[error(
        "frame {frame} has fact {found} of {listing} where {expected} should follow; restore from a backup"
    )]
    Gap { frame: u64, listing: ListingId, expected: u64, found: u64 },
}

#[derive(Clone, Copy, Debug)]
pub struct CoreOptions {
    pub shards: usize,
    pub dedup_records_max: usize,
    pub journal: journal::Options,
}

pub fn open(
    disk: Arc<dyn Disk>,
    options: CoreOptions,
    generation_if_new: u128,
) -> Result<Core, RecoverError> {
    let numbers = Arc::new(AtomicU32::new(0));
    let per_shard = options.dedup_records_max.div_ceil(options.shards);
    let shards = (0..options.shards).map(|_| Shard::new(per_shard, numbers.clone())).collect();
    let mut rebuild = Rebuild {
        shards,
        by_number: HashMap::new(),
        numbers,
        shared: Arc::default(),
        facts: 0,
        from_snapshot: false,
    };
    let mut report = Report::default();
    let mut from = None;
    if let Some(generation) = journal::recovery::generation(&*disk)? {
        let latest = snapshot::latest(&*disk, generation)?;
        report.passed_over =
            latest.passed_over.iter().map(|one| format!("{}: {}", one.file, one.reason)).collect();
        if let Some(snapshot) = latest.snapshot {
            rebuild.take_snapshot(&snapshot)?;
            rebuild.from_snapshot = true;
            from = Some(snapshot.at());
            rebuild.shared.snapshot_sequence.store(snapshot.at().sequence, Ordering::Relaxed);
            report.snapshot = Some(snapshot.name().to_owned());
        }
    }
    let mut on_frame = |position, payload: &[u8]| rebuild.take_frame(position, payload);
    let opened = journal::recovery::open(disk, options.journal, generation_if_new, &mut on_frame, from);
    let (writer, journal) = opened.map_err(|error| match error {
        journal::OpenError::Journal(error) => RecoverError::Journal(error),
        journal::OpenError::Frame(error) => error,
    })?;
    report.journal = journal;
    report.facts = rebuild.facts;
    let reader = Arc::new(writer.reader());
    let room = writer.room();
    let (mut shards, shared) = rebuild.finish();
    for shard in &mut shards {
        shard.watch_room(room.clone());
        shard.share_buffers(shared.clone());
    }
    let committer = Committer::new(writer, shared.clone());
    Ok(Core { shards, committer, shared, reader, room, report })
}

/// What a snapshot holds, taken apart for `onsale verify`.
#[derive(Debug, Default)]
pub struct Content {
    /// Each with its number in the journal, as of its own moment.
    pub listings: Vec<(ListingNumber, Listing)>,
    pub records: u64,
}

/// Reads a whole snapshot without starting anything.
pub fn content(snapshot: &snapshot::Snapshot) -> Result<Content, RecoverError> {
    let bad = |source| RecoverError::Image { name: snapshot.name().to_owned(), source };
    let mut content = Content::default();
    let mut pieces = Pieces::default();
    for part in snapshot.parts() {
        match pieces.take(&part?).map_err(bad)? {
            None => {}
            Some(RestoredPiece::Listing { number, listing, .. }) => content.listings.push((number, *listing)),
            Some(RestoredPiece::Records(records)) => content.records += records.len() as u64,
        }
    }
    Ok(content)
}

struct Rebuild {
    shards: Vec<Shard>,
    /// Where a listing lives, by its number in the journal: shard and index.
    by_number: HashMap<ListingNumber, (usize, u32)>,
    numbers: Arc<AtomicU32>,
    shared: Arc<Shared>,
    facts: u64,
    from_snapshot: bool,
}

impl Rebuild {
    fn take_snapshot(&mut self, snapshot: &snapshot::Snapshot) -> Result<(), RecoverError> {
        let bad = |source| RecoverError::Image { name: snapshot.name().to_owned(), source };
        let mut pieces = Pieces::default();
        for part in snapshot.parts() {
            match pieces.take(&part?).map_err(bad)? {
                None => {}
                Some(RestoredPiece::Listing { number, listing, index }) => {
                    let slot = Arc::new(Slot::new(listing.id, number));
                    index.into_iter().for_each(|point| slot.note_frame(point.first, point.frame));
                    self.adopt(number, *listing, slot);
                }
                Some(RestoredPiece::Records(records)) => {
                    for record in records {
                        let Some(&(shard, index)) = self.by_number.get(&record.number) else { continue };
                        self.shards[shard].dedup.insert(record.record(index), record.sealed);
                    }
                }
            }
        }
        Ok(())
    }

    fn adopt(&mut self, number: ListingNumber, listing: Listing, slot: Arc<Slot>) {
        if self.by_number.contains_key(&number) {
            return;
        }
        let shard = shard_of(&listing.id, self.shards.len());
        let index = self.shards[shard].adopt(listing, slot);
        self.by_number.insert(number, (shard, index));
        self.numbers.fetch_max(number + 1, Ordering::Relaxed);
    }

    fn take_frame(&mut self, position: FramePosition, payload: &[u8]) -> Result<(), RecoverError> {
        let sequence = position.sequence;
        for entry in entry::read(payload) {
            match entry.map_err(|source| RecoverError::Entry { sequence, source })? {
                Entry::Opened { number, listing } => {
                    self.adopt(
                        number,
                        Listing::new(listing, FIRST_EPOCH),
                        Arc::new(Slot::new(listing, number)),
                    );
                }
                Entry::Step(step) => self.take_step(position, &step)?,
            }
        }
        Ok(())
    }

    fn take_step(&mut self, position: FramePosition, step: &StepEntry<'_>) -> Result<(), RecoverError> {
        let sequence = position.sequence;
        let known = self.by_number.get(&step.number).copied();
        let (shard, index) = known.ok_or(RecoverError::UnknownListing(sequence))?;
        let shard = &mut self.shards[shard];
        let owned = &mut shard.listings[index as usize];
        owned.slot.note_frame(step.first, position);
        // A snapshot's piece may be younger than the frame: then the step is in it.
        if step.last() > owned.listing.offset {
            let expected = owned.listing.offset + 1;
            if step.first != expected {
                let (listing, found) = (owned.listing.id, step.first);
                return Err(RecoverError::Gap { frame: sequence, listing, expected, found });
            }
            owned.listing.epoch = u64::from(step.epoch);
            for fact in step.decode_facts() {
                let fact = fact.map_err(|source| RecoverError::Entry { sequence, source })?;
                owned.listing.apply(&fact, step.at);
                self.facts += 1;
            }
        }
        if let Some(key) = step.key {
            let record = Record::new(key, step.at, index, step.first, step.facts);
            // Only a snapshot's records can be met a second time.
            if !(self.from_snapshot && shard.dedup.has(&record)) {
                shard.dedup.insert(record, step.sealed);
            }
        }
        Ok(())
    }

    /// Sets the timers and publishes what every reader may see.
    fn finish(mut self) -> (Vec<Shard>, Arc<Shared>) {
        for shard in &mut self.shards {
            // What made room while the log was read had long been old; only what is lost from now on counts.
            shard.dedup.shortest_window_ms = None;
            for index in 0..shard.listings.len() as u32 {
                shard.reschedule(index);
                let owned = &shard.listings[index as usize];
                if owned.listing.exists() {
                    let view = View::of(&owned.listing).map(Arc::new);
                    owned.slot.publish(position_of(&owned.listing), view);
                    self.shared.directory.insert(owned.slot.clone());
                }
            }
        }
        (self.shards, self.shared)
    }
}

//! Facts from a data folder, without a server and without a lock.

use std::path::Path;

use anyhow::{Context, bail};
use onsale_domain::listing::Step;
use onsale_domain::{Listing, ListingId};
use onsale_engine::disk::FolderDisk;
use onsale_engine::embedded::entry::{self, Entry, StepEntry};
use onsale_engine::embedded::shard::FIRST_EPOCH;
use onsale_engine::{View, journal};

use super::Out;
use onsale_edge::http::audience::Audience;
use onsale_edge::http::fact::Teller;
use onsale_edge::http::wire::At;

pub(super) fn print(data: &Path, listing: ListingId, after: &str, out: &mut Out) -> anyhow::Result<()> {
    if !data.is_dir() {
        bail!("there is no folder {}; name the server's data folder", data.display());
    }
    let after = At::parse(after, FIRST_EPOCH).context("--after takes <epoch>-<offset>, or an offset")?;
    let disk = FolderDisk::open_read_only(data)?;
    let mut reading =
        Reading { id: listing, number: None, listing: Listing::new(listing, FIRST_EPOCH), steps: Vec::new() };
    let mut failed = None;
    let inspection = journal::recovery::inspect(&disk, &mut |position, payload| {
        if failed.is_none()
            && let Err(error) = reading.frame(payload)
        {
            failed = Some(error.context(format!("frame {} of the journal", position.sequence)));
        }
    })?;
    anyhow::ensure!(reading.listing.exists(), "there is no {listing} in {}", data.display());
    let view = View::of(&reading.listing);
    let audience = Audience::staff();
    let teller = match &view {
        Some(view) => Teller::new(view, &audience),
        None => Teller::of_deleted(listing, &audience),
    };
    for step in &reading.steps {
        for (offset, fact) in step.numbered().filter(|(offset, _)| *offset > after.offset) {
            out.fact(&teller.tell(step, offset, fact).to_string())?;
        }
    }
    out.flush()?;
    match (failed, inspection.damage) {
        (Some(error), _) => Err(error),
        (None, Some(damage)) => bail!("these are the facts before the damage: {damage}"),
        (None, None) => Ok(()),
    }
}

/// One listing's steps, picked out of all frames.
struct Reading {
    id: ListingId,
    number: Option<u32>,
    listing: Listing,
    steps: Vec<Step>,
}

impl Reading {
    fn frame(&mut self, payload: &[u8]) -> anyhow::Result<()> {
        for entry in entry::read(payload) {
            match entry? {
                Entry::Opened { number, listing } if listing == self.id => self.number = Some(number),
                Entry::Opened { .. } => {}
                Entry::Step(step) if Some(step.number) == self.number => self.step(&step)?,
                Entry::Step(_) => {}
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &StepEntry<'_>) -> anyhow::Result<()> {
        if step.first != self.listing.offset + 1 {
            bail!("fact {} does not follow; run `onsale verify`", step.first);
        }
        let step = step.decode(self.id)?;
        self.listing.epoch = step.epoch;
        for fact in &step.facts {
            self.listing.apply(fact, step.at);
        }
        self.steps.push(step);
        Ok(())
    }
}

//! Commands of series as arguments. Whether a slot is on schedule is checked here: a schedule never changes, so that any
//! picture of the series tells. The script decides everything else.

use onsale_domain::series::command::{ChangeSeries, SeriesCommand};
use onsale_domain::series::details::{SeriesDetails, sale_of};
use onsale_domain::series::{Series, SeriesFact};
use onsale_domain::{Fact, Refusal};

use super::{Args, Call, Terms, refused};
use crate::facts::{self, Fields};
use crate::picture::Picture;
use crate::scripts::{Name, SeriesVerb};

pub(super) fn prepare(picture: &Picture, command: &SeriesCommand, terms: &Terms) -> Call {
    let mut args = Args::default();
    let verb = match command {
        SeriesCommand::Create(details) => {
            if let Err(refusal) = Series::create(details) {
                return refused(refusal, "create");
            }
            args.push(terms.epoch);
            args.bytes(rules(details));
            args.fields(&meta_fields(details));
            args.fact(&Fact::Series(SeriesFact::Created(details.clone())));
            SeriesVerb::Create
        }
        SeriesCommand::Change(command) => {
            change(&mut args, picture, command);
            SeriesVerb::Change
        }
        SeriesCommand::OpenSlot(open) => {
            checked(&mut args, picture, command);
            args.bytes(facts::series::slot(open.slot));
            args.push(sale_of(picture.listing.id, open.slot.at));
            args.bytes(facts::series::slots(&open.skipped));
            SeriesVerb::OpenSlot
        }
        SeriesCommand::SkipSlots(slots) => {
            checked(&mut args, picture, command);
            args.bytes(facts::series::slots(slots));
            SeriesVerb::SkipSlots
        }
        SeriesCommand::Pause => SeriesVerb::Pause,
        SeriesCommand::Resume => SeriesVerb::Resume,
        SeriesCommand::End => SeriesVerb::End,
    };
    args.call(Name::Series(verb), picture)
}

pub(super) fn sweep(picture: &Picture) -> Call {
    Args::default().call(Name::Series(SeriesVerb::Sweep), picture)
}

/// What the schedule says of the command's slots, if the picture has one.
fn checked(args: &mut Args, picture: &Picture, command: &SeriesCommand) {
    args.push(picture.versions.details);
    let refusal: Option<Refusal> =
        picture.listing.series().and_then(|series| series.check_slots(command).err());
    args.wrong(refusal.as_ref());
}

fn change(args: &mut Args, picture: &Picture, command: &ChangeSeries) {
    args.push(picture.versions.details);
    let Some(series) = picture.listing.series() else { return };
    match series.changed(command) {
        Err(refusal) => {
            args.bytes("field");
            args.wrong(Some(&refusal));
        }
        Ok(details) if details == **series.details() => args.bytes("same"),
        Ok(details) => {
            args.bytes("change");
            args.bytes(rules(&details));
            args.fields(&meta_fields(&details));
            args.fact(&Fact::Series(SeriesFact::Changed(Box::new(details))));
        }
    }
}

fn meta_fields(details: &SeriesDetails) -> Fields {
    let mut fields = Fields::default();
    facts::series::encode_details(details, &mut fields);
    fields
}

/// What scripts have to know of the details; `lua/lib/series.lua` takes it apart.
fn rules(details: &SeriesDetails) -> String {
    format!("{}|{}", details.from, details.template.length_ms)
}

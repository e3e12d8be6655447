//! Commands of series as arguments. Whether a slot is on schedule is checked here: a schedule never changes, so that any
//! picture of the series tells. The script decides everything else.

use onsale_domain::series::command::{ChangeSeries, SeriesCommand};
use onsale_domain::series::details::{SeriesDetails, sale_of};
use onsale_domain::series::{Series, SeriesFact};
use onsale_domain::{Fact, Refusal};

use super::facts as own;
use crate::commands::{Args, ScriptArgs, Terms, refused};
use crate::facts::Fields;
use crate::picture::Picture;

pub(super) fn prepare(picture: &Picture, command: &SeriesCommand, terms: &Terms) -> ScriptArgs {
    let mut args = Args::default();
    match command {
        SeriesCommand::Create(details) => {
            if let Err(refusal) = Series::create(details) {
                return refused(refusal, "create");
            }
            args.push(terms.epoch);
            args.bytes(rules(details));
            args.fields(&meta_fields(details));
            args.fact(&Fact::Series(SeriesFact::Created(details.clone())));
        }
        SeriesCommand::Change(command) => {
            change(&mut args, picture, command);
        }
        SeriesCommand::OpenSlot(open) => {
            checked(&mut args, picture, command);
            args.bytes(own::slot(open.slot));
            args.push(sale_of(picture.listing.id, open.slot.at));
            args.bytes(own::slots(&open.skipped));
        }
        SeriesCommand::SkipSlots(slots) => {
            checked(&mut args, picture, command);
            args.bytes(own::slots(slots));
        }
        SeriesCommand::Pause => {}
        SeriesCommand::Resume => {}
        SeriesCommand::End => {}
    }
    args.script(command.verb().name, picture)
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
    own::encode_details(details, &mut fields);
    fields
}

/// What scripts have to know of the details; `lua/series/lib/slots.lua` takes it apart.
fn rules(details: &SeriesDetails) -> String {
    format!("{}|{}", details.from, details.template.length_ms)
}

//! Commands of venues as arguments.

use onsale_domain::Fact;
use onsale_domain::venue::command::CreateVenue;
use onsale_domain::venue::{Venue, VenueCommand};

use crate::commands::{Args, ScriptArgs, Terms, refused};
use crate::facts::packed;
use crate::picture::Picture;

pub(super) fn prepare(picture: &Picture, command: &VenueCommand, terms: &Terms) -> ScriptArgs {
    match command {
        VenueCommand::CreateVenue(command) => create(picture, command, terms),
        VenueCommand::PublishLayout(layout) => match layout.check() {
            Err(refusal) => refused(refusal, "venue"),
            Ok(()) => {
                let mut args = Args::default();
                args.bytes(packed(&**layout));
                args.script(command.verb().name, picture)
            }
        },
    }
}

fn create(picture: &Picture, create: &CreateVenue, terms: &Terms) -> ScriptArgs {
    let created = match Venue::create(create) {
        Err(refusal) => return refused(refusal, "create"),
        Ok(created) => created,
    };
    let mut args = Args::default();
    args.push(terms.epoch);
    args.bytes(packed(&*create.layout));
    args.list([("name", create.name.as_str()), ("place", create.place.as_str())]);
    created.into_iter().for_each(|fact| args.fact(&Fact::Venue(fact)));
    args.script("create_venue", picture)
}

//! Commands of a listing whatever kind it is, as arguments: made with words of its own, described anew, deleted.

use onsale_domain::listing::{Creation, ListingCommand, ListingFact};
use onsale_domain::{Code, Command, Fact, ListingKind, Millis, Refusal};

use super::{Args, ScriptArgs, Terms, refused};
use crate::facts::listing;
use crate::kinds;
use crate::picture::Picture;
use crate::scripts::Name;

/// The script of the kind, with one more fact behind its own.
pub(crate) fn create(picture: &Picture, creation: &Creation, now: Millis, terms: &Terms) -> ScriptArgs {
    if !creation.command.creates() || matches!(creation.command, Command::Create(_)) {
        return refused(Refusal::of(Code::ListingUnknown), "create");
    }
    if picture.listing.id.kind == ListingKind::Desk {
        return refused(Refusal::of(Code::WrongKind), "create");
    }
    if let Err(refusal) = creation.about.check() {
        return refused(refusal, "create");
    }
    let ScriptArgs { name, layout, args, refusal } = kinds::prepare(picture, &creation.command, now, terms);
    let mut args = Args(args);
    if name != Name::REFUSE_COMMAND && !creation.about.is_empty() {
        args.fact(&Fact::Listing(ListingFact::Described(Box::new(creation.about.clone()))));
    }
    ScriptArgs { name, layout, args: args.0, refusal }
}

pub(crate) fn prepare(picture: &Picture, command: &ListingCommand) -> ScriptArgs {
    if picture.listing.id.kind == ListingKind::Desk {
        return refused(Refusal::of(Code::WrongKind), "");
    }
    let mut args = Args::default();
    match command {
        ListingCommand::Describe(describe) => {
            if let Err(refusal) = describe.check() {
                // Whatever it is: venues, too.
                return refused(refusal, "venue");
            }
            // The script looks whether that is still what is said.
            let known = picture.listing.about();
            args.bytes(known.map(listing::write).unwrap_or_default());
            args.bytes(listing::write(&describe.of(known)));
        }
        ListingCommand::Delete => {}
    }
    args.script(command.verb().name, picture)
}

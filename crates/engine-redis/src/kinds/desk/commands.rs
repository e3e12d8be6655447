//! Commands of a desk: decided here, by the domain itself, from the replica; the script only looks whether the desk still
//! is where that was, and writes. Docs: `docs/decisions`, "The desk is decided beside Redis".

use onsale_domain::desk::DeskCommand;
use onsale_domain::{Command, Listing, Millis, Outcome};

use super::state::records;
use crate::commands::{Args, ScriptArgs, Terms};
use crate::picture::Picture;

/// Where the lease stands among the arguments of the script itself; [`crate::caller::ScriptCall::under_lease`] puts it there.
pub(crate) const LEASE: usize = 1;
/// One script writes whatever was decided.
pub(crate) const APPEND: &str = "append_desk";

/// Whether only the server that has the lease may ask this: a webhook is anybody's to receive.
pub(crate) fn needs_lease(command: &DeskCommand) -> bool {
    !matches!(command, DeskCommand::Open | DeskCommand::ReceiveWebhook(_))
}

/// A command of its own, or the sweep, which finds nothing due here; `named` says what it looks at.
pub(super) fn prepare(
    picture: &Picture,
    command: &Command,
    named: &DeskCommand,
    clock: Millis,
    terms: &Terms,
) -> ScriptArgs {
    let listing = &picture.listing;
    let kept = |part: &Listing| part.desk_image().as_ref().map(records).unwrap_or_default();
    let mut part = listing.desk_part(named, clock);
    let before = kept(&part);
    let mut decided = Vec::new();
    let outcome = part.execute(command, clock, &mut decided);
    let after = kept(&part);
    let mut args = Args::default();
    args.bytes(match listing.exists() {
        true => format!("{}|{}", listing.epoch, listing.offset),
        false => String::new(),
    });
    args.bytes("");
    args.push(terms.epoch);
    args.push(clock.max(listing.last_at));
    let refusal = outcome.refused().cloned();
    args.push(match (&refusal, &outcome) {
        (Some(_), _) => 4,
        (None, Outcome::Done) => 0,
        (None, _) => 1,
    });
    args.push(refusal.as_ref().map_or(0, |refusal| refusal.code as u8));
    let set = after.iter().filter(|(field, record)| before.get(*field) != Some(record));
    let set: Vec<&[u8]> = set.flat_map(|(field, record)| [field.as_bytes(), record]).collect();
    args.push(set.len());
    set.iter().for_each(|value| args.bytes(value));
    let gone: Vec<&String> = before.keys().filter(|field| !after.contains_key(*field)).collect();
    args.push(gone.len());
    gone.iter().for_each(|field| args.bytes(field.as_bytes()));
    match decided.first() {
        Some(fact) => args.fact(fact),
        None => args.push(0),
    }
    ScriptArgs { refusal, ..args.script(APPEND, picture) }
}

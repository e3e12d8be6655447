//! Commands of registrations as arguments.

use onsale_domain::registration::command::{ChangeRegistration, CreateRegistration, RegistrationCommand};
use onsale_domain::registration::details::RegistrationDetails;
use onsale_domain::registration::fact::RegistrationCreated;
use onsale_domain::registration::{Registration, RegistrationFact, check};
use onsale_domain::{Fact, Millis};

use super::facts as own;
use crate::commands::{Args, ScriptArgs, Terms, refused};
use crate::facts::{self, Fields};
use crate::picture::Picture;

pub(super) fn prepare(picture: &Picture, command: &RegistrationCommand, terms: &Terms) -> ScriptArgs {
    if let Err(refusal) = check(command) {
        return refused(refusal, "");
    }
    let mut args = Args::default();
    match command {
        RegistrationCommand::Create(command) => {
            // At the beginning of time: whether its hours are still to come is for the script to say.
            if let Err(refusal) = Registration::create(command, 0) {
                return refused(refusal, "create");
            }
            create(&mut args, command, terms);
        }
        RegistrationCommand::Change(command) => {
            change(&mut args, picture, command);
        }
        RegistrationCommand::ChangeCapacity { capacity } => {
            args.push(capacity);
        }
        RegistrationCommand::Close => {}
        RegistrationCommand::Cancel => {}
        RegistrationCommand::Register(command) => {
            args.bytes(facts::id(command.entry.0));
            args.bytes(command.buyer.as_str());
        }
        RegistrationCommand::Confirm(command) => {
            args.bytes(facts::id(command.entry.0));
            args.bytes(command.buyer.as_str());
            args.bytes(facts::id(command.order.0));
            args.bytes(if command.settled { "1" } else { "0" });
        }
        RegistrationCommand::CancelEntry(command) => {
            args.bytes(facts::id(command.entry.0));
            args.bytes(if command.buyer.is_some() { "1" } else { "0" });
            args.bytes(command.buyer.as_ref().map_or("", |buyer| buyer.as_str()));
        }
    }
    args.script(command.verb().name, picture)
}

fn create(args: &mut Args, command: &CreateRegistration, terms: &Terms) {
    let (details, capacity) = (&command.details, command.capacity);
    args.push(terms.epoch);
    args.push(details.opens_at);
    args.push(details.closes_at());
    args.push(capacity);
    args.bytes(rules(details));
    args.fields(&meta_fields(details));
    let created = RegistrationCreated { details: details.clone(), capacity };
    args.fact(&Fact::Registration(RegistrationFact::Created(Box::new(created))));
}

fn change(args: &mut Args, picture: &Picture, command: &ChangeRegistration) {
    args.push(picture.versions.details);
    let Some(registration) = picture.listing.registration() else { return };
    match registration.changed(command) {
        Err(refusal) => {
            args.bytes("field");
            args.wrong(Some(&refusal));
        }
        Ok(details) if details == **registration.details() => args.bytes("same"),
        Ok(details) => {
            args.bytes("change");
            args.bytes(rules(&details));
            args.fields(&meta_fields(&details));
            args.fact(&Fact::Registration(RegistrationFact::Changed(Box::new(details))));
        }
    }
}

fn meta_fields(details: &RegistrationDetails) -> Fields {
    let mut fields = Fields::default();
    own::encode_details(details, &mut fields);
    fields
}

/// What scripts have to know of the details; `lua/registration/lib/entries.lua` takes it apart.
fn rules(details: &RegistrationDetails) -> String {
    let hours: [Millis; 3] = [details.opens_at, details.closes_at(), details.starts_at];
    let [opens, closes, starts] = hours;
    format!("{opens}|{closes}|{starts}|{}|{}", details.price_minor, details.checkout_ms)
}

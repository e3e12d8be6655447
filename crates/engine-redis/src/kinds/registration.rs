//! Registrations on Redis: entries by id, and who waits in order.

mod commands;
mod facts;
mod scripts;
mod state;

use onsale_domain::Millis;
use onsale_domain::registration::image::RegistrationImage;
use onsale_domain::registration::{Registration, RegistrationCommand, RegistrationFact};

use super::{OWN_HEAD, OnRedis};
use crate::commands::{ScriptArgs, Terms};
use crate::facts::{Fields, Malformed};
use crate::keys::{DUE, ENDED, FACTS, HEAD as HEAD_KEY, HOLDS, MARKER, META, OPEN, ORDERS, QUEUE};
use crate::picture::Picture;
use crate::scripts::Source;
use crate::state::State;

/// How many wait, when the next offer ends, places in all, and how many are confirmed or offered.
const HEAD: [&str; OWN_HEAD] = ["waiting", "mark", "capacity", "details_version", "confirmed", "offered"];

impl OnRedis for Registration {
    const KEYS: &'static [(usize, &'static str)] = &[
        (META, "registration:meta"),
        (HEAD_KEY, "registration:entries"),
        (QUEUE, "registration:waiting"),
        (HOLDS, "registration:line"),
        (ORDERS, "registration:orders"),
        (OPEN, "registration:open_orders"),
        (DUE, "registration:due"),
        (ENDED, "registration:ended"),
        (FACTS, "registration:facts"),
        (MARKER, "registration:marker"),
    ];
    // Who waits for a place, and the line, are in order of their fence.
    const SORTED: &'static [usize] = &[QUEUE, HOLDS];
    const LAYOUTS: &'static [&'static str] = &["registration"];
    const HEAD: [&'static str; OWN_HEAD] = HEAD;
    const GOODS: Option<&'static str> = Some("entry");
    const SCRIPTS: &'static [Source] = scripts::ALL;
    const DETAILS: &'static [&'static str] = &["registration_created", "registration_changed"];

    fn prepare(picture: &Picture, command: &RegistrationCommand, _now: Millis, terms: &Terms) -> ScriptArgs {
        commands::prepare(picture, command, terms)
    }

    fn encode(fact: &RegistrationFact, fields: &mut Fields) {
        facts::encode(fact, fields);
    }

    fn decode(name: &str, fields: &Fields) -> Result<RegistrationFact, Malformed> {
        facts::decode(name, fields)
    }

    fn image(state: &State) -> Result<RegistrationImage, Malformed> {
        state::image(state)
    }

    fn check(state: &State) -> Result<(), String> {
        state::check(state)
    }
}

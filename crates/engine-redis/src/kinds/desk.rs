//! The desk of payments on Redis: decided beside it, from the replica, and written under a lease.

pub(crate) mod commands;
mod facts;
mod scripts;
mod state;

use onsale_domain::desk::image::DeskImage;
use onsale_domain::desk::{Desk, DeskCommand, DeskFact};
use onsale_domain::{Command, Millis};

use super::OnRedis;
use crate::commands::{ScriptArgs, Terms};
use crate::facts::{Fields, Malformed};
use crate::keys::{FACTS, HEAD, MARKER, META, QUEUE};
use crate::picture::Picture;
use crate::scripts::Source;
use crate::state::State;

impl OnRedis for Desk {
    const KEYS: &'static [(usize, &'static str)] = &[
        (META, "desk:meta"),
        (HEAD, "desk:records"),
        (QUEUE, "desk:lease"),
        (FACTS, "desk:facts"),
        (MARKER, "desk:marker"),
    ];
    /// Whoever opens a desk has its lease before.
    const LOOSE: &'static [usize] = &[MARKER, QUEUE];
    const LAYOUTS: &'static [&'static str] = &["desk"];
    const SCRIPTS: &'static [Source] = scripts::ALL;

    fn prepare(picture: &Picture, command: &DeskCommand, now: Millis, terms: &Terms) -> ScriptArgs {
        commands::prepare(picture, &Command::Desk(command.clone()), command, now, terms)
    }

    fn expire_due(picture: &Picture, limit: u32, now: Millis, terms: &Terms) -> ScriptArgs {
        commands::prepare(picture, &Command::ExpireDue { limit }, &DeskCommand::Open, now, terms)
    }

    fn encode(fact: &DeskFact, fields: &mut Fields) {
        facts::encode(fact, fields);
    }

    fn decode(name: &str, fields: &Fields) -> Result<DeskFact, Malformed> {
        facts::decode(name, fields)
    }

    fn image(state: &State) -> Result<DeskImage, Malformed> {
        state::image(state)
    }
}

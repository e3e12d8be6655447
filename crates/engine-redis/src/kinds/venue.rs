//! Venues on Redis: a name, a place and the last layouts.

mod commands;
mod facts;
mod scripts;
mod state;

use onsale_domain::venue::{Venue, VenueCommand, VenueFact};
use onsale_domain::{Code, Millis, Refusal};

use super::{OWN_HEAD, OnRedis, UNUSED};
use crate::commands::{ScriptArgs, Terms, refused};
use crate::facts::{Fields, Malformed};
use crate::keys::{FACTS, HEAD as HEAD_KEY, META, ORDERS};
use crate::picture::Picture;
use crate::scripts::Source;
use crate::state::State;

/// The version of the layout that was published last.
const HEAD: [&str; OWN_HEAD] = [UNUSED, UNUSED, UNUSED, UNUSED, "layout_version", UNUSED];

impl OnRedis for Venue {
    // Its head stands in the place of locks, its layouts in that of orders.
    const KEYS: &'static [(usize, &'static str)] =
        &[(META, "venue:meta"), (HEAD_KEY, "venue:head"), (ORDERS, "venue:layouts"), (FACTS, "venue:facts")];
    const LAYOUTS: &'static [&'static str] = &["venue"];
    const HEAD: [&'static str; OWN_HEAD] = HEAD;
    const SCRIPTS: &'static [Source] = scripts::ALL;

    fn prepare(picture: &Picture, command: &VenueCommand, _now: Millis, terms: &Terms) -> ScriptArgs {
        commands::prepare(picture, command, terms)
    }

    /// Nothing is ever due at a venue.
    fn expire_due(_picture: &Picture, _limit: u32, _now: Millis, _terms: &Terms) -> ScriptArgs {
        refused(Refusal::of(Code::WrongKind), "")
    }

    fn encode(fact: &VenueFact, fields: &mut Fields) {
        facts::encode(fact, fields);
    }

    fn decode(name: &str, fields: &Fields) -> Result<VenueFact, Malformed> {
        facts::decode(name, fields)
    }

    fn image(state: &State) -> Result<Venue, Malformed> {
        state::image(state)
    }
}

//! Series on Redis: the last slots and the last pause.

mod commands;
mod facts;
mod scripts;
mod state;

use onsale_domain::Millis;
use onsale_domain::series::image::SeriesImage;
use onsale_domain::series::{Series, SeriesCommand, SeriesFact};

use super::{OWN_HEAD, OnRedis, UNUSED};
use crate::commands::{ScriptArgs, Terms};
use crate::facts::{Fields, Malformed};
use crate::keys::{FACTS, HEAD as HEAD_KEY, META};
use crate::picture::Picture;
use crate::scripts::Source;
use crate::state::State;

/// Of a series only its details have a version.
const HEAD: [&str; OWN_HEAD] = [UNUSED, UNUSED, UNUSED, "details_version", UNUSED, UNUSED];

impl OnRedis for Series {
    const KEYS: &'static [(usize, &'static str)] =
        &[(META, "series:meta"), (HEAD_KEY, "series:head"), (FACTS, "series:facts")];
    const LAYOUTS: &'static [&'static str] = &["series"];
    const HEAD: [&'static str; OWN_HEAD] = HEAD;
    const SCRIPTS: &'static [Source] = scripts::ALL;
    const DETAILS: &'static [&'static str] = &["series_created", "series_changed"];

    fn prepare(picture: &Picture, command: &SeriesCommand, _now: Millis, terms: &Terms) -> ScriptArgs {
        commands::prepare(picture, command, terms)
    }

    fn encode(fact: &SeriesFact, fields: &mut Fields) {
        facts::encode(fact, fields);
    }

    fn decode(name: &str, fields: &Fields) -> Result<SeriesFact, Malformed> {
        facts::decode(name, fields)
    }

    fn image(state: &State) -> Result<SeriesImage, Malformed> {
        state::image(state)
    }
}

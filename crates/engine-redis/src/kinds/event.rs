//! Events on Redis: seats and general-admission places, in one of two layouts.

mod best;
mod chart;
mod check;
mod commands;
mod compact;
mod details;
mod facts;
mod plain;
mod records;
mod scripts;
mod state;

use onsale_domain::Millis;
use onsale_domain::seats::image::SeatsImage;
use onsale_domain::seats::{EventCommand, EventFact, Seats};

use super::{OWN_HEAD, OnRedis};
use crate::commands::{ScriptArgs, Terms};
use crate::facts::{Fields, Malformed};
use crate::keys::{DUE, FACTS, HEAD as HEAD_KEY, IDEM};
use crate::picture::Picture;
use crate::scripts::Source;
use crate::state::State;

/// How many seats have a queue, the next deadline as far as it is known, seats, versions, and fields of a compact table.
const HEAD: [&str; OWN_HEAD] = ["queued", "mark", "seats_len", "details_version", "chart_version", "buckets"];

impl OnRedis for Seats {
    const KEYS: &'static [(usize, &'static str)] = &[];
    const PLAIN_KEYS: &'static [usize] = &[HEAD_KEY, DUE, FACTS, IDEM];
    const LAYOUTS: &'static [&'static str] = &["hash", "compact"];
    const HEAD: [&'static str; OWN_HEAD] = HEAD;
    const GOODS: Option<&'static str> = Some("hold");
    const SCRIPTS: &'static [Source] = scripts::ALL;
    const DETAILS: &'static [&'static str] = &["event_created", "event_changed"];
    const CHARTS: &'static [&'static str] = &["chart_adopted"];

    fn prepare(picture: &Picture, command: &EventCommand, now: Millis, terms: &Terms) -> ScriptArgs {
        commands::prepare(picture, command, now, terms)
    }

    fn plain(picture: &Picture, command: &EventCommand) -> Option<(ScriptArgs, EventFact)> {
        plain::place_plain_hold(picture, command)
    }

    fn plain_fact(asked: &EventFact, told: &[i64]) -> Option<EventFact> {
        plain::fact(asked, told)
    }

    fn encode(fact: &EventFact, fields: &mut Fields) {
        facts::encode(fact, fields);
    }

    fn decode(name: &str, fields: &Fields) -> Result<EventFact, Malformed> {
        facts::decode(name, fields)
    }

    fn image(state: &State) -> Result<SeatsImage, Malformed> {
        state::image(state)
    }

    fn check(state: &State) -> Result<(), String> {
        check::check(state)
    }
}

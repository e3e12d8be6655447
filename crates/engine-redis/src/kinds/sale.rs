//! Sales on Redis: stock, codes and purchases in one hash.

mod commands;
mod facts;
mod scripts;
mod state;

use onsale_domain::Millis;
use onsale_domain::stock::image::SaleImage;
use onsale_domain::stock::{Sale, SaleCommand, SaleFact};

use super::{OWN_HEAD, OnRedis, UNUSED};
use crate::commands::{ScriptArgs, Terms};
use crate::facts::{Fields, Malformed};
use crate::keys::{DUE, ENDED, FACTS, HEAD as HEAD_KEY, IDEM, MARKER, META, OPEN, ORDERS};
use crate::picture::Picture;
use crate::scripts::Source;
use crate::state::State;

/// Units that a buyer may have, the next deadline as far as it is known, SKUs.
const HEAD: [&str; OWN_HEAD] = ["buyer_limit", "mark", "skus_len", "details_version", UNUSED, UNUSED];

impl OnRedis for Sale {
    const KEYS: &'static [(usize, &'static str)] = &[
        (META, "sale:meta"),
        (HEAD_KEY, "sale:codes"),
        (ORDERS, "sale:orders"),
        (OPEN, "sale:open_orders"),
        (DUE, "sale:due"),
        (ENDED, "sale:ended"),
        (FACTS, "sale:facts"),
        (MARKER, "sale:marker"),
    ];
    const PLAIN_KEYS: &'static [usize] = &[HEAD_KEY, DUE, FACTS, IDEM];
    const LAYOUTS: &'static [&'static str] = &["sale"];
    const HEAD: [&'static str; OWN_HEAD] = HEAD;
    const GOODS: Option<&'static str> = Some("checkout");
    const SCRIPTS: &'static [Source] = scripts::ALL;
    const DETAILS: &'static [&'static str] = &["sale_created", "sale_changed"];

    fn prepare(picture: &Picture, command: &SaleCommand, _now: Millis, terms: &Terms) -> ScriptArgs {
        commands::prepare(picture, command, terms)
    }

    fn plain(picture: &Picture, command: &SaleCommand) -> Option<(ScriptArgs, SaleFact)> {
        let SaleCommand::Checkout(command) = command else { return None };
        commands::plain_checkout(picture, command)
    }

    fn plain_fact(asked: &SaleFact, told: &[i64]) -> Option<SaleFact> {
        commands::plain_fact(asked, told)
    }

    fn encode(fact: &SaleFact, fields: &mut Fields) {
        facts::encode(fact, fields);
    }

    fn decode(name: &str, fields: &Fields) -> Result<SaleFact, Malformed> {
        facts::decode(name, fields)
    }

    fn image(state: &State) -> Result<SaleImage, Malformed> {
        state::image(state)
    }

    fn check(state: &State) -> Result<(), String> {
        state::check(state)
    }
}

//! Auctions on Redis: bids by their numbers beside the head, so that one call writes both.

mod commands;
mod facts;
mod plain;
mod scripts;
mod state;

use onsale_domain::Millis;
use onsale_domain::auction::image::AuctionImage;
use onsale_domain::auction::{Auction, AuctionCommand, AuctionFact};

use super::{OWN_HEAD, OnRedis};
use crate::commands::{ScriptArgs, Terms};
use crate::facts::{Fields, Malformed};
use crate::keys::{FACTS, HEAD as HEAD_KEY, HOLDS, IDEM, MARKER, META, OPEN, ORDERS};
use crate::picture::Picture;
use crate::scripts::Source;
use crate::state::State;

/// Accepted bids, the end as soft close has moved it, how often it did, the price, and the bid that leads.
const HEAD: [&str; OWN_HEAD] = ["bids_len", "ends", "extensions", "details_version", "price", "lead_bid"];

impl OnRedis for Auction {
    const KEYS: &'static [(usize, &'static str)] = &[
        (META, "auction:meta"),
        (HEAD_KEY, "auction:state"),
        (HOLDS, "auction:watchers"),
        (ORDERS, "auction:orders"),
        (OPEN, "auction:open_orders"),
        (FACTS, "auction:facts"),
        (MARKER, "auction:marker"),
    ];
    const PLAIN_KEYS: &'static [usize] = &[HEAD_KEY, FACTS, IDEM, MARKER];
    const LAYOUTS: &'static [&'static str] = &["auction"];
    const HEAD: [&'static str; OWN_HEAD] = HEAD;
    const GOODS: Option<&'static str> = Some("award");
    const SCRIPTS: &'static [Source] = scripts::ALL;
    const DETAILS: &'static [&'static str] = &["auction_created", "auction_changed"];

    fn prepare(picture: &Picture, command: &AuctionCommand, _now: Millis, terms: &Terms) -> ScriptArgs {
        commands::prepare(picture, command, terms)
    }

    fn plain(picture: &Picture, command: &AuctionCommand) -> Option<(ScriptArgs, AuctionFact)> {
        let AuctionCommand::PlaceBid(command) = command else { return None };
        commands::plain_bid(picture, command)
    }

    fn plain_fact(asked: &AuctionFact, told: &[i64]) -> Option<AuctionFact> {
        plain::fact(asked, told)
    }

    fn encode(fact: &AuctionFact, fields: &mut Fields) {
        facts::encode(fact, fields);
    }

    fn decode(name: &str, fields: &Fields) -> Result<AuctionFact, Malformed> {
        facts::decode(name, fields)
    }

    fn image(state: &State) -> Result<AuctionImage, Malformed> {
        state::image(state)
    }

    fn check(state: &State) -> Result<(), String> {
        state::check(state)
    }
}

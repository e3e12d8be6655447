//! `onsale demo`: a server with a theatre and an arena on sale, a sale every hour, a handful of auctions, and
//! commands to try.

pub mod arena;
pub mod auctions;
pub mod create;
pub mod hourly;
pub mod plan;
pub mod theatre;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args as ClapArgs;
use onsale_domain::event::Tier;
use onsale_domain::id::read_id;
use onsale_domain::layout::Layout;
use onsale_domain::listing::BodyView;
use onsale_domain::{ListingId, ListingKind, Tenant};
use onsale_engine::Engine;

use super::config::Settings;
use super::{DEMO_KEY, look, serve};

/// Prints a line if somebody still reads: a demo whose terminal is gone serves all the same.
macro_rules! say {
    ($($words:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}

/// Serve a demo: a theatre and an arena on sale, a sale every hour, a handful of auctions, and commands to try
#[derive(Debug, ClapArgs)]
#[command(after_help = "The first start creates the demo; every other one continues where it was.

Examples:
  onsale demo
  onsale demo --data /tmp/onsale-demo --listen 127.0.0.1:8080
  onsale load --contention front-row       in another terminal")]
pub struct Args {
    /// Folder with the demo's journal
    #[arg(long, value_name = "FOLDER", default_value = "data")]
    data: PathBuf,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

/// A venue and the event in it.
#[derive(Debug)]
pub struct House {
    pub venue: ListingId,
    pub venue_name: &'static str,
    pub place: &'static str,
    pub event_name: &'static str,
    pub description: &'static str,
    pub currency: &'static str,
    pub tiers: Vec<Tier>,
    pub layout: Arc<Layout>,
}

/// A venue's id that ends in a word, so that the demo's commands can be pasted and read.
fn numbered(word: &str) -> ListingId {
    let number = read_id(&format!("{word:0>13}"));
    ListingId { tenant: Tenant::DEFAULT, kind: ListingKind::Venue, number: number.unwrap_or_default() }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let settings = Settings { config: None, listen: args.listen.clone(), data: Some(args.data.clone()) };
    let mut config = settings.load()?;
    config.api_key = Some(DEMO_KEY.to_owned());
    // The demo speaks for itself; the log is for troubles.
    config.log.level = "warn".to_owned();
    let data = args.data.display().to_string();
    serve::run_with(config, move |address, engine| {
        let created = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                anyhow::Ok((create::ensure(engine).await?, hourly::ensure(engine).await?))
            })
        });
        let (events, series) = created.context("creating the demo")?;
        let auctions = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(auctions::ensure(engine))
        });
        let auctions = auctions.context("creating the demo's auctions")?;
        tell(address, &**engine, events, &auctions, &data);
        tell_sale(series);
        say!("\nLetters to people who register lie in {data}/mail.");
        say!("\nCtrl-C stops; the next start continues where this one was.");
        Ok(())
    })?;
    say!("stopped; `onsale demo` continues from {}", args.data.display());
    Ok(())
}

/// What somebody who has never seen the project needs next.
fn tell(
    address: SocketAddr,
    engine: &dyn Engine,
    events: [ListingId; 2],
    auctions: &[ListingId],
    data: &str,
) {
    say!("Onsale serves http://{address} from {data}, every route: http://{address}/docs\n");
    let mut table = look::plain();
    for event in events {
        let Some(view) = engine.view(&event) else { continue };
        let BodyView::Event(seats) = &view.body else { continue };
        let totals = seats.totals();
        let places = look::count(totals.iter().map(|count| u64::from(*count)).sum());
        let free = look::count(u64::from(totals[0]));
        table.add_row(vec![
            seats.details.name.clone(),
            event.to_string(),
            format!("{places} places, {free} free"),
        ]);
    }
    for row in auctions.iter().filter_map(|auction| auctions::row(engine, auction)) {
        table.add_row(row);
    }
    let theatre = events[0];
    say!(
        "{}

Try, in another terminal:

  V=http://{address}/v1 E=$V/events/{theatre} K='Authorization: Bearer {DEMO_KEY}'

  # what is free, by section and price
  curl -s -H \"$K\" $E/availability

  # hold the two best seats for ann; H keeps the answer, `of` takes a field out of one
  of() {{ sed \"s/.*\\\"$1\\\":\\\"//;s/\\\".*//\"; }}
  H=$(curl -s -H \"$K\" -H 'Onsale-Buyer: ann' --json '{{\"best_available\":{{\"count\":2}}}}' $E/holds | tee /dev/stderr)

  # confirm: they are sold, and the money was taken elsewhere
  curl -s -H \"$K\" -H \"Hold-Token: $(echo \"$H\" | of token)\" --json '{{\"paid_elsewhere\":true}}' $V/holds/$(echo \"$H\" | of id)/confirm

  # auctions that end within a week, the soonest first
  curl -s -H \"$K\" \"http://{address}/v1/auctions?ending_before=$(date -u -d '1 week' +%FT%TZ)\"",
        look::text(&table)
    );
}

/// The same for the sale of this hour.
fn tell_sale(series: ListingId) {
    say!(
        "
  # every hour another sale: the one that is on now
  S=$(curl -s -H \"$K\" $V/series/{series} | of active_sale)
  curl -s -H \"$K\" $V/sales/$S

  # reserve one of its first thing for ann; C keeps the answer
  C=$(curl -s -H \"$K\" -H 'Onsale-Buyer: ann' --json '{{\"lines\":[{{\"sku\":\"item-1\",\"count\":1}}]}}' \\
    $V/sales/$S/checkouts | tee /dev/stderr)

  # buy it, the money taken elsewhere
  curl -s -H \"$K\" -H \"Checkout-Code: $(echo \"$C\" | of code)\" --json '{{\"paid_elsewhere\":true}}' $V/checkouts/$(echo \"$C\" | of id)/purchase"
    );
}

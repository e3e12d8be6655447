//! `onsale facts`: a listing's history as readable lines, from a running server or from a data folder.

mod offline;
mod remote;
mod told;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use onsale_domain::ListingId;
use serde_json::Value;
use serde_json::value::RawValue;

use self::told::Style;
use super::client::Server;

/// Print a listing's history, and follow it as it grows
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  onsale facts evt_000000000theatre
  onsale facts evt_000000000theatre -f --after 1-100
  onsale facts evt_000000000theatre --json | jq 'select(.kind == \"hold_confirmed\")'
  onsale facts ven_000000000theatre --data data      offline, venues too")]
pub struct Args {
    /// The listing's id: evt_…, sal_…, ser_…, reg_…, auc_…; with --data also a venue's, ven_…
    #[arg(value_name = "LISTING")]
    listing: String,
    #[command(flatten)]
    server: Server,
    /// Read this data folder instead of asking a server
    #[arg(long, value_name = "FOLDER", conflicts_with = "follow")]
    data: Option<PathBuf>,
    /// Go on as new facts come; a lost connection is taken up where it broke
    #[arg(short, long)]
    follow: bool,
    /// Only what came after this position: <epoch>-<offset>, or an offset
    #[arg(long, value_name = "POSITION", default_value = "0")]
    after: String,
    /// One JSON object a line, as the server tells it
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let listing = ListingId::parse(&args.listing);
    let listing = listing.with_context(|| {
        format!("{} is not a listing's id; `curl …/v1/events` lists them, evt_…", args.listing)
    })?;
    let mut out = Out { json: args.json, style: Style::for_terminal(), stdout: io::stdout().lock() };
    let done = match &args.data {
        Some(data) => offline::print(data, listing, &args.after, &mut out),
        None => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(Box::pin(remote::print(args, listing, &mut out)))
        }
    };
    match done {
        // `onsale facts … | head` has seen enough; that is no failure.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        done => done,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A fact without what a merchant has written into it: that may be deeper, and its numbers larger, than a value here.
fn without_metadata(json: &str) -> Value {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).unwrap_or_default();
    let fields = fields.into_iter().filter(|(name, _)| name != "metadata");
    fields
        .map(|(name, field)| (name, serde_json::from_str::<Value>(field.get()).unwrap_or_default()))
        .collect()
}

/// Where facts are printed, and how.
struct Out {
    json: bool,
    style: Style,
    stdout: io::StdoutLock<'static>,
}

impl Out {
    /// One fact, as the JSON that the server tells.
    fn fact(&mut self, json: &str) -> anyhow::Result<()> {
        if self.json {
            writeln!(self.stdout, "{json}")?;
        } else {
            writeln!(self.stdout, "{}", told::line(&without_metadata(json), self.style))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.stdout.flush()?)
    }
}

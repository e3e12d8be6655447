//! `onsale login`: tries a key at a server, and keeps it for the other commands in a file that only its owner reads.

pub mod store;

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args as ClapArgs;

use super::client::{Server, refused};
use super::look;

/// Keep a key for a server, so that other commands need none
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  onsale login < key.txt
  onsale login --server https://tickets.example.org --ca ca.pem
  onsale login --forget
The key is the first line of standard input. ONSALE_KEY and --key come before what is kept.")]
pub struct Args {
    /// The server's address
    #[arg(long = "server", value_name = "URL", default_value = "http://127.0.0.1:7070")]
    url: String,
    /// The certificate to trust, in PEM; an https:// address needs it
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Forget the key of this server instead
    #[arg(long)]
    forget: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let url = args.url.trim_end_matches('/');
    if args.forget {
        let words = if store::forget(url)? { "the key is forgotten" } else { "no key was kept for it" };
        return Ok(look::show(&format!("{url}: {words}"))?);
    }
    let server = Server { url: url.to_owned(), key: Some(read()?), ca: args.ca.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let path = "/v1/events?limit=1";
    let reply = runtime.block_on(async { server.client()?.get(path).await })?;
    // A key may be for something else than reading; one that is unknown is not.
    if !matches!(reply.status, 200 | 403) {
        return Err(refused(path, &reply));
    }
    let file = store::keep(url, &server.key()?)?;
    Ok(look::show(&format!("{url}: the key opens it, and is kept in {}", file.display()))?)
}

fn read() -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        write!(std::io::stderr(), "Key (it is shown as you type): ")?;
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line).context("reading the key from standard input")?;
    match line.trim() {
        "" => bail!("no key: write it as the first line of standard input; `onsale keys create` makes one"),
        key => Ok(key.to_owned()),
    }
}

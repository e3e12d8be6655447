//! `onsale routes`: the table of routes, as `docs/routes.md` has it.

use std::io::Write as _;

use onsale_edge::http::table::table;

/// Print every route with what it needs and answers, as Markdown
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> anyhow::Result<()> {
    std::io::stdout().write_all(table().to_markdown().as_bytes())?;
    Ok(())
}

//! `onsale routes`: the table of routes, as `docs/routes.md` has it, and whom each is for, as `docs/roles.md` has it.

use std::io::Write as _;

use onsale_edge::http::table::table;

/// Print every route with what it needs and answers, as Markdown
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print who may ask it instead: keys, tokens and roles
    #[arg(long)]
    roles: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let text = if args.roles { table().roles_to_markdown() } else { table().to_markdown() };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

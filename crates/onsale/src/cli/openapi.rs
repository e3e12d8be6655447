//! `onsale openapi`: the description of every route, as `/openapi.json` has it, without a server.

use std::io::Write as _;

use onsale_edge::http::document::document;

/// Print the OpenAPI document of this version, as JSON
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  onsale openapi > openapi.json
  onsale openapi | jq '.paths | keys'
What to generate from it: docs/clients.md")]
pub struct Args {}

pub fn run(_args: &Args) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(document())?;
    text.push('\n');
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

//! Load really buys: on a server that is not a demo on this machine, somebody must have said that this is meant.

use std::io::{IsTerminal, Write};

use anyhow::{Context, bail};
use clap::Args as ClapArgs;

use crate::cli::client::Server;

#[derive(Clone, Copy, Debug, ClapArgs)]
pub(super) struct Consent {
    /// Buy on a server that is not a demo on this machine, without asking
    #[arg(long)]
    yes: bool,
}

impl Consent {
    /// Asks on a terminal; without one it takes `--yes`.
    pub(super) fn ask(self, server: &Server) -> anyhow::Result<()> {
        if self.yes || server.is_own_demo() {
            return Ok(());
        }
        let url = &server.url;
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            bail!(
                "{url} is not a demo on this machine and load really buys there; add --yes if that is meant"
            );
        }
        let mut stderr = std::io::stderr();
        write!(stderr, "{url} is not a demo on this machine, and load really buys there. Go on? [y/N] ")?;
        stderr.flush()?;
        let mut answer = String::new();
        stdin.read_line(&mut answer).context("reading the answer")?;
        if !matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            bail!("nothing was bought");
        }
        Ok(())
    }
}

//! `onsale config`: the effective configuration, secrets hidden.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use crate::config::{Config, reference};

/// Print the effective configuration (defaults, file, environment, flags)
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  onsale config
  onsale config --json | jq .limits
  onsale config --sample > onsale.toml
  ONSALE_LISTEN=127.0.0.1:9000 onsale config")]
pub struct Args {
    /// As JSON instead of TOML
    #[arg(long)]
    json: bool,
    /// A commented file with every setting instead, to start from
    #[arg(long, conflicts_with_all = ["json", "reference"])]
    sample: bool,
    /// A page about every setting instead, as Markdown
    #[arg(long, conflicts_with = "json")]
    reference: bool,
    #[command(flatten)]
    settings: Settings,
}

/// Flags that override file and environment.
#[derive(Debug, Default, Clone, ClapArgs, Serialize)]
pub struct Settings {
    /// Configuration file [default: onsale.toml if there is one]
    #[arg(long, value_name = "FILE", env = "ONSALE_CONFIG")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// Folder with journal, snapshots and keys
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
}

impl Settings {
    pub fn load(&self) -> anyhow::Result<Config> {
        Ok(Config::load(self.config.as_deref(), self)?)
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if args.sample || args.reference {
        let made = if args.sample { reference::sample() } else { reference::page() };
        print!("{made}");
        return Ok(());
    }
    let config = args.settings.load()?.masked();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&config)?);
    } else {
        print!("{}", toml::to_string(&config)?);
    }
    Ok(())
}

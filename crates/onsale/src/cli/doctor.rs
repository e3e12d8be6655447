//! `onsale doctor`: looks at a deployment of Redis or Valkey, says what to change, and changes nothing.

use std::process::ExitCode;

use clap::{Args as ClapArgs, ValueEnum};
use onsale_engine_redis::inspect::{self, Depth, Facts, Level, Report};
use onsale_engine_redis::link::config::Topology;
use onsale_engine_redis::link::{Config, Link};

use super::config::Settings;
use super::look;

/// There is no deployment to look at.
const USAGE: u8 = 2;

/// Check a deployment of Redis or Valkey, and say what to change
#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit code: 0 sound, 1 something needs somebody, 2 no deployment named.
Passwords come from the configuration's section [redis] or from ONSALE_REDIS__PASSWORD.

Examples:
  onsale doctor                                  the deployment of onsale.toml
  onsale doctor --url redis://127.0.0.1:6379
  onsale doctor --topology cluster --url redis://10.0.0.1 --url redis://10.0.0.2
  onsale doctor --topology sentinel --master onsale --url redis://10.0.0.1:26379 --json | jq .findings")]
pub struct Args {
    /// A server, a sentinel or a node of a Cluster; may be repeated
    #[arg(long, value_name = "URL")]
    url: Vec<String>,
    /// How the servers belong together
    #[arg(long, value_enum)]
    topology: Option<Kind>,
    /// The name under which sentinels watch the master
    #[arg(long, value_name = "NAME")]
    master: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Single,
    Sentinel,
    Cluster,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(config) = deployment(args)? else {
        eprintln!(
            "onsale: no deployment of Redis is named; give --url, or a section [redis] in the configuration \
             (`onsale verify` looks at a data folder)"
        );
        return Ok(ExitCode::from(USAGE));
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(Box::pin(async {
        let link = Link::open(config).await?;
        inspect::inspect(&link, Depth::Doctor).await
    }))?;
    let text = if args.json { serde_json::to_string_pretty(&report)? } else { told(&report) };
    look::show(&text)?;
    Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Flags over the configuration's section.
fn deployment(args: &Args) -> anyhow::Result<Option<Config>> {
    let mut config = match (args.settings.load()?.redis, args.url.is_empty()) {
        (Some(config), _) => config,
        (None, false) => Config::default(),
        (None, true) => return Ok(None),
    };
    if !args.url.is_empty() {
        config.url = args.url.clone();
    }
    if let Some(kind) = args.topology {
        config.topology = match kind {
            Kind::Single => Topology::Single,
            Kind::Sentinel => Topology::Sentinel,
            Kind::Cluster => Topology::Cluster,
        };
    }
    if let Some(master) = &args.master {
        config.sentinel.master = master.clone();
    }
    Ok(Some(config))
}

fn told(report: &Report) -> String {
    let mut table = look::ruled(&[
        "node", "role", "version", "memory", "policy", "on disk", "p50", "p99", "clock", "scripts",
    ]);
    for node in &report.nodes {
        table.add_row(row(node));
    }
    let mut text = format!("{}\nDurable: {}\n", look::text(&table), report.durable);
    if report.slots_without_master > 0 {
        text += &format!("Slots without a master: {}\n", report.slots_without_master);
    }
    for (level, title) in
        [(Level::Fatal, "No server starts on this"), (Level::Problem, "Change"), (Level::Advice, "Better")]
    {
        let findings: Vec<_> = report.of(level).collect();
        if !findings.is_empty() {
            text += &format!("\n{title}:\n");
        }
        for finding in findings {
            let node = finding.node.as_deref().map_or(String::new(), |node| format!("{node}: "));
            text += &format!("  - {node}{}\n    → {}\n", finding.what, finding.change);
        }
    }
    if report.findings.is_empty() {
        text += "\nNothing to change.\n";
    }
    text
}

fn row(node: &Facts) -> Vec<comfy_table::Cell> {
    let disk = match (node.aof, node.setting("appendfsync"), node.setting("save")) {
        (true, Some(sync), _) => format!("aof {sync}"),
        (true, None, _) => "aof".to_owned(),
        (false, _, Some("")) => "nothing".to_owned(),
        (false, _, Some(_)) => "snapshots".to_owned(),
        (false, _, None) => "?".to_owned(),
    };
    let latency = |pick: fn(&inspect::Latency) -> u64| {
        node.latency.as_ref().map_or_else(|| "?".to_owned(), |latency| look::micros(pick(latency)))
    };
    let scripts = node.scripts.as_ref().map_or_else(String::new, |known| match &known.generation {
        None => "none".to_owned(),
        Some(generation) if known.believed => format!("{} in use, {generation}", known.scripts),
        Some(_) => "forgotten".to_owned(),
    });
    let role = if node.trouble.is_some() { "no answer" } else { node.role.as_str() };
    let role = if role == "slave" { "replica" } else { role };
    let mut cells = vec![comfy_table::Cell::new(&node.name)];
    cells.extend(
        [
            role.to_owned(),
            format!("{} {}", node.product, node.version).trim().to_owned(),
            look::bytes(node.used_memory_bytes),
            node.maxmemory_policy.clone(),
            disk,
            latency(|latency| latency.p50_us),
            latency(|latency| latency.p99_us),
            node.clock_ahead_ms.map_or_else(|| "?".to_owned(), |ahead| format!("{ahead:+} ms")),
            scripts,
        ]
        .map(look::right),
    );
    cells
}

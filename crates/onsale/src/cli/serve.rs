//! `onsale serve`: opens the data folder, serves it, and closes it in good order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args as ClapArgs;
use onsale_engine::Engine;
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};
use tokio_util::sync::CancellationToken;

mod found;
mod opened;

use self::opened::OpenEngine;
use super::config::Settings;
use crate::app::Bound;
use crate::config::access::Database;
use crate::config::{Config, ProviderName};
use crate::logs;
use crate::secrets::{Secrets, Unconfigured};
use onsale_edge::listen::tls;
use onsale_payments::stripe::Stripe;

/// Serve the HTTP interface from a data folder
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  onsale serve
  onsale serve --listen 127.0.0.1:8080 --data /srv/onsale
  onsale serve --config /etc/onsale.toml
  ONSALE_LOG__FORMAT=json onsale serve
  ONSALE_TLS__CERT=cert.pem ONSALE_TLS__KEY=key.pem onsale serve")]
pub struct Args {
    #[command(flatten)]
    settings: Settings,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    run_with(args.settings.load()?, |_, _| Ok(()))
}

/// How often somebody looks whether the engine still lives.
const POISON_CHECK: Duration = Duration::from_millis(500);

/// Serves until Ctrl-C or SIGTERM. `ready` is called once, when the port is open and the engine runs.
pub fn run_with(
    config: Config,
    ready: impl FnOnce(SocketAddr, &Arc<dyn Engine>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    logs::start(&config.log);
    // Now, and not when recovery is through and the port is open.
    config.tls.as_ref().map(tls::acceptor).transpose().context("the TLS files")?;
    if config.payments.provider == ProviderName::Stripe {
        let stripe = Stripe::new(config.stripe_keys()?);
        stripe.map_err(anyhow::Error::msg).context("reaching Stripe")?;
    }
    let data = config.data.clone();
    std::fs::create_dir_all(&data).with_context(|| format!("creating the data folder {}", data.display()))?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().on_thread_start(work_in_batches).build()?;
    let opened = runtime.block_on(OpenEngine::open(&config))?;
    let unconfigured = match config.access.database {
        Database::None => Unconfigured::Make,
        Database::Sqlite | Database::Postgres(_) => Unconfigured::OnlyIfThere,
    };
    let (api_key, house_key) = (config.api_key.as_deref(), config.house_key.as_deref());
    let secrets = Secrets::open(&data, api_key, unconfigured, house_key)
        .with_context(|| format!("reading the keys in {}", data.display()))?;
    let served = runtime.block_on(async {
        let bound = Bound::bind(&config).await.with_context(|| format!("listening on {}", config.listen))?;
        found::tell_clock(&*opened.engine());
        tell(&config, &secrets, bound.address);
        let shared = opened.engine();
        ready(bound.address, &shared)?;
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        tokio::spawn(stop_when_poisoned(shared.clone(), stop.clone()));
        bound.serve(config, secrets, shared, stop).await.context("serving")
    });
    // Whatever happened to HTTP, what the engine has taken is brought to the disk.
    opened.close();
    tracing::info!("stopped");
    if let Some(why) = opened.engine().status().poisoned {
        anyhow::bail!("{why}; start again: everything that was answered is in the journal");
    }
    served
}

/// Of the hundred steps between the least and the most, the one that is no niceness at all.
const NICENESS_0: u8 = 47;

/// A worker that is woken lets whoever runs finish (`SCHED_BATCH`). Woken ones that push in cost a change of threads
/// for every request or two, and split what the disk could have taken at once.
fn work_in_batches() {
    // Who gave us another priority has made plans of their own.
    if rustix::process::getpriority_process(None) != Ok(0) {
        return;
    }
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
    if let Ok(priority) = ThreadPriorityValue::try_from(NICENESS_0).map(ThreadPriority::Crossplatform) {
        // Without it we serve as well, only not as many.
        let _ = set_thread_priority_and_policy(thread_native_id(), priority, policy);
    }
}

/// After a failed write or sync nobody can be served any more; ending lets whoever watches over us start anew.
async fn stop_when_poisoned(engine: Arc<dyn Engine>, stop: CancellationToken) {
    while engine.status().poisoned.is_none() {
        tokio::time::sleep(POISON_CHECK).await;
    }
    stop.cancel();
    tracing::error!("the engine is poisoned; stopping");
}

/// What somebody who starts the server must know.
fn tell(config: &Config, secrets: &Secrets, address: SocketAddr) {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    tracing::info!(%address, data = %config.data.display(), "serving {scheme}://{address} (routes: /docs)");
    match (&secrets.api_key, &secrets.api_key_file) {
        (Some(_), Some(file)) => {
            tracing::info!("an API key is in {0}; read it with: cat {0}", file.display());
        }
        (Some(_), None) => tracing::info!("the configured API key opens everything in the first tenant"),
        (None, _) => tracing::info!("keys open this server: `onsale keys` lists and makes them"),
    }
}

/// Ctrl-C, or what a service manager sends; a second Ctrl-C ends the process at once.
async fn stop_on_signal(stop: CancellationToken) {
    let interrupted = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminated) => tokio::select! {
                () = interrupted => {}
                _ = terminated.recv() => {}
            },
            Err(_) => interrupted.await,
        }
    }
    #[cfg(not(unix))]
    interrupted.await;
    // First what was asked for, then a word about it.
    stop.cancel();
    tracing::info!("stopping");
    let _ = tokio::signal::ctrl_c().await;
    std::process::exit(130);
}

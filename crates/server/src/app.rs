//! All wiring: what the routes share, and serving until told to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use onsale_engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::config::Config;
use crate::http::chart::Charts;
use crate::metrics::Metrics;
use crate::secrets::Secrets;
use crate::token::Tokens;
use crate::{clockwork, http, listen, provider};
use onsale_payments::Worker;

/// How often recorded timings are folded into their buckets.
const UPKEEP: Duration = Duration::from_secs(5);
/// So long the payments' worker may take to stop: it waits for no provider, only for the engine.
const PAYMENTS_END: Duration = Duration::from_secs(2);

/// What every route may use.
pub struct App {
    pub engine: Arc<dyn Engine>,
    pub config: Config,
    pub api_key: String,
    pub tokens: Tokens,
    pub metrics: Metrics,
    pub charts: Charts,
    /// Carries slips between listings, the desk and the payment provider.
    pub payments: Arc<Worker>,
    /// One permit for every event stream that may be open.
    pub streams: Arc<Semaphore>,
    /// Cancelled when the server begins to stop: streams end, `/readyz` says no.
    pub stopping: CancellationToken,
}

impl App {
    pub fn new(
        config: Config,
        secrets: &Secrets,
        engine: Arc<dyn Engine>,
        stopping: CancellationToken,
    ) -> io::Result<App> {
        let (provider, patience) = provider::chosen(&config, secrets)?;
        Ok(App {
            payments: Arc::new(Worker::new(engine.clone(), provider, patience)),
            engine,
            api_key: secrets.api_key.clone(),
            tokens: Tokens::new(&secrets.house_key),
            metrics: Metrics::new(),
            charts: Charts::default(),
            streams: Arc::new(Semaphore::new(config.limits.streams_max)),
            stopping,
            config,
        })
    }

    /// A fresh number for something new; later ones sort after earlier ones.
    pub fn new_number(&self) -> u128 {
        Uuid::now_v7().as_u128()
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("config", &self.config.masked()).finish_non_exhaustive()
    }
}

/// A server that has its port but does not answer yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    pub address: SocketAddr,
}

impl Bound {
    pub async fn bind(config: &Config) -> io::Result<Bound> {
        let listener = TcpListener::bind(config.listen).await?;
        let address = listener.local_addr()?;
        Ok(Bound { listener, address })
    }

    /// Serves until `stop`, then lets requests under way finish, up to the configured deadline.
    /// The engine stays open: closing it is its owner's business.
    pub async fn serve(
        self,
        config: Config,
        secrets: Secrets,
        engine: Arc<dyn Engine>,
        stop: CancellationToken,
    ) -> io::Result<()> {
        let app = Arc::new(App::new(config, &secrets, engine, stop.clone())?);
        let edge = Arc::new(http::edge::Edge::new(app.clone()));
        let upkeep = tokio::spawn({
            let app = app.clone();
            async move {
                loop {
                    tokio::time::sleep(UPKEEP).await;
                    app.metrics.upkeep();
                }
            }
        });
        let payments = tokio::spawn({
            let (payments, stop) = (app.payments.clone(), stop.clone());
            async move { payments.run(stop).await }
        });
        let clockwork = tokio::spawn(clockwork::run(app));
        let served = listen::serve(self.listener, edge, stop).await;
        // It gives its lease back, so that another server need not wait for the end of it.
        let ending = payments.abort_handle();
        let _ = tokio::time::timeout(PAYMENTS_END, payments).await;
        ending.abort();
        upkeep.abort();
        clockwork.abort();
        served
    }
}

/// Binds and serves in one call.
pub async fn serve(
    config: Config,
    secrets: Secrets,
    engine: Arc<dyn Engine>,
    stop: CancellationToken,
) -> io::Result<()> {
    Bound::bind(&config).await?.serve(config, secrets, engine, stop).await
}

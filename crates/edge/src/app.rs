//! What the routes share.

use std::sync::Arc;

use onsale_access::house::Access;
use onsale_domain::ListingKind;
use onsale_engine::{ActiveSales, Calendar, Engine};
use onsale_payments::Worker;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::config::EdgeConfig;
use crate::http::chart::Charts;
use crate::http::gate::Gate;
use crate::metrics::Metrics;
use crate::token::Tokens;

/// What every route may use.
pub struct App {
    pub engine: Arc<dyn Engine>,
    /// The auctions that are not over.
    pub calendar: Calendar,
    /// The sales that are on.
    pub active_sales: ActiveSales,
    pub config: EdgeConfig,
    pub gate: Gate,
    /// Keys, accounts and sessions; without it there is the one configured key.
    pub access: Option<Arc<Access>>,
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

/// The secrets that the edge needs.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    /// May do everything in the first tenant; `None`: only keys that were made do.
    pub api_key: Option<&'a str>,
    /// Signs hold tokens, codes and order keys.
    pub house_key: &'a [u8],
}

impl std::fmt::Debug for Keys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl App {
    pub fn new(
        config: EdgeConfig,
        keys: Keys<'_>,
        engine: Arc<dyn Engine>,
        payments: Arc<Worker>,
        access: Option<Arc<Access>>,
        stopping: CancellationToken,
    ) -> App {
        App {
            payments,
            calendar: Calendar::new(&*engine, &[ListingKind::Auction]),
            active_sales: ActiveSales::new(&*engine),
            engine,
            gate: Gate::new(keys.api_key, access.as_ref().map(|access| access.directory.clone())),
            access,
            tokens: Tokens::new(keys.house_key),
            metrics: Metrics::new(),
            charts: Charts::default(),
            streams: Arc::new(Semaphore::new(config.limits.streams_max)),
            stopping,
            config,
        }
    }

    /// A number for something new, drawn blindly: whoever takes it says whether it is taken.
    pub fn draw_number(&self) -> u64 {
        rand::random()
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("config", &self.config).finish_non_exhaustive()
    }
}

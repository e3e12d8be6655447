//! All wiring: what is made of the configuration, and serving until told to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use onsale_access::house::Access;
use onsale_access::letters::Outgoing;
use onsale_access::mail::{self, MailError, Sender, Stationery};
use onsale_edge::app::{App, Keys};
use onsale_edge::http::edge::Edge;
use onsale_edge::http::time::Time;
use onsale_edge::listen;
use onsale_engine::Engine;
use onsale_engine::embedded::{Clock, SystemClock};
use onsale_payments::simulated::{Bank, SimulatedProvider};
use onsale_payments::stripe::Stripe;
use onsale_payments::worker::Patience;
use onsale_payments::{Provider, Worker};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::clockwork;
use crate::config::{Config, ProviderName};
use crate::first_key;
use crate::secrets::Secrets;

/// How often recorded timings are folded into their buckets.
const UPKEEP: Duration = Duration::from_secs(5);
/// So long the payments' worker may take to stop: it waits for no provider, only for the engine.
const PAYMENTS_END: Duration = Duration::from_secs(2);
/// So long the accounts may take to write down what was used last.
const ACCESS_END: Duration = Duration::from_secs(2);
/// So long letters under way may take; one that is cut is sent again after the next start.
const LETTERS_END: Duration = Duration::from_secs(6);
/// Stripe is asked several times before it is given up for now: `stripe/client.rs`.
const STRIPE_ANSWERS: Duration = Duration::from_secs(40);

/// The provider that the configuration names, and how patient one must be with it.
pub fn chosen(config: &Config, secrets: &Secrets) -> io::Result<(Arc<dyn Provider>, Patience)> {
    match config.payments.provider {
        ProviderName::Simulated => {
            let secret = [b"webhooks:", &*secrets.house_key].concat();
            Ok((Arc::new(SimulatedProvider::new(Arc::new(Bank::default()), &secret)), Patience::default()))
        }
        ProviderName::Stripe => {
            let patience = Patience { answer: STRIPE_ANSWERS, ..Patience::default() };
            let keys = config.stripe_keys().map_err(io::Error::other)?;
            let stripe = Stripe::new(keys).map_err(|error| io::Error::other(format!("stripe: {error}")))?;
            Ok((Arc::new(stripe), patience))
        }
    }
}

/// Keys, accounts and sessions, as the configuration says; their time is the machine's.
async fn access(config: &Config, secrets: &Secrets) -> io::Result<Option<Arc<Access>>> {
    let Some(settings) = config.access.settings(&config.data) else { return Ok(None) };
    let clock = SystemClock::default();
    let access = Access::open(&settings, &secrets.house_key, Arc::new(move || clock.now())).await;
    let access = access.map_err(|error| io::Error::other(format!("opening keys and accounts: {error}")))?;
    Ok(Some(access))
}

/// Sends the letters that accounts write.
fn letters(
    config: &Config,
    access: &Arc<Access>,
    address: SocketAddr,
) -> Result<Arc<Sender<Outgoing>>, MailError> {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let own_address = format!("{scheme}://{address}");
    let site_address = config.access.public_url.as_deref().unwrap_or(&own_address);
    let clock: mail::Clock = Arc::new({
        let access = access.clone();
        move || access.now_ms()
    });
    let outgoing = Outgoing {
        letters: access.letters.clone(),
        site_address: site_address.trim_end_matches('/').to_owned(),
        clock: clock.clone(),
        write_time: |ms| String::from_utf8_lossy(&Time(ms).write()).into_owned(),
    };
    let transport = mail::transport(&config.mail, &config.data)?;
    Ok(Arc::new(Sender::new(Arc::new(outgoing), Stationery::new(&config.mail)?, transport, clock)))
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
        let (provider, patience) = chosen(&config, &secrets)?;
        let payments = Arc::new(Worker::new(engine.clone(), provider, patience));
        let access = access(&config, &secrets).await?;
        if let (Some(access), None) = (&access, &secrets.api_key) {
            first_key::ensure(access).await?;
        }
        let letters = access.as_ref().map(|access| letters(&config, access, self.address)).transpose();
        let letters = letters.map_err(|error| io::Error::other(format!("letters: {error}")))?;
        let keys = Keys { api_key: secrets.api_key.as_deref(), house_key: &secrets.house_key };
        let app = Arc::new(App::new(config.edge(), keys, engine, payments, access.clone(), stop.clone()));
        let edge = Arc::new(Edge::new(app.clone()));
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
        let access = access.map(|access| {
            let stop = stop.clone();
            tokio::spawn(async move { access.run(stop).await })
        });
        let letters = letters.map(|letters| {
            let stop = stop.clone();
            tokio::spawn(async move { letters.run(stop).await })
        });
        let served = listen::serve(self.listener, edge, stop).await;
        // It gives its lease back, so that another server need not wait for the end of it.
        let ending = payments.abort_handle();
        let _ = tokio::time::timeout(PAYMENTS_END, payments).await;
        ending.abort();
        if let Some(access) = access {
            let ending = access.abort_handle();
            let _ = tokio::time::timeout(ACCESS_END, access).await;
            ending.abort();
        }
        if let Some(letters) = letters {
            let ending = letters.abort_handle();
            let _ = tokio::time::timeout(LETTERS_END, letters).await;
            ending.abort();
        }
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

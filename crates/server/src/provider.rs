//! The payment provider that the configuration names.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use onsale_payments::Provider;
use onsale_payments::simulated::{Bank, Simulated};
use onsale_payments::stripe::Stripe;
use onsale_payments::worker::Patience;

use crate::config::{Config, ProviderName};
use crate::secrets::Secrets;

/// Stripe is asked several times before it is given up for now: `crates/payments/src/stripe/client.rs`.
const STRIPE_ANSWERS: Duration = Duration::from_secs(40);

/// The provider that the configuration names, and how patient one must be with it.
pub fn chosen(config: &Config, secrets: &Secrets) -> io::Result<(Arc<dyn Provider>, Patience)> {
    match config.payments.provider {
        ProviderName::Simulated => {
            let secret = [b"webhooks:", &*secrets.house_key].concat();
            Ok((Arc::new(Simulated::new(Arc::new(Bank::default()), &secret)), Patience::default()))
        }
        ProviderName::Stripe => {
            let patience = Patience { answer: STRIPE_ANSWERS, ..Patience::default() };
            let keys = config.stripe_keys().map_err(io::Error::other)?;
            let stripe = Stripe::new(keys).map_err(|error| io::Error::other(format!("stripe: {error}")))?;
            Ok((Arc::new(stripe), patience))
        }
    }
}

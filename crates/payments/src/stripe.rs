//! Stripe as a provider: payment intents and refunds, asked for under our own keys. One file per thing Stripe knows;
//! `client.rs` is the only one that talks. Nothing here is remembered: every answer can be had again.

mod amounts;
mod client;
mod find;
mod keys;
mod objects;
mod webhook;

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt};
use http::HeaderMap;
use onsale_domain::Millis;
use onsale_domain::desk::{PaymentStanding, Webhook};
use serde::de::DeserializeOwned;

use self::client::{Client, Method, Reply};
pub use self::keys::{Secret, StripeKeys};
use self::objects::{Failure, FailureBody, Intent, Refund};
use super::provider::{
    Charge, GiveBack, LookUp, Provider, ProviderAnswer, ProviderError, WebhookError, failed,
};

/// The version of Stripe's interface that we speak; an account's own default does not matter.
pub const VERSION: &str = "2025-12-15.clover";
/// Stripe remembers keys for at least 24 hours; whatever is older is looked for before it is asked again.
const KEYS_KEPT_MS: Millis = 20 * 3_600_000;

#[derive(Clone, Debug)]
pub struct Stripe {
    account: Arc<Account>,
}

#[derive(Debug)]
struct Account {
    client: Client,
    keys: StripeKeys,
}

impl Stripe {
    /// Fails if this machine has no certificates to trust.
    pub fn new(keys: StripeKeys) -> Result<Stripe, String> {
        let client = Client::new(&keys.base_url, &keys.secret_key)?;
        Ok(Stripe { account: Arc::new(Account { client, keys }) })
    }
}

impl Account {
    /// Takes money from a card that the buyer has named; without one the buyer names it in Stripe's own form.
    async fn charge(&self, ask: Charge) -> Result<ProviderAnswer, ProviderError> {
        let Some(amount) = amounts::there(ask.amount_minor, ask.currency) else {
            let why =
                format!("Stripe cannot take {} minor units of {}", ask.amount_minor, ask.currency.as_str());
            return Ok(ProviderAnswer { reference: None, standing: failed(&why) });
        };
        let mut form = vec![
            ("amount", amount.to_string()),
            ("currency", ask.currency.as_str().to_ascii_lowercase()),
            ("metadata[payment]", ask.key.clone()),
            ("metadata[order]", ask.order),
        ];
        match ask.method {
            Some(method) => {
                form.extend([
                    ("payment_method", method),
                    ("payment_method_types[]", "card".to_owned()),
                    ("confirm", "true".to_owned()),
                ]);
                form.extend(self.keys.return_url.clone().map(|url| ("return_url", url)));
            }
            None => form.push(("metadata[form]", "yes".to_owned())),
        }
        let reply = self.client.send(Method::Post, "payment_intents", &form, Some(&ask.key)).await?;
        self.answered(&reply, Intent::said)
    }

    async fn refund(&self, ask: GiveBack) -> Result<ProviderAnswer, ProviderError> {
        let Some(intent) = ask.reference.clone() else {
            return Ok(ProviderAnswer {
                reference: None,
                standing: failed("Stripe never named this payment"),
            });
        };
        // An earlier try may have gone through after all, or its key may be forgotten.
        if ask.failures > 0 || ask.now - ask.asked_at > KEYS_KEPT_MS {
            let known = self.find_refund(&intent, &ask.key).await?;
            if let Some(said) = known.map(|refund| refund.said()).filter(|said| !is_failed(said)) {
                return Ok(said);
            }
        }
        let Some(amount) = amounts::there(ask.amount_minor, ask.currency) else {
            return Ok(ProviderAnswer {
                reference: None,
                standing: failed("Stripe cannot pay back this amount"),
            });
        };
        let form = [
            ("payment_intent", intent),
            ("amount", amount.to_string()),
            ("metadata[refund]", ask.key.clone()),
        ];
        let reply = self.client.send(Method::Post, "refunds", &form, Some(&ask.key)).await?;
        self.answered(&reply, Refund::said)
    }

    async fn look_up(&self, ask: LookUp) -> Result<Option<ProviderAnswer>, ProviderError> {
        match (ask.is_refund, &ask.reference) {
            (true, Some(refund)) => self.get(&format!("refunds/{refund}"), Refund::said).await,
            // A refund that was never answered is asked for again, under its key.
            (true, None) => Ok(None),
            (false, Some(intent)) => self.get(&format!("payment_intents/{intent}"), Intent::said).await,
            (false, None) => Ok(self.find_intent(&ask).await?.map(|intent| intent.said())),
        }
    }

    async fn call_off(&self, ask: LookUp) -> Result<Option<ProviderAnswer>, ProviderError> {
        let found = match &ask.reference {
            Some(intent) => Some(intent.clone()),
            None => self.find_intent(&ask).await?.map(|intent| intent.id),
        };
        let Some(intent) = found else { return Ok(None) };
        // Without a key: calling off twice is calling off, and a "no" of before must not be told again.
        let path = format!("payment_intents/{intent}/cancel");
        let reply = self.client.send(Method::Post, &path, &[], None).await?;
        if reply.status == 200 {
            return Ok(Some(read::<Intent>(&reply)?.said()));
        }
        // It is paid, or being paid, or was called off before.
        self.look_up(LookUp { reference: Some(intent), ..ask }).await
    }

    async fn client_secret(&self, reference: String) -> Result<Option<String>, ProviderError> {
        let reply = self.client.send(Method::Get, &format!("payment_intents/{reference}"), &[], None).await?;
        match reply.status {
            200 => Ok(read::<Intent>(&reply)?.next_secret()),
            _ => Ok(None),
        }
    }

    async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        said: fn(&T) -> ProviderAnswer,
    ) -> Result<Option<ProviderAnswer>, ProviderError> {
        let reply = self.client.send(Method::Get, path, &[], None).await?;
        match reply.status {
            200 => Ok(Some(said(&read(&reply)?))),
            404 => Ok(None),
            _ => Err(refused(&reply)),
        }
    }

    /// A yes, or a no: a card that is declined and an ask that can never be right are answers, not errors.
    fn answered<T: DeserializeOwned>(
        &self,
        reply: &Reply,
        said: fn(&T) -> ProviderAnswer,
    ) -> Result<ProviderAnswer, ProviderError> {
        match reply.status {
            200 => Ok(said(&read(reply)?)),
            400 | 402 | 404 => {
                let failure = read_failure(reply);
                if failure.kind.as_deref() == Some("idempotency_error") {
                    return Err(refused(reply));
                }
                let reference = failure.payment_intent.as_ref().map(|intent| intent.id.clone());
                Ok(ProviderAnswer { reference, standing: failed(&failure.reason()) })
            }
            _ => Err(refused(reply)),
        }
    }
}

impl Provider for Stripe {
    fn name(&self) -> &'static str {
        "stripe"
    }

    fn charge(&self, ask: Charge) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>> {
        let account = self.account.clone();
        async move { account.charge(ask).await }.boxed()
    }

    fn refund(&self, ask: GiveBack) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>> {
        let account = self.account.clone();
        async move { account.refund(ask).await }.boxed()
    }

    fn look_up(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>> {
        let account = self.account.clone();
        async move { account.look_up(ask).await }.boxed()
    }

    fn call_off(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>> {
        let account = self.account.clone();
        async move { account.call_off(ask).await }.boxed()
    }

    fn client_secret(&self, reference: String) -> BoxFuture<'static, Result<Option<String>, ProviderError>> {
        let account = self.account.clone();
        async move { account.client_secret(reference).await }.boxed()
    }

    fn read_webhook(&self, headers: &HeaderMap, body: &[u8], now: Millis) -> Result<Webhook, WebhookError> {
        webhook::read(headers, body, self.account.keys.webhook_secret.expose(), now)
    }
}

fn is_failed(said: &ProviderAnswer) -> bool {
    matches!(said.standing, PaymentStanding::Failed { .. })
}

fn read<T: DeserializeOwned>(reply: &Reply) -> Result<T, ProviderError> {
    serde_json::from_slice(&reply.body)
        .map_err(|error| ProviderError(format!("an answer we cannot read: {error}")))
}

fn read_failure(reply: &Reply) -> Failure {
    let body: Option<FailureBody> = serde_json::from_slice(&reply.body).ok();
    body.map(|body| body.error).unwrap_or_default()
}

/// Nothing that asking again at once would mend: a key that is not ours, a version that is no more.
fn refused(reply: &Reply) -> ProviderError {
    ProviderError(format!("Stripe says {}: {}", reply.status, read_failure(reply).reason()))
}

//! A provider inside this process, for trying things out and for tests: it takes no real money and can misbehave in
//! every way a real one does. What a payment's `method` says is what happens to it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt, pending, ready};
use http::HeaderMap;
use onsale_domain::Millis;
use onsale_domain::desk::{PaymentStanding, Webhook};
use onsale_domain::money::Minor;
use serde::Deserialize;

use super::provider::{
    Charge, GiveBack, LookUp, Provider, ProviderAnswer, ProviderError, WebhookError, failed,
};
use super::{read_ask_key, signature};

/// How long a delayed payment takes.
const DELAY_MS: Millis = 3_000;

/// What a payment's `method` may be; no method: `succeed`.
pub const METHODS: [&str; 9] =
    ["succeed", "decline", "action", "delay", "duplicate", "reorder", "silent", "lost", "down"];

/// A bank that remembers every ask by its key, whoever asks and however often.
#[derive(Debug, Default)]
pub struct Bank {
    accounts: Mutex<Accounts>,
}

#[derive(Debug, Default)]
struct Accounts {
    asks: BTreeMap<String, Ask>,
    pushed: VecDeque<(Millis, Webhook)>,
    events: u64,
    /// How often each key was asked for that is never answered.
    unanswered: BTreeMap<String, u32>,
    down: bool,
    refunds_fail: u32,
}

#[derive(Clone, Debug)]
struct Ask {
    amount_minor: Minor,
    standing: PaymentStanding,
    is_refund: bool,
    /// When a delayed one is done.
    done_at: Option<Millis>,
    heard: u32,
}

impl Bank {
    fn with<T>(&self, act: impl FnOnce(&mut Accounts) -> T) -> T {
        act(&mut self.accounts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The provider cannot be reached, or can be again.
    pub fn set_down(&self, down: bool) {
        self.with(|accounts| accounts.down = down);
    }

    /// So many refunds fail from now on.
    pub fn fail_refunds(&self, count: u32) {
        self.with(|accounts| accounts.refunds_fail = count);
    }

    /// The buyer does, or refuses to do, what a payment with the method `action` asks for.
    pub fn act(&self, key: &str, consents: bool, now: Millis) {
        self.with(|accounts| {
            let waits = |ask: &&mut Ask| matches!(ask.standing, PaymentStanding::NeedsAction { .. });
            let Some(ask) = accounts.asks.get_mut(key).filter(waits) else { return };
            ask.standing = if consents { done(ask.amount_minor) } else { failed("authentication failed") };
            let standing = ask.standing.clone();
            accounts.push(now, key, &standing);
        });
    }

    /// Money taken and money given back, by key.
    pub fn taken(&self) -> Vec<(String, Minor)> {
        self.moved(false)
    }

    pub fn given_back(&self) -> Vec<(String, Minor)> {
        self.moved(true)
    }

    fn moved(&self, refunds: bool) -> Vec<(String, Minor)> {
        self.with(|accounts| {
            let done = accounts.asks.iter().filter(|(_, ask)| {
                ask.is_refund == refunds && matches!(ask.standing, PaymentStanding::Done { .. })
            });
            done.map(|(key, ask)| (key.clone(), ask.amount_minor)).collect()
        })
    }

    /// How often this key was asked for, answered or not.
    pub fn heard(&self, key: &str) -> u32 {
        self.with(|accounts| {
            let answered = accounts.asks.get(key).map_or(0, |ask| ask.heard);
            answered + accounts.unanswered.get(key).copied().unwrap_or(0)
        })
    }
}

fn done(amount_minor: Minor) -> PaymentStanding {
    PaymentStanding::Done { amount_minor }
}

impl Accounts {
    /// Puts an event about this key on its way.
    fn push(&mut self, at: Millis, key: &str, standing: &PaymentStanding) {
        self.events += 1;
        let event = format!("sev_{}", self.events);
        let webhook = webhook(event, key, standing.clone());
        self.pushed.push_back((at, webhook));
    }

    /// Delayed payments whose time has come are done.
    fn pass(&mut self, now: Millis) {
        let due = |ask: &Ask| ask.done_at.is_some_and(|at| at <= now);
        let keys: Vec<_> = self.asks.iter().filter(|(_, ask)| due(ask)).map(|(key, _)| key.clone()).collect();
        for key in keys {
            if let Some(ask) = self.asks.get_mut(&key) {
                (ask.done_at, ask.standing) = (None, done(ask.amount_minor));
                let standing = ask.standing.clone();
                self.push(now, &key, &standing);
            }
        }
    }

    /// The first ask under a key decides; later ones are told the same.
    fn charge(&mut self, ask: &Charge) -> Option<Result<ProviderAnswer, ProviderError>> {
        let method = ask.method.as_deref().unwrap_or("succeed");
        if self.down || method == "down" {
            return Some(Err(ProviderError("the simulated provider is down".to_owned())));
        }
        if method == "silent" {
            *self.unanswered.entry(ask.key.clone()).or_default() += 1;
            return None;
        }
        let (key, amount_minor, now) = (&ask.key, ask.amount_minor, ask.now);
        if let Some(known) = self.asks.get_mut(key) {
            known.heard += 1;
            return Some(Ok(said(key, &known.standing)));
        }
        let standing = match method {
            "decline" => failed("card declined"),
            "action" => PaymentStanding::NeedsAction { url: format!("https://simulated.invalid/{key}") },
            "delay" | "reorder" => PaymentStanding::Waiting,
            "succeed" | "duplicate" | "lost" => done(amount_minor),
            _ => failed("unknown method"),
        };
        let done_at = (method == "delay").then_some(now + DELAY_MS);
        let known = Ask { amount_minor, standing: standing.clone(), is_refund: false, done_at, heard: 1 };
        self.asks.insert(key.clone(), known);
        match method {
            "duplicate" => {
                self.push(now, key, &standing);
                if let Some(twin) = self.pushed.back().cloned() {
                    self.pushed.push_back(twin);
                }
                self.push(now, key, &standing);
            }
            "reorder" => {
                if let Some(known) = self.asks.get_mut(key) {
                    known.standing = done(amount_minor);
                }
                self.push(now, key, &done(amount_minor));
                self.push(now, key, &failed("first try declined"));
                self.push(now, key, &PaymentStanding::Waiting);
            }
            "succeed" | "decline" => self.push(now, key, &standing),
            _ => {}
        }
        if method == "lost" {
            return Some(Err(ProviderError("the answer was lost".to_owned())));
        }
        Some(Ok(said(key, &standing)))
    }

    fn refund(&mut self, ask: &GiveBack) -> Result<ProviderAnswer, ProviderError> {
        if self.down {
            return Err(ProviderError("the simulated provider is down".to_owned()));
        }
        if let Some(known) = self.asks.get_mut(&ask.key) {
            known.heard += 1;
            return Ok(said(&ask.key, &known.standing));
        }
        let standing = match self.refunds_fail {
            0 => done(ask.amount_minor),
            _ => failed("refund failed"),
        };
        self.refunds_fail = self.refunds_fail.saturating_sub(1);
        let known = Ask {
            amount_minor: ask.amount_minor,
            standing: standing.clone(),
            is_refund: true,
            done_at: None,
            heard: 1,
        };
        self.asks.insert(ask.key.clone(), known);
        Ok(said(&ask.key, &standing))
    }
}

fn said(key: &str, standing: &PaymentStanding) -> ProviderAnswer {
    ProviderAnswer { reference: Some(format!("sim_{key}")), standing: standing.clone() }
}

fn webhook(event: String, key: &str, standing: PaymentStanding) -> Webhook {
    let asked = read_ask_key(key);
    Webhook {
        provider: "simulated".to_owned(),
        event,
        kind: format!("payment.{}", standing.as_str()),
        payment: asked.map(|asked| asked.payment),
        refund: asked.map_or(0, |asked| asked.refund),
        reference: Some(format!("sim_{key}")),
        standing: Some(standing),
        failures: asked.map(|asked| asked.failures),
    }
}

/// The bank as a provider. Its webhooks over HTTP are signed with a secret of the house, in `Simulated-Signature`.
#[derive(Clone, Debug)]
pub struct SimulatedProvider {
    pub bank: Arc<Bank>,
    secret: Vec<u8>,
}

impl SimulatedProvider {
    pub fn new(bank: Arc<Bank>, secret: &[u8]) -> SimulatedProvider {
        SimulatedProvider { bank, secret: secret.to_vec() }
    }
}

/// A webhook as it comes over HTTP.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    id: String,
    payment: String,
    status: String,
    amount_minor: Option<Minor>,
    reason: Option<String>,
}

impl Provider for SimulatedProvider {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn charge(&self, ask: Charge) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>> {
        match self.bank.with(|accounts| accounts.charge(&ask)) {
            Some(answer) => ready(answer).boxed(),
            None => pending().boxed(),
        }
    }

    fn refund(&self, ask: GiveBack) -> BoxFuture<'static, Result<ProviderAnswer, ProviderError>> {
        ready(self.bank.with(|accounts| accounts.refund(&ask))).boxed()
    }

    fn look_up(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>> {
        let answer = self.bank.with(|accounts| {
            accounts.pass(ask.now);
            match accounts.down {
                true => Err(ProviderError("the simulated provider is down".to_owned())),
                false => Ok(accounts.asks.get(&ask.key).map(|known| said(&ask.key, &known.standing))),
            }
        });
        ready(answer).boxed()
    }

    /// What nobody has consented to is over; what is under way at the bank cannot be stopped.
    fn call_off(&self, ask: LookUp) -> BoxFuture<'static, Result<Option<ProviderAnswer>, ProviderError>> {
        self.bank.with(|accounts| {
            if let Some(known) = accounts.asks.get_mut(&ask.key).filter(|_| !accounts.down)
                && matches!(known.standing, PaymentStanding::NeedsAction { .. })
            {
                known.standing = failed("called off: not paid in time");
            }
        });
        self.look_up(ask)
    }

    fn read_webhook(&self, headers: &HeaderMap, body: &[u8], now: Millis) -> Result<Webhook, WebhookError> {
        let given = headers.get("simulated-signature").and_then(|value| value.to_str().ok());
        signature::check(given, body, &self.secret, now)?;
        let event: Event = serde_json::from_slice(body).map_err(|_| WebhookError::Unreadable)?;
        let standing = match (event.status.as_str(), event.amount_minor) {
            ("waiting", _) => PaymentStanding::Waiting,
            ("failed", _) => failed(event.reason.as_deref().unwrap_or("declined")),
            ("done", Some(amount_minor)) => done(amount_minor),
            _ => return Err(WebhookError::Unreadable),
        };
        Ok(webhook(event.id, &event.payment, standing))
    }

    fn pushed(&self, now: Millis) -> Vec<Webhook> {
        self.bank.with(|accounts| {
            accounts.pass(now);
            accounts.pushed.drain(..).map(|(_, webhook)| webhook).collect()
        })
    }
}

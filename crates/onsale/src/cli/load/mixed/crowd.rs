//! What all buyers of a mixed run share: the connections' requests, what was answered, and what is still to come.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::Method;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::record::Promise;
use super::stage::Stage;
use crate::cli::instant;
use crate::cli::load::connection::Connection;
use crate::cli::load::hall::{list, text};
use onsale_payments::signature;

/// A request that failed is sent again so often, under the same key.
const TRIES: u32 = 50;
const AGAIN: Duration = Duration::from_millis(100);
/// Between two looks at an order whose payment is under way.
const LOOK: Duration = Duration::from_millis(50);
/// A payment that is to be resolved takes no longer, however busy the machine: then it counts as forgotten.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) struct Crowd {
    pub stage: Stage,
    pub run: u32,
    /// Signs what the simulated provider would say.
    pub secret: Option<Vec<u8>>,
    /// Payments that the provider may still never answer.
    pub silent: AtomicU64,
    /// Of a hundred buyers, so many leave a hold, a code or an order to lapse.
    pub lapses: u32,
    pub bar: ProgressBar,
    requests: AtomicU64,
    events: AtomicU64,
    heard: Mutex<Heard>,
}

#[derive(Default)]
pub(super) struct Heard {
    pub answers: BTreeMap<String, u64>,
    pub payments: BTreeMap<String, u64>,
    pub promises: Vec<Promise>,
    pub broken: Vec<String>,
    /// Every order, and whether all its payments will be heard of.
    pub orders: Vec<(String, bool)>,
    /// When the last thing that was left behind is over.
    pub lapse_at: i64,
}

/// One buyer's connection and name.
pub(super) struct Way<'a> {
    pub crowd: &'a Crowd,
    pub client: &'a mut Connection,
    pub name: String,
    pub number: u64,
    steps: u32,
}

/// An answer: its status, its body, and the code of a refusal.
#[derive(Clone, Debug)]
pub(super) struct ServerAnswer {
    pub status: u16,
    pub body: Value,
}

impl ServerAnswer {
    pub(super) fn is_yes(&self) -> bool {
        self.status < 300
    }

    pub(super) fn text(&self, name: &str) -> String {
        text(&self.body, name)
    }
}

impl Crowd {
    pub(super) fn new(
        stage: Stage,
        secret: Option<Vec<u8>>,
        silent: u64,
        lapses: u32,
        bar: ProgressBar,
    ) -> Crowd {
        Crowd {
            stage,
            run: rand::random(),
            secret,
            silent: AtomicU64::new(silent),
            lapses,
            bar,
            requests: AtomicU64::new(0),
            events: AtomicU64::new(0),
            heard: Mutex::default(),
        }
    }

    pub(super) fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn broken(&self, why: String) {
        self.heard().broken.push(why);
    }

    /// Something is left behind, and over by then.
    pub(super) fn leaves(&self, until: i64) {
        let mut heard = self.heard();
        heard.lapse_at = heard.lapse_at.max(until);
    }

    pub(super) fn may_be_silent(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.silent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

impl<'a> Way<'a> {
    pub(super) fn new(crowd: &'a Crowd, client: &'a mut Connection, number: u64) -> Way<'a> {
        Way { crowd, client, name: format!("load-{:08x}-{number}", crowd.run), number, steps: 0 }
    }

    /// Sends a request under a key of its own, again until it is answered.
    pub(super) async fn send(
        &mut self,
        verb: &str,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Option<ServerAnswer> {
        self.steps += 1;
        let (name, key) = (self.name.clone(), format!("{}-{}", self.name, self.steps));
        let own = [("onsale-buyer", name.as_str()), ("idempotency-key", key.as_str())];
        let headers = [&own, headers].concat();
        for _ in 0..TRIES {
            self.crowd.requests.fetch_add(1, Ordering::Relaxed);
            let reply = self.client.send(method.clone(), path, &headers, Some(body.to_string())).await;
            let Ok(reply) = reply else {
                *self.crowd.heard().answers.entry(format!("{verb}: no answer")).or_default() += 1;
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            let told = ServerAnswer { status: reply.status, body: reply.json() };
            let code = if told.is_yes() { "yes".to_owned() } else { told.text("code") };
            *self.crowd.heard().answers.entry(format!("{verb}: {} {code}", told.status)).or_default() += 1;
            if told.status == 503 {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            return Some(told);
        }
        self.crowd.broken(format!("{verb} was not answered at all"));
        None
    }

    pub(super) async fn post(
        &mut self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Option<ServerAnswer> {
        self.send(verb, Method::POST, path, headers, body).await
    }

    pub(super) fn promise(&self, kind: &str, field: &str, id: &str, says: &[(&str, Value)]) {
        let says = says.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let promise = Promise { kind: kind.into(), field: field.into(), id: id.into(), says };
        self.crowd.heard().promises.push(promise);
    }

    /// An answer that nobody expected.
    pub(super) fn odd(&self, verb: &str, told: &ServerAnswer) {
        self.crowd.broken(format!("{verb} was answered {} {}", told.status, told.body));
    }

    /// Reads something until it is as wished, or it takes too long.
    pub(super) async fn until(&mut self, path: &str, wished: impl Fn(&Value) -> bool) -> Option<Value> {
        let begun = Instant::now();
        let mut last = Value::Null;
        while begun.elapsed() < PATIENCE {
            if let Ok(shown) = self.client.get(path).await {
                if wished(&shown) {
                    return Some(shown);
                }
                last = shown;
            }
            tokio::time::sleep(LOOK).await;
        }
        self.crowd.broken(format!("{path} was not resolved in {} s: {last}", PATIENCE.as_secs()));
        None
    }

    /// Waits until an order's latest payment is captured or declined, and the order shows what came of it.
    pub(super) async fn resolved(&mut self, order: &str) -> Option<Value> {
        let path = format!("/v1/orders/{order}");
        self.until(&path, |order| {
            list(order, "payments").last().is_some_and(|last| last["status"] != "asked")
        })
        .await
    }

    /// What the simulated provider would say, signed by whoever knows the house's key.
    pub(super) async fn webhook(
        &mut self,
        payment: &str,
        status: &str,
        amount_minor: i64,
    ) -> Option<ServerAnswer> {
        let event = self.crowd.events.fetch_add(1, Ordering::Relaxed);
        let id = format!("load-{:08x}-{event}", self.crowd.run);
        self.webhook_again(&id, payment, status, amount_minor).await
    }

    pub(super) async fn webhook_again(
        &mut self,
        id: &str,
        payment: &str,
        status: &str,
        amount_minor: i64,
    ) -> Option<ServerAnswer> {
        let secret = self.crowd.secret.as_deref()?;
        let now = instant::ms(&self.client.get("/v1/time").await.ok()?["now"])?;
        let body = json!({"id": id, "payment": payment, "status": status, "amount_minor": amount_minor});
        let signed = signature::header(now / 1_000, body.to_string().as_bytes(), secret);
        let headers = [("simulated-signature", signed.as_str())];
        let told = self.post("webhook", "/v1/payments/webhooks/simulated", &headers, body).await?;
        if !told.is_yes() {
            self.odd("a signed webhook", &told);
        }
        Some(told)
    }
}

//! A payment provider that misbehaves in every way, and never forgets: it outlives every crash of ours, and what it says
//! it took is what was taken.

use std::collections::BTreeMap;

use onsale_domain::desk::{PaymentStanding, Webhook};
use onsale_domain::{Millis, PaymentName};
use onsale_payments::provider::{Charge, GiveBack};
use onsale_payments::{ProviderAnswer, ProviderError, read_ask_key};

use crate::rng::Rng;

/// A payment, a refund, or another try of one.
pub(super) type AskKey = (PaymentName, u16, u16);

#[derive(Debug, Default)]
pub(super) struct Bank {
    asks: BTreeMap<AskKey, Ask>,
    /// Webhooks on their way.
    pub pushed: Vec<Webhook>,
    /// Since when, by their ids.
    pushed_at: BTreeMap<String, Millis>,
    events: u64,
}

#[derive(Debug)]
struct Ask {
    amount_minor: i64,
    standing: PaymentStanding,
    /// When a delayed one is done, or somebody takes the extra step.
    done_at: Option<Millis>,
}

impl Bank {
    /// The first ask under a key decides; later ones are told the same.
    pub(super) fn charge(&mut self, rng: &mut Rng, ask: &Charge) -> Result<ProviderAnswer, ProviderError> {
        let (key, now) = (read(&ask.key), ask.now);
        if let Some(known) = self.known(rng, key, now) {
            return known;
        }
        let (mood, amount_minor) = (ask.method.as_deref().unwrap_or("succeed"), ask.amount_minor);
        let done = PaymentStanding::Done { amount_minor };
        let (standing, done_at) = match mood {
            "decline" => (failed("card declined"), None),
            "action" => {
                let step = rng.chance(600).then(|| now + rng.range(0, 300_000));
                (PaymentStanding::NeedsAction { url: "https://bank.invalid/".into() }, step)
            }
            "days" => (PaymentStanding::Waiting, Some(now + rng.range(3_600_000, 60 * 3_600_000))),
            "delay" => (PaymentStanding::Waiting, Some(now + rng.range(1_000, 400_000))),
            _ => (done.clone(), None),
        };
        self.asks.insert(key, Ask { amount_minor, standing: standing.clone(), done_at });
        match mood {
            "duplicate" => {
                self.push(key, &done, now);
                self.pushed.extend(self.pushed.last().cloned());
                self.push(key, &done, now);
            }
            "reorder" => {
                self.push(key, &done, now);
                self.push(key, &failed("first try declined"), now);
                self.push(key, &PaymentStanding::Waiting, now);
                return Ok(ProviderAnswer { reference: None, standing: PaymentStanding::Waiting });
            }
            // It took the money and never says so of itself.
            "lost" | "silent" => return Err(silence()),
            _ => {}
        }
        if rng.chance(100) { Err(silence()) } else { Ok(said(key, &standing)) }
    }

    pub(super) fn refund(&mut self, rng: &mut Rng, ask: &GiveBack) -> Result<ProviderAnswer, ProviderError> {
        let key = read(&ask.key);
        if let Some(known) = self.known(rng, key, ask.now) {
            return known;
        }
        let amount_minor = ask.amount_minor;
        let standing =
            if rng.chance(250) { failed("refund failed") } else { PaymentStanding::Done { amount_minor } };
        self.asks.insert(key, Ask { amount_minor, standing: standing.clone(), done_at: None });
        if rng.chance(150) { Err(silence()) } else { Ok(said(key, &standing)) }
    }

    /// What is answered to an ask that was heard before, or is lost on its way.
    fn known(
        &mut self,
        rng: &mut Rng,
        key: AskKey,
        now: Millis,
    ) -> Option<Result<ProviderAnswer, ProviderError>> {
        self.pass(now);
        if let Some(known) = self.asks.get(&key) {
            return Some(Ok(said(key, &known.standing)));
        }
        // The same refund under another key would be paid twice, unless the try before this one failed.
        let before = key.2.checked_sub(1).and_then(|failures| self.asks.get(&(key.0, key.1, failures)));
        let may_be =
            key.2 == 0 || before.is_some_and(|ask| matches!(ask.standing, PaymentStanding::Failed { .. }));
        assert!(may_be, "{key:?} is asked for, but the try before it did not fail");
        rng.chance(100).then(|| Err(silence()))
    }

    /// What became of an ask; `None`: it never arrived.
    pub(super) fn look_up(&mut self, key: &str, now: Millis) -> Option<ProviderAnswer> {
        let key = read(key);
        self.pass(now);
        self.asks.get(&key).map(|known| said(key, &known.standing))
    }

    /// Nobody waits any more: what is not on its way already never comes.
    pub(super) fn call_off(&mut self, key: &str, now: Millis) -> Option<ProviderAnswer> {
        let key = read(key);
        self.pass(now);
        let ask = self.asks.get_mut(&key)?;
        let open = matches!(ask.standing, PaymentStanding::Waiting | PaymentStanding::NeedsAction { .. });
        if open && ask.done_at.is_none() {
            ask.standing = failed("called off");
        }
        Some(said(key, &ask.standing))
    }

    /// Delayed payments whose time has come are done, and told.
    pub(super) fn pass(&mut self, now: Millis) {
        let due: Vec<AskKey> = self
            .asks
            .iter()
            .filter(|(_, ask)| ask.done_at.is_some_and(|at| at <= now))
            .map(|(key, _)| *key)
            .collect();
        for key in due {
            if let Some(ask) = self.asks.get_mut(&key) {
                ask.standing = PaymentStanding::Done { amount_minor: ask.amount_minor };
                ask.done_at = None;
                let standing = ask.standing.clone();
                self.push(key, &standing, now);
            }
        }
    }

    fn push(&mut self, (payment, refund, failures): AskKey, standing: &PaymentStanding, now: Millis) {
        self.events += 1;
        self.pushed_at.insert(format!("e{}", self.events), now);
        self.pushed.push(Webhook {
            provider: "bank".into(),
            event: format!("e{}", self.events),
            kind: standing.as_str().into(),
            payment: Some(payment),
            refund,
            reference: Some(reference(payment)),
            standing: Some(standing.clone()),
            failures: Some(failures),
        });
    }

    /// Somebody has answered it: mostly it is not sent again.
    pub(super) fn is_heard(&mut self, rng: &mut Rng, event: &str) {
        let place = self.pushed.iter().position(|webhook| webhook.event == event);
        if let Some(place) = place.filter(|_| rng.chance(850)) {
            self.pushed.swap_remove(place);
        }
    }

    /// Whether it tries in vain since days: no provider does so for a week.
    pub(super) fn is_patient(&self, now: Millis) -> bool {
        self.pushed.iter().all(|webhook| now - self.pushed_at[&webhook.event] < 3 * 24 * 3_600_000)
    }

    /// All that was really taken, and all that was really given back.
    pub(super) fn moved(&self) -> (i64, i64) {
        let done = |refund: bool| {
            let moved = self.asks.iter().filter(move |((_, number, _), ask)| {
                (*number > 0) == refund && matches!(ask.standing, PaymentStanding::Done { .. })
            });
            moved.map(|(_, ask)| ask.amount_minor).sum()
        };
        (done(false), done(true))
    }
}

fn reference(payment: PaymentName) -> String {
    format!("bank-{}", payment.text())
}

fn read(key: &str) -> AskKey {
    let asked = read_ask_key(key).unwrap_or_else(|| panic!("{key} is no key of ours"));
    (asked.payment, asked.refund, asked.failures)
}

fn failed(reason: &str) -> PaymentStanding {
    PaymentStanding::Failed { reason: reason.to_owned() }
}

/// The line is dead: nobody knows whether it was heard.
fn silence() -> ProviderError {
    ProviderError("no answer".to_owned())
}

fn said((payment, ..): AskKey, standing: &PaymentStanding) -> ProviderAnswer {
    ProviderAnswer { reference: Some(reference(payment)), standing: standing.clone() }
}

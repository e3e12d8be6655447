//! What Stripe says about a payment intent, a refund or an error, and how that stands with us. Only fields that matter.

use std::collections::BTreeMap;

use onsale_domain::desk::PaymentStanding;
use serde::Deserialize;

use super::amounts;
use crate::ProviderAnswer;
use crate::provider::{failed, printable};

pub(super) type Metadata = BTreeMap<String, String>;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Intent {
    pub id: String,
    pub status: String,
    amount: i64,
    amount_received: Option<i64>,
    currency: String,
    #[serde(default)]
    pub created: i64,
    #[serde(default)]
    pub metadata: Metadata,
    client_secret: Option<String>,
    next_action: Option<NextAction>,
    last_payment_error: Option<Failure>,
    cancellation_reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct NextAction {
    redirect_to_url: Option<Redirect>,
}

#[derive(Clone, Debug, Deserialize)]
struct Redirect {
    url: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Refund {
    pub id: String,
    pub status: Option<String>,
    amount: i64,
    currency: String,
    #[serde(default)]
    pub metadata: Metadata,
    failure_reason: Option<String>,
}

/// `{"error": {…}}`, and an intent's last failure.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Failure {
    #[serde(rename = "type")]
    pub kind: Option<String>,
    code: Option<String>,
    decline_code: Option<String>,
    message: Option<String>,
    pub payment_intent: Option<IntentReference>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct IntentReference {
    pub id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct FailureBody {
    pub error: Failure,
}

/// A page of things, the newest first.
#[derive(Debug, Deserialize)]
pub(super) struct Page<T> {
    pub data: Vec<T>,
    #[serde(default)]
    pub has_more: bool,
}

impl Intent {
    pub(super) fn said(&self) -> ProviderAnswer {
        ProviderAnswer { reference: Some(self.id.clone()), standing: self.standing() }
    }

    pub(super) fn standing(&self) -> PaymentStanding {
        let form = self.metadata.contains_key("form");
        match self.status.as_str() {
            "succeeded" => PaymentStanding::Done {
                amount_minor: amounts::here(self.amount_received.unwrap_or(self.amount), &self.currency),
            },
            "canceled" => {
                let why = self.cancellation_reason.as_deref().unwrap_or("not paid in time");
                failed(&format!("called off: {why}"))
            }
            "requires_action" => PaymentStanding::NeedsAction { url: self.action_url() },
            // In Stripe's own form the buyer may try another card; a card that was named to us was declined.
            "requires_payment_method" if form => PaymentStanding::NeedsAction { url: String::new() },
            "requires_payment_method" => match &self.last_payment_error {
                Some(failure) => failed(&failure.reason()),
                None => PaymentStanding::Waiting,
            },
            _ => PaymentStanding::Waiting,
        }
    }

    /// Empty: the step is done in the browser, with the client's secret.
    fn action_url(&self) -> String {
        let url = self.next_action.as_ref().and_then(|action| action.redirect_to_url.as_ref()?.url.clone());
        url.filter(|url| url.len() <= 2_048).unwrap_or_default()
    }

    /// The client's secret, if the browser needs it for the next step.
    pub(super) fn next_secret(&self) -> Option<String> {
        let PaymentStanding::NeedsAction { url } = self.standing() else { return None };
        self.client_secret.clone().filter(|_| url.is_empty())
    }
}

impl Refund {
    pub(super) fn said(&self) -> ProviderAnswer {
        let standing = match self.status.as_deref() {
            Some("succeeded") => {
                PaymentStanding::Done { amount_minor: amounts::here(self.amount, &self.currency) }
            }
            Some("failed" | "canceled") => {
                let why = self.failure_reason.as_deref().unwrap_or("the refund failed");
                failed(why)
            }
            Some(_) | None => PaymentStanding::Waiting,
        };
        ProviderAnswer { reference: Some(self.id.clone()), standing }
    }
}

impl Failure {
    /// The most telling code, and Stripe's own sentence.
    pub(super) fn reason(&self) -> String {
        let code = self.decline_code.as_deref().or(self.code.as_deref()).or(self.kind.as_deref());
        let text = match (code, self.message.as_deref()) {
            (Some(code), Some(message)) => format!("{code}: {message}"),
            (Some(one), None) | (None, Some(one)) => one.to_owned(),
            (None, None) => "no reason given".to_owned(),
        };
        printable(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn standing(more: Value) -> String {
        let mut intent = json!({"id": "pi_1", "object": "payment_intent", "status": "succeeded", "amount": 500,
                                "amount_received": 400, "currency": "eur", "client_secret": "pi_1_secret_x"});
        for (name, value) in more.as_object().expect("an object") {
            intent[name] = value.clone();
        }
        let intent: Intent = serde_json::from_value(intent).expect("an intent");
        let secret = if intent.next_secret().is_some() { " with secret" } else { "" };
        let told = match intent.standing() {
            PaymentStanding::Failed { reason } => format!("failed: {reason}"),
            PaymentStanding::Done { amount_minor } => format!("done {amount_minor}"),
            PaymentStanding::NeedsAction { url } => format!("action {url}"),
            other @ (PaymentStanding::Asked | PaymentStanding::Waiting) => other.as_str().to_owned(),
        };
        told + secret
    }

    #[test]
    fn every_status_of_an_intent_stands_for_something() {
        let declined = json!({"type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds",
                              "message": "Your card has\ninsufficient funds."});
        let away =
            json!({"type": "redirect_to_url", "redirect_to_url": {"url": "https://hooks.stripe.com/3d"}});
        let table = [
            (json!({}), "done 400"),
            (json!({"amount_received": null}), "done 500"),
            (json!({"status": "processing"}), "waiting"),
            (json!({"status": "requires_confirmation"}), "waiting"),
            (json!({"status": "requires_capture"}), "waiting"),
            (json!({"status": "a word of tomorrow"}), "waiting"),
            (json!({"status": "canceled"}), "failed: called off: not paid in time"),
            (
                json!({"status": "canceled", "cancellation_reason": "fraudulent"}),
                "failed: called off: fraudulent",
            ),
            (json!({"status": "requires_payment_method"}), "waiting"),
            (
                json!({"status": "requires_payment_method", "last_payment_error": declined}),
                "failed: insufficient_funds: Your card has insufficient funds.",
            ),
            (
                json!({"status": "requires_payment_method", "last_payment_error": declined, "metadata": {"form": "yes"}}),
                "action  with secret",
            ),
            (
                json!({"status": "requires_payment_method", "metadata": {"form": "yes"}}),
                "action  with secret",
            ),
            (json!({"status": "requires_action", "next_action": away}), "action https://hooks.stripe.com/3d"),
            (
                json!({"status": "requires_action", "next_action": {"type": "use_stripe_sdk"}}),
                "action  with secret",
            ),
        ];
        for (more, expected) in table {
            assert_eq!(standing(more.clone()), expected, "{more}");
        }
    }
}

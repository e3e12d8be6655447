//! Events of Stripe: verified over their raw bytes, then read. An event may be old news; what it says counts only if it
//! says more than what is known.

use http::HeaderMap;
use onsale_domain::desk::{PaymentStanding, Webhook};
use onsale_domain::{Millis, PaymentName};
use serde::Deserialize;
use serde_json::Value;

use super::objects::{Intent, Refund};
use crate::provider::WebhookError;
use crate::{read_ask_key, signature};

#[derive(Debug, Deserialize)]
struct Event {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Data {
    object: Value,
}

pub(super) fn read(
    headers: &HeaderMap,
    body: &[u8],
    secret: &str,
    now: Millis,
) -> Result<Webhook, WebhookError> {
    let given = headers.get("stripe-signature").and_then(|value| value.to_str().ok());
    signature::check(given, body, secret.as_bytes(), now)?;
    let event: Event = serde_json::from_slice(body).map_err(|_| WebhookError::Unreadable)?;
    let object = event.data.object;
    let mut webhook = Webhook {
        provider: "stripe".to_owned(),
        event: event.id,
        kind: event.kind,
        payment: None,
        refund: 0,
        reference: object["id"].as_str().map(str::to_owned),
        standing: None,
        failures: None,
    };
    match object["object"].as_str() {
        Some("payment_intent") => {
            let intent: Intent = serde_json::from_value(object).map_err(|_| WebhookError::Unreadable)?;
            let key = intent.metadata.get("payment").map(String::as_str);
            webhook.payment = key.and_then(PaymentName::parse);
            webhook.standing = webhook.payment.map(|_| intent.standing());
        }
        Some("refund") => {
            let refund: Refund = serde_json::from_value(object).map_err(|_| WebhookError::Unreadable)?;
            let asked = refund.metadata.get("refund").and_then(|key| read_ask_key(key));
            if let Some(asked) = asked.filter(|asked| asked.refund > 0) {
                (webhook.payment, webhook.refund) = (Some(asked.payment), asked.refund);
                webhook.failures = Some(asked.failures);
                // One failure is told by several events, late ones too; which try failed is found by asking.
                webhook.standing =
                    Some(refund.said().standing).filter(|one| matches!(one, PaymentStanding::Done { .. }));
            }
        }
        // Something else that the account does; it is kept with the others, and moves nothing.
        Some(_) | None => {}
    }
    Ok(webhook)
}

//! `GET /v1/payments/{payment}` with its webhook events, and `POST /v1/payments/webhooks/{provider}`, which needs no API
//! key: the provider signs what it sends.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use onsale_access::principal::Principal;
use onsale_domain::desk::{DeskFound, DeskQuery, PaymentStanding, Task, WebhookEvent, desk_of};
use onsale_domain::id::write_inside;
use onsale_domain::{Code, Found, ListingId, PaymentName, Query};
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::{PathParams, RawBody};
use super::gate::Visitor;
use super::ordering::order_in;
use super::problem::{Problem, catalog};
use super::reply;
use super::time::Time;
use super::words::{PaymentStatus, RefundStatus};
use crate::app::App;
use onsale_payments::provider::WebhookError;

/// How long a payment that was asked for a moment ago is waited for: 5 times so long.
const SHOWN: Duration = Duration::from_millis(20);
const SHOWN_TRIES: u32 = 5;

#[derive(Debug, Serialize, ToSchema)]
pub struct PaymentShown<'a> {
    id: String,
    order: String,
    listing: String,
    status: PaymentStatus,
    #[schema(example = 9100)]
    amount_minor: i64,
    #[schema(example = "EUR")]
    currency: &'a str,
    /// The provider's own name of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
    /// Where the buyer must do something.
    #[serde(skip_serializing_if = "Option::is_none")]
    action_url: Option<&'a str>,
    /// With what the buyer's browser does the next step in the provider's own form, while there is one to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    declined: Option<&'a str>,
    asked_at: Time,
    changed_at: Time,
    refunds: Vec<RefundShown<'a>>,
    /// Webhook events, oldest first.
    events: Vec<EventShown<'a>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RefundShown<'a> {
    status: RefundStatus,
    amount_minor: i64,
    /// How often it failed, and why the last time.
    failures: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EventShown<'a> {
    #[schema(example = "simulated")]
    provider: &'a str,
    id: &'a str,
    #[schema(example = "payment.done")]
    kind: &'a str,
    received_at: Time,
    /// Whether it changed how the payment stood.
    counted: bool,
}

/// Show a payment and what its provider said about it
///
/// What the provider was asked, how the payment stands, its refunds and every webhook event about it.
#[utoipa::path(get, path = "/v1/payments/{payment}", tag = "payments",
    responses((status = 200, body = PaymentShown)))]
pub async fn show(
    State(app): State<Arc<App>>,
    Visitor(visitor): Visitor,
    PathParams(params): PathParams,
) -> Result<Response, Problem> {
    let text = params.iter().next().map_or("", |(_, value)| value);
    let unknown = || Problem::code(Code::PaymentUnknown);
    let payment = PaymentName::parse(text).ok_or_else(unknown)?;
    if !visitor.sees(&payment.listing) {
        return Err(unknown());
    }
    let desk = desk_of(payment.listing.tenant);
    for _ in 0..SHOWN_TRIES {
        let query = Query::Desk(DeskQuery::Payment(payment));
        // A desk that is not open yet knows no payment.
        let found = match app.engine.view(&desk) {
            Some(_) => app.engine.ask(desk, query).await?,
            None => Found::Nothing,
        };
        if let Found::Desk(DeskFound::Payment { tasks, events }) = &found
            && let Some((first, refunds)) = tasks.split_first().filter(|(first, _)| first.slip.refund == 0)
        {
            if !is_for(&app, &visitor, (payment.listing, first)).await? {
                return Err(unknown());
            }
            let client_secret = client_secret(&app, first).await;
            let body = PaymentShown { client_secret, ..shown(first, refunds, events) };
            return Ok(reply::json(StatusCode::OK, &body));
        }
        app.payments.nudge();
        tokio::time::sleep(SHOWN).await;
    }
    Err(unknown())
}

/// Whether it pays an order that is shown to this visitor.
async fn is_for(
    app: &App,
    visitor: &Principal,
    (listing, task): (ListingId, &Task),
) -> Result<bool, Problem> {
    if visitor.asks_for_everybody() {
        return Ok(true);
    }
    let order = order_in(app, listing, task.slip.order).await?;
    Ok(order.is_some_and(|order| visitor.knows(&order.buyer)))
}

/// Asked for each time and kept nowhere. A provider that cannot be reached now is asked by the next who looks.
async fn client_secret(app: &App, task: &Task) -> Option<String> {
    let PaymentStanding::NeedsAction { .. } = &task.standing else { return None };
    let reference = task.reference.clone()?;
    app.payments.provider().client_secret(reference).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the next step of a payment is not known: {error}");
        None
    })
}

fn shown<'a>(task: &'a Task, refunds: &'a [Task], events: &'a [WebhookEvent]) -> PaymentShown<'a> {
    let (mut action_url, mut declined) = (None, None);
    let status = match &task.standing {
        PaymentStanding::Asked => PaymentStatus::Asked,
        PaymentStanding::Waiting => PaymentStatus::Waiting,
        PaymentStanding::NeedsAction { url } => {
            action_url = Some(url.as_str()).filter(|url| !url.is_empty());
            PaymentStatus::NeedsAction
        }
        PaymentStanding::Failed { reason } => {
            declined = Some(reason.as_str());
            PaymentStatus::Declined
        }
        PaymentStanding::Done { .. } => PaymentStatus::Captured,
    };
    PaymentShown {
        id: task.payment().text(),
        order: write_inside("ord", &task.listing, task.slip.order.0),
        listing: task.listing.to_string(),
        status,
        amount_minor: task.slip.amount_minor,
        currency: task.slip.currency.as_str(),
        reference: task.reference.as_deref(),
        action_url,
        client_secret: None,
        declined,
        asked_at: Time(task.taken_at),
        changed_at: Time(task.changed_at),
        refunds: refunds.iter().map(refund_shown).collect(),
        events: events.iter().map(event_shown).collect(),
    }
}

fn refund_shown(task: &Task) -> RefundShown<'_> {
    RefundShown {
        status: match &task.standing {
            PaymentStanding::Asked => RefundStatus::Asked,
            PaymentStanding::Waiting
            | PaymentStanding::NeedsAction { .. }
            | PaymentStanding::Failed { .. } => RefundStatus::Waiting,
            PaymentStanding::Done { .. } => RefundStatus::Paid,
        },
        amount_minor: task.slip.amount_minor,
        failures: task.failures,
        failed: task.failed.as_deref(),
        reference: task.reference.as_deref(),
    }
}

fn event_shown(event: &WebhookEvent) -> EventShown<'_> {
    EventShown {
        provider: &event.provider,
        id: &event.event,
        kind: &event.kind,
        received_at: Time(event.at),
        counted: event.counted,
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookTaken {
    /// Stored; what it says is seen to next.
    #[schema(example = true)]
    received: bool,
}

/// Take a webhook of a payment provider
///
/// Signed by the provider over the raw body, at most 300 seconds ago or ahead. The same event twice counts once.
#[utoipa::path(post, path = "/v1/payments/webhooks/{provider}", tag = "payments", request_body(content = Object, content_type = "application/json"),
    security(()),
    responses((status = 200, body = WebhookTaken), (status = 400, description = "The signature is missing, wrong, old or ahead")))]
pub async fn receive(
    State(app): State<Arc<App>>,
    PathParams(params): PathParams,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, Problem> {
    let name = params.iter().next().map_or("", |(_, value)| value);
    let provider = app.payments.provider();
    if name != provider.name() {
        return Err(Problem::of(catalog::ROUTE_UNKNOWN));
    }
    let webhook = provider.read_webhook(&headers, &body, app.engine.now()).map_err(|error| match error {
        WebhookError::Signature(_) => Problem::with(catalog::WEBHOOK_SIGNATURE, error.to_string()),
        WebhookError::Unreadable => Problem::with(catalog::MALFORMED, error.to_string()),
    })?;
    if let Some(refusal) = app.payments.receive(webhook).await?.refused() {
        return Err(Problem::refused(refusal, None));
    }
    Ok(reply::json(StatusCode::OK, &WebhookTaken { received: true }))
}

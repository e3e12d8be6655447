//! Each verb of the desk: a fact, or a yes that needs none. Everything may be told twice.

use super::check_reference;
use super::command::{DeskCommand, NoteAnswer, TakeWork};
use super::fact::{DeskFact, PaymentStanding, Webhook};
use super::state::Desk;
use crate::field::Field;
use crate::limits::SLIPS_MAX;
use crate::money::MINOR_MAX;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(desk: &Desk, command: &DeskCommand) -> Result<Option<DeskFact>, Refusal> {
    match command {
        DeskCommand::Open => Err(Refusal::of(Code::ListingExists)),
        DeskCommand::TakeWork(command) => take_work(desk, command),
        DeskCommand::NoteAnswer(command) => note_answer(desk, command),
        DeskCommand::ReceiveWebhook(webhook) => receive_webhook(desk, webhook),
        DeskCommand::NoteDelivered { payment, refund, rank } => {
            let item = desk.item(*payment, *refund).ok_or(Refusal::of(Code::PaymentUnknown))?;
            let (payment, refund) = (*payment, *refund);
            let heard = item.is_to_deliver() && item.standing.rank() == *rank;
            Ok(heard.then_some(DeskFact::Delivered { payment, refund }))
        }
    }
}

/// A slip is taken once, whoever brings it.
fn take_work(desk: &Desk, command: &TakeWork) -> Result<Option<DeskFact>, Refusal> {
    if command.slips.len() > SLIPS_MAX {
        return Err(Refusal::invalid(Field::Slips, "at most 64 at once"));
    }
    if desk.cursor(&command.listing) >= command.through {
        return Ok(None);
    }
    let new = command.slips.iter().filter(|slip| desk.item(slip.of(command.listing), slip.refund).is_none());
    let (listing, through, slips) = (command.listing, command.through, new.cloned().collect());
    Ok(Some(DeskFact::WorkTaken { listing, through, slips }))
}

fn note_answer(desk: &Desk, command: &NoteAnswer) -> Result<Option<DeskFact>, Refusal> {
    check_reference(command.reference.as_deref().unwrap_or_default())?;
    check_standing(&command.standing)?;
    let item = desk.item(command.payment, command.refund).ok_or(Refusal::of(Code::PaymentUnknown))?;
    Ok(item.moves(&command.standing, Some(command.failures)).then(|| DeskFact::Answered {
        payment: command.payment,
        refund: command.refund,
        reference: command.reference.clone(),
        standing: command.standing.clone(),
    }))
}

fn receive_webhook(desk: &Desk, webhook: &Webhook) -> Result<Option<DeskFact>, Refusal> {
    for text in [&webhook.provider, &webhook.event, &webhook.kind] {
        check_reference(text)?;
    }
    check_reference(webhook.reference.as_deref().unwrap_or_default())?;
    webhook.standing.as_ref().map_or(Ok(()), check_standing)?;
    if webhook.event.is_empty() {
        return Err(Refusal::invalid(Field::WebhookEvent, "an id of the event"));
    }
    if desk.has_seen(&webhook.provider, &webhook.event) {
        return Ok(None);
    }
    Ok(Some(DeskFact::WebhookReceived(Box::new(webhook.clone()))))
}

fn check_standing(standing: &PaymentStanding) -> Result<(), Refusal> {
    match standing {
        PaymentStanding::Asked | PaymentStanding::Waiting => Ok(()),
        PaymentStanding::NeedsAction { url } => match url.len() <= 2_048 {
            true => Ok(()),
            false => Err(Refusal::invalid(Field::ActionUrl, "at most 2,048 bytes")),
        },
        PaymentStanding::Failed { reason } => crate::fields::check_reason(reason),
        PaymentStanding::Done { amount_minor } => match (1..=MINOR_MAX).contains(amount_minor) {
            true => Ok(()),
            false => Err(Refusal::invalid(Field::AmountMinor, "1 to 10^12 minor units")),
        },
    }
}

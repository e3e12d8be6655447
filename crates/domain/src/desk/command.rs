//! What the payment worker and the webhook route ask of the desk.

use super::fact::{PaymentStanding, Slip, Webhook};
use crate::id::{ListingId, PaymentName};
use crate::verb::commands;

commands! {
    pub enum DeskCommand {
        Open = creates "open_desk",
        TakeWork(TakeWork) = sealed "take_work",
        NoteAnswer(NoteAnswer) = sealed "note_answer",
        ReceiveWebhook(Box<Webhook>) = sealed "receive_webhook",
        /// The listing has heard what came of it.
        NoteDelivered {
            payment: PaymentName,
            refund: u16,
            /// Which standing it has heard of, by its rank: another one may have come meanwhile.
            rank: u8,
        } = sealed "note_delivered",
    }
}

/// Slips of one listing, and how far its log was read for them.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeWork {
    pub listing: ListingId,
    /// The fence of the last fact that was looked at.
    pub through: u64,
    pub slips: Vec<Slip>,
}

/// What the provider answered when it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteAnswer {
    pub payment: PaymentName,
    pub refund: u16,
    /// Which try it answers: how often the refund had failed before that one was asked for.
    pub failures: u16,
    /// The provider's own name of it.
    pub reference: Option<String>,
    pub standing: PaymentStanding,
}

//! Telling a listing what came of a payment or a refund, and the desk that it was told.

use onsale_domain::Command;
use onsale_domain::desk::{DeskCommand, Standing, Task};
use onsale_domain::order::OrderCommand;
use onsale_domain::order::command::{NotePayment, NoteRefund, PaymentResult};
use onsale_engine::EngineError;

use super::Worker;
use super::talks::name;

impl Worker {
    pub(super) async fn deliver(&self, task: &Task) -> Result<(), EngineError> {
        let Some(command) = told(task) else { return Ok(()) };
        let outcome = self.submit(task.listing, Command::Order(command)).await?;
        let payment = crate::payment_text(self.tenant, task.slip.payment);
        if let Some(refusal) = outcome.refused() {
            // Its listing asked for it, so this cannot be; should it be, somebody must look at it.
            let (listing, code) = (task.listing, refusal.code.as_str());
            tracing::error!(payment, %listing, code, "{listing} does not know payment {payment}: {code}");
            return Ok(());
        }
        let (payment, refund, rank) = (task.slip.payment, task.slip.refund, task.standing.rank());
        self.desk(DeskCommand::NoteDelivered { payment, refund, rank }).await?;
        let mut memory = self.memory.lock().await;
        memory.tries.remove(&name(task));
        memory.unanswered.remove(&name(task));
        drop(memory);
        // The listing may owe something now.
        self.nudge();
        Ok(())
    }
}

fn told(task: &Task) -> Option<OrderCommand> {
    let (order, payment, refund) = (task.slip.order, task.slip.payment, task.slip.refund);
    let result = match &task.standing {
        Standing::Asked | Standing::Waiting | Standing::NeedsAction { .. } => return None,
        Standing::Done { .. } if refund > 0 => {
            return Some(OrderCommand::NoteRefund(NoteRefund { order, payment, refund }));
        }
        Standing::Done { amount_minor } => PaymentResult::Captured {
            amount_minor: *amount_minor,
            reference: task.reference.clone().unwrap_or_default(),
        },
        Standing::Failed { reason } => PaymentResult::Declined { reason: reason.clone() },
    };
    Some(OrderCommand::NotePayment(NotePayment { order, payment, result }))
}

//! Talking to the provider: asking under a key, looking up what became of it, and noting what was said.

use onsale_domain::Millis;
use onsale_domain::Outcome;
use onsale_domain::desk::command::NoteAnswer;
use onsale_domain::desk::{DeskCommand, Standing, Task};
use onsale_domain::id::write_inside;
use onsale_domain::order::{OrderStatus, OrdersFound, OrdersQuery};
use onsale_domain::time::is_over;
use onsale_domain::{Found, Query};
use onsale_engine::EngineError;

use super::Worker;
use super::talks::name;
use crate::ask_key;
use crate::provider::{Charge, GiveBack, LookUp, ProviderError, Said};

impl Worker {
    /// Asks for a payment or a refund. Asked before and not answered, it is the same ask: it has the same key.
    pub(super) async fn ask(&self, task: &Task, now: Millis) -> Option<Said> {
        let slip = &task.slip;
        if slip.until.is_some_and(|until| is_over(until, now)) {
            return self.too_late(task, now).await;
        }
        let key = ask_key(self.tenant, slip.payment, slip.refund, task.failures);
        let (amount_minor, currency) = (slip.amount_minor, slip.currency);
        let asked = match slip.refund {
            0 => self.provider.charge(Charge {
                key,
                amount_minor,
                currency,
                method: slip.method.clone(),
                order: write_inside("ord", &task.listing, slip.order.0),
                now,
            }),
            _ => self.provider.refund(GiveBack {
                key,
                payment_key: ask_key(self.tenant, slip.payment, 0, 0),
                reference: slip.of_reference.clone(),
                amount_minor,
                currency,
                failures: task.failures,
                asked_at: task.taken_at,
                now,
            }),
        };
        self.heard(task, tokio::time::timeout(self.patience.answer, asked).await).await
    }

    /// The goods are let go: no money is asked for any more. But it may have been, and then it must be known.
    async fn too_late(&self, task: &Task, now: Millis) -> Option<Said> {
        match self.called_off(task, now).await? {
            Some(said) => Some(said),
            None => {
                let standing = Standing::Failed { reason: "not paid in time".to_owned() };
                Some(Said { reference: None, standing })
            }
        }
    }

    /// What became of it: webhooks may be lost. A payment whose goods are let go is called off instead.
    pub(super) async fn look_up(&self, task: &Task, now: Millis) -> Option<Said> {
        if task.slip.refund == 0 && self.is_let_go(task, now).await {
            return self.too_late(task, now).await;
        }
        let asked = self.provider.look_up(self.what_of(task, now));
        self.heard(task, tokio::time::timeout(self.patience.answer, asked).await).await?
    }

    async fn called_off(&self, task: &Task, now: Millis) -> Option<Option<Said>> {
        let asked = self.provider.call_off(self.what_of(task, now));
        self.heard(task, tokio::time::timeout(self.patience.answer, asked).await).await
    }

    /// Its time is over, or its order no longer waits for it: staff took the goods, or the event was cancelled.
    async fn is_let_go(&self, task: &Task, now: Millis) -> bool {
        if task.slip.until.is_some_and(|until| is_over(until, now)) {
            return true;
        }
        let query = Query::Orders(OrdersQuery::Order(task.slip.order));
        match self.engine.ask(task.listing, query).await {
            Ok(Found::Orders(OrdersFound::Order(order))) => order.status != OrderStatus::Paying,
            Ok(_) | Err(_) => false,
        }
    }

    fn what_of(&self, task: &Task, now: Millis) -> LookUp {
        let slip = &task.slip;
        LookUp {
            key: ask_key(self.tenant, slip.payment, slip.refund, task.failures),
            reference: task.reference.clone(),
            is_refund: slip.refund > 0,
            asked_at: task.taken_at,
            now,
        }
    }

    /// What was answered, if anything. That a payment waits is logged once, until its provider answers again.
    async fn heard<T>(
        &self,
        task: &Task,
        answer: Result<Result<T, ProviderError>, tokio::time::error::Elapsed>,
    ) -> Option<T> {
        let why = match answer {
            Ok(Ok(said)) => {
                self.memory.lock().await.unanswered.remove(&name(task));
                return Some(said);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the provider does not answer".to_owned(),
        };
        let payment = crate::payment_text(self.tenant, task.slip.payment);
        if self.memory.lock().await.unanswered.insert(name(task)) {
            tracing::warn!(
                payment,
                why,
                "{payment} waits and is asked for again until it is answered: {why}"
            );
        } else {
            tracing::debug!(payment, why, "{payment} still waits: {why}");
        }
        None
    }

    /// Writes down what was said; true if it says more than what was known.
    pub(super) async fn note(&self, task: &Task, said: Said) -> Result<bool, EngineError> {
        let outcome = self
            .desk(DeskCommand::NoteAnswer(NoteAnswer {
                payment: task.slip.payment,
                refund: task.slip.refund,
                failures: task.failures,
                reference: said.reference,
                standing: said.standing.clone(),
            }))
            .await?;
        // A refund that failed is asked for again, but not at once.
        let failed_refund = task.slip.refund > 0 && matches!(said.standing, Standing::Failed { .. });
        Ok(outcome == Outcome::Done && !failed_refund)
    }
}

//! Conversations with the provider. They go on beside the worker's rounds: one that is never answered holds up nobody.
//! Each is a task of its own, so that it moves while a round waits for the engine, whose turns they share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use onsale_domain::PaymentId;
use onsale_domain::desk::{Standing, Task};
use onsale_engine::EngineError;
use tokio::task::{AbortHandle, JoinError, JoinSet};

use super::{Tries, Worker};

/// Conversations at the same time. Stripe takes about a hundred requests a second and each lasts some tenths of one; more
/// would be turned away there, and each that is never answered keeps a place and its connection for a while.
pub const TALKS_MAX: usize = 64;
/// So long a round waits for a free place; then it goes on without, because listings must be told of money that moved.
const ROOM: Duration = Duration::from_millis(500);

/// A payment or one of its refunds: there is one conversation about it at a time, so no try is asked for twice at once.
pub(super) type Name = (PaymentId, u16);

type Ended = Result<Result<(), EngineError>, JoinError>;

/// Those that are under way; letting go of this lets go of all of them.
#[derive(Debug, Default)]
pub(super) struct Talks {
    all: JoinSet<Result<(), EngineError>>,
    names: BTreeMap<Name, AbortHandle>,
    /// No place came free in time; nothing is begun until the next round.
    crowded: bool,
}

impl Talks {
    /// A new round: there may be room again.
    pub fn begin_round(&mut self) {
        self.crowded = false;
    }

    /// Forgets what has ended. What the desk is asked afterwards knows of it, so nothing is asked for once more.
    pub fn forget_ended(&mut self) {
        while let Some(ended) = self.all.try_join_next() {
            let _ = told(ended);
        }
        self.names.retain(|_, talk| !talk.is_finished());
    }

    /// Begins a conversation unless there is one about the same; waits a moment for a place if all are taken.
    pub async fn begin(&mut self, worker: &Arc<Worker>, task: Task) {
        let name = name(&task);
        if self.names.contains_key(&name) || !self.has_room().await {
            return;
        }
        let worker = worker.clone();
        let talk = self.all.spawn(async move { worker.talk(task).await });
        self.names.insert(name, talk);
    }

    async fn has_room(&mut self) -> bool {
        while !self.crowded && self.all.len() >= TALKS_MAX {
            match tokio::time::timeout(ROOM, self.all.join_next()).await {
                Ok(ended) => drop(ended.map(told)),
                Err(_) => self.crowded = true,
            }
        }
        !self.crowded
    }

    /// Waits for all of them; says what went wrong first.
    pub async fn finish(mut self) -> Result<(), EngineError> {
        let mut first = Ok(());
        while let Some(ended) = self.all.join_next().await {
            first = first.and(told(ended));
        }
        first
    }

    /// Lets go of all of them. What was asked is asked again under the same key, by whoever looks after payments next.
    pub async fn let_go(&mut self) {
        self.all.shutdown().await;
        self.names.clear();
    }
}

pub(super) fn name(task: &Task) -> Name {
    (task.slip.payment, task.slip.refund)
}

/// Trouble in one conversation is told and is none of the others': it is begun again.
fn told(ended: Ended) -> Result<(), EngineError> {
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::warn!(%error, "an answer of the payment provider waits: {error}");
            Err(error)
        }
        Err(error) => {
            if error.is_panic() {
                tracing::error!(%error, "a conversation with the payment provider broke off: {error}");
            }
            Ok(())
        }
    }
}

impl Worker {
    /// Whether it is not yet time to ask again.
    pub(super) async fn rests(&self, task: &Task) -> bool {
        let now = self.engine.now();
        self.memory.lock().await.tries.get(&name(task)).is_some_and(|tries| now < tries.next_at)
    }

    /// Asks or looks up once, and writes down what was said.
    async fn talk(&self, task: Task) -> Result<(), EngineError> {
        let now = self.engine.now();
        let said = match task.standing {
            Standing::Asked => self.ask(&task, now).await,
            Standing::Waiting | Standing::NeedsAction { .. } => self.look_up(&task, now).await,
            Standing::Failed { .. } | Standing::Done { .. } => return Ok(()),
        };
        let moved = match said {
            Some(said) => self.note(&task, said).await?,
            None => false,
        };
        let mut memory = self.memory.lock().await;
        if moved {
            memory.tries.remove(&name(&task));
            drop(memory);
            self.nudge();
            return Ok(());
        }
        let tries = memory.tries.entry(name(&task)).or_default();
        let wait = self.patience.again_ms << tries.count.min(20);
        *tries = Tries { count: tries.count + 1, next_at: now + wait.min(self.patience.again_ms_max) };
        Ok(())
    }
}

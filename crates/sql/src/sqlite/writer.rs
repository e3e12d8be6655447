//! The one thread that writes. Transactions come one after another, in the order in which they were asked for.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::connection::Connection;
use crate::{Query, Row, SqlError, Value};

/// How long a transaction may say nothing before it is rolled back: all others wait for it.
const SILENCE_MAX: Duration = Duration::from_secs(2);

type Reply<T> = oneshot::Sender<Result<T, SqlError>>;

/// Somebody wants to write.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) ready: Reply<SqliteTx>,
}

#[derive(Debug)]
enum Step {
    Query { query: &'static Query, params: Vec<Value>, reply: Reply<Vec<Row>> },
    Execute { query: &'static Query, params: Vec<Value>, reply: Reply<u64> },
    Prepare { text: String, reply: Reply<()> },
    Commit { reply: Reply<()> },
}

/// The other end of a transaction; when it is dropped, the thread rolls back and serves the next.
#[derive(Debug)]
pub(crate) struct SqliteTx {
    steps: SyncSender<Step>,
}

pub(super) fn start(connection: Connection, turns: mpsc::Receiver<Turn>) -> Result<(), SqlError> {
    std::thread::Builder::new()
        .name("sqlite-writer".to_owned())
        .spawn(move || write(connection, turns))
        .map(drop)
        .map_err(|error| SqlError::Unavailable(format!("no thread can be started: {error}")))
}

/// Ends with the last handle.
fn write(mut connection: Connection, mut turns: mpsc::Receiver<Turn>) {
    while let Some(Turn { ready }) = turns.blocking_recv() {
        // Whoever has stopped waiting keeps nobody else waiting.
        if ready.is_closed() {
            continue;
        }
        if let Err(error) = connection.run("begin immediate") {
            let _ = ready.send(Err(error));
            continue;
        }
        // One statement at a time is under way, and one more may come from a caller that stopped waiting for it.
        let (steps, said) = sync_channel(2);
        if ready.send(Ok(SqliteTx { steps })).is_ok() {
            transaction(&mut connection, &said);
        }
        connection.roll_back();
    }
}

/// Returns when it is committed, or is to be rolled back.
fn transaction(connection: &mut Connection, said: &Receiver<Step>) {
    loop {
        let step = match said.recv_timeout(SILENCE_MAX) {
            Ok(step) => step,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                tracing::warn!("a transaction said nothing for {SILENCE_MAX:?} and was rolled back");
                return;
            }
        };
        // After some errors SQLite rolls back by itself; what comes then must not be done outside of a transaction.
        if !connection.is_in_transaction() {
            return;
        }
        // Whoever has stopped waiting for the answer drops the transaction, too.
        match step {
            Step::Query { query, params, reply } => drop(reply.send(connection.query(query, &params))),
            Step::Execute { query, params, reply } => drop(reply.send(connection.execute(query, &params))),
            Step::Prepare { text, reply } => drop(reply.send(connection.prepare(&text))),
            Step::Commit { reply } => {
                let _ = reply.send(commit(connection));
                return;
            }
        }
    }
}

/// A disk that does not say whether it has the commit may have it.
fn commit(connection: &Connection) -> Result<(), SqlError> {
    connection.run("commit").map_err(SqlError::of_commit)
}

pub(super) fn gone() -> SqlError {
    SqlError::Unavailable("the thread that writes has ended".to_owned())
}

impl SqliteTx {
    pub(crate) async fn query(
        &mut self,
        query: &'static Query,
        params: &[Value],
    ) -> Result<Vec<Row>, SqlError> {
        let params = params.to_vec();
        self.say(|reply| Step::Query { query, params, reply }).await
    }

    pub(crate) async fn execute(&mut self, query: &'static Query, params: &[Value]) -> Result<u64, SqlError> {
        let params = params.to_vec();
        self.say(|reply| Step::Execute { query, params, reply }).await
    }

    pub(crate) async fn prepare(&mut self, text: &str) -> Result<(), SqlError> {
        self.say(|reply| Step::Prepare { text: text.to_owned(), reply }).await
    }

    pub(crate) async fn commit(self) -> Result<(), SqlError> {
        self.say(|reply| Step::Commit { reply }).await
    }

    async fn say<T>(&self, step: impl FnOnce(Reply<T>) -> Step) -> Result<T, SqlError> {
        let over = || SqlError::Busy("the transaction was rolled back, as it took too long".to_owned());
        let (reply, answer) = oneshot::channel();
        self.steps.try_send(step(reply)).map_err(|_| over())?;
        answer.await.unwrap_or_else(|_| Err(over()))
    }
}

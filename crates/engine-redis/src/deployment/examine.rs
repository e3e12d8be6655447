//! Examining a node: is it still the process and the history that the current generation was loaded into?
//! Everything is asked and loaded over one connection, so that it is one process that answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue};

use super::{CurrentScripts, Inner, ScriptSet, knowledge};
use crate::link::slot::{SLOTS, slot};
use crate::link::{LinkError, Map, Node};
use crate::scripts::Script;

/// A question that is answered from memory: a node that needs longer stands still, and others shall not wait for it.
const QUESTION: Duration = Duration::from_secs(1);
/// Scans, waits for replicas and the loading of many scripts may take longer on a busy machine.
const WORK: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It has forgotten nothing; its replication id.
    Believed(String),
    Forgot,
}

/// One process, as long as the connection lives.
#[derive(Debug)]
pub(super) struct Process {
    name: String,
    connection: MultiplexedConnection,
    /// Set by the first answer that did not come: whoever is behind the next connection may be another process.
    broken: AtomicBool,
}

impl Process {
    pub(super) async fn reach(node: &Node) -> Result<Process, LinkError> {
        let connection = node.connection(AsyncConnectionConfig::new()).await?;
        Ok(Process { name: node.name().to_owned(), connection, broken: AtomicBool::new(false) })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Asks something that is answered at once.
    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, LinkError> {
        self.within(QUESTION, command).await
    }

    pub(super) async fn send<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, LinkError> {
        self.within(WORK, command).await
    }

    async fn within<T: FromRedisValue>(&self, patience: Duration, command: &Cmd) -> Result<T, LinkError> {
        let mut connection = self.connection.clone();
        match tokio::time::timeout(patience, command.query_async(&mut connection)).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                let error = LinkError::of(&self.name, &error);
                if matches!(error, LinkError::Unknown { .. } | LinkError::Unreachable { .. }) {
                    self.broken.store(true, Ordering::Relaxed);
                }
                Err(error)
            }
            Err(_) => {
                self.broken.store(true, Ordering::Relaxed);
                let why = format!("no answer within {} s", patience.as_secs());
                Err(LinkError::Unknown { node: self.name.clone(), why })
            }
        }
    }

    /// The replication id and the number of replicas in step; only a master has a history of its own.
    pub(super) async fn history(&self) -> Result<(String, usize), LinkError> {
        let text: String = self.ask(redis::cmd("INFO").arg("replication")).await?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        if field("role") != Some("master") {
            return Err(LinkError::ReadOnly { node: self.name.clone() });
        }
        let replicas = field("connected_slaves").and_then(|count| count.parse().ok()).unwrap_or(0);
        Ok((field("master_replid").unwrap_or_default().to_owned(), replicas))
    }

    pub(super) async fn knows(&self, scripts: &[&Script]) -> Result<Vec<bool>, LinkError> {
        let mut question = redis::cmd("SCRIPT");
        question.arg("EXISTS");
        for script in scripts {
            question.arg(&script.sha);
        }
        self.ask(&question).await
    }

    pub(super) async fn load(&self, script: &Script) -> Result<(), LinkError> {
        let sha: String = self.send(redis::cmd("SCRIPT").arg("LOAD").arg(&script.text)).await?;
        debug_assert_eq!(sha, script.sha, "the server counts as we do");
        Ok(())
    }
}

impl<S: ScriptSet> Inner<S> {
    /// The connection over which a node is examined; another one if that broke.
    pub(super) async fn process(&self, node: &Node) -> Result<Arc<Process>, LinkError> {
        let known = self.processes.lock().get(node.name()).cloned();
        if let Some(process) = known.filter(|process| !process.broken.load(Ordering::Relaxed)) {
            return Ok(process);
        }
        let process = Arc::new(Process::reach(node).await?);
        self.processes.lock().insert(node.name().to_owned(), process.clone());
        Ok(process)
    }

    /// Whether a node has forgotten nothing.
    pub(super) async fn examine(
        &self,
        node: &Node,
        current: &CurrentScripts<S>,
    ) -> Result<Verdict, LinkError> {
        if current.generation.number == 0 {
            return Ok(Verdict::Forgot);
        }
        let process = self.process(node).await?;
        let (replication, _) = process.history().await?;
        let known = process.knows(&[&current.generation.witness(&replication)]).await?;
        Ok(if known == [true] { Verdict::Believed(replication) } else { Verdict::Forgot })
    }

    /// Brings a script to a node that has forgotten nothing; whether it is there now.
    pub(super) async fn bring(&self, node: &str, script: &Script, current: &CurrentScripts<S>) -> bool {
        let _one_at_a_time = self.bringing.lock().await;
        self.try_to_bring(node, script, current).await.unwrap_or_else(|error| {
            tracing::debug!(node, script = script.name, %error, "{node} does not take a script: {error}");
            false
        })
    }

    async fn try_to_bring(
        &self,
        node: &str,
        script: &Script,
        current: &CurrentScripts<S>,
    ) -> Result<bool, LinkError> {
        if current.generation.number == 0 {
            return Ok(false);
        }
        let process = self.process(&self.link.node(node)).await?;
        let (replication, _) = process.history().await?;
        // Of one process: asked and loaded over the same connection.
        let known = process.knows(&[&current.generation.witness(&replication), script]).await?;
        match known[..] {
            [true, true] => Ok(true),
            [true, false] => process.load(script).await.map(|()| true),
            _ => Ok(false),
        }
    }

    /// Takes over the newest generation that any master tells of.
    pub(super) async fn adopt_published(&self) -> Result<(), LinkError> {
        if let Some(newest) = knowledge::published(&self.link).await? {
            self.read_owed(newest.number).await;
            self.adopt(newest);
        }
        Ok(())
    }
}

/// Where the deployment's generation is published, in the slot of the lease.
pub(super) fn generation_key(prefix: &str) -> String {
    format!("{prefix}generation:{{onsale}}")
}

/// Every other master has a copy, in a slot of its own: if one forgets, the others still know how far we counted.
pub(super) fn copy_key(prefix: &str, map: &Map, node: &Node) -> Option<String> {
    if map.masters.len() < 2 {
        return None;
    }
    let serves = |tag: &u32| {
        let slot = slot(tag.to_string().as_bytes());
        map.master_of(slot).is_some_and(|master| master.name() == node.name())
    };
    let tag = (0..u32::from(SLOTS) * 4).find(serves)?;
    Some(format!("{prefix}generation:{{{tag}}}"))
}

//! Sending to the master of a slot: redirections are followed, and what may work in a moment is sent again with the
//! same operation id inside. What may have been done is never reported as not done.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value};

use super::error::Cure;
use super::node::{Node, NodeError};
use super::{Inner, LinkError};

/// Before each further try. Three of them heal a connection that somebody closed and a master that has just changed
/// its name; a failover takes seconds, and nobody shall wait for it inside a request.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(10), Duration::from_millis(40), Duration::from_millis(100)];
/// A slot that moved twice while a command was under way is rare; five times, somebody is wrong.
const REDIRECTS: u32 = 5;
/// A node that has been away for so long is not tried again and again by every caller; the watch does that.
const AWAY: Duration = Duration::from_millis(400);

pub(super) async fn to_slot(inner: &Inner, slot: u16, command: &Cmd) -> Result<Value, LinkError> {
    let mut redirects = 0;
    let mut tries = 0;
    let mut maybe_done: Option<LinkError> = None;
    let mut target: Option<(Arc<Node>, bool)> = None;
    loop {
        let (told, away) = match target.take().or_else(|| inner.master_of(slot).map(|node| (node, false))) {
            Some((node, asking)) => (node.decide(command, asking).await, node.down_for()),
            None => (
                Err(NodeError::Failed(LinkError::ClusterDown { why: format!("nobody has slot {slot}") })),
                None,
            ),
        };
        let error = match told {
            Ok(value) => return Ok(value),
            Err(NodeError::Moved(_) | NodeError::Ask(_)) if redirects == REDIRECTS => {
                LinkError::Moved { times: REDIRECTS }
            }
            Err(NodeError::Moved(other)) => {
                redirects += 1;
                inner.nudge();
                target = Some((inner.node(&other), false));
                continue;
            }
            Err(NodeError::Ask(other)) => {
                redirects += 1;
                target = Some((inner.node(&other), true));
                continue;
            }
            Err(NodeError::Failed(error)) => error,
        };
        if matches!(error, LinkError::Unknown { .. }) {
            maybe_done = Some(error.clone());
        }
        let hopeless = away.is_some_and(|away| away > AWAY);
        if tries == PAUSES.len() || hopeless || error.cure() != Cure::Moment {
            inner.nudge();
            return Err(settle(error, maybe_done));
        }
        inner.nudge();
        tokio::time::sleep(PAUSES[tries]).await;
        tries += 1;
    }
}

/// Whoever may have done it once, though another try said for certain that it did nothing, is asked about that.
fn settle(error: LinkError, maybe_done: Option<LinkError>) -> LinkError {
    match maybe_done {
        Some(unknown) if error.is_retryable() => unknown,
        Some(_) | None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_done_is_not_told_as_undone() {
        let unknown = LinkError::Unknown { node: "a".to_owned(), why: "no answer".to_owned() };
        let away = LinkError::Unreachable { node: "a".to_owned(), why: "refused".to_owned() };
        assert_eq!(settle(away.clone(), Some(unknown.clone())), unknown);
        assert_eq!(settle(away.clone(), None), away);
    }
}

//! Listens: one connection to each master, on which it pushes wake-ups of other servers and the ends of markers.
//! Whatever gets lost on the way is found by polling; after every break the listings are compared of which that master tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use onsale_domain::ListingId;
use redis::{PushInfo, PushKind, Value};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{Inner, log, sweep};
use crate::link::{LinkError, Node, slot};
use crate::reply::bytes;

/// Before a broken connection is opened again.
const AGAIN: Duration = Duration::from_millis(100);
/// A connection that answers nothing is given up after this and the time of a command.
const PULSE: Duration = Duration::from_secs(2);

/// Messages that may wait to be heard.
const WAITING: usize = 4_096;

/// Listens until the engine stops; anew whenever a slot goes to another master.
pub(super) async fn run(inner: Arc<Inner>) {
    let mut changes = inner.link.changes();
    loop {
        changes.borrow_and_update();
        let mut listening = JoinSet::new();
        for master in &inner.link.map().masters {
            listening.spawn(keep_listening(inner.clone(), master.clone()));
        }
        tokio::select! {
            () = inner.stop.cancelled() => return,
            changed = changes.changed() => if changed.is_err() { return },
        }
    }
}

/// One that is away is tried again and again, while the others are heard.
async fn keep_listening(inner: Arc<Inner>, node: Arc<Node>) {
    loop {
        if let Err(error) = listen(&inner, &node).await {
            let name = node.name();
            tracing::debug!(node = name, %error, "wake-ups of {name} are not heard: {error}");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn listen(inner: &Arc<Inner>, node: &Node) -> Result<(), LinkError> {
    // Pushing must not block: what finds no room is left out, and listings are compared instead.
    let (sender, mut pushed) = mpsc::channel::<PushInfo>(WAITING);
    let missed = Arc::new(AtomicBool::new(false));
    let push = {
        let missed = missed.clone();
        move |told: PushInfo| {
            if sender.try_send(told).is_err() {
                missed.store(true, Ordering::Release);
            }
            Ok::<(), ()>(())
        }
    };
    let mut connection = node.pushed(push).await?;
    let failed = |error: redis::RedisError| LinkError::of(node.name(), &error);
    if inner.options.wakes {
        let map = inner.link.map();
        for channel in inner.across.channels() {
            let here = map.master_of(slot::slot(channel.as_bytes()));
            if here.is_some_and(|here| here.name() == node.name()) {
                redis::cmd("SSUBSCRIBE").arg(channel).exec_async(&mut connection).await.map_err(failed)?;
            }
        }
    }
    if inner.options.sweep.notified {
        // Whatever the number of the database, the event is the same.
        let pattern = "__keyevent@*__:expired";
        redis::cmd("PSUBSCRIBE").arg(pattern).exec_async(&mut connection).await.map_err(failed)?;
    }
    if inner.options.wakes {
        // From here on nothing is missed; what was, is fetched.
        inner.compare_told_by(node).await;
    }
    loop {
        if missed.swap(false, Ordering::AcqRel) {
            inner.compare_told_by(node).await;
        }
        tokio::select! {
            told = pushed.recv() => match told {
                Some(told) if told.kind != PushKind::Disconnection => hear(inner, told),
                Some(_) | None => {
                    let why = "the connection for wake-ups was closed".to_owned();
                    return Err(LinkError::Unknown { node: node.name().to_owned(), why });
                }
            },
            () = tokio::time::sleep(PULSE) => {
                let ping = redis::cmd("PING");
                let pong = ping.exec_async(&mut connection);
                match tokio::time::timeout(PULSE, pong).await {
                    Ok(pong) => pong.map_err(failed)?,
                    Err(_) => {
                        let why = "no sign of life".to_owned();
                        return Err(LinkError::Unknown { node: node.name().to_owned(), why });
                    }
                }
            }
        }
    }
}

fn hear(inner: &Arc<Inner>, told: PushInfo) {
    let Some(text) = told.data.into_iter().next_back().and_then(text) else { return };
    if told.kind == PushKind::SMessage {
        wake(inner, &text);
    } else if told.kind == PushKind::PMessage
        && let Some(listing) = inner.across.of_marker(&text)
    {
        sweep::notified(inner, listing);
    }
}

/// `<listing> <epoch>-<offset>`
fn wake(inner: &Arc<Inner>, text: &str) {
    let Some((listing, at)) = text.split_once(' ') else { return };
    let (Some(listing), Some(at)) = (ListingId::parse(listing), log::position(at)) else { return };
    inner.counts.wakes.fetch_add(1, Ordering::Relaxed);
    match inner.directory.get(&listing) {
        Some(replica) => inner.fetch(&replica, at),
        None => {
            let inner = inner.clone();
            tokio::spawn(async move {
                let _ = inner.look_up(listing).await;
            });
        }
    }
}

fn text(value: Value) -> Option<String> {
    String::from_utf8(bytes(value).ok()?).ok()
}

//! What other servers are told behind a decision: a wake-up with the new position. Many decisions of one listing
//! become one message. Nobody needs it to be right: what gets lost is found by polling.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use onsale_domain::ListingId;
use onsale_engine::Position;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::Inner;

/// Between two rounds: what happens within it is told together.
const ROUND: Duration = Duration::from_millis(1);
/// Messages under way at the same time.
const AT_ONCE: usize = 64;

#[derive(Debug, Default)]
pub(super) struct WakeUps {
    positions: Mutex<BTreeMap<ListingId, Position>>,
    news: Notify,
}

impl WakeUps {
    pub(super) fn position(&self, listing: ListingId, at: Position) {
        self.positions.lock().insert(listing, at);
        self.news.notify_one();
    }
}

/// Tells until the engine stops.
pub(super) async fn run(inner: Arc<Inner>) {
    loop {
        tokio::select! {
            () = inner.stop.cancelled() => return,
            () = inner.wake_ups.news.notified() => {}
        }
        let positions = std::mem::take(&mut *inner.wake_ups.positions.lock());
        let tell = |(listing, at): (ListingId, Position)| {
            let inner = &inner;
            async move {
                let channel = inner.across.channel(&listing);
                let message = format!("{listing} {}-{}", at.epoch, at.offset);
                let publish = redis::cmd("SPUBLISH").arg(&channel).arg(message).to_owned();
                if let Err(error) = inner.link.at(&channel, &publish).await {
                    tracing::debug!(%error, "a wake-up was not told: {error}");
                }
            }
        };
        futures_util::stream::iter(positions).for_each_concurrent(AT_ONCE, tell).await;
        tokio::time::sleep(ROUND).await;
    }
}

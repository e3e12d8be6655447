//! Takes letters that are due from where they wait, sends them, and says what became of each. Trouble with a mail server is told and tried
//! again, ever more slowly; nobody waits for it.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use onsale_domain::Millis;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::letter::Letter;
use super::stationery::Stationery;
use super::{SendError, Transport};

/// How long a letter is tried; the links in it are good for a day at most.
pub const GIVE_UP_MS: Millis = 24 * 3_600_000;
/// The first wait, and the longest.
const RETRY_MS: Millis = 1_000;
const RETRY_MS_MAX: Millis = 15 * 60_000;
/// Connections to a mail server at the same time: more make many servers refuse.
const AT_ONCE: usize = 4;
/// How often letters are looked for if nobody says that there are some.
const TICK: Duration = Duration::from_secs(1);
/// How long a stop waits for letters under way; one that is cut is sent again later, with the same id.
const STOP_MAX: Duration = Duration::from_secs(5);

/// Where letters wait. An error is told and tried again.
pub trait LetterBox: Send + Sync + 'static {
    type Error: Display + Send;

    /// Letters that are due. They are not given again for two minutes unless `failed` says so: whoever took them may have ended.
    fn take(
        &self,
        limit: usize,
        now: Millis,
    ) -> impl Future<Output = Result<Vec<Letter>, Self::Error>> + Send;

    /// It has left; nobody needs it any more.
    fn done(&self, id: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// It has not left, and is due again then; `None`: it is given up.
    fn failed(
        &self,
        id: &str,
        retry_at: Option<Millis>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// What became of letters since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailCounts {
    pub sent: u64,
    /// Tries that did not work and are made again.
    pub delayed: u64,
    pub given_up: u64,
}

/// Asked for the time: milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

pub struct Sender<B> {
    letters: Arc<B>,
    stationery: Stationery,
    transport: Arc<dyn Transport>,
    clock: Clock,
    wake: Notify,
    sent: AtomicU64,
    delayed: AtomicU64,
    given_up: AtomicU64,
}

impl<B: LetterBox> Sender<B> {
    pub fn new(
        letters: Arc<B>,
        stationery: Stationery,
        transport: Arc<dyn Transport>,
        clock: Clock,
    ) -> Sender<B> {
        Sender {
            letters,
            stationery,
            transport,
            clock,
            wake: Notify::new(),
            sent: AtomicU64::new(0),
            delayed: AtomicU64::new(0),
            given_up: AtomicU64::new(0),
        }
    }

    /// There may be a letter to send at once.
    pub fn nudge(&self) {
        self.wake.notify_one();
    }

    pub fn counts(&self) -> MailCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        MailCounts { sent: read(&self.sent), delayed: read(&self.delayed), given_up: read(&self.given_up) }
    }

    /// Sends until told to stop.
    pub async fn run(self: &Arc<Self>, stop: CancellationToken) {
        let mut under_way = JoinSet::new();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_waiting = false;
        while !stop.is_cancelled() {
            let room = AT_ONCE - under_way.len();
            let letters =
                if room == 0 { Ok(Vec::new()) } else { self.letters.take(room, (self.clock)()).await };
            match letters {
                Ok(letters) => {
                    is_waiting = false;
                    for letter in letters {
                        let sender = self.clone();
                        under_way.spawn(async move { sender.send(letter).await });
                    }
                }
                Err(error) if is_waiting => tracing::debug!(%error, "letters still wait: {error}"),
                Err(error) => {
                    is_waiting = true;
                    tracing::warn!(%error, "letters wait: {error}");
                }
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.wake.notified() => {}
                _ = ticks.tick() => {}
                Some(_) = under_way.join_next() => {}
            }
        }
        let _ = timeout(STOP_MAX, async { while under_way.join_next().await.is_some() {} }).await;
    }

    async fn send(&self, letter: Letter) {
        let sent = match self.stationery.write(&letter) {
            Ok(message) => self.transport.send(&message).await,
            Err(error) => Err(error),
        };
        let (id, kind) = (letter.id.as_str(), letter.kind.as_str());
        let noted = match sent {
            Ok(()) => {
                self.sent.fetch_add(1, Ordering::Relaxed);
                self.letters.done(id).await
            }
            Err(error) => {
                let now = (self.clock)();
                let retry_at = now.saturating_add(retry_in_ms(letter.attempts, rand::random()));
                let is_over = retry_at.saturating_sub(letter.written_at) >= GIVE_UP_MS;
                if matches!(error, SendError::Never(_)) || is_over {
                    self.given_up.fetch_add(1, Ordering::Relaxed);
                    tracing::error!(id, kind, %error, "letter {id} ({kind}) is given up: {error}");
                    self.letters.failed(id, None).await
                } else {
                    self.delayed.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(id, kind, %error, "letter {id} ({kind}) is sent again later: {error}");
                    self.letters.failed(id, Some(retry_at)).await
                }
            }
        };
        if let Err(error) = noted {
            // It is given again when its time is over; who gets it twice sees the same id.
            tracing::warn!(id, %error, "what became of letter {id} is not written down: {error}");
        }
    }
}

impl<B> std::fmt::Debug for Sender<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").field("transport", &self.transport).finish_non_exhaustive()
    }
}

/// How long a letter waits that was tried so often: twice as long each time, and between the half and the whole of that by `chance`, so
/// that letters which failed together do not come back together.
pub fn retry_in_ms(attempts: u32, chance: u32) -> Millis {
    let whole = RETRY_MS.saturating_mul(1 << attempts.min(20)).min(RETRY_MS_MAX);
    let half = whole / 2;
    half + (whole - half) * Millis::from(chance) / Millis::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_from_a_second_to_a_quarter_of_an_hour_and_are_spread() {
        for (attempts, whole) in
            [(0, 1_000), (1, 2_000), (5, 32_000), (9, 512_000), (10, 900_000), (500, 900_000)]
        {
            assert_eq!(retry_in_ms(attempts, 0), whole / 2);
            assert_eq!(retry_in_ms(attempts, u32::MAX), whole);
            assert!((whole / 2..=whole).contains(&retry_in_ms(attempts, 1 << 31)));
        }
    }
}

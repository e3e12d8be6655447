//! Whose turn it is on one connection, and until when: the caller's to send a whole head, then ours to answer it.
//! One alarm per connection watches over both; a timer for every request costs more than it guards.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

use super::access::Line;
use crate::config::Limits;

/// Shared by the connection, the answers it makes and the bodies it sends.
#[derive(Debug)]
pub(super) struct ConnectionTimer {
    began: Instant,
    for_head: Duration,
    for_answer: Duration,
    /// Nanoseconds after `began`; [`NEVER`] while a body is sent, which `patience.rs` watches.
    due: AtomicU64,
    ours: AtomicBool,
    late: AtomicBool,
}

const NEVER: u64 = u64::MAX;

impl ConnectionTimer {
    pub(super) fn new(limits: &Limits) -> Arc<ConnectionTimer> {
        let for_head = Duration::from_millis(limits.idle_timeout_ms);
        Arc::new(ConnectionTimer {
            began: Instant::now(),
            for_head,
            for_answer: Duration::from_millis(limits.request_timeout_ms),
            due: AtomicU64::new(nanos(for_head)),
            ours: AtomicBool::new(false),
            late: AtomicBool::new(false),
        })
    }

    /// A head has been read.
    pub(super) fn take(&self, now: Instant) {
        self.ours.store(true, Ordering::Relaxed);
        self.late.store(false, Ordering::Relaxed);
        self.set_due(now, self.for_answer);
    }

    /// Whether the answer has taken too long.
    pub(super) fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    /// The answer is made; the body it comes with gives the turn back when all of it is sent.
    pub(super) fn answered(self: Arc<ConnectionTimer>, body: Body, line: Option<Box<Line>>) -> Sending {
        self.ours.store(false, Ordering::Relaxed);
        self.due.store(NEVER, Ordering::Relaxed);
        Sending { body, turn: self, line }
    }

    fn give(&self) {
        self.set_due(Instant::now(), self.for_head);
    }

    fn set_due(&self, now: Instant, patience: Duration) {
        self.due.store(nanos(now.duration_since(self.began) + patience), Ordering::Relaxed);
    }

    /// When the alarm must ring at the latest: now and then is soon enough where nothing is due.
    fn due(&self) -> Instant {
        let due = self.due.load(Ordering::Relaxed);
        if due == NEVER { Instant::now() + self.for_head } else { self.began + Duration::from_nanos(due) }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(NEVER - 1)
}

/// What is over when the alarm rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// The caller took too long to ask.
    Asking,
    /// We took too long to answer, and now know it.
    Answering,
}

/// Set anew only when something is due before it rings. If it rings too early, because turns went on meanwhile, it
/// sleeps again: a busy connection touches the timer once in a request's patience, an idle one hardly ever.
#[derive(Debug)]
pub(super) struct Alarm {
    turn: Arc<ConnectionTimer>,
    sleep: Pin<Box<Sleep>>,
}

impl Alarm {
    pub(super) fn new(turn: Arc<ConnectionTimer>) -> Alarm {
        let sleep = Box::pin(tokio::time::sleep_until(turn.due().into()));
        Alarm { turn, sleep }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Overdue> {
        let set_for = self.sleep.deadline().into_std();
        if self.turn.due.load(Ordering::Relaxed) < nanos(set_for.duration_since(self.turn.began)) {
            self.sleep.as_mut().reset(self.turn.due().into());
        }
        while self.sleep.as_mut().poll(cx).is_ready() {
            let due = self.turn.due();
            if due <= Instant::now() {
                let ours = self.turn.ours.load(Ordering::Relaxed);
                if !ours {
                    return Poll::Ready(Overdue::Asking);
                }
                self.turn.late.store(true, Ordering::Relaxed);
                self.turn.due.store(NEVER, Ordering::Relaxed);
                return Poll::Ready(Overdue::Answering);
            }
            self.sleep.as_mut().reset(due.into());
        }
        Poll::Pending
    }
}

/// An answer's body on its way out.
#[derive(Debug)]
pub(super) struct Sending {
    body: Body,
    turn: Arc<ConnectionTimer>,
    /// Written when the body is gone, whole or not.
    line: Option<Box<Line>>,
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.turn.give();
    }
}

impl hyper::body::Body for Sending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let (Poll::Ready(Some(Ok(frame))), Some(line)) = (&polled, &mut self.line) {
            line.sent(frame.data_ref().map_or(0, Bytes::len));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    fn turn(head_ms: u64, answer_ms: u64) -> Arc<ConnectionTimer> {
        ConnectionTimer::new(&Limits {
            idle_timeout_ms: head_ms,
            request_timeout_ms: answer_ms,
            ..Limits::default()
        })
    }

    async fn rings_within(alarm: &mut Alarm, ms: u64) -> Option<Overdue> {
        tokio::time::timeout(Duration::from_millis(ms), poll_fn(|cx| alarm.poll(cx))).await.ok()
    }

    #[tokio::test]
    async fn who_asks_nothing_is_cut_and_who_asks_again_is_not() {
        let turn = turn(300, 10_000);
        let mut alarm = Alarm::new(turn.clone());
        for _ in 0..4 {
            assert_eq!(rings_within(&mut alarm, 150).await, None);
            turn.take(Instant::now());
            drop(turn.clone().answered(Body::empty(), None));
        }
        assert_eq!(rings_within(&mut alarm, 3_000).await, Some(Overdue::Asking));
    }

    #[tokio::test]
    async fn an_answer_is_due_before_the_alarm_was_to_ring() {
        let turn = turn(60_000, 100);
        let mut alarm = Alarm::new(turn.clone());
        assert_eq!(rings_within(&mut alarm, 150).await, None);
        turn.take(Instant::now());
        assert!(!turn.is_late());
        assert_eq!(rings_within(&mut alarm, 3_000).await, Some(Overdue::Answering));
        assert!(turn.is_late());
        drop(turn.clone().answered(Body::empty(), None));
        turn.take(Instant::now());
        assert!(!turn.is_late());
    }

    #[tokio::test]
    async fn nothing_is_due_while_a_body_is_sent() {
        let turn = turn(100, 100);
        let mut alarm = Alarm::new(turn.clone());
        turn.take(Instant::now());
        let body = turn.clone().answered(Body::empty(), None);
        assert_eq!(rings_within(&mut alarm, 300).await, None);
        drop(body);
        assert_eq!(rings_within(&mut alarm, 3_000).await, Some(Overdue::Asking));
    }
}

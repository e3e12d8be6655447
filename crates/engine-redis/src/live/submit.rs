//! A command on its way to its script and back: prepared from the replica, decided by Redis, and the replica is the
//! first to learn of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use onsale_domain::{Code, Command, ListingId, ListingKind, Millis, Outcome, Step};
use onsale_engine::{Answer, EngineError, Position, Request};

use super::Inner;
use super::replica::{Replica, StepTaking};
use crate::caller::{ScriptCall, Stamp};
use crate::commands::Terms;
use crate::kinds::desk::commands::APPEND;
use crate::picture::Picture;
use crate::reply::Reply;
use crate::scripts::Name;

/// A command is prepared so often before the answer is an honest `busy`.
const TRIES: usize = 5;
/// A desk is decided beside Redis: whoever else writes there, few servers and seldom, is given way to more often.
const DESK_TRIES: usize = 32;
/// From this try on the best seats of a moment ago are taken if they are still free.
const LENIENT: usize = 4;
/// Answers of this server overtake each other by microseconds; a longer gap was made by another server.
const OVERTAKEN: Duration = Duration::from_millis(1);
/// So long an answer waits for the views to show it. It is true whether they do or not.
const SHOWN: Duration = Duration::from_millis(50);

impl Inner {
    pub(super) async fn submit(self: &Arc<Self>, request: Request) -> Result<Answer, EngineError> {
        if self.stop.is_cancelled() {
            return Err(EngineError::Stopping);
        }
        self.counts.commands.fetch_add(1, Ordering::Relaxed);
        if self.damaged.has(&request.listing) {
            self.look_again(request.listing).await?;
        }
        let answer = match self.decide(&request).await {
            Ok(answer) => answer,
            Err(error) => return Err(self.named_error(request.listing, error).await),
        };
        if let Some(refusal) = answer.outcome.refused() {
            self.counts.refusals.fetch_add(1, Ordering::Relaxed);
            // Of a listing that does not exist nobody keeps a list.
            if answer.position.offset > 0 {
                self.attempts.note(request.listing, answer.at, &request.command, refusal);
            }
        }
        Ok(answer)
    }

    async fn decide(self: &Arc<Self>, request: &Request) -> Result<Answer, EngineError> {
        let (listing, command) = (request.listing, &request.command);
        let stamp = match (request.key, command) {
            (Some(key), _) => Stamp::Key(key),
            (None, Command::ExpireDue { .. }) => Stamp::None,
            (None, _) => Stamp::Operation(rand::random()),
        };
        let mut replica = self.directory.get(&listing);
        let mut assumed_now = self.clock.now();
        let is_desk = listing.kind == ListingKind::Desk;
        let _turn = if is_desk { Some(self.leases.turn.lock().await) } else { None };
        for attempt in 1..=if is_desk { DESK_TRIES } else { TRIES } {
            let terms = Terms {
                epoch: self.deployment.current().generation.number,
                compact_from: self.options.compact_from,
                strict: attempt < LENIENT,
                plain: attempt == 1,
            };
            match self.ask_script(replica.as_deref(), request, stamp, terms, assumed_now).await? {
                Reply::Answer(answer) => {
                    self.suspect_if_forgotten(replica.as_deref(), &answer).await?;
                    if let Some(step) = answer.step().filter(|_| !answer.replayed) {
                        self.learn(replica, step, answer.position).await;
                    }
                    return Ok(*answer);
                }
                Reply::Retry { why, .. } if why == "fenced" => {
                    self.leases.lost(&listing);
                    let why = "another server looks after these payments".to_owned();
                    return Err(EngineError::Unavailable(why));
                }
                Reply::Retry { now, .. } => {
                    self.counts.retries.fetch_add(1, Ordering::Relaxed);
                    assumed_now = now;
                    replica = self.look_up_newest(listing).await?;
                }
                Reply::Trimmed { epoch, first, .. } => {
                    return Err(EngineError::Damaged(format!(
                        "this was answered before, but the facts from {epoch}-{first} on were removed from the \
                         stream of {listing} by hand"
                    )));
                }
                Reply::Damaged => {
                    let why = format!("{listing} has no head, but other keys of it are there");
                    return Err(EngineError::Damaged(why));
                }
            }
        }
        Err(EngineError::Busy)
    }

    /// Prepares the command from the replica and has its script decide; a hold that turns out not to be plain goes on to
    /// the script that has all the rules, under the same key.
    async fn ask_script(
        &self,
        replica: Option<&Replica>,
        request: &Request,
        stamp: Stamp,
        mut terms: Terms,
        assumed_now: Millis,
    ) -> Result<Reply, super::Trouble> {
        loop {
            let clocks = (self.clock.told(), assumed_now);
            let prepare = |picture: &Picture| {
                let by = request.by.as_ref();
                ScriptCall::prepare(picture, &request.command, stamp, by, &self.prefix, &terms, clocks)
            };
            let call = match replica {
                Some(replica) => replica.with(prepare),
                None => prepare(&Picture::nothing(request.listing)),
            };
            let call = match self.leases.under(&request.listing, &request.command) {
                Some(lease) if call.name == Name::of(ListingKind::Desk, APPEND) => call.under_lease(&lease),
                Some(_) | None => call,
            };
            let reply = call.read(self.call(&call).await?)?;
            if !(terms.plain && reply.is_not_plain()) {
                return Ok(reply);
            }
            terms.plain = false;
        }
    }

    /// We know the listing and its node does not: the node may have forgotten it, and nobody is told that it never was.
    async fn suspect_if_forgotten(
        &self,
        replica: Option<&Replica>,
        answer: &Answer,
    ) -> Result<(), EngineError> {
        let known = replica.filter(|replica| replica.position().offset > 0);
        let unknown =
            matches!(&answer.outcome, Outcome::Refused(refusal) if refusal.code == Code::ListingUnknown);
        match known {
            Some(replica) if unknown && answer.position.offset == 0 => {
                Err(self.missing(replica).await.into())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What this server decided reaches its own replica without a way through the stream.
    async fn learn(self: &Arc<Self>, replica: Option<Arc<Replica>>, step: &Arc<Step>, at: Position) {
        self.counts.facts.fetch_add(step.facts.len() as u64, Ordering::Relaxed);
        let replica = match replica {
            Some(replica) => replica,
            // Made just now, by us; if it cannot be read, the polling finds it.
            None => match self.look_up(step.listing).await {
                Ok(Some(replica)) => {
                    self.search.made(step.listing);
                    replica
                }
                Ok(None) | Err(_) => return self.wake_ups.position(step.listing, at),
            },
        };
        let shown = Position { epoch: step.epoch, offset: step.last() };
        match replica.take(step) {
            StepTaking::Applied | StepTaking::Known => {}
            StepTaking::Gap => {
                if !replica.reaches(shown, OVERTAKEN).await {
                    let _ = tokio::time::timeout(SHOWN, self.catch_up(&replica, shown)).await;
                }
            }
            StepTaking::Reload => {
                let _ = tokio::time::timeout(SHOWN, self.catch_up(&replica, shown)).await;
            }
        }
        replica.touched.store(self.clock.passed(), Ordering::Relaxed);
        self.derived.step(&replica, step);
        self.wake_ups.position(step.listing, shown);
    }

    /// The replica as fresh as Redis is now; none if there is no such listing.
    async fn look_up_newest(
        self: &Arc<Self>,
        listing: ListingId,
    ) -> Result<Option<Arc<Replica>>, EngineError> {
        match self.directory.get(&listing) {
            Some(replica) => {
                self.refresh(&replica).await?;
                Ok(Some(replica))
            }
            None => self.look_up(listing).await,
        }
    }
}

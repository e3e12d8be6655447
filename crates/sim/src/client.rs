//! Clients and their network: requests that come late or twice, answers that come late, retries after a broken line.

use std::collections::VecDeque;

use onsale_domain::Found;
use onsale_domain::listing::Key;
use onsale_engine::embedded::read::Facts;
use onsale_engine::embedded::work::{Decision, Together, Work, WrittenDecision};
use onsale_engine::{EngineError, HeldAt, Request};
use tokio::sync::oneshot;

use crate::auditor::{ClientAnswer, ExpectedAnswer};
use crate::rng::Rng;

/// Requests remembered so that a client may send an old one again.
const RECENT_MAX: usize = 96;

/// Something that was asked and not yet answered.
#[derive(Debug)]
pub struct Call {
    pub requests: Vec<Request>,
    pub reply: Reply,
    /// Filled in when the shard decides; in the order of the requests.
    pub expected: Vec<ExpectedAnswer>,
    /// The step from which on the client listens: answers, too, are delayed and reordered.
    pub listens_from: u64,
}

#[derive(Debug)]
pub enum Reply {
    One(oneshot::Receiver<Result<WrittenDecision, EngineError>>),
    Many(oneshot::Receiver<Together>),
    Found(oneshot::Receiver<Result<Found, EngineError>>),
    Holds(oneshot::Receiver<Result<Vec<HeldAt>, EngineError>>),
}

impl Call {
    pub fn submit(mut requests: Vec<Request>, listens_from: u64) -> (Call, Work) {
        let expected = Vec::new();
        if requests.len() == 1
            && let Some(request) = requests.pop()
        {
            let (reply, answer) = oneshot::channel();
            let work = Work::Submit(request.clone(), reply);
            return (
                Call { requests: vec![request], reply: Reply::One(answer), expected, listens_from },
                work,
            );
        }
        let (reply, answer) = oneshot::channel();
        let work = Work::SubmitMany(requests.clone(), reply);
        (Call { requests, reply: Reply::Many(answer), expected, listens_from }, work)
    }

    /// What has arrived, if anything has; a replay is read from the journal as the engine's own caller does it.
    pub fn hear(&mut self, facts: &Facts) -> Option<Vec<ClientAnswer>> {
        let listing = |n: usize| self.requests[n].listing;
        match &mut self.reply {
            Reply::One(reply) => {
                let written = reply.try_recv().ok()?;
                let settle =
                    |written: WrittenDecision| facts.settle(listing(0), written.decided, &written.bytes);
                Some(vec![ClientAnswer::Answer(written.and_then(settle))])
            }
            Reply::Many(reply) => {
                let Together { answers, bytes, .. } = reply.try_recv().ok()?;
                let settle = |(n, decided): (usize, Result<Decision, EngineError>)| {
                    ClientAnswer::Answer(
                        decided.and_then(|decided| facts.settle(listing(n), decided, &bytes)),
                    )
                };
                Some(answers.into_iter().enumerate().map(settle).collect())
            }
            Reply::Found(reply) => Some(vec![ClientAnswer::Found(reply.try_recv().ok()?)]),
            Reply::Holds(reply) => Some(vec![ClientAnswer::Holds(reply.try_recv().ok()?)]),
        }
    }
}

/// Requests on their way.
#[derive(Debug, Default)]
pub struct Network {
    under_way: Vec<(u64, Vec<Request>)>,
    recent: VecDeque<Request>,
}

impl Network {
    pub fn send(&mut self, rng: &mut Rng, step: u64, requests: Vec<Request>) {
        for request in &requests {
            if self.recent.len() == RECENT_MAX {
                self.recent.pop_front();
            }
            self.recent.push_back(request.clone());
        }
        let delay = if rng.chance(800) { 0 } else { rng.below(60) };
        if rng.chance(30) {
            self.under_way.push((step + rng.below(40), requests.clone()));
        }
        self.under_way.push((step + delay, requests));
    }

    /// A request of the past once more, or one with a used key and another body.
    pub fn again(&mut self, rng: &mut Rng, step: u64) {
        let Some(old) = self.recent.get(rng.below(self.recent.len() as u64) as usize) else { return };
        let mut request = old.clone();
        if rng.chance(100)
            && let Some(key) = &mut request.key
        {
            *key = Key { fingerprint: key.fingerprint ^ 1, ..*key };
        }
        self.under_way.push((step, vec![request]));
    }

    pub fn arrived(&mut self, step: u64) -> Vec<Vec<Request>> {
        let mut arrived = Vec::new();
        let mut left = Vec::new();
        for (at, requests) in self.under_way.drain(..) {
            if at <= step { arrived.push(requests) } else { left.push((at, requests)) }
        }
        self.under_way = left;
        arrived
    }
}

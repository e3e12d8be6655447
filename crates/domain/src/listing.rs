//! One listing: its position, its time and the state of its kind. `execute` is the only way a command becomes facts,
//! `apply` the only way a fact changes the state; recovery and live decisions share it.

mod body;
pub mod command;
pub mod fact;
mod image;
mod own;

pub use body::{Body, BodyView};
pub use command::{Creation, Describe, ListingCommand};
pub use fact::ListingFact;
pub use image::Parts;
pub(crate) use own::check;

use std::sync::Arc;

use crate::about::About;
use crate::attempts::Attempts;
use crate::by::By;
use crate::command::Command;
use crate::fact::Fact;
use crate::id::ListingId;
use crate::order::Orders;
use crate::outcome::Outcome;
use crate::query::{AttemptsQuery, Found, Query};
use crate::refusal::{Code, Refusal};
use crate::step_writer::StepWriter;
use crate::time::Millis;

/// Offsets share a fence with the epoch: `epoch · 2^40 + offset`, below 2^53 while the epoch is below 8192.
pub const FENCE_EPOCH_SHIFT: u32 = 40;

#[derive(Clone, Debug)]
pub struct Listing {
    pub id: ListingId,
    pub epoch: u64,
    /// The number of the last fact; 0 before the first.
    pub offset: u64,
    /// The time of the last fact; the listing's time never runs backwards past it.
    pub last_at: Millis,
    /// The time of the first fact.
    pub created_at: Millis,
    pub body: Body,
    /// What its merchant says of it, if anything.
    about: Option<Arc<About>>,
    /// The orders that pay for what is here; none before the first.
    pub(crate) orders: Option<Box<Orders>>,
    /// Refused attempts, since this copy of the listing was made: no part of its state.
    attempts: Option<Box<Attempts>>,
}

/// The facts of one decision, as they stand in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub listing: ListingId,
    pub epoch: u64,
    /// The offset of the first fact.
    pub first: u64,
    pub at: Millis,
    /// Under which idempotency key the decision was asked for; only if it was a yes.
    pub key: Option<Key>,
    /// Who made it, if not the buyer of its facts.
    pub by: Option<By>,
    pub facts: Vec<Fact>,
}

/// An idempotency key as the log knows it: hashes made at the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Tenant, principal, listing, verb and the caller's key, hashed.
    pub scope: u128,
    /// The decoded command, hashed: the first 128 bits of its SHA-256.
    pub fingerprint: u128,
}

impl Step {
    pub fn last(&self) -> u64 {
        self.first + self.facts.len() as u64 - 1
    }

    /// Facts with their offsets.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, &Fact)> {
        self.facts.iter().enumerate().map(|(n, fact)| (self.first + n as u64, fact))
    }

    /// The fencing token of a hold granted by the fact at `offset`.
    pub fn fence(&self, offset: u64) -> u64 {
        fence(self.epoch, offset)
    }
}

pub fn fence(epoch: u64, offset: u64) -> u64 {
    epoch << FENCE_EPOCH_SHIFT | offset
}

/// The epoch and the offset of the fact that granted a fence.
pub fn split_fence(fence: u64) -> (u64, u64) {
    (fence >> FENCE_EPOCH_SHIFT, fence & ((1 << FENCE_EPOCH_SHIFT) - 1))
}

impl Listing {
    pub fn new(id: ListingId, epoch: u64) -> Listing {
        Listing {
            id,
            epoch,
            offset: 0,
            last_at: 0,
            created_at: 0,
            body: Body::Nothing,
            about: None,
            orders: None,
            attempts: None,
        }
    }

    pub fn exists(&self) -> bool {
        self.offset > 0
    }

    /// Decides a command at the clock's time, applies what follows and appends the facts to `facts`.
    pub fn execute(&mut self, command: &Command, clock: Millis, facts: &mut Vec<Fact>) -> Outcome {
        let now = clock.max(self.last_at);
        let before = facts.len();
        let answer = self.decide_and_apply(command, now, facts);
        if self.orders.is_some() {
            crate::order::owe(self, before, now, facts);
        }
        match answer {
            Ok(outcome) => outcome,
            Err(refusal) => {
                if let Some(buyer) = command.attempt_by().filter(|_| self.exists()) {
                    let attempts = self.attempts.get_or_insert_default();
                    attempts.note(now, buyer, command.verb().name, &refusal);
                }
                Outcome::Refused(Box::new(refusal))
            }
        }
    }

    /// Far memory that a command will need when so many others came before it. See [`crate::Kind::far`].
    pub fn far(&self, command: &Command, before: usize) -> [Option<&u32>; 2] {
        self.body.far(command, before)
    }

    /// Attempts that were refused, if there were any.
    pub fn attempts(&self) -> Option<&Attempts> {
        self.attempts.as_deref()
    }

    /// The fence of the last fact.
    pub(crate) fn fence(&self) -> u64 {
        fence(self.epoch, self.offset)
    }

    fn decide_and_apply(
        &mut self,
        command: &Command,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) -> Result<Outcome, Refusal> {
        if let Body::Nothing = self.body {
            if self.exists() {
                let code = if command.creates() { Code::ListingExists } else { Code::ListingUnknown };
                return Err(Refusal::of(code));
            }
            let created = if let Command::Create(creation) = command {
                self.create(creation, now)?
            } else {
                Body::create(self.id.kind, command, now)?
            };
            self.apply_all(created, now, facts);
            return Ok(Outcome::Done);
        }
        if command.creates() {
            return Err(Refusal::of(Code::ListingExists));
        }
        if let Command::Listing(command) = command {
            return self.execute_own(command, now, facts);
        }
        if let Command::Order(command) = command {
            self.body.goods().ok_or(Refusal::of(Code::WrongKind))?;
            return crate::order::execute(self, command, now, facts);
        }
        if let Some(decided) = crate::order::guard(self, command, now)? {
            self.apply_all([decided], now, facts);
            return Ok(Outcome::Done);
        }
        let before = facts.len();
        let answer = self.body.execute(command, &mut StepWriter::new(now, self.fence(), facts));
        self.count(before, now, facts);
        answer
    }

    /// Numbers facts that the body has applied itself, and tells the orders of them.
    pub(crate) fn count(&mut self, before: usize, now: Millis, facts: &[Fact]) {
        if facts.len() > before {
            self.offset += (facts.len() - before) as u64;
            self.last_at = now;
        }
        if let Some(orders) = &mut self.orders {
            facts[before..].iter().for_each(|fact| orders.follow(fact, now));
        }
    }

    pub(crate) fn apply_all(
        &mut self,
        all: impl IntoIterator<Item = Fact>,
        now: Millis,
        facts: &mut Vec<Fact>,
    ) {
        for fact in all {
            self.apply(&fact, now);
            facts.push(fact);
        }
    }

    /// Takes the next fact into the state.
    pub fn apply(&mut self, fact: &Fact, at: Millis) {
        self.offset += 1;
        self.last_at = at;
        if self.offset == 1 {
            self.created_at = at;
        }
        let fence = self.fence();
        if let Fact::Listing(fact) = fact {
            return self.apply_own(fact);
        }
        if let Fact::Order(fact) = fact {
            return self.apply_order(fact, fence, at);
        }
        if let Some(orders) = &mut self.orders {
            orders.follow(fact, at);
        }
        if let Body::Nothing = self.body {
            match Body::begin(self.id, fact) {
                Some(body) => self.body = body,
                None => panic!("fact {} of {} comes before the listing's first", fact.kind(), self.id),
            }
            return;
        }
        let fits = self.body.apply(fact, fence, at);
        assert!(fits, "fact {} cannot happen to {}", fact.kind(), self.id);
    }

    /// When something falls due that no command has touched.
    pub fn next_due(&self) -> Option<Millis> {
        self.body.next_due()
    }

    pub fn view(&self) -> Option<BodyView> {
        self.body.view()
    }

    /// Answers a question about one buyer's things; changes nothing.
    pub fn ask(&self, query: &Query, clock: Millis) -> Found {
        let now = clock.max(self.last_at);
        match (&self.body, query) {
            // There is none yet, or none any more: then there are no orders of it either.
            (Body::Nothing, _) => Found::Nothing,
            (_, Query::Orders(query)) => Found::Orders(self.ask_orders(query)),
            (_, Query::Attempts(AttemptsQuery { from, limit })) => {
                let attempts = self.attempts.as_deref().map(|attempts| attempts.found(*from, *limit));
                Found::Attempts(Box::new(attempts.unwrap_or_default()))
            }
            (body, query) => body.ask(query, now),
        }
    }

    /// Names everybody of whom a question could find something here, some of them twice: an index of buyers needs no more.
    pub fn each_buyer(&self, name: &mut dyn FnMut(&str)) {
        self.body.each_buyer(name);
        self.orders.iter().flat_map(|orders| orders.buyers()).for_each(|buyer| name(buyer.as_str()));
    }

    /// Counts everything again and says what does not add up; for tests and `onsale verify`.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.check_orders()?;
        self.body.check_invariants()
    }
}

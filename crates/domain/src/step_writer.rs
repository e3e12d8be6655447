//! The end of a listing's log while a step is decided: the time, and where the next fact will stand.

use crate::fact::Fact;
use crate::time::Millis;

/// Facts are only ever added here after they were applied, so that each is decided on what came before it.
#[derive(Debug)]
pub struct StepWriter<'a> {
    /// The listing's time: it never runs backwards.
    pub now: Millis,
    /// Of the last fact before this step.
    fence: u64,
    /// How many facts of other steps are in front.
    before: usize,
    facts: &'a mut Vec<Fact>,
}

impl<'a> StepWriter<'a> {
    /// `fence` is that of the listing's last fact.
    pub fn new(now: Millis, fence: u64, facts: &'a mut Vec<Fact>) -> StepWriter<'a> {
        StepWriter { now, fence, before: facts.len(), facts }
    }

    /// The fence of the fact that is added next.
    pub fn next_fence(&self) -> u64 {
        self.fence + 1 + self.added().len() as u64
    }

    pub fn push(&mut self, fact: impl Into<Fact>) {
        self.facts.push(fact.into());
    }

    pub fn added(&self) -> &[Fact] {
        &self.facts[self.before..]
    }
}

//! How fast callers may ask: every limit that a request meets is decided together, before any work is done for it. In process by
//! `table`; on Redis by slices of tokens that each server takes. Never waits for anything but Redis, and never grows.

mod address;
mod attempt;
mod class;
mod config;
mod counts;
mod defaults;
mod gcra;
mod headers;
mod policy;
mod proxies;
mod rulebook;
mod shared;
mod table;

#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Instant;

pub use self::address::Address;
pub use self::attempt::{Attempt, Decision, KeyClass, KeySubject, Outcome, Quota};
pub use self::class::{Class, Subject};
pub use self::config::{ClassLimits, ENTRIES_MAX, ENTRIES_MIN, LimitsConfig, LimitsError};
pub use self::counts::{ClassCounts, Counts};
use self::counts::{Counters, add};
pub use self::gcra::{Level, Micros, Rate};
pub use self::headers::LimitHeaders;
pub use self::policy::{Policy, PolicyError};
pub use self::proxies::{ForwardedHeader, Network, caller_address};
use self::rulebook::Rulebook;
pub use self::shared::{
    Away, Bucket, CHARGE_ATTEMPT, Pending, ROUND, RedisTokens, ScriptCaller, ScriptText, Shared,
    SharedTokens, Slice, SliceRequest, TAKE_TOKENS, WAIT_MAX,
};
use self::table::{CHARGES_MAX, Charge, Table};

/// The limits of one server.
#[derive(Debug)]
pub struct Limits {
    is_enabled: bool,
    rules: Arc<Rulebook>,
    table: Table,
    /// SipHash under a key of this process: nobody outside can choose who shares a bucket.
    hasher: RandomState,
    shared: Option<Arc<Shared>>,
    counters: Counters,
    begun: Instant,
}

/// Everything that one attempt is charged to.
#[derive(Debug)]
struct Charges {
    all: [Charge; CHARGES_MAX],
    len: usize,
}

impl Limits {
    /// Counts in this process alone.
    pub fn in_process(config: &LimitsConfig) -> Result<Limits, LimitsError> {
        config.check()?;
        let rules = Arc::new(Rulebook::new(config));
        Ok(Limits {
            is_enabled: config.enabled,
            table: Table::new(config.entries_max, rules.len()),
            rules,
            hasher: RandomState::new(),
            shared: None,
            counters: Counters::default(),
            begun: Instant::now(),
        })
    }

    /// Counts together with other servers. Somebody must let `Shared::run` work.
    pub fn shared(config: &LimitsConfig, tokens: Arc<dyn SharedTokens>) -> Result<Limits, LimitsError> {
        Ok(Limits { shared: Some(Arc::new(Shared::new(tokens))), ..Limits::in_process(config)? })
    }

    /// What takes slices for this server; `None`: it counts in process.
    pub fn sharing(&self) -> Option<&Arc<Shared>> {
        self.shared.as_ref()
    }

    /// Decides about an attempt now. Where servers share, an attempt may wait for a slice, `WAIT_MAX` at most.
    pub async fn decide(&self, attempt: &Attempt<'_>) -> Decision {
        if !self.is_enabled {
            return Decision::FREE;
        }
        let now = self.now();
        let Some(shared) = &self.shared else { return self.decide_here(attempt, now) };
        let charges = self.charges(attempt);
        let decided = match attempt.class {
            Class::Auth => match shared.charge_exactly(&self.rules, attempt, charges.all()).await {
                Ok(decision) => Some(decision),
                Err(Away) => Some(Decision::UNAVAILABLE),
            },
            Class::SeatLock
            | Class::Bid
            | Class::Checkout
            | Class::Search
            | Class::Stream
            | Class::Staff
            | Class::Api
            | Class::Default => shared.take_all(&self.rules, attempt, charges.all()).await,
        };
        match decided {
            Some(decision) => self.count(attempt.class, decision),
            None => {
                add(&self.counters.on_own_share);
                let servers = shared.servers();
                self.take_here(attempt.class, charges, |rate| rate.share(servers), now)
            }
        }
    }

    /// Decides in this process, at a time that the caller names.
    pub fn decide_here(&self, attempt: &Attempt<'_>, now: Micros) -> Decision {
        if !self.is_enabled {
            return Decision::FREE;
        }
        self.take_here(attempt.class, self.charges(attempt), |rate| rate, now)
    }

    /// Microseconds since these limits were made; never goes back.
    pub fn now(&self) -> Micros {
        self.begun.elapsed().as_micros() as Micros
    }

    pub fn headers(&self, decision: &Decision) -> LimitHeaders {
        headers::write(&self.rules, decision)
    }

    pub fn counts(&self) -> Counts {
        let is_away = self.shared.as_ref().is_some_and(|shared| shared.is_away());
        Counts { crowded: self.table.crowded(), is_away, ..self.counters.read() }
    }

    fn take_here(
        &self,
        class: Class,
        mut charges: Charges,
        own: impl Fn(Rate) -> Rate,
        now: Micros,
    ) -> Decision {
        let mut levels = [Level::default(); CHARGES_MAX];
        let levels = &mut levels[..charges.len];
        charges.all[..charges.len].iter_mut().for_each(|charge| charge.rate = own(charge.rate));
        let is_passed = self.table.take_all(charges.all(), levels, now);
        self.count(class, Decision::of(is_passed, charges.all(), levels))
    }

    fn count(&self, class: Class, decision: Decision) -> Decision {
        add(match decision.outcome {
            Outcome::Passed => &self.counters.passed[class as usize],
            Outcome::Limited => &self.counters.limited[class as usize],
            Outcome::Unavailable => &self.counters.unavailable,
        });
        decision
    }

    /// One hash for each subject; the names of its buckets are made from it.
    fn charges(&self, attempt: &Attempt<'_>) -> Charges {
        let mut charges = Charges::default();
        let tenant = attempt.tenant.number();
        for (subject, id) in attempt.subjects().into_iter().flatten() {
            let hash = self.hasher.hash_one((tenant, subject as u8, id));
            charges.add(&self.rules, attempt.class, subject, hash);
        }
        if let Some(address) = attempt.counted_address() {
            let hash = self.hasher.hash_one((tenant, Subject::Address as u8, address));
            charges.add(&self.rules, attempt.class, Subject::Address, hash);
        }
        charges
    }
}

impl Default for Charges {
    fn default() -> Self {
        let rate = Rate { interval_us: 1, horizon_us: 1 };
        Charges { all: [Charge { name: 1, rate, policy: 0 }; CHARGES_MAX], len: 0 }
    }
}

impl Charges {
    fn add(&mut self, rules: &Rulebook, class: Class, subject: Subject, hash: u64) {
        for rule in rules.numbers(class, subject) {
            // Odd, so that all bits of the number count; a stranger who does not know the hash cannot aim at another's.
            let name = hash.wrapping_add(u64::from(rule + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).max(1);
            self.all[self.len] = Charge { name, rate: rules.rule(rule).rate, policy: usize::from(rule) };
            self.len += 1;
        }
    }

    fn all(&self) -> &[Charge] {
        &self.all[..self.len]
    }
}

//! What is decided about: a request with all that it is counted by. And the answer.

use std::borrow::Cow;

use onsale_domain::{BuyerId, Tenant};

use super::address::Address;
use super::class::{Class, Subject};
use super::gcra::Level;
use super::table::{CHARGES_MAX, Charge};
use crate::principal::{KeyKind, Principal, Who};

/// One request before any work is done for it.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    pub tenant: Tenant,
    pub class: Class,
    pub key: Option<KeySubject<'a>>,
    /// The person who is signed in, or the buyer for whom a key vouches; never a name that a stranger only claims.
    pub user: Option<&'a str>,
    pub address: Option<Address>,
}

#[derive(Clone, Copy, Debug)]
pub struct KeySubject<'a> {
    /// `key_…`
    pub id: &'a str,
    pub kind: KeyClass,
}

/// Which limits a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyClass {
    /// Secret or restricted.
    Server,
    /// Publishable.
    Page,
    /// Any key of a test.
    Test,
}

impl KeyClass {
    fn of(kind: KeyKind) -> KeyClass {
        match kind {
            KeyKind::Secret | KeyKind::Restricted => KeyClass::Server,
            KeyKind::Publishable => KeyClass::Page,
        }
    }
}

impl<'a> Attempt<'a> {
    /// A request of that principal. `buyer`: whom a key acts for. A browser for which a merchant's server vouches counts as its page does.
    pub fn of(
        principal: &'a Principal,
        class: Class,
        buyer: Option<&'a BuyerId>,
        address: Option<Address>,
    ) -> Attempt<'a> {
        let (key, kind, own) = match &principal.who {
            Who::Nobody => (None, KeyClass::Page, None),
            Who::Key(holder) => (Some(&holder.key), KeyClass::of(holder.kind), buyer),
            Who::Person(person) => (None, KeyClass::Page, Some(&person.user)),
            Who::Vouched(vouched) => (Some(&vouched.key), KeyClass::Page, Some(&vouched.buyer)),
        };
        let kind = if principal.is_test { KeyClass::Test } else { kind };
        Attempt {
            tenant: principal.tenant,
            class,
            key: key.map(|id| KeySubject { id, kind }),
            user: own.map(BuyerId::as_str),
            address,
        }
    }

    /// Whom the request counts for. Under a test key nobody else, so that a load tool can be many people from one address; under a
    /// server's key not the address, which is the server's for all of its buyers.
    pub(super) fn subjects(&self) -> [Option<(Subject, &'a str)>; 2] {
        let key = self.key.map(|key| match key.kind {
            KeyClass::Server => (Subject::ServerKey, key.id),
            KeyClass::Page => (Subject::PageKey, key.id),
            KeyClass::Test => (Subject::TestKey, key.id),
        });
        let is_test = matches!(key, Some((Subject::TestKey, _)));
        let user = self.user.filter(|_| !is_test).map(|user| (Subject::User, user));
        [key, user]
    }

    /// That subject's id as it stands in a key.
    pub(super) fn identifier(&self, subject: Subject) -> Cow<'a, str> {
        let (key, user) = (self.key.map_or("", |key| key.id), self.user.unwrap_or(""));
        match subject {
            Subject::ServerKey | Subject::PageKey | Subject::TestKey => key.into(),
            Subject::User => user.into(),
            Subject::Address => self.address.map_or("".into(), |address| address.to_string().into()),
        }
    }

    pub(super) fn counted_address(&self) -> Option<Address> {
        match self.key.map(|key| key.kind) {
            Some(KeyClass::Server | KeyClass::Test) => None,
            Some(KeyClass::Page) | None => self.address,
        }
    }
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every limit let it, and each was charged.
    Passed,
    /// At least one did not, and none was charged.
    Limited,
    /// The limits of this class are counted exactly, and their store does not answer.
    Unavailable,
}

/// One limit that the attempt met, as it is afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    pub(super) rule: u16,
    pub level: Level,
}

#[derive(Clone, Copy, Debug)]
pub struct Decision {
    pub outcome: Outcome,
    pub(super) quotas: [Quota; CHARGES_MAX],
    pub(super) len: u8,
}

impl Decision {
    pub(super) const FREE: Decision = Decision::bare(Outcome::Passed);
    pub(super) const UNAVAILABLE: Decision = Decision::bare(Outcome::Unavailable);

    const fn bare(outcome: Outcome) -> Decision {
        let none = Quota { rule: 0, level: Level { remaining: 0, next_in_us: 0, full_in_us: 0 } };
        Decision { outcome, quotas: [none; CHARGES_MAX], len: 0 }
    }

    pub(super) fn of(is_passed: bool, charges: &[Charge], levels: &[Level]) -> Decision {
        let mut decision = Decision::bare(if is_passed { Outcome::Passed } else { Outcome::Limited });
        for (quota, (charge, level)) in decision.quotas.iter_mut().zip(charges.iter().zip(levels)) {
            // Rules are numbered below a hundred.
            *quota = Quota { rule: charge.policy as u16, level: *level };
            decision.len += 1;
        }
        decision
    }

    pub fn is_passed(&self) -> bool {
        self.outcome == Outcome::Passed
    }

    pub fn quotas(&self) -> &[Quota] {
        &self.quotas[..usize::from(self.len)]
    }

    /// Whole seconds after which the same attempt may pass; at least one. `None`: it has passed.
    pub fn retry_after_s(&self) -> Option<u64> {
        let longest = self.quotas().iter().map(|quota| quota.level.next_in_us).max().unwrap_or(0);
        match self.outcome {
            Outcome::Passed => None,
            Outcome::Limited | Outcome::Unavailable => Some(longest.div_ceil(1_000_000).max(1)),
        }
    }
}

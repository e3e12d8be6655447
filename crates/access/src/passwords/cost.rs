//! How much work one hash takes, and the form in which a hash is stored with it (PHC: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`).

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{ARGON2ID_IDENT, Algorithm, Argon2, Block, Params, Version};

pub(super) const HASH_BYTES: usize = 32;
/// A stored hash that asks for more than this is damaged: no configuration allows it.
const MEMORY_KIB_MAX: u32 = 1 << 20;
const PASSES_MAX: u32 = 64;
const LANES_MAX: u32 = 16;

/// Of Argon2id. The default is OWASP's first choice, and the least that a server may be configured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    pub memory_kib: u32,
    pub passes: u32,
    pub lanes: u32,
}

impl Default for PasswordCost {
    fn default() -> PasswordCost {
        PasswordCost { memory_kib: 19 * 1024, passes: 2, lanes: 1 }
    }
}

impl PasswordCost {
    /// Protects nothing; tests would otherwise hash all day.
    pub const FOR_TESTS: PasswordCost = PasswordCost { memory_kib: 8, passes: 1, lanes: 1 };

    /// For the configuration: why these figures cannot be used, or `None` if they can.
    pub fn problem(self) -> Option<&'static str> {
        let least = PasswordCost::default();
        if self.memory_kib < least.memory_kib || self.passes < least.passes || self.lanes < least.lanes {
            return Some(
                "weaker than 19 MiB, 2 passes, 1 lane, which is the least that protects a stolen database",
            );
        }
        (!self.is_possible()).then_some("more than 1 GiB, 64 passes or 16 lanes")
    }

    /// Whether somebody who has the stored hash guesses faster than with the other cost.
    pub(super) fn is_weaker_than(self, other: PasswordCost) -> bool {
        let work = |cost: PasswordCost| u64::from(cost.memory_kib) * u64::from(cost.passes);
        self.memory_kib < other.memory_kib || work(self) < work(other)
    }

    pub(super) fn blocks(self) -> usize {
        self.params().map_or(0, |params| params.block_count())
    }

    /// `None` if Argon2 does not know these figures; what `read` gave and `problem` let through it knows.
    pub(super) fn hash(self, password: &[u8], salt: &[u8], memory: &mut [Block]) -> Option<[u8; HASH_BYTES]> {
        let mut hash = [0; HASH_BYTES];
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params()?);
        argon2.hash_password_into_with_memory(password, salt, &mut hash, memory).ok()?;
        Some(hash)
    }

    pub(super) fn write(self, salt: &[u8], hash: &[u8]) -> String {
        let parts = || {
            Some(PasswordHash {
                algorithm: ARGON2ID_IDENT,
                version: Some(Version::V0x13.into()),
                params: ParamsString::try_from(&self.params()?).ok()?,
                salt: Some(Salt::new(salt).ok()?),
                hash: Some(Output::new(hash).ok()?),
            })
        };
        parts().map_or_else(
            || unreachable!("the figures were checked when they were read"),
            |hash| hash.to_string(),
        )
    }

    fn is_possible(self) -> bool {
        self.memory_kib <= MEMORY_KIB_MAX
            && self.passes <= PASSES_MAX
            && self.lanes <= LANES_MAX
            && self.params().is_some()
    }

    fn params(self) -> Option<Params> {
        Params::new(self.memory_kib, self.passes, self.lanes, Some(HASH_BYTES)).ok()
    }
}

/// A stored hash, taken apart.
pub(super) struct StoredHash {
    pub(super) cost: PasswordCost,
    pub(super) salt: Vec<u8>,
    pub(super) hash: Vec<u8>,
}

/// Reads what [`PasswordCost::write`] wrote; `None` for anything else.
pub(super) fn read(text: &str) -> Option<StoredHash> {
    let stored = PasswordHash::new(text).ok()?;
    let params = Params::try_from(&stored).ok()?;
    let cost = PasswordCost { memory_kib: params.m_cost(), passes: params.t_cost(), lanes: params.p_cost() };
    let (salt, hash) = (stored.salt?, stored.hash?);
    let ours = stored.algorithm == ARGON2ID_IDENT && hash.len() == HASH_BYTES && cost.is_possible();
    ours.then(|| StoredHash { cost, salt: salt.to_vec(), hash: hash.as_bytes().to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_takes_no_weaker_and_no_absurd_cost() {
        let least = PasswordCost::default();
        assert_eq!(least.problem(), None);
        assert_eq!(PasswordCost { memory_kib: 64 * 1024, passes: 3, lanes: 2 }.problem(), None);
        let wrong = [
            PasswordCost::FOR_TESTS,
            PasswordCost { memory_kib: least.memory_kib - 1, ..least },
            PasswordCost { passes: 1, memory_kib: 47104, ..least },
            PasswordCost { lanes: 0, ..least },
            PasswordCost { memory_kib: 2 << 20, ..least },
            PasswordCost { passes: 65, ..least },
            PasswordCost { lanes: 17, ..least },
        ];
        for cost in wrong {
            assert!(cost.problem().is_some(), "{cost:?}");
        }
    }

    #[test]
    fn less_memory_or_less_work_is_weaker() {
        let cost = PasswordCost::default();
        assert!(!cost.is_weaker_than(cost));
        assert!(PasswordCost { passes: 1, ..cost }.is_weaker_than(cost));
        assert!(PasswordCost { memory_kib: 10_000, passes: 9, ..cost }.is_weaker_than(cost));
        assert!(!PasswordCost { passes: 3, ..cost }.is_weaker_than(cost));
    }
}

//! Passwords: which are taken (`rule`), how they are stored, and the few threads that hash them. Who signs in asks here;
//! a flood of sign-ins fills a queue of fixed length and is answered `Busy`, and touches neither memory nor the runtime.

mod cost;
mod guessed;
mod pool;
mod rule;

use std::sync::Arc;

pub use cost::PasswordCost;
pub use pool::{Busy, PasswordPool};
use pool::{Pool, Slot};
pub(crate) use rule::check_new;
pub use rule::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, PasswordProblem};

use crate::random;

/// Hashes passwords and checks them, a few at a time.
#[derive(Clone, Debug)]
pub struct Passwords {
    pool: Arc<Pool>,
    cost: PasswordCost,
    /// Of a password that nobody has. It is checked where there is no account, so that the answer takes the same work.
    nobody: Arc<str>,
}

/// What came of checking a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    /// Right, but stored with less work than is asked for today.
    RightButWeak,
    Wrong,
}

/// A place in the queue. It is taken before anything is read or written for a request, so that a request for which
/// there is no room leaves no trace.
#[derive(Debug)]
pub(crate) struct PasswordWork {
    passwords: Passwords,
    slot: Slot,
}

impl Passwords {
    /// Starts the threads. They end when the last clone is dropped.
    pub fn start(cost: PasswordCost, pool: PasswordPool) -> std::io::Result<Passwords> {
        // Any salt and any hash do: the check is wrong either way, after the same work.
        let nobody = cost.write(&random::bits().to_be_bytes(), &[0; cost::HASH_BYTES]);
        Ok(Passwords { pool: Arc::new(Pool::start(pool)?), cost, nobody: nobody.into() })
    }

    /// How many hashes were made since the start.
    pub fn hashes(&self) -> u64 {
        self.pool.hashes()
    }

    pub(crate) fn reserve(&self) -> Result<PasswordWork, Busy> {
        Ok(PasswordWork { passwords: self.clone(), slot: self.pool.reserve()? })
    }
}

impl PasswordWork {
    /// What is stored for a password.
    pub(crate) async fn make(&mut self, password: &str) -> Result<String, Busy> {
        let salt = random::bits().to_be_bytes();
        let cost = self.passwords.cost;
        let hash = self.passwords.pool.hash(&self.slot, password, salt.to_vec(), cost).await?;
        Ok(cost.write(&salt, &hash))
    }

    /// Whether a password is the stored one. Without an account (`None`), the same work and then `Wrong`.
    pub(crate) async fn check(&mut self, password: &str, stored: Option<&str>) -> Result<Verdict, Busy> {
        let readable = stored.and_then(cost::read);
        let (known, own) = match (readable, cost::read(&self.passwords.nobody)) {
            (Some(own), _) => (true, own),
            (None, Some(nobody)) => (false, nobody),
            (None, None) => unreachable!("what `write` wrote reads back"),
        };
        let hash = self.passwords.pool.hash(&self.slot, password, own.salt, own.cost).await?;
        let same: bool = subtle::ConstantTimeEq::ct_eq(&hash[..], &own.hash[..]).into();
        Ok(match (known && same, own.cost.is_weaker_than(self.passwords.cost)) {
            (false, _) => Verdict::Wrong,
            (true, true) => Verdict::RightButWeak,
            (true, false) => Verdict::Right,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords(cost: PasswordCost) -> Passwords {
        Passwords::start(cost, PasswordPool { threads: 1, queue: 8 }).expect("threads start")
    }

    async fn verdict(passwords: &Passwords, password: &str, stored: Option<&str>) -> Verdict {
        passwords.reserve().expect("room").check(password, stored).await.expect("not busy")
    }

    #[tokio::test]
    async fn a_password_is_right_exactly_as_it_was_given() {
        let passwords = passwords(PasswordCost::FOR_TESTS);
        let word = "correct horse, Ünïcode and   spaces";
        let stored = passwords.reserve().expect("room").make(word).await.expect("not busy");
        assert!(stored.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{stored}");
        assert_eq!(verdict(&passwords, word, Some(&stored)).await, Verdict::Right);
        let close =
            [&word[..word.len() - 1], &word.to_lowercase(), &format!("{word}\0"), &format!(" {word}"), ""];
        for wrong in close {
            assert_eq!(verdict(&passwords, wrong, Some(&stored)).await, Verdict::Wrong, "{wrong}");
        }
        let again = passwords.reserve().expect("room").make(word).await.expect("not busy");
        assert_ne!(again, stored, "each hash has its own salt");
    }

    #[tokio::test]
    async fn a_weaker_hash_is_right_and_says_so() {
        let weak = passwords(PasswordCost::FOR_TESTS);
        let stored = weak.reserve().expect("room").make("correct horse").await.expect("not busy");
        let strong = passwords(PasswordCost { passes: 2, ..PasswordCost::FOR_TESTS });
        assert_eq!(verdict(&strong, "correct horse", Some(&stored)).await, Verdict::RightButWeak);
        assert_eq!(verdict(&strong, "another horse", Some(&stored)).await, Verdict::Wrong);
        let stored = strong.reserve().expect("room").make("correct horse").await.expect("not busy");
        assert_eq!(verdict(&weak, "correct horse", Some(&stored)).await, Verdict::Right, "never made weaker");
    }

    #[tokio::test]
    async fn nobodys_password_and_a_damaged_hash_take_the_same_work_and_are_wrong() {
        let passwords = passwords(PasswordCost::FOR_TESTS);
        for stored in [
            None,
            Some(""),
            Some("$argon2id$v=19$m=8,t=1,p=1$"),
            Some("$argon2id$v=19$m=4294967295,t=9,p=1$YWFhYWFhYWE$YWFhYWFhYWFhYWFh"),
        ] {
            let before = passwords.hashes();
            assert_eq!(verdict(&passwords, "correct horse", stored).await, Verdict::Wrong);
            assert_eq!(passwords.hashes(), before + 1, "{stored:?}");
        }
    }
}

//! Refused attempts of one listing: how many by code, and the last thousand of them. A refusal is no fact, so this
//! lives beside the listing, in no image and no log: a restart begins anew, and what must last is written elsewhere.

use std::collections::VecDeque;

use crate::id::BuyerId;
use crate::limits::ATTEMPTS_KEPT;
use crate::refusal::{Code, InTheWay, Refusal};
use crate::time::Millis;

#[derive(Clone, Debug, Default)]
pub struct Attempts {
    /// By the code's place in [`Code::ALL`]; made with the first refusal.
    counts: Vec<u64>,
    last: VecDeque<Attempt>,
    /// Attempts ever noted: the number of the next one.
    next: u64,
}

/// A piece of the list, and how many there were of each code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptsFound {
    pub counts: Vec<(Code, u64)>,
    /// Oldest first, each with its number.
    pub attempts: Vec<(u64, Attempt)>,
    /// The number of the next attempt that will be noted.
    pub next: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    pub at: Millis,
    pub buyer: BuyerId,
    pub verb: &'static str,
    pub code: Code,
    /// What stood in the way, if it was single things.
    pub in_the_way: Vec<InTheWay>,
}

impl Attempts {
    /// Notes one refusal. What was wrong in any state is no attempt: nothing is recorded of it.
    pub fn note(&mut self, at: Millis, buyer: &BuyerId, verb: &'static str, refusal: &Refusal) {
        if refusal.code == Code::Invalid {
            return;
        }
        self.counts.resize(Code::ALL.len(), 0);
        if let Ok(place) = Code::ALL.binary_search(&refusal.code) {
            self.counts[place] += 1;
        }
        if self.last.len() == ATTEMPTS_KEPT {
            self.last.pop_front();
        }
        let (buyer, code, in_the_way) = (buyer.clone(), refusal.code, refusal.in_the_way.clone());
        self.last.push_back(Attempt { at, buyer, verb, code, in_the_way });
        self.next += 1;
    }

    /// How many were refused by this code.
    pub fn count(&self, code: Code) -> u64 {
        let place = Code::ALL.binary_search(&code).ok();
        place.and_then(|place| self.counts.get(place)).copied().unwrap_or(0)
    }

    /// Codes that were given at all, with how often.
    pub fn counts(&self) -> impl Iterator<Item = (Code, u64)> {
        Code::ALL
            .iter()
            .zip(&self.counts)
            .map(|(code, count)| (*code, *count))
            .filter(|(_, count)| *count > 0)
    }

    pub fn found(&self, from: u64, limit: usize) -> AttemptsFound {
        let attempts = self.since(from).take(limit).map(|(number, attempt)| (number, attempt.clone()));
        AttemptsFound { counts: self.counts().collect(), attempts: attempts.collect(), next: self.next }
    }

    /// Attempts from a number on, oldest first, each with its number. A number that is missing was lost to a flood.
    pub fn since(&self, number: u64) -> impl Iterator<Item = (u64, &Attempt)> {
        let first = self.next - self.last.len() as u64;
        let skipped = number.saturating_sub(first).min(self.last.len() as u64) as usize;
        self.last.iter().enumerate().skip(skipped).map(move |(n, attempt)| (first + n as u64, attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;

    #[test]
    fn the_last_thousand_are_kept_and_all_are_counted() {
        let mut attempts = Attempts::default();
        let ann = BuyerId::parse("ann").unwrap();
        for at in 0..1_500 {
            let code = if at % 3 == 0 { Code::SoldOut } else { Code::BuyerLimit };
            attempts.note(at, &ann, "checkout", &Refusal::of(code));
        }
        assert_eq!((attempts.count(Code::SoldOut), attempts.count(Code::BuyerLimit)), (500, 1_000));
        assert_eq!(attempts.counts().map(|(_, count)| count).sum::<u64>(), 1_500);
        let kept: Vec<_> = attempts.since(0).map(|(number, attempt)| (number, attempt.at)).collect();
        assert_eq!((kept.len(), kept[0], kept[999]), (1_000, (500, 500), (1_499, 1_499)));
        assert_eq!(attempts.since(1_498).count(), 2);
        assert_eq!(attempts.since(9_999).count(), 0);
        let found = attempts.found(1_400, 10);
        assert_eq!((found.attempts.len(), found.attempts[0].0, found.next), (10, 1_400, 1_500));
        assert_eq!(found.counts, [(Code::BuyerLimit, 1_000), (Code::SoldOut, 500)]);
    }

    #[test]
    fn what_is_wrong_in_itself_is_no_attempt() {
        let mut attempts = Attempts::default();
        attempts.note(
            1,
            &BuyerId::parse("ann").unwrap(),
            "checkout",
            &Refusal::invalid(Field::Lines, "none"),
        );
        assert_eq!((attempts.since(0).count(), attempts.count(Code::Invalid)), (0, 0));
    }
}

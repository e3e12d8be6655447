//! All limits of a deployment, numbered once at the start, with what is written about each in headers. Never changes afterwards.

use std::fmt::Write as _;

use super::class::{Class, Subject};
use super::config::LimitsConfig;
use super::gcra::Rate;

/// A limit as requests need it.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// `bid_user_60`: class, who is counted, window. Public, and part of a key on Redis.
    pub name: Box<str>,
    /// `"bid_user_60";q=60;w=60`
    pub described: Box<str>,
    pub rate: Rate,
    /// Who is counted.
    pub subject: Subject,
}

#[derive(Clone, Debug)]
pub(super) struct Rulebook {
    rules: Vec<Rule>,
    /// From where to where the rules of a subject in a class stand.
    places: [[(u16, u16); Subject::ALL.len()]; Class::ALL.len()],
}

impl Rulebook {
    pub(super) fn new(config: &LimitsConfig) -> Rulebook {
        let mut book = Rulebook { rules: Vec::new(), places: Default::default() };
        for class in Class::ALL {
            for (subject, policies) in config.class(class).by_subject() {
                let from = book.rules.len();
                book.rules.extend(policies.iter().map(|policy| {
                    let name = format!("{}_{}_{}", class.as_str(), subject.as_str(), policy.window_s);
                    let mut described = String::new();
                    let _ = write!(described, "\"{name}\";q={};w={}", policy.count, policy.window_s);
                    Rule { name: name.into(), described: described.into(), rate: policy.rate(), subject }
                }));
                // Nine classes, five subjects, two limits each: ninety at most.
                book.places[class as usize][subject as usize] = (from as u16, book.rules.len() as u16);
            }
        }
        book
    }

    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    pub(super) fn rule(&self, number: u16) -> &Rule {
        &self.rules[usize::from(number)]
    }

    pub(super) fn numbers(&self, class: Class, subject: Subject) -> std::ops::Range<u16> {
        let (from, to) = self.places[class as usize][subject as usize];
        from..to
    }
}

//! A generation: its number grows with every recovery, its mark tells two servers apart that counted to the same.
//! The witness is a script that proves that a node is still the process, and the history, it was loaded into.

use std::fmt;

use crate::scripts::Script;

/// Ordered by number; number 0 is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation {
    pub number: u64,
    pub mark: String,
}

impl Generation {
    pub fn numbered(number: u64) -> Generation {
        Generation { number, mark: format!("{:08x}", rand::random::<u32>()) }
    }

    /// `<number>-<mark>`
    pub fn parse(text: &str) -> Option<Generation> {
        let (number, mark) = text.split_once('-')?;
        let plain = !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_alphanumeric());
        plain.then_some(Generation { number: number.parse().ok()?, mark: mark.to_owned() })
    }

    /// It is forgotten with the process, and useless as soon as the node goes on from another history: a promoted
    /// replica has another replication id, and so has a master that was one, followed, and is one again.
    pub fn witness(&self, replication: &str) -> Script {
        Script::new("witness", &self.to_string(), &format!("-- of history {replication}\nreturn 1\n"))
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.number, self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_grows() {
        let made = Generation::numbered(7);
        assert_eq!(Generation::parse(&made.to_string()), Some(made.clone()));
        assert!(Generation::numbered(8) > made && made > Generation::default());
        for text in ["", "7", "7-", "x-1", "7-a b", "7-a\nreturn 2"] {
            assert_eq!(Generation::parse(text), None, "{text}");
        }
    }

    #[test]
    fn another_history_has_another_witness() {
        let generation = Generation::numbered(1);
        assert_eq!(generation.witness("a"), generation.witness("a"));
        assert_ne!(generation.witness("a").sha, generation.witness("b").sha);
        assert_ne!(generation.witness("a").sha, Generation::numbered(1).witness("a").sha);
    }
}

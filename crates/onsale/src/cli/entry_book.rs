//! A second, much simpler book of a registration, kept from facts alone: never more places given than there are, the
//! waiting list served in the order it was joined, nobody in it twice. It shares no code with the rules that decided.

use std::collections::{HashMap, VecDeque};

/// What one fact does to entries, in the book's own few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Capacity(u64),
    /// Open to newcomers, or not.
    Open(bool),
    /// It has begun or was cancelled: not even late money has a place any more.
    Over,
    Confirmed {
        entry: u64,
        buyer: String,
    },
    /// A place is kept until it is paid.
    Kept {
        entry: u64,
        buyer: String,
        until: i64,
    },
    Waits {
        entry: u64,
        buyer: String,
        ahead: u64,
    },
    /// The first in line has a place.
    Promoted {
        entry: u64,
    },
    /// The first in line has a place kept.
    Offered {
        entry: u64,
        until: i64,
    },
    /// A payment is waited for: a kept place is kept at least so long.
    Until {
        entry: u64,
        until: i64,
    },
    Lapsed {
        entry: u64,
    },
    /// Late money: a place that had lapsed is had after all, and paid in the same moment.
    TakenBack {
        entry: u64,
        buyer: String,
    },
    Paid {
        entry: u64,
    },
    Left {
        entry: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stands {
    Confirmed,
    Kept(i64),
    TakenBack,
    Waiting,
}

#[derive(Clone, Debug, Default)]
pub struct EntryBook {
    capacity: u64,
    open: bool,
    over: bool,
    entries: HashMap<u64, (String, Stands)>,
    /// Whose place was not paid in time.
    lapsed: HashMap<u64, String>,
    by_buyer: HashMap<String, u64>,
    line: VecDeque<u64>,
    confirmed: u64,
    kept: u64,
}

/// What the book says at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub capacity: u64,
    pub confirmed: u64,
    pub kept: u64,
    pub waiting: u64,
}

impl EntryBook {
    /// Writes one entry of a fact that happened at `at`; an error says which promise it breaks.
    pub fn take(&mut self, at: i64, entry: Entry) -> Result<(), String> {
        match entry {
            Entry::Capacity(capacity) => {
                // Lowered below what is given it takes nothing away; it only gives nothing more.
                self.capacity = capacity;
                Ok(())
            }
            Entry::Open(open) => {
                self.open = open;
                Ok(())
            }
            Entry::Over => {
                (self.open, self.over) = (false, true);
                Ok(())
            }
            Entry::Confirmed { entry, buyer } => self.enter(entry, buyer, Stands::Confirmed),
            Entry::Kept { entry, buyer, until } if until > at => {
                self.enter(entry, buyer, Stands::Kept(until))
            }
            Entry::Kept { .. } => Err("a place was over when it was kept".to_owned()),
            Entry::Waits { entry, buyer, ahead } => {
                if ahead != self.line.len() as u64 {
                    return Err(format!("{ahead} are said to be ahead, {} wait", self.line.len()));
                }
                self.enter(entry, buyer, Stands::Waiting)
            }
            Entry::Promoted { entry } => self.serve(entry, Stands::Confirmed),
            Entry::Offered { entry, until } => self.serve(entry, Stands::Kept(until)),
            Entry::Until { entry, until } => match self.entries.get_mut(&entry) {
                Some((_, Stands::Kept(kept))) => {
                    *kept = until.max(*kept);
                    Ok(())
                }
                Some(_) | None => Err("a payment is waited for, but no place is kept".to_owned()),
            },
            Entry::Lapsed { entry } => match self.leave(entry)? {
                (buyer, Stands::Kept(until)) if until <= at => {
                    self.lapsed.insert(entry, buyer);
                    Ok(())
                }
                (_, Stands::Kept(_)) => Err("a kept place lapsed before its time".to_owned()),
                (_, Stands::Confirmed | Stands::TakenBack | Stands::Waiting) => {
                    Err("a place lapsed that nobody was to pay".to_owned())
                }
            },
            Entry::TakenBack { entry, buyer } => match self.lapsed.get(&entry) == Some(&buyer) {
                true => self.enter(entry, buyer, Stands::TakenBack),
                false => Err("a place was over when it was kept".to_owned()),
            },
            Entry::Paid { entry } => match self.entries.get_mut(&entry) {
                Some((_, stands)) if is_payable(stands, at) => {
                    *stands = Stands::Confirmed;
                    (self.kept, self.confirmed) = (self.kept - 1, self.confirmed + 1);
                    Ok(())
                }
                Some(_) | None => Err("a place was paid that was not kept any more".to_owned()),
            },
            Entry::Left { entry } => self.leave(entry).map(drop),
        }
    }

    pub fn totals(&self) -> Totals {
        let waiting = self.line.len() as u64;
        Totals { capacity: self.capacity, confirmed: self.confirmed, kept: self.kept, waiting }
    }

    fn enter(&mut self, entry: u64, buyer: String, stands: Stands) -> Result<(), String> {
        let may = if stands == Stands::TakenBack { !self.over } else { self.open };
        if !may {
            return Err(format!("{buyer} registers while it is not open"));
        }
        if self.by_buyer.insert(buyer.clone(), entry).is_some() {
            return Err(format!("{buyer} is registered twice"));
        }
        if self.entries.insert(entry, (buyer, stands.clone())).is_some() {
            return Err("two entries have the same id".to_owned());
        }
        match stands {
            Stands::Waiting => {
                self.line.push_back(entry);
                Ok(())
            }
            Stands::Confirmed | Stands::Kept(_) | Stands::TakenBack if !self.line.is_empty() => {
                Err("somebody has a place while others wait".to_owned())
            }
            Stands::Confirmed | Stands::Kept(_) | Stands::TakenBack => self.give(&stands),
        }
    }

    /// One place more is given.
    fn give(&mut self, stands: &Stands) -> Result<(), String> {
        match stands {
            Stands::Confirmed => self.confirmed += 1,
            Stands::Kept(_) | Stands::TakenBack => self.kept += 1,
            Stands::Waiting => {}
        }
        let (given, capacity) = (self.confirmed + self.kept, self.capacity);
        (given <= capacity).then_some(()).ok_or_else(|| format!("{given} places are given of {capacity}"))
    }

    fn serve(&mut self, entry: u64, stands: Stands) -> Result<(), String> {
        if self.line.pop_front() != Some(entry) {
            return Err("the waiting list is served out of turn".to_owned());
        }
        if let Some((_, known)) = self.entries.get_mut(&entry) {
            *known = stands.clone();
        }
        self.give(&stands)
    }

    fn leave(&mut self, entry: u64) -> Result<(String, Stands), String> {
        let (buyer, stands) = self.entries.remove(&entry).ok_or("an entry ended that nobody has")?;
        self.by_buyer.remove(&buyer);
        match stands {
            Stands::Confirmed => self.confirmed -= 1,
            Stands::Kept(_) | Stands::TakenBack => self.kept -= 1,
            Stands::Waiting => self.line.retain(|other| *other != entry),
        }
        Ok((buyer, stands))
    }
}

fn is_payable(stands: &Stands, at: i64) -> bool {
    match stands {
        Stands::Kept(until) => *until > at,
        Stands::TakenBack => true,
        Stands::Confirmed | Stands::Waiting => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A registration of one place: `1 confirm 7 ann`, `1 keep 7 ann 9`, `1 wait 7 ann 0`, `1 promote 7`, `1 offer 7 9`,
    /// `1 until 7 9`, `1 lapse 7`, `1 back 7 ann`, `1 pay 7`, `1 leave 7`, `1 capacity 2`, `1 close`, `1 start`.
    fn write(story: &str) -> Result<Totals, String> {
        let mut book = EntryBook::default();
        book.take(0, Entry::Capacity(1))?;
        book.take(0, Entry::Open(true))?;
        for line in story.split(", ") {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |n: usize| words[n].parse::<i64>().expect("a number");
            let entry = words.get(2).and_then(|word| word.parse().ok()).unwrap_or_default();
            let buyer = || words[3].to_owned();
            book.take(
                number(0),
                match words[1] {
                    "confirm" => Entry::Confirmed { entry, buyer: buyer() },
                    "keep" => Entry::Kept { entry, buyer: buyer(), until: number(4) },
                    "wait" => Entry::Waits { entry, buyer: buyer(), ahead: number(4) as u64 },
                    "promote" => Entry::Promoted { entry },
                    "offer" => Entry::Offered { entry, until: number(3) },
                    "until" => Entry::Until { entry, until: number(3) },
                    "lapse" => Entry::Lapsed { entry },
                    "back" => Entry::TakenBack { entry, buyer: buyer() },
                    "pay" => Entry::Paid { entry },
                    "leave" => Entry::Left { entry },
                    "capacity" => Entry::Capacity(entry),
                    "close" => Entry::Open(false),
                    "start" => Entry::Over,
                    other => panic!("{other}"),
                },
            )?;
        }
        Ok(book.totals())
    }

    #[test]
    fn places_are_given_in_turn_and_come_back() {
        for (story, confirmed, kept, waiting) in [
            ("1 confirm 1 ann, 2 wait 2 bob 0, 3 wait 3 cid 1", 1, 0, 2),
            ("1 confirm 1 ann, 2 wait 2 bob 0, 3 leave 1, 3 promote 2", 1, 0, 0),
            ("1 keep 1 ann 9, 2 wait 2 bob 0, 9 lapse 1, 9 offer 2 20, 19 pay 2", 1, 0, 0),
            ("1 keep 1 ann 9, 8 pay 1", 1, 0, 0),
            ("1 keep 1 ann 9, 8 until 1 12, 11 pay 1", 1, 0, 0),
            ("1 keep 1 ann 9, 2 until 1 5, 8 pay 1", 1, 0, 0),
            ("1 confirm 1 ann, 2 wait 2 bob 0, 3 wait 3 cid 1, 4 leave 2, 5 leave 1, 5 promote 3", 1, 0, 0),
            ("1 confirm 1 ann, 2 leave 1, 3 confirm 2 ann", 1, 0, 0),
            ("1 confirm 1 ann, 2 wait 2 bob 0, 3 capacity 2, 3 promote 2", 2, 0, 0),
            ("1 confirm 1 ann, 2 capacity 0", 1, 0, 0),
            ("1 keep 1 ann 9, 9 lapse 1, 12 back 1 ann, 12 pay 1", 1, 0, 0),
            ("1 keep 1 ann 9, 9 lapse 1, 10 close, 12 back 1 ann, 12 pay 1", 1, 0, 0),
        ] {
            let totals = write(story).unwrap_or_else(|why| panic!("{story}: {why}"));
            assert_eq!(
                (totals.confirmed, totals.kept, totals.waiting),
                (confirmed, kept, waiting),
                "{story}"
            );
        }
    }

    #[test]
    fn what_breaks_is_told() {
        for (story, why) in [
            ("1 confirm 1 ann, 2 confirm 2 bob", "2 places are given of 1"),
            ("1 confirm 1 ann, 2 confirm 2 ann", "ann is registered twice"),
            ("1 confirm 1 ann, 2 wait 2 bob 0, 3 leave 1, 3 confirm 3 cid", "while others wait"),
            ("1 confirm 1 ann, 2 wait 2 bob 0, 3 wait 3 cid 1, 4 leave 1, 4 promote 3", "out of turn"),
            ("1 confirm 1 ann, 2 wait 2 bob 1", "are said to be ahead"),
            ("1 keep 1 ann 9, 8 lapse 1", "before its time"),
            ("1 keep 1 ann 9, 9 pay 1", "not kept any more"),
            ("1 confirm 1 ann, 2 lapse 1", "nobody was to pay"),
            ("1 leave 1", "nobody has"),
            ("1 close, 2 confirm 1 ann", "not open"),
            ("1 keep 1 ann 1", "over when it was kept"),
            ("1 back 1 ann", "over when it was kept"),
            ("1 keep 1 ann 9, 9 lapse 1, 12 back 1 bob", "over when it was kept"),
            ("1 keep 1 ann 9, 9 lapse 1, 10 confirm 2 bob, 12 back 1 ann", "2 places are given of 1"),
            ("1 keep 1 ann 9, 9 lapse 1, 10 confirm 2 ann, 12 back 1 ann", "ann is registered twice"),
            ("1 keep 1 ann 9, 9 lapse 1, 10 wait 2 bob 0, 12 back 1 ann", "while others wait"),
            ("1 keep 1 ann 9, 9 lapse 1, 10 start, 12 back 1 ann", "not open"),
            ("1 keep 1 ann 9, 9 lapse 1, 12 back 1 ann, 12 lapse 1", "nobody was to pay"),
        ] {
            let told = write(story).expect_err(story);
            assert!(told.contains(why), "{story}: {told}");
        }
    }
}

//! People under numbers of 16 bits, each with up to three marks, 18 bytes each for nearly every name. Numbers differ after a
//! rebuild; nothing may depend on them.

use std::hash::BuildHasher;

use crate::gently::push_gently;
use crate::map::{Hasher, Table};
use crate::name::{Forms, Names, PackedName};

/// The number of nobody: more people than that are not known at once.
pub const NOBODY: u16 = u16::MAX;

/// The marks that somebody may have; the other bits are of the name's hash.
const FLAGS: u8 = 0b111;

/// Up to here marks are looked through, eight at a time; above, a table costs less time than it does memory.
const SCANNED_MAX: usize = 256;

#[derive(Clone, Debug, Default)]
pub struct People {
    names_of: Forms,
    /// A byte each: what somebody is known for, no bit set if the cell is free; and five bits of the name's hash, to
    /// pass over nearly all strangers without a look at their names.
    marks: Vec<u8>,
    /// Made when there are too many to look through.
    by_name: Option<Box<Table<u16>>>,
    free: Vec<u16>,
    names: Names,
    hasher: Hasher,
}

impl People {
    pub fn len(&self) -> usize {
        self.marks.len() - self.free.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn find(&self, name: &str) -> Option<u16> {
        let packed = self.names.pack(name);
        self.find_packed(name, packed, self.hash(name, packed))
    }

    /// By its form, if it has one; a name without one is long, or nobody's.
    fn find_packed(&self, name: &str, packed: Option<PackedName>, hash: u64) -> Option<u16> {
        let of = |number: u16| self.names_of.get(number);
        match packed {
            Some(packed) => self.search(hash, |number| of(number) == packed),
            None => self.search(hash, |number| self.names.is_long(of(number), name)),
        }
    }

    fn hash(&self, name: &str, packed: Option<PackedName>) -> u64 {
        packed.map_or_else(|| self.hasher.hash_one(name), |packed| self.hasher.hash_one(packed))
    }

    fn search(&self, hash: u64, is: impl Fn(u16) -> bool) -> Option<u16> {
        if let Some(table) = &self.by_name {
            return table.find(hash, |known| is(*known)).copied();
        }
        find_mark(&self.marks, mark_of(hash), |place| self.marks[place] & FLAGS != 0 && is(place as u16))
            .map(|place| place as u16)
    }

    pub fn flags(&self, number: u16) -> u8 {
        self.marks[usize::from(number)] & FLAGS
    }

    /// Whether somebody is known for one of these things.
    pub fn has(&self, name: &str, flag: u8) -> bool {
        self.find(name).is_some_and(|number| self.flags(number) & flag != 0)
    }

    /// What the caller makes of a name.
    pub fn name<T>(&self, number: u16, make: impl FnOnce(&str) -> T) -> T {
        self.names.unpack(self.names_of.get(number), make)
    }

    /// Sets a flag on somebody, who is made known if new; whether the flag was new.
    pub fn mark(&mut self, name: &str, flag: u8) -> (u16, bool) {
        debug_assert!(flag & !FLAGS == 0 && flag != 0);
        let packed = self.names.pack(name);
        let hash = self.hash(name, packed);
        let known = self.find_packed(name, packed, hash);
        let number = known.unwrap_or_else(|| self.insert(name, packed.map(|packed| (packed, hash))));
        let mark = &mut self.marks[usize::from(number)];
        let new = *mark & flag == 0;
        *mark |= flag;
        (number, new)
    }

    /// Takes a flag away; who is known for nothing any more is forgotten. Whether there was one.
    pub fn unmark(&mut self, name: &str, flag: u8) -> bool {
        let Some(number) = self.find(name) else { return false };
        let mark = &mut self.marks[usize::from(number)];
        let had = *mark & flag != 0;
        *mark &= !flag;
        if *mark & FLAGS == 0 {
            self.remove(number);
        }
        had
    }

    /// Everybody with a flag, in no order that means anything.
    pub fn with(&self, flag: u8) -> impl Iterator<Item = u16> {
        let marked = self.marks.iter().enumerate().filter(move |(_, mark)| **mark & flag != 0);
        marked.map(|(number, _)| number as u16)
    }

    /// A new person; with the form and hash of the name, if it has one already.
    fn insert(&mut self, name: &str, packed: Option<(PackedName, u64)>) -> u16 {
        let (name, hash) = packed.unwrap_or_else(|| {
            let taken = self.names.take(name);
            (taken, hash_of(&self.hasher, &self.names, taken))
        });
        let number = match self.free.pop() {
            Some(number) => {
                self.names_of.set(number, name);
                self.marks[usize::from(number)] = mark_of(hash);
                number
            }
            None => {
                self.names_of.push(name);
                push_gently(&mut self.marks, mark_of(hash));
                self.marks.len() as u16 - 1
            }
        };
        let People { names_of, marks, by_name, names, hasher, .. } = self;
        let rehash = |known: &u16| hash_of(hasher, names, names_of.get(*known));
        match by_name {
            Some(table) => {
                table.insert_unique(hash, number, rehash);
            }
            None if marks.len() > SCANNED_MAX => {
                let mut table = Table::with_capacity(2 * marks.len());
                let living = (0..marks.len() as u16)
                    .filter(|place| marks[usize::from(*place)] & FLAGS != 0 || *place == number);
                for place in living {
                    table.insert_unique(rehash(&place), place, rehash);
                }
                *by_name = Some(Box::new(table));
            }
            None => {}
        }
        number
    }

    fn remove(&mut self, number: u16) {
        let name = self.names_of.get(number);
        let hash = hash_of(&self.hasher, &self.names, name);
        if let Some(table) = &mut self.by_name
            && let Ok(entry) = table.find_entry(hash, |known| *known == number)
        {
            entry.remove();
        }
        self.names.give_back(name);
        self.free.push(number);
    }
}

fn hash_of(hasher: &Hasher, names: &Names, name: PackedName) -> u64 {
    match names.long(name) {
        Some(long) => hasher.hash_one(long),
        None => hasher.hash_one(name),
    }
}

fn mark_of(hash: u64) -> u8 {
    (hash >> 32) as u8 & !FLAGS
}

/// The first place with this mark that `is` what is sought.
fn find_mark(marks: &[u8], mark: u8, is: impl Fn(usize) -> bool) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, rest) = marks.as_chunks::<8>();
    let pattern = ONES * u64::from(mark);
    for (n, word) in words.iter().enumerate() {
        // Bytes that are alike become zero, and a zero byte lends its highest bit; so may the byte above one,
        // which `is` finds out.
        let differ = (u64::from_le_bytes(*word) ^ pattern) & (ONES * u64::from(!FLAGS));
        let mut alike = differ.wrapping_sub(ONES) & !differ & (ONES << 7);
        while alike != 0 {
            let place = n * 8 + alike.trailing_zeros() as usize / 8;
            if is(place) {
                return Some(place);
            }
            alike &= alike - 1;
        }
    }
    let first = words.len() * 8;
    let found = rest.iter().enumerate().find(|(n, known)| **known & !FLAGS == mark && is(first + n));
    found.map(|(n, _)| first + n)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATCHES: u8 = 1;
    const BANNED: u8 = 2;
    const BIDS: u8 = 4;

    #[test]
    fn names_of_every_length_come_back_as_they_were() {
        let mut people = People::default();
        let names = [
            "a",
            "sixteen bytes ok",
            "seventeen bytes !",
            "usr_7zzzzzzzzzzzzzzzzzzzzzzzzz",
            "usr_00000000000000000000000000",
            "usr_8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "usr_7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "ext:shop:ünïcödé-ünïcödé",
            "ext:shop:550e8400-e29b-41d4-a716-446655440000",
            "550e8400-e29b-41d4-a716-446655440000",
            "550E8400-e29b-41d4-a716-446655440000",
            "a name without any joints in it",
        ];
        for name in names {
            people.mark(name, WATCHES);
        }
        assert_eq!(people.len(), names.len());
        for name in names {
            let number = people.find(name).expect("known");
            assert_eq!(people.name(number, str::to_owned), name);
        }
    }

    #[test]
    fn who_is_known_for_nothing_is_forgotten_and_his_cell_used_again() {
        let mut people = People::default();
        for name in ["ann", "a name of more than sixteen bytes"] {
            assert_eq!(people.mark(name, WATCHES), (0, true));
            assert_eq!(people.mark(name, BANNED), (0, true));
            assert_eq!(people.mark(name, BANNED), (0, false));
            assert!(people.unmark(name, WATCHES));
            assert!(people.has(name, BANNED) && !people.has(name, WATCHES));
            assert!(people.unmark(name, BANNED) && !people.unmark(name, BANNED));
            assert_eq!((people.len(), people.find(name)), (0, None));
        }
        assert!(people.names.is_long_empty());
    }

    #[test]
    fn many_are_found_while_the_table_grows() {
        let mut people = People::default();
        let name = |n: u32| format!("{}{n}", if n.is_multiple_of(2) { "usr_" } else { "ext:a-long-tenant:" });
        (0..30_000).for_each(|n| assert_eq!(people.mark(&name(n), BIDS), (n as u16, true)));
        (0..30_000).for_each(|n| assert_eq!(people.find(&name(n)), Some(n as u16)));
        assert_eq!(people.find(&name(30_000)), None);
        assert_eq!((size_of::<PackedName>(), people.by_name.is_some()), (17, true));
    }

    #[test]
    fn nobody_gets_lost_between_looking_through_and_the_table() {
        let mut people = People::default();
        let name = |n: usize| format!("ext:shop-{}:{n}", n % 11);
        for n in 0..2 * SCANNED_MAX {
            people.mark(&name(n), BANNED);
            if n % 3 == 0 {
                assert!(people.unmark(&name(n / 2), BANNED) || n > 0);
                people.mark(&name(n / 2), WATCHES);
            }
            for known in [0, n / 3, n] {
                assert_eq!(
                    people.find(&name(known)).map(|number| people.name(number, str::to_owned)),
                    Some(name(known))
                );
            }
            assert_eq!(people.find(&name(n + 1)), None);
        }
    }
}

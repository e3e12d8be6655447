//! People's names in 17 bytes: short ones as they are, the numbers of accounts and merchants' UUIDs as numbers, what
//! many names begin with kept once. A name that fits no such form is kept whole elsewhere.

use crate::base32::{read_base32, write_base32};
use crate::slab::Slab;

/// Beginnings that are kept once, at most; three bits number them, 0 is none. They are never forgotten.
const PREFIXES_MAX: usize = 7;

const KIND_BITS: u32 = 5;
/// Up to 16 the kind is the length of the bytes.
const KIND_BASE32: u8 = 17;
const KIND_UUID: u8 = 18;
const KIND_LONG: u8 = 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PackedName {
    /// The beginning's number, then the kind.
    tag: u8,
    bytes: [u8; 16],
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    prefixes: Vec<Box<str>>,
    long: Slab<Box<str>>,
}

/// Names by their numbers, in rows of 15: one row fills one of the allocator's blocks, and
/// a long list neither moves when it grows nor keeps more than a row it does not use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forms {
    #[expect(clippy::vec_box, reason = "a row must not move, nor the list be one block")]
    rows: Vec<Box<[PackedName; ROW]>>,
    len: usize,
}

const ROW: usize = 15;

impl Forms {
    pub(crate) fn get(&self, number: u16) -> PackedName {
        self.rows[usize::from(number) / ROW][usize::from(number) % ROW]
    }

    pub(crate) fn set(&mut self, number: u16, name: PackedName) {
        self.rows[usize::from(number) / ROW][usize::from(number) % ROW] = name;
    }

    pub(crate) fn push(&mut self, name: PackedName) {
        match self.rows.last_mut() {
            Some(row) if !self.len.is_multiple_of(ROW) => row[self.len % ROW] = name,
            Some(_) | None => self.rows.push(Box::new([name; ROW])),
        }
        self.len += 1;
    }
}

impl PackedName {
    fn new(prefix: usize, kind: u8, bytes: [u8; 16]) -> PackedName {
        PackedName { tag: (prefix as u8) << KIND_BITS | kind, bytes }
    }

    fn kind(self) -> u8 {
        self.tag & ((1 << KIND_BITS) - 1)
    }

    fn long_index(self) -> Option<u32> {
        let [a, b, c, d, ..] = self.bytes;
        (self.kind() == KIND_LONG).then_some(u32::from_be_bytes([a, b, c, d]))
    }
}

impl Names {
    /// The form of a name, if it has one with the beginnings that are known; `None`: it is long or nobody's.
    pub(crate) fn pack(&self, name: &str) -> Option<PackedName> {
        if let Some(bytes) = raw(name) {
            return Some(PackedName::new(0, name.len() as u8, bytes));
        }
        let (prefix, kind, bytes) = parts(name)?;
        Some(PackedName::new(self.prefix(prefix)?, kind, bytes))
    }

    /// The form of a new name; takes note of its beginning, or of all of it.
    pub(crate) fn take(&mut self, name: &str) -> PackedName {
        if let Some((prefix, ..)) = parts(name)
            && name.len() > 16
            && self.prefix(prefix).is_none()
            && self.prefixes.len() < PREFIXES_MAX
        {
            // Most lists know one or two.
            self.prefixes.reserve_exact(1);
            self.prefixes.push(prefix.into());
        }
        self.pack(name).unwrap_or_else(|| {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&self.long.insert(name.into()).to_be_bytes());
            PackedName::new(0, KIND_LONG, bytes)
        })
    }

    pub(crate) fn give_back(&mut self, name: PackedName) {
        if let Some(index) = name.long_index() {
            self.long.remove(index);
        }
    }

    pub(crate) fn long(&self, name: PackedName) -> Option<&str> {
        name.long_index().map(|index| &*self.long[index])
    }

    pub(crate) fn is_long(&self, name: PackedName, text: &str) -> bool {
        self.long(name) == Some(text)
    }

    pub(crate) fn unpack<T>(&self, name: PackedName, make: impl FnOnce(&str) -> T) -> T {
        if let Some(long) = self.long(name) {
            return make(long);
        }
        let prefix = match usize::from(name.tag >> KIND_BITS) {
            0 => "",
            number => &self.prefixes[number - 1],
        };
        let number = u128::from_be_bytes(name.bytes);
        let mut text = String::with_capacity(prefix.len() + 36);
        text.push_str(prefix);
        match name.kind() {
            KIND_BASE32 => text.push_str(std::str::from_utf8(&write_base32(number)).unwrap_or_default()),
            KIND_UUID => text.push_str(std::str::from_utf8(&write_uuid(number)).unwrap_or_default()),
            length => {
                text.push_str(std::str::from_utf8(&name.bytes[..usize::from(length)]).unwrap_or_default())
            }
        }
        make(&text)
    }

    /// The number of a beginning that is known.
    fn prefix(&self, prefix: &str) -> Option<usize> {
        if prefix.is_empty() {
            return Some(0);
        }
        self.prefixes.iter().position(|known| **known == *prefix).map(|place| place + 1)
    }

    #[cfg(test)]
    pub(crate) fn is_long_empty(&self) -> bool {
        self.long.is_empty()
    }
}

fn raw(name: &str) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
    Some(bytes)
}

/// A name's beginning, and the kind and bytes of its rest.
fn parts(name: &str) -> Option<(&str, u8, [u8; 16])> {
    let split = name.len().checked_sub(36).and_then(|at| name.split_at_checked(at));
    if let Some((prefix, number)) = split.and_then(|(prefix, rest)| Some((prefix, read_uuid(rest)?))) {
        return Some((prefix, KIND_UUID, number.to_be_bytes()));
    }
    // Most names are accounts, and this is asked for every bid: no search for where they begin.
    let split = name.len().checked_sub(26).and_then(|at| name.split_at_checked(at));
    if let Some((prefix, number)) = split.and_then(|(prefix, rest)| Some((prefix, read_base32(rest)?)))
        && prefix.bytes().next_back().is_some_and(is_joint)
    {
        return Some((prefix, KIND_BASE32, number.to_be_bytes()));
    }
    let (prefix, rest) = name.split_at(name.bytes().rposition(is_joint)? + 1);
    Some((prefix, rest.len() as u8, raw(rest)?))
}

/// Where a name's own part begins behind what it shares with others.
fn is_joint(byte: u8) -> bool {
    matches!(byte, b':' | b'_' | b'-')
}

/// Where a UUID has its hyphens.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Reads 36 characters, lower case.
fn read_uuid(text: &str) -> Option<u128> {
    let mut number = 0;
    for (place, character) in text.bytes().enumerate() {
        let digit = match character {
            b'-' if HYPHENS.contains(&place) => continue,
            _ if HYPHENS.contains(&place) => return None,
            b'0'..=b'9' => character - b'0',
            b'a'..=b'f' => character - b'a' + 10,
            _ => return None,
        };
        number = number << 4 | u128::from(digit);
    }
    Some(number)
}

fn write_uuid(number: u128) -> [u8; 36] {
    let mut text = [b'-'; 36];
    let mut left = number;
    for place in (0..36).rev().filter(|place| !HYPHENS.contains(place)) {
        text[place] = b"0123456789abcdef"[(left & 15) as usize];
        left >>= 4;
    }
    text
}

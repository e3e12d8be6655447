//! The bytes of one file on the memory disk: what is durable, what a reader sees, and the
//! changes between the two. A write costs its own length, never the file's.

use super::Random;

/// Disks promise to write a sector whole; a torn write may lose any set of them.
const SECTOR: u64 = 512;

#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    durable: Vec<u8>,
    current: Vec<u8>,
    unsynced: Vec<Change>,
    /// After a failed sync the cache and the medium differ with nothing left to sync.
    differs: bool,
}

#[derive(Clone, Debug)]
enum Change {
    Write { at: u64, bytes: Vec<u8> },
    Length(u64),
}

impl Content {
    pub(super) fn current(&self) -> &[u8] {
        &self.current
    }

    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        put(&mut self.current, at, bytes);
        self.unsynced.push(Change::Write { at, bytes: bytes.to_vec() });
    }

    pub(super) fn set_len(&mut self, len: u64) {
        self.current.resize(len as usize, 0);
        self.unsynced.push(Change::Length(len));
    }

    pub(super) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            match change {
                Change::Write { at, bytes } => put(&mut self.durable, at, &bytes),
                Change::Length(len) => self.durable.resize(len as usize, 0),
            }
        }
    }

    /// A failed sync: the system calls the pages clean although only some reached the medium.
    pub(super) fn sync_in_part(&mut self, random: &mut Random) {
        self.differs |= !self.unsynced.is_empty();
        self.keep_some(random);
    }

    pub(super) fn crash(&mut self, random: &mut Random) {
        if self.unsynced.is_empty() && !self.differs {
            return;
        }
        self.keep_some(random);
        self.current.clone_from(&self.durable);
        self.differs = false;
    }

    pub(super) fn flip(&mut self, at: u64) -> bool {
        let mut found = false;
        for bytes in [&mut self.durable, &mut self.current] {
            if let Some(byte) = bytes.get_mut(at as usize) {
                *byte ^= 0x41;
                found = true;
            }
        }
        found
    }

    fn keep_some(&mut self, random: &mut Random) {
        // All lost and all kept are the commonest ends of a real crash; a fair coin for each of
        // many writes would hardly ever produce either.
        let mood = random.below(6);
        for change in std::mem::take(&mut self.unsynced) {
            let fate = match mood {
                0 => 0,
                1 => 1,
                _ => random.below(4),
            };
            match change {
                Change::Write { at, bytes } => keep_write(&mut self.durable, at, &bytes, fate, random),
                Change::Length(len) if fate % 2 == 1 => self.durable.resize(len as usize, 0),
                Change::Length(_) => {}
            }
        }
    }
}

fn keep_write(durable: &mut Vec<u8>, at: u64, bytes: &[u8], fate: u64, random: &mut Random) {
    match fate {
        0 => {}
        1 => put(durable, at, bytes),
        2 => put(durable, at, &bytes[..random.below(bytes.len() as u64) as usize]),
        _ => {
            let end = at + bytes.len() as u64;
            let mut from = at;
            while from < end {
                let to = ((from / SECTOR + 1) * SECTOR).min(end);
                if random.coin() {
                    put(durable, from, &bytes[(from - at) as usize..(to - at) as usize]);
                }
                from = to;
            }
        }
    }
}

fn put(into: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let (start, end) = (at as usize, at as usize + bytes.len());
    if start == into.len() {
        into.extend_from_slice(bytes);
        return;
    }
    if into.len() < end {
        into.resize(end, 0);
    }
    into[start..end].copy_from_slice(bytes);
}

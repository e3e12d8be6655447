//! The history: every event as a line, hashed as it goes; only the last few are kept unless all are wanted.

use std::collections::VecDeque;

const KEPT: usize = 30;

#[derive(Debug)]
pub struct Trace {
    last: VecDeque<String>,
    hash: u64,
    print: bool,
}

impl Trace {
    pub fn new(print: bool) -> Trace {
        // The offset basis of FNV-1a.
        Trace { last: VecDeque::new(), hash: 0xcbf2_9ce4_8422_2325, print }
    }

    pub fn add(&mut self, line: String) {
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if self.print {
            println!("{line}");
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    pub fn hash(&self) -> u64 {
        self.hash
    }

    pub fn last(&self) -> impl Iterator<Item = &String> {
        self.last.iter()
    }
}

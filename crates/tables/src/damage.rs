//! Strange bytes for decoders: real ones that were flipped, cut, doubled, spliced, or had numbers in them set to extremes. Whatever is
//! read must end in a value or in an error: no panic, and no memory out of proportion. Tests of several crates call it.

/// The seed of every day, so that a check is red because of a change and not because of luck.
const DAILY: u64 = 1;
const ROUNDS_DAILY: usize = 1_000;
/// Of a seed that was asked for.
const ROUNDS: usize = 10_000;
/// More than this no decoder may take for what is a few kilobytes long: the largest packed value, and some room.
const MEMORY_BYTES_MAX: u64 = 96 << 20;

/// Something that reads bytes, and real ones that it reads.
#[derive(Clone, Debug)]
pub struct Decoder {
    pub name: &'static str,
    pub samples: Vec<Vec<u8>>,
    /// Whether it could be read; every sample can.
    pub read: fn(&[u8]) -> bool,
}

/// `ONSALE_SEED`, or that of every day; printed, so that a failure can be repeated.
pub fn seed() -> (u64, bool) {
    let given = std::env::var("ONSALE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or(DAILY);
    eprintln!("ONSALE_SEED={seed}");
    (seed, given.is_some())
}

/// Tries all of them, one after the other. Memory is that of the whole process: a test that calls this is alone in its program.
pub fn try_all(decoders: &[Decoder]) {
    let (seed, is_given) = seed();
    let rounds = if is_given { ROUNDS } else { ROUNDS_DAILY };
    for decoder in decoders {
        try_one(decoder, seed, rounds);
    }
}

fn try_one(decoder: &Decoder, seed: u64, rounds: usize) {
    let Decoder { name, samples, read } = decoder;
    assert!(!samples.is_empty(), "{name}: nothing real to begin with");
    for (number, sample) in samples.iter().enumerate() {
        assert!(read(sample), "{name}: sample {number} is real and cannot be read");
    }
    let mut damage = Damage::new(seed ^ hash(name.as_bytes()));
    let mut refused = 0;
    let mut peak = memory_peak();
    for round in 0..rounds {
        let bytes = damage.strange(samples);
        let trying = Trying { name, round, bytes: &bytes };
        refused += usize::from(!read(&bytes));
        let now = memory_peak();
        assert!(
            now.saturating_sub(peak) <= MEMORY_BYTES_MAX,
            "{name}: {} bytes for {} of input",
            now - peak,
            bytes.len()
        );
        peak = now;
        drop(trying);
    }
    assert!(refused > 0, "{name}: nothing strange was refused, so this proves nothing");
}

/// Says what was being read if it ends in a panic.
struct Trying<'a> {
    name: &'a str,
    round: usize,
    bytes: &'a [u8],
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} in round {}: {}", self.name, self.round, self.bytes.escape_ascii());
        }
    }
}

/// The most address space that this process ever had: what was asked for counts, touched or not. 0 where nobody tells.
fn memory_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kb| kb << 10)
}

fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Makes strange bytes of real ones, the same from the same seed.
#[derive(Debug)]
pub struct Damage(u64);

/// What numbers of every width are at their ends, and what stands out in texts.
const EXTREMES: [&[u8]; 24] = [
    &[0x00],
    &[0xff],
    &[0x7f],
    &[0x80],
    &[0xff; 4],
    &[0xff; 8],
    &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    // The longest array, text and map of CBOR, and a tag.
    &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0x9a, 0x7f, 0xff, 0xff, 0xff],
    &[0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0xba, 0xff, 0xff, 0xff, 0xff],
    &[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    b"18446744073709551615",
    b"-9223372036854775808",
    b"9223372036854775807",
    b"4294967295",
    b"-1",
    b"1e308",
    b"",
    b"|",
    b":",
    "é".as_bytes(),
    "\u{1f3ab}".as_bytes(),
];

impl Damage {
    pub fn new(seed: u64) -> Damage {
        Damage(seed)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound.max(1) as u64) as usize
    }

    /// One of the samples with one to four things wrong with it.
    pub fn strange(&mut self, samples: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = samples[self.below(samples.len())].clone();
        for _ in 0..=self.below(4) {
            self.once(&mut bytes, samples);
        }
        bytes
    }

    fn once(&mut self, bytes: &mut Vec<u8>, samples: &[Vec<u8>]) {
        let (from, to) = self.piece(bytes.len());
        match self.below(8) {
            0 | 1 => {
                let bit = 1 << self.below(8);
                bytes.get_mut(from).into_iter().for_each(|byte| *byte ^= bit);
            }
            2 => bytes.truncate(from),
            3 => drop(bytes.drain(from..to)),
            4 => {
                let piece = bytes[from..to].to_vec();
                bytes.splice(to..to, piece);
            }
            5 => {
                let other = &samples[self.below(samples.len())];
                let (first, last) = self.piece(other.len());
                bytes.splice(from..to, other[first..last].iter().copied());
            }
            6 => drop(bytes.splice(from..from, EXTREMES[self.below(EXTREMES.len())].iter().copied())),
            _ => {
                let extreme = EXTREMES[self.below(EXTREMES.len())];
                let to = (from + extreme.len()).min(bytes.len());
                bytes.splice(from..to, extreme.iter().copied());
            }
        }
    }

    /// A part of so many bytes: mostly a short one, and the lengths in front as often as all the rest.
    fn piece(&mut self, len: usize) -> (usize, usize) {
        let from = if self.below(2) == 0 { self.below(len.min(32) + 1) } else { self.below(len + 1) };
        let from = from.min(len);
        let rest = len - from;
        let length = if self.below(4) == 0 { self.below(rest + 1) } else { self.below(rest.min(16) + 1) };
        (from, from + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A length in front, and as many bytes behind it.
    fn framed(bytes: &[u8]) -> bool {
        bytes
            .split_first_chunk::<8>()
            .is_some_and(|(len, rest)| u64::from_le_bytes(*len) == rest.len() as u64)
    }

    fn decoder(read: fn(&[u8]) -> bool) -> Decoder {
        let sample = [&24_u64.to_le_bytes()[..], &[7; 24]].concat();
        Decoder { name: "framed", samples: vec![sample], read }
    }

    #[test]
    fn a_decoder_that_asks_for_what_it_is_told_is_caught_and_one_that_looks_is_not() {
        try_all(&[decoder(framed)]);
        let panics =
            |read: fn(&[u8]) -> bool| std::panic::catch_unwind(|| try_all(&[decoder(read)])).is_err();
        assert!(panics(|bytes| {
            let len = bytes.split_first_chunk::<8>().map_or(0, |(len, _)| u64::from_le_bytes(*len));
            let room: Vec<u8> = Vec::with_capacity(len.min(1 << 34) as usize);
            framed(bytes) && room.is_empty()
        }));
        assert!(panics(|bytes| bytes[..8].len() == 8 && framed(bytes)), "it is cut below eight bytes");
        assert!(panics(|_| true), "one that refuses nothing proves nothing");
    }

    #[test]
    fn the_same_seed_makes_the_same_bytes() {
        let samples = [b"one".to_vec(), b"another".to_vec()];
        let made = |seed| {
            let mut damage = Damage::new(seed);
            (0..100).map(|_| damage.strange(&samples)).collect::<Vec<_>>()
        };
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
    }
}

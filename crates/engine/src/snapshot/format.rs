//! The bytes of a snapshot file: a header, numbered parts, a trailer that counts them.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::journal::FramePosition;

pub(super) const HEADER_BYTES: usize = 64;
pub(super) const PART_HEADER_BYTES: usize = 16;
/// The largest part. Reading holds one in memory, and a corrupt length must not ask for more.
pub const MAX_PART_BYTES: usize = 16 << 20;
/// In place of a part's length: what follows is the trailer. No part is as long.
pub(super) const TRAILER_MARK: u32 = u32::MAX;

const MAGIC: [u8; 8] = *b"onsalesn";
const VERSION: u32 = 1;

/// Which journal a snapshot belongs to, and the cursor of the first frame it does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) generation: u128,
    pub(super) at: FramePosition,
}

impl Header {
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.generation.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.at.segment.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.at.at.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.at.sequence.to_le_bytes());
        let checksum = xxh3_64(&bytes[..56]);
        bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, &'static str> {
        let number = |at: usize| {
            let mut field = [0; 8];
            field.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(field)
        };
        if bytes[..8] != MAGIC {
            return Err("it is no snapshot");
        }
        if number(8) as u32 != VERSION {
            return Err("its format version is unknown");
        }
        if number(56) != xxh3_64(&bytes[..56]) {
            return Err("the checksum of its header is wrong");
        }
        Ok(Self {
            generation: u128::from(number(16)) | (u128::from(number(24)) << 64),
            at: FramePosition { segment: number(32), at: number(40), sequence: number(48) },
        })
    }

    /// The 16 bytes before a part, or the whole trailer when `len` is the mark: the trailer's index
    /// is the number of parts before it.
    pub(super) fn part(&self, len: u32, index: u32, payload: &[u8]) -> [u8; PART_HEADER_BYTES] {
        let mut identity = [0; 32];
        identity[0..16].copy_from_slice(&self.generation.to_le_bytes());
        identity[16..24].copy_from_slice(&self.at.sequence.to_le_bytes());
        identity[24..28].copy_from_slice(&len.to_le_bytes());
        identity[28..32].copy_from_slice(&index.to_le_bytes());
        let checksum = xxh3_64_with_seed(payload, xxh3_64(&identity));
        let mut bytes = [0; PART_HEADER_BYTES];
        bytes[0..4].copy_from_slice(&len.to_le_bytes());
        bytes[4..8].copy_from_slice(&index.to_le_bytes());
        bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

/// The name of the snapshot whose first missing frame is `sequence`; sorts by age.
pub(super) fn name(sequence: u64) -> String {
    format!("snapshot-{sequence:020}.snap")
}

/// The sequence in a snapshot's name; `None` for any other file.
pub(super) fn sequence(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("snapshot-")?.strip_suffix(".snap")?;
    let sequence = digits.parse().ok()?;
    (digits == format!("{sequence:020}")).then_some(sequence)
}

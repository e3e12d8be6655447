//! One frame: a header of 24 bytes, the payload, zeroes up to the next multiple of 8.
//! The checksum is seeded with everything in the header and the journal's generation, so a frame
//! is valid only in its own journal, under its own number.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::JournalError;

pub const HEADER_BYTES: usize = 24;
/// Frames start at multiples of this, so a search for one need not look at every byte.
pub const ALIGNMENT: usize = 8;
/// The largest payload. Recovery holds one frame in memory, and a corrupt length must not ask for more.
pub const MAX_FRAME_BYTES: usize = 32 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Length of the payload. Zero where no frame has been written.
    pub len: u32,
    /// How many frames directly before this one were not yet synced when it was written. Older ones
    /// were: if one of those is bad, the disk lost durable data and did not merely tear a write.
    pub unsynced: u32,
    pub sequence: u64,
    pub checksum: u64,
}

impl Header {
    /// Reads the first bytes of a frame; `None` if there are too few.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (len, rest) = bytes.split_first_chunk()?;
        let (unsynced, rest) = rest.split_first_chunk()?;
        let (sequence, rest) = rest.split_first_chunk()?;
        let checksum = rest.first_chunk()?;
        Some(Self {
            len: u32::from_le_bytes(*len),
            unsynced: u32::from_le_bytes(*unsynced),
            sequence: u64::from_le_bytes(*sequence),
            checksum: u64::from_le_bytes(*checksum),
        })
    }

    /// The header that makes `payload` a valid frame.
    pub fn seal(generation: u128, sequence: u64, unsynced: u32, payload: &[u8]) -> Self {
        let mut header = Self { len: payload.len() as u32, unsynced, sequence, checksum: 0 };
        header.checksum = header.checksum_of(generation, payload);
        header
    }

    pub fn write(&self, into: &mut [u8; HEADER_BYTES]) {
        into[0..4].copy_from_slice(&self.len.to_le_bytes());
        into[4..8].copy_from_slice(&self.unsynced.to_le_bytes());
        into[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        into[16..24].copy_from_slice(&self.checksum.to_le_bytes());
    }

    pub fn is_valid(&self, generation: u128, payload: &[u8]) -> bool {
        payload.len() == self.len as usize && self.checksum == self.checksum_of(generation, payload)
    }

    /// The last frame that was durable when this one was written.
    pub fn synced(&self) -> u64 {
        self.sequence.saturating_sub(1 + u64::from(self.unsynced))
    }

    pub(super) fn checksum_of(&self, generation: u128, payload: &[u8]) -> u64 {
        let mut identity = [0; 32];
        identity[0..16].copy_from_slice(&generation.to_le_bytes());
        identity[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        identity[24..28].copy_from_slice(&self.len.to_le_bytes());
        identity[28..32].copy_from_slice(&self.unsynced.to_le_bytes());
        xxh3_64_with_seed(payload, xxh3_64(&identity))
    }
}

/// Bytes a frame with this payload takes in a segment.
pub const fn frame_bytes(payload: usize) -> u64 {
    (HEADER_BYTES + payload).next_multiple_of(ALIGNMENT) as u64
}

/// A payload under construction with room for its header in front, so that a frame is written
/// without copying it. Reuse it: `clear` keeps the allocation.
#[derive(Clone, Debug)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
}

impl FrameBuffer {
    pub fn new() -> Self {
        Self { bytes: vec![0; HEADER_BYTES] }
    }

    pub fn payload(&self) -> &[u8] {
        self.bytes.get(HEADER_BYTES..).unwrap_or(&[])
    }

    /// For encoders: append to it, never shorten it. Its first 24 bytes are the header's room.
    pub fn payload_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(HEADER_BYTES, 0);
    }

    /// Fails before anything is written if the payload can be no frame.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        match self.payload().len() {
            0 => Err(JournalError::FrameEmpty),
            bytes if bytes > MAX_FRAME_BYTES => Err(JournalError::FrameTooLarge { bytes }),
            _ => Ok(()),
        }
    }

    /// Patches the header and hands the frame, with zeroes behind it up to `bytes`, to `write`.
    pub(super) fn sealed<T>(
        &mut self,
        generation: u128,
        sequence: u64,
        unsynced: u32,
        bytes: usize,
        write: impl FnOnce(&[u8]) -> T,
    ) -> T {
        let header = Header::seal(generation, sequence, unsynced, self.payload());
        if let Some(room) = self.bytes.first_chunk_mut() {
            header.write(room);
        }
        let len = self.bytes.len();
        self.bytes.resize(bytes.max(len), 0);
        let result = write(&self.bytes);
        self.bytes.truncate(len);
        result
    }
}

impl Default for FrameBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl Extend<u8> for FrameBuffer {
    fn extend<I: IntoIterator<Item = u8>>(&mut self, bytes: I) {
        self.bytes.extend(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_as_drawn() {
        let mut buffer = FrameBuffer::new();
        buffer.payload_mut().extend_from_slice(b"seat A1");
        buffer.sealed(7, 0x0102, 3, 40, |bytes| {
            assert_eq!(bytes.len(), 40);
            assert_eq!(bytes[0..4], [7, 0, 0, 0]);
            assert_eq!(bytes[4..8], [3, 0, 0, 0]);
            assert_eq!(bytes[8..16], [2, 1, 0, 0, 0, 0, 0, 0]);
            // A change of the checksum's recipe would make every existing journal unreadable.
            assert_eq!(bytes[16..24], 0x88da_a509_f9c3_f1c0_u64.to_le_bytes());
            assert_eq!(&bytes[24..], b"seat A1\0\0\0\0\0\0\0\0\0");
        });
        assert_eq!(buffer.payload(), b"seat A1");
    }

    #[test]
    fn a_frame_is_valid_only_under_its_own_identity() {
        let header = Header::seal(7, 9, 2, b"payload");
        assert!(header.is_valid(7, b"payload"));
        assert!(!header.is_valid(8, b"payload"));
        assert!(!header.is_valid(7, b"payloae"));
        assert!(!Header { sequence: 10, ..header }.is_valid(7, b"payload"));
        assert!(!Header { unsynced: 1, ..header }.is_valid(7, b"payload"));
        assert_eq!(header.synced(), 6);
    }

    #[test]
    fn an_empty_and_an_oversized_payload_are_no_frames() {
        let mut buffer = FrameBuffer::new();
        assert!(matches!(buffer.check(), Err(JournalError::FrameEmpty)));
        buffer.payload_mut().resize(HEADER_BYTES + MAX_FRAME_BYTES + 1, 1);
        assert!(matches!(buffer.check(), Err(JournalError::FrameTooLarge { .. })));
        buffer.clear();
        buffer.extend([1]);
        buffer.check().expect("one byte is enough");
    }
}

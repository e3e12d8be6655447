//! Charts and layouts in fewer bytes: what is longer than a kilobyte is written as a zstd frame, whose first four bytes tell
//! every reader what it is. Called by the journal's entries and by the engine on Redis; knows nothing of what it packs.

use std::borrow::Cow;
use std::io;

use zstd::bulk::{Compressor, Decompressor};

/// Shorter values are as they are: a frame has some twenty bytes of its own, and people read small ones.
pub const PACKED_FROM_BYTES: usize = 1_024;
/// A longer value is written as it is, so no frame may unpack to more: a damaged or hostile one takes no more memory than
/// this. The largest layout that a server takes by default is half of it.
pub const UNPACKED_BYTES_MAX: usize = 64 << 20;
/// How every zstd frame begins. No CBOR of ours does: that of a chart, a layout or a fact begins with an array.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// zstd's own default: a chart of 50,000 seats takes a few milliseconds, and higher levels gain little on it.
const LEVEL: i32 = 3;

/// The value as it is stored.
pub fn pack(plain: Vec<u8>) -> Vec<u8> {
    if !(PACKED_FROM_BYTES..=UNPACKED_BYTES_MAX).contains(&plain.len()) {
        return plain;
    }
    let packed = Compressor::new(LEVEL).and_then(|mut zstd| {
        // What was damaged on the way is found out before it is read.
        zstd.include_checksum(true)?;
        zstd.compress(&plain)
    });
    match packed {
        Ok(packed) if packed.len() < plain.len() => packed,
        // It gains nothing, or there was no memory for it: the plain value is as good.
        Ok(_) | Err(_) => plain,
    }
}

pub fn is_packed(stored: &[u8]) -> bool {
    stored.starts_with(&MAGIC)
}

/// The value that was packed; one that was not is told as it is.
pub fn unpack(stored: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    if !is_packed(stored) {
        return Ok(Cow::Borrowed(stored));
    }
    Ok(Cow::Owned(Decompressor::new()?.decompress(stored, UNPACKED_BYTES_MAX)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long() -> Vec<u8> {
        (0..PACKED_FROM_BYTES * 4).map(|n| (n / 7) as u8).collect()
    }

    #[test]
    fn a_value_reads_back_and_takes_less_room() {
        let packed = pack(long());
        assert!(is_packed(&packed) && packed.len() < long().len() / 2, "{}", packed.len());
        assert_eq!(unpack(&packed).expect("unpacks"), long());
        let short = vec![7; PACKED_FROM_BYTES - 1];
        assert_eq!(pack(short.clone()), short);
        assert_eq!(unpack(&short).expect("as it is"), short);
    }

    #[test]
    fn no_damage_is_taken_for_a_value() {
        let packed = pack(long());
        for n in MAGIC.len()..packed.len() {
            let mut bad = packed.clone();
            bad[n] ^= 0x10;
            assert!(!matches!(unpack(&bad), Ok(read) if read != long()), "byte {n}");
            assert!(unpack(&packed[..n]).is_err(), "cut at {n}");
        }
        assert!(unpack(&[&packed[..], b"more"].concat()).is_err());
    }

    #[test]
    fn a_small_frame_that_would_unpack_to_too_much_is_refused() {
        let bomb = zstd::bulk::compress(&vec![0; UNPACKED_BYTES_MAX + 1], LEVEL).expect("compresses");
        assert!(bomb.len() < 10_000, "{}", bomb.len());
        assert!(unpack(&bomb).is_err());
        // One that does not say how much it is.
        let mut silent = Vec::new();
        let mut zstd = zstd::stream::Encoder::new(&mut silent, LEVEL).expect("compresses");
        io::Write::write_all(&mut zstd, &vec![0; UNPACKED_BYTES_MAX + 1]).expect("memory takes it");
        zstd.finish().expect("memory takes it");
        assert!(unpack(&silent).is_err());
    }

    #[test]
    fn what_is_too_long_to_be_unpacked_is_not_packed() {
        let plain = vec![0; UNPACKED_BYTES_MAX + 1];
        assert!(!is_packed(&pack(plain)));
    }
}

//! The slot of a key, as the Cluster specification has it: CRC16 of the hash tag, or of the whole key without one.

pub const SLOTS: u16 = 16_384;

pub fn slot(key: &[u8]) -> u16 {
    crc16(tag(key)) % SLOTS
}

/// What stands between the first `{` and the next `}`, if that is anything.
fn tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|byte| *byte == b'{') else { return key };
    let rest = &key[open + 1..];
    match rest.iter().position(|byte| *byte == b'}') {
        Some(0) | None => key,
        Some(length) => &rest[..length],
    }
}

/// CRC-16/XMODEM, bit by bit: keys are short and a call costs a network round trip anyway.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(
            crc ^ u16::from(*byte) << 8,
            |crc, _| {
                if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 }
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_specification_says() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        for (key, same) in
            [("{user1000}.following", "user1000"), ("foo{{bar}}zap", "{bar"), ("foo{bar}{zap}", "bar")]
        {
            assert_eq!(slot(key.as_bytes()), slot(same.as_bytes()), "{key}");
        }
        assert_eq!(tag(b"foo{}{bar}"), b"foo{}{bar}");
        assert_eq!(slot(b"foo"), 12_182);
    }
}

//! Where random histories get their chance from. Every run plays the same ones, so that a check is red because of a
//! change and not because of luck. `ONSALE_SEED=<number>` repeats others, `ONSALE_SEED=fresh` plays new ones.

use proptest::test_runner::{RngAlgorithm, TestRng};

pub(crate) const DAILY: u64 = 1;

pub(crate) fn seed() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "the seed of a test is given from outside")]
    let given = std::env::var("ONSALE_SEED").unwrap_or_default();
    match given.as_str() {
        "" => DAILY,
        // The address of a local is as good as a die here, and needs no clock.
        "fresh" => std::ptr::from_ref(&given).addr() as u64 ^ u64::from(std::process::id()) << 20,
        number => number.parse().expect("ONSALE_SEED is a number or `fresh`"),
    }
}

pub(crate) fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// Histories in which something never happens prove nothing about it. New ones are many over time and may each miss a
/// rare thing; those of every day may not.
pub(crate) fn all_happened<T: std::fmt::Debug>(seed: u64, missing: &[T]) {
    assert!(missing.is_empty() || seed != DAILY, "no history had {missing:?}, so they prove nothing");
}

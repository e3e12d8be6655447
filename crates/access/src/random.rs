//! Where all randomness of this room comes from: a generator for secrets, seeded by the operating system.

/// 128 bits that nobody can guess.
pub(crate) fn random_bits() -> u128 {
    rand::random()
}

/// A new id: prefix, then 80 random bits in 16 characters, so that two never meet and one is still short enough to read.
pub(crate) fn random_id(prefix: &str) -> String {
    let text = onsale_domain::id::write_base32(random_bits());
    // The first of the 26 characters has three bits only; the last 16 have five each.
    let tail = std::str::from_utf8(&text[10..]).unwrap_or_default();
    format!("{prefix}_{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_eighty_bits_and_is_a_buyers_name() {
        let (one, other) = (random_id("usr"), random_id("usr"));
        assert_ne!(one, other);
        assert_eq!(one.len(), 20);
        assert!(onsale_domain::BuyerId::parse(&one).is_some());
        assert!(onsale_domain::by::Actor::parse(&one).is_some());
    }
}

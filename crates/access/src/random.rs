//! Where all randomness of this room comes from: secrets of 128 bits, and names that nobody else has, which are shown and
//! are no secrets. The generator is seeded by the operating system.

use onsale_domain::id::write_base32;

/// Characters of the random part of a name: 80 bits.
pub(crate) const RANDOM_CHARS: usize = 16;

pub(crate) fn id(prefix: &str) -> String {
    let characters = write_base32(bits());
    let last = characters[characters.len() - RANDOM_CHARS..].iter().map(|byte| char::from(*byte));
    prefix.chars().chain(last).collect()
}

/// 128 bits that nobody can guess.
pub(crate) fn bits() -> u128 {
    rand::random()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_id_names_a_buyer_and_who_made_a_step() {
        let (one, other) = (id("usr_"), id("usr_"));
        assert_ne!(one, other);
        assert_eq!(one.len(), 20);
        assert!(onsale_domain::BuyerId::parse(&one).is_some());
        assert!(onsale_domain::by::Actor::parse(&one).is_some());
    }
}

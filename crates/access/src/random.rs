//! Names that nobody else has: 80 random bits behind a prefix. They are shown, and are no secrets.

use onsale_domain::id::write_base32;

/// Characters of the random part.
pub(crate) const RANDOM_CHARS: usize = 16;

pub(crate) fn id(prefix: &str) -> String {
    let characters = write_base32(rand::random());
    let last = characters[characters.len() - RANDOM_CHARS..].iter().map(|byte| char::from(*byte));
    prefix.chars().chain(last).collect()
}

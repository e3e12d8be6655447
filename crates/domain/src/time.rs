//! Time as data: milliseconds since 1970, UTC. The domain is told the time; it never asks.

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = i64;

/// A deadline is over **at** its instant.
pub fn is_over(until: Millis, now: Millis) -> bool {
    now >= until
}

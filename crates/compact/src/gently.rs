//! Lists that keep little room for what may come.

/// Grows by a sixteenth where a vector would double: most auctions are small and there are many of them. The few
/// large ones have other cares: they are not to be moved often.
pub fn push_gently<T>(into: &mut Vec<T>, value: T) {
    if into.len() == into.capacity() {
        let share = if into.len() < 1_024 { 16 } else { 2 };
        into.reserve_exact((into.len() / share).max(4));
    }
    into.push(value);
}

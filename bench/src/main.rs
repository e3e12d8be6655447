//! Measures Onsale and what one would run instead, in one run.

fn main() {}

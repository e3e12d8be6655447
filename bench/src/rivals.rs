//! What one would run instead of us. Their scripts and command lines are in `bench/rivals/`.

pub mod postgres;
pub mod redis;
pub mod trivial;

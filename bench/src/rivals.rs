//! What one would run instead of us. Their scripts and command lines are in `bench/rivals/`.

pub(crate) mod postgres;
pub(crate) mod redis;
pub(crate) mod trivial;

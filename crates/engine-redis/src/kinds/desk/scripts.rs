//! The scripts of desks: one writes what was decided, one hands the lease on.

use crate::scripts::{Source, lua};

pub(super) const ALL: &[Source] = &[
    lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new" "desk/append_desk"),
    lua!("desk/take_lease"),
];

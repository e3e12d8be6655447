//! The scripts of venues.

use crate::scripts::{Source, lua};

pub(super) const ALL: &[Source] = &[
    lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new" "venue/create_venue"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "venue/publish_layout"),
];

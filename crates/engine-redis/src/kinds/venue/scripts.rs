//! The scripts of venues.

use crate::scripts::{Source, lua};

pub(super) const ALL: &[Source] = &[
    lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new" "lib/write_created"
        "venue/create_venue"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "venue/publish_layout"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "listing/describe_listing"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "venue/lib/in_use" "listing/delete_listing"),
];

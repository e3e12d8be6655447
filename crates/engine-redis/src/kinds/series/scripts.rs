//! The scripts of series.

use crate::scripts::{Source, lua};

/// A verb over the fragments of its kind.
macro_rules! verb {
    ($($file:literal)+) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/later" "lib/args" "series/lib/slots"
            "lib/log" "series/lib/commit" "lib/answers" $($file)+)
    };
}

pub(super) const ALL: &[Source] = &[
    verb!("series/change_series"),
    verb!("series/open_slot"),
    verb!("series/skip_slots"),
    verb!("series/pause_series"),
    verb!("series/resume_series"),
    verb!("series/end_series"),
    verb!("series/expire_due"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new" "lib/write_created"
        "series/create_series"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "listing/describe_listing"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "series/lib/in_use" "listing/delete_listing"),
];

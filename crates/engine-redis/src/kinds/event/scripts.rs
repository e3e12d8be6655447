//! The scripts of events, once for each layout. The hold that most buyers ask for stands alone in the small one; in the
//! large one it stands before the whole rules.

use crate::layout::Layout;
use crate::scripts::{Source, lua};

/// The fragments of one layout around one verb, in their order; one opens the listing in its own way.
macro_rules! verb {
    (hash $($file:literal)+) => {
        lua!("event/lib/layout_hash" "lib/open" "lib/head" "lib/replay" "event/lib/exists" "lib/later"
            "event/lib/rules" "event/lib/lines" "event/lib/seats_hash" "event/lib/ids_hash" "lib/ended" "event/lib/queue"
            "event/lib/areas" "event/lib/due_hash" "event/lib/apply" "order/lib/ends" "event/lib/expire" "lib/log"
            "event/lib/commit" "lib/answers" "event/lib/holds" $($file)+)
        .of(Layout::Hash)
    };
    (compact [$($early:literal)+] $($file:literal)+) => {
        lua!("event/lib/layout_compact" $($early)+ "lib/replay" "event/lib/exists" "lib/later"
            "event/lib/rules" "event/lib/lines" "event/lib/seats_compact" "event/lib/ids_compact" "lib/ended"
            "event/lib/queue" "event/lib/areas" "event/lib/due_compact" "event/lib/apply" "order/lib/ends"
            "event/lib/expire" "lib/log" "event/lib/commit" "lib/answers" "event/lib/holds" $($file)+)
        .of(Layout::Compact)
    };
}

macro_rules! in_both_layouts {
    ($($($file:literal)+;)*) => {
        &[
            $(verb!(hash $($file)+), verb!(compact ["lib/open" "lib/head" "event/lib/pack"] $($file)+),)*
            verb!(hash "event/lib/picks" "event/place_hold"),
            verb!(compact ["event/lib/open_compact" "lib/head" "event/lib/pack" "event/lib/plain_hold_compact"]
                "event/lib/picks" "event/place_hold"),
            lua!("event/place_plain_hold"),
            lua!("event/lib/layout_hash" "lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new"
                "lib/write_created" "event/lib/new_hash" "event/create_event").of(Layout::Hash),
            lua!("event/lib/layout_compact" "lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new"
                "lib/write_created" "event/lib/new_compact" "event/create_event").of(Layout::Compact),
            lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "listing/describe_listing"),
            lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "event/lib/in_use" "listing/delete_listing"),
        ]
    };
}

pub(super) const ALL: &[Source] = in_both_layouts! {
    "order/lib/guard" "event/lib/guard" "event/extend_hold";
    "order/lib/guard" "event/lib/guard" "event/lib/picks" "event/grow_hold";
    "order/lib/guard" "event/lib/guard" "event/drop_seats";
    "order/lib/guard" "event/lib/guard" "event/release_hold";
    "order/lib/guard" "event/lib/guard" "event/lib/confirm" "event/confirm_hold";
    "event/override_hold";
    "event/lib/refund" "order/lib/guard" "order/lib/book" "event/refund_order";
    "event/lib/blocks" "event/block_seats";
    "event/lib/blocks" "event/unblock_seats";
    "event/lib/places" "event/join_queue";
    "event/lib/places" "event/leave_queue";
    "event/change_status";
    "lib/args" "event/change_event";
    "lib/args" "event/adopt_chart";
    "event/lib/refund" "order/lib/guard" "order/lib/book" "event/expire_due";
    "order/lib/guard" "order/lib/book" "event/lib/confirm" "event/lib/goods" "order/place_order";
    "order/lib/guard" "order/lib/book" "event/lib/confirm" "event/lib/goods" "order/lib/paying" "order/pay_order";
    "order/lib/guard" "order/lib/book" "event/lib/confirm" "event/lib/goods" "order/lib/paying" "order/cancel_order";
    "order/lib/guard" "order/lib/book" "event/lib/confirm" "event/lib/goods" "order/note_payment";
    "order/lib/guard" "order/lib/book" "order/note_refund";
};

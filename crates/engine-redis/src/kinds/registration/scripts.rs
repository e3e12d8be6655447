//! The scripts of registrations.

use crate::scripts::{Source, lua};

/// A verb over the fragments of its kind.
macro_rules! verb {
    ($($file:literal)+) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/args" "registration/lib/entries"
            "order/lib/ends" "registration/lib/ends" "lib/log" "registration/lib/commit" "lib/answers"
            "registration/lib/registered" $($file)+)
    };
}

pub(super) const ALL: &[Source] = &[
    verb!("registration/change_registration"),
    verb!("registration/change_capacity"),
    verb!("registration/close_registration"),
    verb!("registration/cancel_registration"),
    verb!("registration/register"),
    verb!("order/lib/guard" "registration/lib/guard" "registration/confirm_entry"),
    verb!("order/lib/guard" "registration/lib/guard" "order/lib/book" "registration/cancel_entry"),
    verb!("order/lib/guard" "order/lib/book" "registration/expire_due"),
    verb!("order/lib/guard" "order/lib/book" "order/lib/kept" "registration/lib/goods" "order/place_order"),
    verb!("order/lib/guard" "order/lib/book" "order/lib/kept" "registration/lib/goods" "order/lib/paying" "order/pay_order"),
    verb!("order/lib/guard" "order/lib/book" "order/lib/kept" "registration/lib/goods" "order/lib/paying" "order/cancel_order"),
    verb!("order/lib/guard" "order/lib/book" "order/lib/kept" "registration/lib/goods" "order/note_payment"),
    verb!("order/lib/guard" "order/lib/book" "order/note_refund"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new" "lib/write_created"
        "registration/create_registration"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "listing/describe_listing"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "registration/lib/in_use" "listing/delete_listing"),
];

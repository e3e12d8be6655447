//! The scripts of auctions. The bid that most people place stands alone.

use crate::scripts::{Source, lua};

/// A verb over the fragments of its kind.
macro_rules! verb {
    ($($file:literal)+) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/later" "lib/args" "auction/lib/rules"
            "order/lib/ends" "auction/lib/close" "lib/log" "auction/lib/commit" "lib/answers" $($file)+)
    };
}

pub(super) const ALL: &[Source] = &[
    verb!("auction/change_auction"),
    verb!("auction/cancel_auction"),
    verb!("auction/place_bid"),
    verb!("auction/buy_now"),
    verb!("auction/retract_bid"),
    verb!("auction/ban_bidder"),
    verb!("auction/unban_bidder"),
    verb!("order/lib/guard" "auction/lib/guard" "auction/settle_award"),
    verb!("order/lib/guard" "auction/lib/guard" "auction/decline_award"),
    verb!("order/lib/guard" "order/lib/book" "auction/refund_award"),
    verb!("auction/watch_auction"),
    verb!("auction/unwatch_auction"),
    verb!("auction/expire_due"),
    verb!("order/lib/guard" "order/lib/book" "order/lib/kept" "auction/lib/goods" "order/place_order"),
    verb!("order/lib/guard" "order/lib/book" "order/lib/kept" "auction/lib/goods" "order/lib/paying" "order/pay_order"),
    verb!("order/lib/guard" "order/lib/book" "order/lib/kept" "auction/lib/goods" "order/lib/paying" "order/cancel_order"),
    verb!("order/lib/guard" "order/lib/book" "order/lib/kept" "auction/lib/goods" "order/note_payment"),
    verb!("order/lib/guard" "order/lib/book" "order/note_refund"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new" "lib/write_created"
        "auction/create_auction"),
    lua!("auction/plain_bid"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "listing/describe_listing"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "auction/lib/in_use" "listing/delete_listing"),
];

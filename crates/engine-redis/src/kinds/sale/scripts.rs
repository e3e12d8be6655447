//! The scripts of sales. The checkout that most buyers ask for stands alone.

use crate::scripts::{Source, lua};

/// A verb over the fragments of its kind.
macro_rules! verb {
    ($($file:literal)+) => {
        lua!("lib/open" "lib/head" "lib/replay" "lib/later" "lib/args" "sale/lib/rules"
            "sale/lib/state" "lib/ended" "order/lib/ends" "sale/lib/expire" "lib/log" "sale/lib/commit"
            "lib/answers" "sale/lib/codes" $($file)+)
    };
}

pub(super) const ALL: &[Source] = &[
    verb!("sale/change_sale"),
    verb!("sale/add_sku"),
    verb!("sale/add_stock"),
    verb!("sale/withdraw_stock"),
    verb!("sale/change_price"),
    verb!("sale/close_sale"),
    verb!("sale/cancel_sale"),
    verb!("sale/checkout"),
    verb!("sale/cancel_checkout"),
    verb!("order/lib/guard" "sale/lib/guard" "sale/order_checkout"),
    verb!("order/lib/guard" "sale/lib/guard" "sale/return_checkout"),
    verb!("order/lib/guard" "sale/lib/guard" "sale/purchase"),
    verb!("order/lib/guard" "sale/lib/guard" "sale/take_back_purchase"),
    verb!("order/lib/guard" "order/lib/book" "sale/refund_purchase"),
    verb!("order/lib/guard" "order/lib/book" "sale/expire_due"),
    verb!("order/lib/guard" "order/lib/book" "sale/lib/goods" "order/place_order"),
    verb!("order/lib/guard" "order/lib/book" "sale/lib/goods" "order/lib/paying" "order/pay_order"),
    verb!("order/lib/guard" "order/lib/book" "sale/lib/goods" "order/lib/paying" "order/cancel_order"),
    verb!("order/lib/guard" "order/lib/book" "sale/lib/goods" "order/note_payment"),
    verb!("order/lib/guard" "order/lib/book" "order/note_refund"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/args" "lib/vacant" "lib/write_new" "lib/write_created"
        "sale/create_sale"),
    lua!("sale/plain_checkout"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "listing/describe_listing"),
    lua!("lib/open" "lib/head" "lib/replay" "lib/write_new" "sale/lib/in_use" "listing/delete_listing"),
];

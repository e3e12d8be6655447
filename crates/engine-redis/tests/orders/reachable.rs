//! What each verb of an order can be answered, and what an order in the way makes of the verbs of its goods.

use crate::differential::tally::Reachable;

pub const ORDERS: [&str; 5] = ["place_order", "pay_order", "cancel_order", "note_payment", "note_refund"];
/// Answers of the other verbs that only an order can cause.
pub const GUARDED: [(&str, &[(&str, &str)]); 2] = [
    (
        "holds",
        &[
            ("extend_hold", "hold_paying"),
            ("release_hold", "hold_paying"),
            ("drop_seats", "already_ordered"),
            ("confirm_hold", "already_ordered"),
        ],
    ),
    ("codes", &[("purchase", "checkout_ordered"), ("cancel_checkout", "checkout_ordered")]),
];

pub const REACHABLE: Reachable = &[
    ("place_order", &["done", "invalid", "already_ordered", "id_taken", "expired", "released"], &[]),
    (
        "pay_order",
        &[
            "done",
            "invalid",
            "order_unknown",
            "not_yours",
            "order_paying",
            "order_confirmed",
            "order_cancelled",
            "expired",
            "id_taken",
            "payment_attempts",
        ],
        &[],
    ),
    (
        "cancel_order",
        &[
            "done",
            "order_unknown",
            "not_yours",
            "order_paying",
            "order_confirmed",
            "order_cancelled",
            "expired",
        ],
        &[],
    ),
    ("note_payment", &["done", "unchanged", "invalid", "order_unknown", "payment_unknown"], &[]),
    ("note_refund", &["done", "unchanged", "order_unknown", "payment_unknown"], &[]),
    ("extend_hold", &["hold_paying"], &[]),
    ("release_hold", &["hold_paying"], &[]),
    ("drop_seats", &["already_ordered", "hold_paying"], &[]),
    ("confirm_hold", &["already_ordered", "hold_paying"], &[]),
    ("purchase", &["checkout_ordered"], &[]),
    ("cancel_checkout", &["checkout_ordered"], &[]),
];

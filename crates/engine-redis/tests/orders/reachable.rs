//! What each verb of an order can be answered, and what an order in the way makes of the verbs of its goods.

use crate::differential::tally::Reachable;

/// Answers that only some goods cause, and those of the goods' own verbs that only an order can cause.
pub(crate) const OF_GOODS: [(&str, &[(&str, &str)]); 4] = [
    (
        "holds",
        &[
            ("place_order", "expired"),
            ("place_order", "released"),
            ("extend_hold", "hold_paying"),
            ("release_hold", "hold_paying"),
            ("drop_seats", "already_ordered"),
            ("grow_hold", "already_ordered"),
            ("confirm_hold", "already_ordered"),
        ],
    ),
    (
        "codes",
        &[
            ("place_order", "expired"),
            ("place_order", "released"),
            ("purchase", "checkout_ordered"),
            ("cancel_checkout", "checkout_ordered"),
        ],
    ),
    (
        "awards",
        &[
            ("place_order", "expired"),
            ("place_order", "award_unknown"),
            ("place_order", "award_settled"),
            ("settle_award", "already_ordered"),
            ("settle_award", "id_taken"),
            ("decline_award", "order_paying"),
            ("refund_award", "done"),
            ("refund_award", "invalid"),
            ("refund_award", "order_unknown"),
            ("refund_award", "not_refundable"),
        ],
    ),
    (
        "entries",
        &[
            ("place_order", "expired"),
            ("place_order", "released"),
            ("place_order", "not_yours"),
            ("place_order", "not_offered"),
            ("place_order", "entry_confirmed"),
            ("place_order", "registration_cancelled"),
            ("confirm_entry", "already_ordered"),
            ("confirm_entry", "id_taken"),
            ("cancel_entry", "order_paying"),
        ],
    ),
];

/// First what all goods have in common, a row a verb of orders.
pub(crate) const REACHABLE: Reachable = &[
    ("place_order", &["done", "invalid", "already_ordered", "id_taken"], &[]),
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
    (
        "place_order",
        &[
            "expired",
            "released",
            "award_unknown",
            "award_settled",
            "not_yours",
            "not_offered",
            "entry_confirmed",
            "registration_cancelled",
        ],
        &[],
    ),
    ("extend_hold", &["hold_paying"], &[]),
    ("release_hold", &["hold_paying"], &[]),
    ("drop_seats", &["already_ordered", "hold_paying"], &[]),
    ("grow_hold", &["already_ordered", "hold_paying"], &[]),
    ("confirm_hold", &["already_ordered", "hold_paying"], &[]),
    ("purchase", &["checkout_ordered"], &[]),
    ("cancel_checkout", &["checkout_ordered"], &[]),
    ("settle_award", &["already_ordered", "id_taken"], &[]),
    ("decline_award", &["order_paying"], &[]),
    ("refund_award", &["done", "invalid", "order_unknown", "not_refundable"], &[]),
    ("confirm_entry", &["already_ordered", "id_taken"], &[]),
    ("cancel_entry", &["order_paying"], &[]),
];

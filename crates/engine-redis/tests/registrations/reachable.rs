//! What each verb of a registration can be answered.

use crate::differential::tally::Reachable;

pub(crate) const REACHABLE: Reachable = &[
    ("create_registration", &["done", "listing_exists", "invalid"], &["wrong_kind", "listing_unknown"]),
    (
        "change_registration",
        &["done", "unchanged", "invalid", "status_conflict", "registration_closed", "registration_cancelled"],
        &["wrong_kind"],
    ),
    (
        "change_capacity",
        &[
            "done",
            "unchanged",
            "invalid",
            "not_enough_stock",
            "registration_closed",
            "registration_cancelled",
        ],
        &["wrong_kind"],
    ),
    (
        "close_registration",
        &["done", "unchanged", "registration_cancelled"],
        &["wrong_kind", "again", "key_reused", "listing_unknown"],
    ),
    (
        "cancel_registration",
        &["done", "unchanged", "registration_closed"],
        &["wrong_kind", "again", "key_reused", "listing_unknown"],
    ),
    (
        "register",
        &[
            "done",
            "already_registered",
            "registration_cancelled",
            "registration_not_open",
            "registration_closed",
            "id_taken",
        ],
        &["wrong_kind"],
    ),
    (
        "confirm_entry",
        &[
            "done",
            "already_registered",
            "registration_cancelled",
            "entry_unknown",
            "expired",
            "released",
            "not_yours",
            "not_offered",
            "entry_confirmed",
            "payment_required",
            "id_taken",
        ],
        &["wrong_kind"],
    ),
    (
        "cancel_entry",
        &[
            "done",
            "registration_cancelled",
            "entry_unknown",
            "expired",
            "released",
            "not_yours",
            "registration_closed",
        ],
        &["wrong_kind"],
    ),
    ("close_sale", &[], &["again", "key_reused"]),
    ("expire_due", &["done", "unchanged"], &["again", "key_reused", "wrong_kind"]),
];

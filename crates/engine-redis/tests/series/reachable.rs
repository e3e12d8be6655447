//! What each verb of a series can be answered.

use crate::differential::tally::Reachable;

pub(crate) const REACHABLE: Reachable = &[
    ("create_series", &["done", "listing_exists", "invalid"], &["wrong_kind", "listing_unknown"]),
    ("change_series", &["done", "unchanged", "invalid", "series_ended"], &["wrong_kind"]),
    (
        "open_slot",
        &["done", "unchanged", "invalid", "series_paused", "series_ended", "slot_past", "slot_early"],
        &["wrong_kind"],
    ),
    ("skip_slots", &["done", "invalid", "series_ended", "slot_past", "slot_early"], &["wrong_kind"]),
    ("pause_series", &["done", "unchanged", "series_ended"], &["wrong_kind"]),
    ("resume_series", &["done", "unchanged", "series_ended"], &["wrong_kind"]),
    ("end_series", &["done", "unchanged"], &["wrong_kind", "again", "key_reused", "listing_unknown"]),
    ("close_sale", &[], &["again", "key_reused"]),
    ("expire_due", &["unchanged"], &["again", "key_reused", "wrong_kind"]),
];

//! What each verb of an auction can be answered.

use crate::differential::tally::Reachable;

pub(crate) const REACHABLE: Reachable = &[
    ("create_auction", &["done", "listing_exists", "invalid"], &["wrong_kind", "listing_unknown"]),
    (
        "change_auction",
        &["done", "unchanged", "invalid", "status_conflict", "auction_cancelled", "over"],
        &["wrong_kind"],
    ),
    ("cancel_auction", &["done", "invalid", "auction_cancelled", "over"], &["wrong_kind"]),
    (
        "place_bid",
        &[
            "done",
            "invalid",
            "not_started",
            "auction_cancelled",
            "over",
            "seller",
            "banned",
            "currency",
            "off_tick",
            "leader_not_raising",
            "bid_too_low",
        ],
        &["wrong_kind"],
    ),
    (
        "buy_now",
        &["done", "not_started", "auction_cancelled", "over", "seller", "banned", "currency", "buy_now_gone"],
        &["wrong_kind"],
    ),
    (
        "retract_bid",
        &[
            "done",
            "unchanged",
            "invalid",
            "not_started",
            "auction_cancelled",
            "over",
            "bid_unknown",
            "retraction_not_allowed",
            "bid_not_latest",
            "retraction_late",
        ],
        &["wrong_kind"],
    ),
    ("ban_bidder", &["done", "unchanged", "invalid"], &["wrong_kind"]),
    ("unban_bidder", &["done", "unchanged"], &["wrong_kind"]),
    ("settle_award", &["done", "award_unknown", "award_settled", "expired"], &["wrong_kind"]),
    (
        "decline_award",
        &["done", "award_unknown", "award_binding", "award_settled", "expired"],
        &["wrong_kind"],
    ),
    ("watch_auction", &["done", "unchanged", "auction_cancelled", "over"], &["wrong_kind"]),
    ("unwatch_auction", &["done", "unchanged"], &["wrong_kind"]),
    ("close_sale", &[], &["again", "key_reused"]),
    ("expire_due", &["done", "unchanged"], &["again", "key_reused", "wrong_kind"]),
];

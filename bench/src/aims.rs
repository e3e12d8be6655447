//! The figures to reach: each a name, how it is computed from what was measured, and its bound.

use crate::contest::Duel;

#[derive(Debug)]
pub(crate) struct Aim {
    pub name: &'static str,
    pub what: &'static str,
    pub value: Value,
    pub bound: Bound,
}

#[derive(Debug)]
pub(crate) enum Value {
    /// Measured under the aim's own name.
    Measured,
    /// One figure divided by another, measured one right after the other.
    Ratio(&'static str, &'static str),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    Exactly(f64),
}

pub(crate) const AIMS: &[Aim] = &[
    Aim {
        name: "engine_hold_vs_redis_always_p16",
        what: "durable holds and releases in process ÷ Redis Lua, AOF always, pipeline 16",
        value: Value::Ratio("engine_hold_per_s", "redis_always_p16_per_s"),
        bound: Bound::AtLeast(25.0),
    },
    Aim {
        name: "engine_hold_p99_vs_redis_always_p1_p99",
        what: "p99 with 1,024 in flight ÷ Redis' p99 with 50 connections",
        value: Value::Ratio("engine_hold_p99_ms", "redis_always_p1_p99_ms"),
        bound: Bound::AtMost(0.5),
    },
    Aim {
        name: "http_hold_vs_trivial",
        what: "durable holds over HTTP ÷ an empty axum handler, same client",
        value: Value::Ratio("http_hold_per_s", "trivial_post_per_s"),
        bound: Bound::AtLeast(0.65),
    },
    Aim {
        name: "http_hold_vs_redis_always_p1",
        what: "durable holds over HTTP ÷ bare Redis Lua, AOF always",
        value: Value::Ratio("http_hold_per_s", "redis_always_p1_per_s"),
        bound: Bound::AtLeast(1.5),
    },
    Aim {
        name: "http_hold_vs_postgres",
        what: "durable holds over HTTP ÷ PostgreSQL over a Unix socket",
        value: Value::Ratio("http_hold_per_s", "postgres_hold_per_s"),
        bound: Bound::AtLeast(3.0),
    },
    Aim {
        name: "bytes_per_seat",
        what: "memory for 50,000 held seats, dedup records included, a seat",
        value: Value::Measured,
        bound: Bound::AtMost(320.0),
    },
    Aim {
        name: "recover_facts_per_s",
        what: "start from a journal of 1,000,000 facts without a snapshot",
        value: Value::Measured,
        bound: Bound::AtLeast(1_000_000.0),
    },
    Aim {
        name: "seatmap_50k_bytes",
        what: "binary status of 50,000 seats on the wire, compressed",
        value: Value::Measured,
        bound: Bound::AtMost(13_000.0),
    },
    Aim {
        name: "cost_100k_seats_vs_1k",
        what: "time per hold in an event of 100,000 seats ÷ of 1,000",
        value: Value::Ratio("cost_100k_seats_ns", "cost_1k_seats_ns"),
        bound: Bound::AtMost(1.3),
    },
    Aim {
        name: "cost_10k_events_vs_1",
        what: "time per hold beside 10,000 events ÷ beside one",
        value: Value::Ratio("cost_10k_events_ns", "cost_1_event_ns"),
        bound: Bound::AtMost(1.3),
    },
    Aim {
        name: "redis_hold_script_vs_seed",
        what: "our hold script, bare ÷ the seed's corrected lock script; everysec, pipeline 16",
        value: Value::Ratio("redis_hold_script_per_s", "redis_seed_script_per_s"),
        bound: Bound::AtLeast(0.6),
    },
    Aim {
        name: "redis_checkout_script_vs_seed",
        what: "our checkout script, bare ÷ the seed's corrected one; one hot SKU, everysec, pipeline 16",
        value: Value::Ratio("redis_checkout_script_per_s", "redis_seed_checkout_per_s"),
        bound: Bound::AtLeast(0.6),
    },
    Aim {
        name: "redis_bid_script_vs_seed",
        what: "our bid script, bare ÷ the seed's corrected one; everysec, pipeline 16",
        value: Value::Ratio("redis_bid_script_per_s", "redis_seed_bid_per_s"),
        bound: Bound::AtLeast(0.6),
    },
    Aim {
        name: "engine_checkout_vs_redis_always_p16",
        what: "durable checkouts and cancels of one hot SKU ÷ the seed's corrected checkout, AOF always, pipeline 16",
        value: Value::Ratio("engine_checkout_per_s", "redis_always_checkout_p16_per_s"),
        bound: Bound::AtLeast(25.0),
    },
    Aim {
        name: "engine_bid_vs_redis_always_p16",
        what: "durable accepted bids on one auction ÷ the seed's corrected bid, AOF always, pipeline 16",
        value: Value::Ratio("engine_bid_per_s", "redis_always_bid_p16_per_s"),
        bound: Bound::AtLeast(25.0),
    },
    Aim {
        name: "http_checkout_vs_trivial",
        what: "durable checkouts of one hot SKU over HTTP ÷ an empty axum handler, same client",
        value: Value::Ratio("http_checkout_per_s", "trivial_post_per_s"),
        bound: Bound::AtLeast(0.6),
    },
    Aim {
        name: "http_bid_vs_trivial",
        what: "durable accepted bids over HTTP ÷ an empty axum handler, same client",
        value: Value::Ratio("http_bid_per_s", "trivial_post_per_s"),
        bound: Bound::AtLeast(0.6),
    },
    Aim {
        name: "http_checkout_vs_postgres_hot_row",
        what: "durable checkouts over HTTP ÷ PostgreSQL taking one from one row, 16 connections",
        value: Value::Ratio("http_checkout_per_s", "postgres_hot_row_per_s"),
        bound: Bound::AtLeast(12.0),
    },
    Aim {
        name: "cost_bid_10k_vs_10",
        what: "time to decide a bid in an auction with 10,000 bids ÷ with 10",
        value: Value::Ratio("cost_bid_10k_ns", "cost_bid_10_ns"),
        bound: Bound::AtMost(1.3),
    },
    Aim {
        name: "http_redis_hold_vs_raw_script",
        what: "holds over HTTP on Redis ÷ the same script, bare",
        value: Value::Ratio("http_redis_hold_per_s", "redis_hold_script_per_s"),
        bound: Bound::AtLeast(0.45),
    },
    Aim {
        name: "redis_bytes_per_held_seat",
        what: "Redis' memory for 50,000 held seats without stream and dedup, a seat",
        value: Value::Measured,
        bound: Bound::AtMost(220.0),
    },
    Aim {
        name: "failover_extra_s",
        what: "a Cluster's master killed: our first hold on its listings, minus a bare client's first SET",
        value: Value::Measured,
        bound: Bound::AtMost(1.0),
    },
    Aim {
        name: "sale_exact_embedded",
        what: "items sold when 50,000 buyers fight for 10,000, counted from exported facts",
        value: Value::Measured,
        bound: Bound::Exactly(10_000.0),
    },
    Aim {
        name: "sale_exact_redis",
        what: "the same on Redis",
        value: Value::Measured,
        bound: Bound::Exactly(10_000.0),
    },
    Aim {
        name: "auctions_10k_bytes",
        what: "memory for 10,000 open auctions of 100 bids and 50 watchers, without dedup records",
        value: Value::Measured,
        bound: Bound::AtMost(60_000_000.0),
    },
    Aim {
        name: "redis_auctions_10k_bytes",
        what: "the same on Redis, without stream and dedup, from 5,000 of them",
        value: Value::Measured,
        bound: Bound::AtMost(150_000_000.0),
    },
    Aim {
        name: "idle_100k_listings_cpu_pct",
        what: "share of one core that a server with 100,000 closed listings spends when nobody asks",
        value: Value::Measured,
        bound: Bound::AtMost(1.0),
    },
];

impl Bound {
    pub(crate) fn reached(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
            Self::Exactly(bound) => value == bound,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(out, "≥ {bound}"),
            Self::AtMost(bound) => write!(out, "≤ {bound}"),
            Self::Exactly(bound) => write!(out, "= {bound}"),
        }
    }
}

/// The ratios among them.
pub(crate) fn duels() -> Vec<Duel> {
    let ratio = |aim: &Aim| match aim.value {
        Value::Measured => None,
        Value::Ratio(above, below) => Some(Duel { name: aim.name, above, below }),
    };
    AIMS.iter().filter_map(ratio).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_includes_its_own_value() {
        assert!(Bound::AtLeast(25.0).reached(25.0) && !Bound::AtLeast(25.0).reached(24.9));
        assert!(Bound::AtMost(0.5).reached(0.5) && !Bound::AtMost(0.5).reached(0.6));
        assert!(Bound::Exactly(3.0).reached(3.0) && !Bound::Exactly(3.0).reached(3.1));
    }
}

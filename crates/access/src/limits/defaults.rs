//! The limits that a deployment has if it says nothing, each with its reason. `docs` shows this table; nothing else knows a number.

use super::class::Class;
use super::config::ClassLimits;
use super::policy::Policy;

const fn per_minute(count: u32, burst: u32) -> Policy {
    Policy::new(count, 60, burst)
}

const fn per_hour(count: u32, burst: u32) -> Policy {
    Policy::new(count, 3_600, burst)
}

/// A merchant's server speaks for thousands of buyers: 1,000 requests a second, and six seconds' worth at once when a sale begins.
const SERVER_KEY: Policy = per_minute(60_000, 6_000);
/// A publishable key stands for all visitors of a page together; each of them also counts by address and user. It only keeps one
/// merchant's page from taking the whole server.
const PAGE_KEY: Policy = per_minute(60_000, 6_000);
/// Load tools and demos ask as fast as the server answers; the limit is there so that it is tried, not to be met.
const TEST_KEY: Policy = Policy::new(1_000_000, 60, 200_000);

/// What is limited in a class when no setting says otherwise.
pub(super) fn of(class: Class) -> ClassLimits {
    match class {
        // A sign-in hashes for some 20 ms on one core. Ten people of an office arrive together; in an hour nobody signs in 200 times,
        // but a list of stolen passwords would. A server that signs its buyers in does so for many, and may be a stolen key.
        Class::Auth => ClassLimits {
            server_key: vec![per_minute(600, 100)],
            page_key: vec![per_minute(6_000, 600)],
            test_key: vec![TEST_KEY],
            user: vec![per_minute(20, 10), per_hour(120, 60)],
            address: vec![per_minute(30, 10), per_hour(300, 200)],
        },
        // A person tries a seat a second when many want the same; twenty at once is a client that tries all seats of a row.
        // Five such people may share an address.
        Class::SeatLock => ordinary(per_minute(60, 20), per_minute(300, 100)),
        // One bid a second, as the rules of auctions have it; two at once, for a bid that is corrected at once. A family of
        // bidders may share an address.
        Class::Bid => ordinary(per_minute(60, 2), per_minute(300, 30)),
        // An order and its payment are a handful of requests; thirty in a minute is somebody who tries cards.
        Class::Checkout => ordinary(per_minute(30, 10), per_minute(150, 50)),
        // Typing in a search field asks twice a second; a list costs more than a single thing.
        Class::Search => ordinary(per_minute(120, 40), per_minute(600, 200)),
        // A page opens two or three streams, and again when a network comes back; whole offices come back together.
        Class::Stream => ordinary(per_minute(30, 15), per_minute(150, 75)),
        // People at a desk work through a list, and pages of theirs load much at once.
        Class::Staff => ordinary(per_minute(600, 200), per_minute(1_200, 400)),
        // A page of an application loads dozens of things at once.
        Class::Api | Class::Default => ordinary(per_minute(600, 100), per_minute(1_200, 300)),
    }
}

fn ordinary(user: Policy, address: Policy) -> ClassLimits {
    ClassLimits {
        server_key: vec![SERVER_KEY],
        page_key: vec![PAGE_KEY],
        test_key: vec![TEST_KEY],
        user: vec![user],
        address: vec![address],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_limits_every_subject_and_an_address_as_much_as_a_user_at_least() {
        for class in Class::ALL {
            let limits = of(class);
            for (subject, policies) in limits.by_subject() {
                assert!(!policies.is_empty(), "{class:?} {subject:?}");
                Policy::check_all(policies).unwrap_or_else(|error| panic!("{class:?} {subject:?}: {error}"));
            }
            assert!(limits.address[0].count >= limits.user[0].count, "{class:?}");
            assert!(limits.server_key[0].count >= limits.address[0].count * 10, "{class:?}");
            assert!(limits.test_key[0].count >= limits.server_key[0].count * 10, "{class:?}");
        }
    }

    #[test]
    fn a_user_bids_once_a_second() {
        let bid = &of(Class::Bid).user[0];
        assert_eq!(bid.rate().interval_us, 1_000_000);
    }
}

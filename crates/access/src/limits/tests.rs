//! Limits as the edge meets them, counted in process.

use proptest::prelude::*;

use super::*;
use crate::principal::{KeyHolder, KeyKind, Person, Principal, Vouched, Who};
use crate::role::Roles;
use onsale_domain::{BuyerId, Tenant};

const SECOND: Micros = 1_000_000;

fn limits() -> Limits {
    Limits::in_process(&LimitsConfig::default()).unwrap()
}

fn attempt(class: Class) -> Attempt<'static> {
    Attempt { tenant: Tenant::DEFAULT, class, key: None, user: None, address: None }
}

fn key(kind: KeyClass) -> Option<KeySubject<'static>> {
    Some(KeySubject { id: "key_1", kind })
}

fn address(text: &str) -> Option<Address> {
    Some(Address::from(text.parse::<std::net::IpAddr>().unwrap()))
}

fn passed(limits: &Limits, attempt: &Attempt<'_>, times: usize, now: Micros) -> usize {
    (0..times).filter(|_| limits.decide_here(attempt, now).is_passed()).count()
}

/// Names of the limits that an attempt meets.
fn met(limits: &Limits, attempt: &Attempt<'_>) -> Vec<String> {
    let policy = limits.headers(&limits.decide_here(attempt, 0)).policy;
    policy.split(", ").map(|one| one.split('"').nth(1).unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_user_bids_once_a_second_and_is_told_when_to_come_again() {
    let limits = limits();
    let bid = Attempt { user: Some("usr_1"), ..attempt(Class::Bid) };
    let first = limits.headers(&limits.decide_here(&bid, 0));
    assert_eq!(
        first,
        LimitHeaders {
            policy: "\"bid_user_60\";q=60;w=60".into(),
            limit: "\"bid_user_60\";r=1;t=1".into(),
            retry_after_s: None
        }
    );
    assert!(limits.decide_here(&bid, 0).is_passed());
    let refused = limits.decide_here(&bid, SECOND / 2);
    assert_eq!(refused.outcome, Outcome::Limited);
    let headers = limits.headers(&refused);
    assert_eq!((headers.limit.as_str(), headers.retry_after_s), ("\"bid_user_60\";r=0;t=2", Some(1)));
    for second in 1..100 {
        assert_eq!(passed(&limits, &bid, 5, second * SECOND), 1);
    }
    let other = Attempt { user: Some("usr_2"), ..bid };
    assert_eq!(passed(&limits, &other, 5, 0), 2);
    let counts = limits.counts();
    let of_bids = counts.by_class.iter().find(|counts| counts.class == Class::Bid).unwrap();
    assert_eq!((of_bids.passed, of_bids.limited), (2 + 99 + 2, 1 + 99 * 4 + 3));
}

#[test]
fn who_is_counted_depends_on_what_the_request_carries() {
    let limits = limits();
    let all = Attempt { user: Some("usr_1"), address: address("192.0.2.1"), ..attempt(Class::SeatLock) };
    assert_eq!(met(&limits, &attempt(Class::Api)), [""]);
    assert_eq!(met(&limits, &all), ["seat_lock_user_60", "seat_lock_address_60"]);
    let with = |kind| Attempt { key: key(kind), ..all };
    let page = ["seat_lock_key_60", "seat_lock_user_60", "seat_lock_address_60"];
    assert_eq!(met(&limits, &with(KeyClass::Page)), page);
    assert_eq!(met(&limits, &with(KeyClass::Server)), page[..2]);
    assert_eq!(met(&limits, &with(KeyClass::Test)), page[..1]);
    let sign_in = Attempt { class: Class::Auth, ..all };
    let auth = ["auth_user_60", "auth_user_3600", "auth_address_60", "auth_address_3600"];
    assert_eq!(met(&limits, &sign_in), auth);
}

#[test]
fn a_principal_is_counted_as_what_it_is() {
    let limits = limits();
    let buyer = BuyerId::parse("usr_1").unwrap();
    let holder = |kind| Who::Key(KeyHolder { key: "key_1".into(), kind });
    let person =
        Person { user: buyer.clone(), session: "ses_1".into(), roles: Roles::BUYER, is_guest: false };
    let vouched = Vouched { buyer: buyer.clone(), key: "key_1".into(), listings: None };
    let of = |who: Who, is_test| {
        let principal = Principal { who, is_test, ..Principal::nobody(Tenant::DEFAULT) };
        let attempt = Attempt::of(&principal, Class::Bid, Some(&buyer), address("192.0.2.1"));
        met(&limits, &attempt).join(" ").replace("bid_", "").replace("_60", "")
    };
    assert_eq!(of(Who::Nobody, false), "address");
    assert_eq!(of(Who::Person(person), false), "user address");
    assert_eq!(of(Who::Vouched(vouched.clone()), false), "key user address");
    assert_eq!(of(holder(KeyKind::Publishable), false), "key user address");
    assert_eq!(of(holder(KeyKind::Secret), false), "key user");
    assert_eq!(of(holder(KeyKind::Restricted), false), "key user");
    assert_eq!(of(holder(KeyKind::Secret), true), "key");
    assert_eq!(of(Who::Vouched(vouched), true), "key");
}

#[test]
fn classes_tenants_and_kinds_of_subjects_do_not_share_a_bucket() {
    let limits = limits();
    let one = Attempt { user: Some("usr_1"), ..attempt(Class::Bid) };
    assert_eq!(passed(&limits, &one, 9, 0), 2);
    let tenant = Attempt { tenant: Tenant::new(7).unwrap(), ..one };
    assert_eq!(passed(&limits, &tenant, 9, 0), 2);
    let class = Attempt { class: Class::Checkout, ..one };
    assert_eq!(passed(&limits, &class, 99, 0), 10);
    let key = Attempt { key: Some(KeySubject { id: "usr_1", kind: KeyClass::Server }), user: None, ..one };
    assert_eq!(passed(&limits, &key, 9, 0), 9);
}

#[test]
fn a_network_of_addresses_is_one_caller() {
    let limits = limits();
    let from = |text| Attempt { address: address(text), ..attempt(Class::Auth) };
    assert_eq!(passed(&limits, &from("2001:db8::1"), 6, 0), 6);
    assert_eq!(passed(&limits, &from("2001:db8::ffff:1"), 9, 0), 4);
    assert_eq!(passed(&limits, &from("2001:db8:0:1::1"), 99, 0), 10);
    assert_eq!(passed(&limits, &from("192.0.2.1"), 6, 0), 6);
    assert_eq!(passed(&limits, &from("::ffff:192.0.2.1"), 99, 0), 4);
}

#[test]
fn an_hour_s_limit_holds_where_a_minute_s_would_let_pass() {
    let limits = limits();
    let sign_in = Attempt { address: address("192.0.2.1"), ..attempt(Class::Auth) };
    let in_an_hour: usize = (0..60).map(|minute| passed(&limits, &sign_in, 30, minute * 60 * SECOND)).sum();
    // 200 at once and 300 in an hour, not 30 in each minute.
    assert!((490..=500).contains(&in_an_hour), "{in_an_hour}");
}

#[test]
fn switched_off_nobody_is_limited_and_nothing_is_said() {
    let config = LimitsConfig { enabled: false, ..LimitsConfig::default() };
    let limits = Limits::in_process(&config).unwrap();
    let bid = Attempt { user: Some("usr_1"), ..attempt(Class::Bid) };
    assert_eq!(passed(&limits, &bid, 100, 0), 100);
    assert_eq!(limits.headers(&limits.decide_here(&bid, 0)), LimitHeaders::default());
}

#[test]
fn a_load_tool_with_a_test_key_is_not_slowed_down() {
    let limits = limits();
    let users: Vec<String> = (0..100).map(|number| format!("usr_{number}")).collect();
    for number in 0..20_000 {
        let user = Some(users[number % users.len()].as_str());
        let bid =
            Attempt { key: key(KeyClass::Test), user, address: address("127.0.0.1"), ..attempt(Class::Bid) };
        assert!(limits.decide_here(&bid, 0).is_passed());
    }
}

#[test]
fn a_clock_that_jumps_back_keeps_nobody_out_for_longer_than_a_burst() {
    let limits = limits();
    let bid = Attempt { user: Some("usr_1"), ..attempt(Class::Bid) };
    assert_eq!(passed(&limits, &bid, 9, 5_000 * SECOND), 2);
    assert_eq!(passed(&limits, &bid, 9, SECOND), 0);
    assert_eq!(passed(&limits, &bid, 9, 2 * SECOND), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// Two users, two addresses and a key, against lists of what passed and sums of exact fractions.
    #[test]
    fn several_limits_decide_together_as_each_would_alone(
        steps in prop::collection::vec((0..2_usize, 0..2_usize, any::<bool>(), 0..700_000_u64), 1..300),
    ) {
        let mut config = LimitsConfig::default();
        config.api.user = vec![Policy::new(100, 60, 7), Policy::new(500, 3_600, 90)];
        config.api.address = vec![Policy::new(130, 60, 11)];
        config.api.page_key = vec![Policy::new(7_000, 3_600, 19)];
        let limits = Limits::in_process(&config).unwrap();
        let (users, addresses) = (["usr_1", "usr_2"], [address("192.0.2.1"), address("192.0.2.2")]);
        let mut models: Vec<(Policy, u128)> = [
            [&config.api.user[..], &config.api.user[..], &config.api.address[..]].concat(),
            [&config.api.address[..], &config.api.page_key[..]].concat(),
        ].concat().into_iter().map(|policy| (policy, u128::from(policy.rate().horizon_us))).collect();
        let mut now = 0;
        for (user, from, has_key, gap) in steps {
            now += gap;
            for (policy, level) in &mut models {
                *level = (*level + u128::from(gap)).min(u128::from(policy.rate().horizon_us));
            }
            let attempt = Attempt {
                key: key(KeyClass::Page).filter(|_| has_key),
                user: Some(users[user]),
                address: addresses[from],
                ..attempt(Class::Api)
            };
            let mut met = vec![2 * user, 2 * user + 1, 4 + from];
            met.extend(has_key.then_some(6));
            let cost = |model: &(Policy, u128)| u128::from(model.0.rate().interval_us);
            let expected = met.iter().all(|model| models[*model].1 >= cost(&models[*model]));
            if expected {
                for model in &met {
                    models[*model].1 -= cost(&models[*model]);
                }
            }
            let decision = limits.decide_here(&attempt, now);
            prop_assert_eq!(decision.is_passed(), expected);
            let mut left: Vec<u128> = met.iter().map(|model| models[*model].1 / cost(&models[*model])).collect();
            let mut said: Vec<u128> = decision.quotas().iter().map(|quota| u128::from(quota.level.remaining)).collect();
            left.sort_unstable();
            said.sort_unstable();
            prop_assert_eq!(said, left);
        }
    }
}

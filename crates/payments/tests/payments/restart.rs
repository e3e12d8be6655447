//! What is under way when the process dies, at every point at which it may: an extra step that the buyer has not taken, a
//! provider that is down and comes back, refunds that were asked for and not answered.

use onsale_domain::order::OrderStatus;

use crate::crash::at_every_point_and_then;
use crate::world::{AMOUNT, World};

fn taken_and_given_back(world: &World) -> (Vec<i64>, Vec<i64>) {
    let amounts = |moved: Vec<(String, i64)>| moved.into_iter().map(|(_, amount)| amount).collect();
    (amounts(world.bank.taken()), amounts(world.bank.given_back()))
}

#[test]
fn an_extra_step_that_is_taken_or_refused_after_the_restart_counts_once() {
    for (consents, status, taken) in
        [(true, OrderStatus::Confirmed, vec![AMOUNT]), (false, OrderStatus::Pending, vec![])]
    {
        at_every_point_and_then(
            "action",
            |world| world.pay("action"),
            |world| {
                world.until_quiet();
                world.answer(consents);
            },
            |world| {
                assert_eq!(world.order(), status, "consents: {consents}");
                assert_eq!(taken_and_given_back(world), (taken.clone(), vec![]), "consents: {consents}");
            },
        );
    }
}

#[test]
fn a_provider_that_comes_back_after_the_restart_is_paid_once() {
    at_every_point_and_then(
        "down",
        |world| {
            world.bank.set_down(true);
            world.pay("succeed");
        },
        |world| world.bank.set_down(false),
        |world| {
            assert_eq!(world.order(), OrderStatus::Confirmed);
            assert_eq!(taken_and_given_back(world), (vec![AMOUNT], vec![]));
        },
    );
}

#[test]
fn a_refund_is_paid_once_by_a_provider_that_was_down_or_failed_it_before_the_restart() {
    for failures in [0, 1] {
        at_every_point_and_then(
            "refund",
            |world| {
                world.pay("succeed");
                world.until_quiet();
                world.cancel_event();
                world.bank.fail_refunds(failures);
                world.bank.set_down(failures == 0);
            },
            |world| world.bank.set_down(false),
            |world| {
                assert_eq!(world.order(), OrderStatus::Refunded);
                assert_eq!(taken_and_given_back(world), (vec![AMOUNT], vec![AMOUNT]));
            },
        );
    }
}

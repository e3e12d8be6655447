//! Payments on the embedded engine with a provider that misbehaves and a process that dies at every point: no money is
//! taken twice, none is kept without goods, and none is forgotten.

mod crash;
mod crowd;
mod restart;
mod stall;
mod told_once;
mod world;

use onsale_domain::order::OrderStatus;

use crash::{Mode, at_every_point};
use world::{AMOUNT, World};

#[test]
fn a_payment_is_taken_once_wherever_the_process_dies() {
    for method in ["succeed", "lost", "delay", "duplicate", "reorder"] {
        at_every_point(
            method,
            |world| world.pay(method),
            |world| {
                assert_eq!(world.order(), OrderStatus::Confirmed, "{method}");
                let taken: Vec<i64> = world.bank.taken().into_iter().map(|(_, amount)| amount).collect();
                assert_eq!(taken, [AMOUNT], "{method}");
                assert!(world.bank.given_back().is_empty(), "{method}");
            },
        );
    }
}

#[test]
fn a_declined_or_silent_payment_takes_nothing_and_lets_the_goods_go() {
    for method in ["decline", "silent", "down"] {
        at_every_point(
            method,
            |world| world.pay(method),
            |world| {
                let expected = if method == "decline" { OrderStatus::Pending } else { OrderStatus::Expired };
                assert_eq!(world.order(), expected, "{method}");
                assert!(world.bank.taken().is_empty(), "{method}");
            },
        );
    }
}

#[test]
fn late_money_whose_goods_are_gone_is_given_back_once_wherever_the_process_dies() {
    let begin = |world: &mut World| {
        world.pay("action");
        world.until_quiet();
        // The pin is over, another has the seat, and only then does the buyer consent.
        world.pass(1_000_000);
        world.hold_by_another();
        world.consent();
    };
    at_every_point("late", begin, |world| {
        assert_eq!(world.order(), OrderStatus::Expired);
        let total =
            |moved: Vec<(String, i64)>| moved.into_iter().map(|(_, amount)| amount).collect::<Vec<_>>();
        assert_eq!(total(world.bank.taken()), [AMOUNT]);
        assert_eq!(total(world.bank.given_back()), [AMOUNT]);
    });
}

#[test]
fn late_money_whose_goods_are_still_there_buys_them() {
    let mut world = World::new();
    world.pay("action");
    world.until_quiet();
    world.pass(1_000_000);
    world.consent();
    world.until_quiet();
    assert_eq!(world.order(), OrderStatus::Confirmed);
    assert!(world.bank.given_back().is_empty());
}

#[test]
fn a_refund_that_fails_is_tried_until_it_is_paid_wherever_the_process_dies() {
    let begin = |world: &mut World| {
        world.pay("succeed");
        world.until_quiet();
        world.bank.fail_refunds(2);
        world.cancel_event();
    };
    at_every_point("refund", begin, |world| {
        assert_eq!(world.order(), OrderStatus::Refunded);
        let back: Vec<i64> = world.bank.given_back().into_iter().map(|(_, amount)| amount).collect();
        assert_eq!(back, [AMOUNT]);
    });
}

#[test]
fn a_provider_that_is_down_for_an_hour_is_asked_again() {
    let mut world = World::new();
    world.bank.set_down(true);
    world.pay("succeed");
    for _ in 0..40 {
        world.round();
        world.pass(10_000);
    }
    assert_eq!(world.order(), OrderStatus::Paying);
    world.bank.set_down(false);
    world.until_quiet();
    assert_eq!(world.order(), OrderStatus::Confirmed);
    world.check();
    // A whole hour: the goods are let go, and nothing is taken.
    let mut world = World::new();
    world.bank.set_down(true);
    world.pay("succeed");
    for _ in 0..60 {
        world.round();
        world.pass(60_000);
    }
    world.bank.set_down(false);
    world.until_quiet();
    assert_eq!(world.order(), OrderStatus::Expired);
    assert!(world.bank.taken().is_empty());
    world.check();
}

#[test]
fn a_payment_that_its_provider_has_forgotten_ends_with_its_goods() {
    for method in ["delay", "action"] {
        let mut world = World::new();
        world.pay(method);
        assert!(world.round());
        world.reboot_with_the_bank(7);
        world.until_quiet();
        world.check();
        assert_eq!(world.order(), OrderStatus::Expired, "{method}");
        assert!(world.bank.taken().is_empty() && world.bank.given_back().is_empty(), "{method}");
    }
}

#[test]
fn a_payment_is_called_off_when_its_goods_are_let_go() {
    let mut world = World::new();
    world.pay("action");
    world.until_quiet();
    world.pass(1_000_000);
    assert!(world.round());
    world.consent();
    world.until_quiet();
    assert_eq!(world.order(), OrderStatus::Expired);
    assert!(world.bank.taken().is_empty(), "what was called off cannot be paid");
    world.check();
}

#[test]
fn a_crash_is_a_crash() {
    let mut world = World::new();
    world.pay("succeed");
    let crashed = world.run_until_crash(0, Mode::Before);
    assert!(crashed && world.bank.taken().is_empty());
}

//! A provider that never answers one buyer is no trouble of the others.

use onsale_domain::order::OrderStatus;
use onsale_payments::worker::TALKS_MAX;

use crate::crowd::Crowd;

#[test]
fn a_payment_that_is_never_answered_holds_up_nobody() {
    let crowd = Crowd::new(5);
    crowd.pay(0, "silent");
    crowd.until_asked(0..1);
    // Each is a round of its own, and the first is in conversation all the while.
    for n in 1..5 {
        crowd.pay(n, "succeed");
        crowd.until_order(n, OrderStatus::Confirmed);
    }
    assert_eq!((crowd.order(0), crowd.asked(0)), (OrderStatus::Paying, 1), "one try, one ask");
    crowd.stop();
}

#[test]
fn money_that_moved_is_told_however_many_are_never_answered() {
    let silent = u32::try_from(TALKS_MAX).expect("a small number");
    // One more than there are places, and the one that waits for its buyer.
    let crowd = Crowd::new(silent + 2);
    crowd.pay(0, "action");
    crowd.until_desk(0, "needs_action");
    (1..silent + 2).for_each(|n| crowd.pay(n, "silent"));
    crowd.until_asked(1..silent + 1);
    crowd.consent(0);
    crowd.until_order(0, OrderStatus::Confirmed);
    assert_eq!(crowd.asked(silent + 1), 0, "there is no place for the last");
    assert!((1..silent + 1).all(|n| crowd.asked(n) == 1), "one try, one ask");
    crowd.stop();
}

#[test]
fn who_loses_the_lease_lets_go_of_its_conversations_and_begins_them_again_with_it() {
    let crowd = Crowd::new(2);
    crowd.pay(0, "silent");
    crowd.until_asked(0..1);
    crowd.lead(false);
    crowd.until_let_go(1);
    crowd.pay(1, "succeed");
    crowd.lead(true);
    crowd.until_order(1, OrderStatus::Confirmed);
    crowd.until_asked_again(0, 2);
    assert_eq!((crowd.order(0), crowd.asked(1)), (OrderStatus::Paying, 1));
    crowd.stop();
}

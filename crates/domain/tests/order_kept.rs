//! Orders for what is kept for days, an auction's award and a place of a registration: tables, and random histories.
//! After every step everything adds up, and copies made from facts and from an image answer alike.

#[path = "order/kept.rs"]
mod kept;

use kept::{Keeper, check};

#[test]
fn a_win_is_ordered_paid_and_settled() {
    check(
        "10    bid ann 500         -> bid_placed
         20    bid bob 300         -> bid_placed
         999   order o1 ann        -> no: award_unknown
         1000  order o1 ann        -> closed to ann for 310 until 173800, o1 for 310
         1001  order o2 ann        -> no: already_ordered
         1001  settle_award ann o3 -> no: already_ordered
         1001  order o2 bob        -> no: award_unknown
         1001  pay o1 p1 bob       -> no: not_yours
         1002  pay o1 p1           -> p1 asks 310 until 1602
         1003  order? o1           -> paying 310 until 173800, 0 - 0
         1004  captured p1 310     -> p1 has 310, settled to o1
         1005  order? o1           -> confirmed 310, 310 - 0
         1006  captured p1 310     -> unchanged
         1007  order o4 ann        -> no: award_settled",
    );
    check(
        "10    bid ann 500         -> bid_placed
         1000  order o1 ann        -> closed to ann for 100 until 173800, o1 for 100
         1001  settle o1           -> o1 settled, settled to o1
         1002  order? o1           -> confirmed 100, 0 - 0",
    );
}

#[test]
fn an_unpaid_win_is_passed_on_with_its_order_and_a_second_chance_may_be_turned_down() {
    check(
        "10     bid cem 200         -> bid_placed
         20     bid bob 300         -> bid_placed
         30     bid ann 500         -> bid_placed
         1000   order o1 ann        -> closed to ann for 310 until 173800, o1 for 310
         173800 sweep auction       -> passed to bob for 300 until 260200
         173801 order? o1           -> expired 310, 0 - 0
         173802 pay o1 p1           -> no: expired
         173803 order o2 bob        -> o2 for 300
         173804 pay o2 p2           -> p2 asks 300 until 174404
         173805 turn_down bob       -> no: order_paying
         173806 declined p2         -> p2 declined, again until 260200
         173807 turn_down bob       -> passed to cem for 200 until 260207
         173808 order? o2           -> cancelled 300, 0 - 0
         173809 captured p2 300     -> p2 has 300, p2 owes 300 (late 1)
         173810 settle_award cem o2 -> no: id_taken
         173811 settle_award cem o3 -> settled to o3",
    );
}

#[test]
fn whoever_pays_in_the_last_minute_is_waited_for_a_quarter_of_an_hour_and_no_longer() {
    check(
        "10     bid ann 500         -> bid_placed
         20     bid bob 300         -> bid_placed
         1000   order o1 ann        -> closed to ann for 310 until 173800, o1 for 310
         173790 pay o1 p1           -> p1 asks 310 until 174390
         174000 sweep auction       -> unchanged
         174389 declined p1         -> p1 declined, again until 174449
         174400 pay o1 p2           -> p2 asks 310 until 174700
         174500 declined p2         -> p2 declined, again until 174700
         174501 cancel o1           -> o1 cancelled
         174502 order o2 ann        -> o2 for 310
         174503 pay o2 p3           -> p3 asks 310 until 174700
         174700 captured p3 310     -> passed to bob for 300 until 261100, p3 has 310, p3 owes 310 (late 1)
         174701 paid_back p3 1      -> p3 paid back 1",
    );
}

#[test]
fn late_money_settles_an_award_that_nobody_else_was_given() {
    check(
        "10     bid ann 500         -> bid_placed
         1000   order o1 ann        -> closed to ann for 100 until 173800, o1 for 100
         173799 pay o1 p1           -> p1 asks 100 until 174399
         174399 sweep auction       -> passed to nobody
         174400 captured p1 100     -> p1 has 100, settled to o1
         174401 order? o1           -> confirmed 100, 100 - 0",
    );
}

#[test]
fn a_paid_place_is_ordered_bought_and_given_back() {
    check(
        "100 register e1 ann  -> kept until 700
         101 order o1 e1      -> o1 for 500
         102 order o2 e1      -> no: already_ordered
         102 confirm e1 o2    -> no: already_ordered
         103 pay o1 p1        -> p1 asks 500 until 703
         104 give_up e1       -> no: order_paying
         105 order? o1        -> paying 500 until 703, 0 - 0
         702 captured p1 500  -> p1 has 500, e1 bought by o1
         703 confirm e1 o9    -> no: entry_confirmed
         704 order o3 e1      -> no: entry_confirmed
         705 give_up e1       -> e1 cancelled 500, p1 owes 500 (returned 1)
         706 order? o1        -> refunded 500, 500 - 500",
    );
    // After the cut-off nobody can take the place, so it stays paid.
    check(
        "100    register e1 ann  -> kept until 700
         101    order o1 e1      -> o1 for 500
         103    pay o1 p1        -> p1 asks 500 until 703
         104    captured p1 500  -> p1 has 500, e1 bought by o1
         213600 give_up e1       -> e1 cancelled 0
         213601 order? o1        -> confirmed 500, 500 - 0",
    );
}

#[test]
fn an_offered_place_is_paid_or_goes_on_to_the_next() {
    check(
        "100  register e1 ann  -> kept until 700
         100  register e2 bob  -> kept until 700
         101  register e3 cem  -> waits
         102  order o1 e3      -> no: not_offered
         103  order o1 e1      -> o1 for 500
         104  pay o1 p9        -> p9 asks 500 until 704
         700  sweep course     -> e2 lapsed, e3 offered until 87100
         701  order o2 e3      -> o2 for 500
         702  pay o2 p1        -> p1 asks 500 until 1302
         703  order? o2        -> paying 500 until 87100, 0 - 0
         704  sweep course     -> e1 lapsed
         705  order? o1        -> expired 500, 0 - 0
         1302 declined p1      -> p1 declined, again until 87100
         1303 pay o2 p2        -> p2 asks 500 until 1903
         1304 captured p2 500  -> p2 has 500, e3 bought by o2",
    );
}

#[test]
fn late_money_takes_a_place_back_or_goes_back() {
    check(
        "100 register e1 ann  -> kept until 700
         101 order o1 e1      -> o1 for 500
         102 pay o1 p1        -> p1 asks 500 until 702
         702 sweep course     -> e1 lapsed
         800 captured p1 500  -> p1 has 500, kept until 800, e1 bought by o1
         801 order? o1        -> confirmed 500, 500 - 0
         802 remove e1        -> e1 cancelled 500, p1 owes 500 (returned 1)",
    );
    check(
        "100 register e1 ann  -> kept until 700
         101 order o1 e1      -> o1 for 500
         102 pay o1 p1        -> p1 asks 500 until 702
         702 register e2 bob  -> kept until 1302
         703 register e3 cem  -> e1 lapsed, kept until 1303
         704 captured p1 500  -> p1 has 500, p1 owes 500 (late 1)",
    );
    // The buyer has another entry now: one place each.
    check(
        "100 register e1 ann  -> kept until 700
         101 order o1 e1      -> o1 for 500
         102 pay o1 p1        -> p1 asks 500 until 702
         702 register e2 ann  -> e1 lapsed, kept until 1302
         703 captured p1 500  -> p1 has 500, p1 owes 500 (late 1)",
    );
}

#[test]
fn a_place_that_staff_takes_away_and_a_cancelled_registration_pay_back() {
    check(
        "100 register e1 ann  -> kept until 700
         101 order o1 e1      -> o1 for 500
         102 pay o1 p1        -> p1 asks 500 until 702
         103 remove e1        -> e1 cancelled 0
         104 order? o1        -> cancelled 500, 0 - 0
         105 captured p1 500  -> p1 has 500, p1 owes 500 (late 1)",
    );
    check(
        "100 register e1 ann  -> kept until 700
         101 order o1 e1      -> o1 for 500
         102 pay o1 p1        -> p1 asks 500 until 702
         103 captured p1 500  -> p1 has 500, e1 bought by o1
         104 register e2 bob  -> kept until 704
         105 order o2 e2      -> o2 for 500
         106 pay o2 p2        -> p2 asks 500 until 706
         107 cancel_course    -> cancelled
         108 pay o2 p3        -> no: order_paying
         109 sweep course     -> e1 cancelled 500, e2 cancelled 0, p1 owes 500 (returned 1)
         110 captured p2 500  -> p2 has 500, p2 owes 500 (late 1)",
    );
}

#[test]
fn what_was_paid_for_an_award_goes_back_wholly_or_in_part_and_the_auction_stays_closed() {
    check(
        "10   bid ann 500         -> bid_placed
         20   bid bob 300         -> bid_placed
         1000 order o1 ann        -> closed to ann for 310 until 173800, o1 for 310
         1001 refund o1           -> no: not_refundable
         1001 refund o9           -> no: order_unknown
         1002 pay o1 p1           -> p1 asks 310 until 1602
         1003 refund o1           -> no: not_refundable
         1004 captured p1 310     -> p1 has 310, settled to o1
         1005 refund o1 0         -> no: invalid
         1006 refund o1 311       -> no: invalid
         1007 refund o1 100       -> o1 gets 100 back, 210 left, p1 owes 100 (returned 1)
         1008 order? o1           -> confirmed 310, 310 - 100
         1009 award?              -> Some(Settled)
         1010 refund o1 211       -> no: invalid
         1011 refund o1           -> o1 gets 210 back, 0 left, p1 owes 210 (returned 2)
         1012 order? o1           -> refunded 310, 310 - 310
         1013 award?              -> Some(Refunded)
         1014 refund o1           -> no: not_refundable
         1015 order o2 ann        -> no: award_settled
         1016 order o2 bob        -> no: award_unknown
         1017 paid_back p1 2      -> p1 paid back 2
         200000 sweep auction     -> unchanged",
    );
    // What was charged elsewhere is given back elsewhere; a second payment goes back whatever was refunded.
    check(
        "10   bid ann 500         -> bid_placed
         1000 order o1 ann        -> closed to ann for 100 until 173800, o1 for 100
         1001 pay o1 p1           -> p1 asks 100 until 1601
         1002 declined p1         -> p1 declined, again until 173800
         1003 settle o1           -> o1 settled, settled to o1
         1004 refund o1 40        -> o1 gets 40 back, 60 left
         1005 captured p1 100     -> p1 has 100, p1 owes 100 (twice 1)
         1006 refund o1           -> o1 gets 60 back, 0 left
         1007 award?              -> Some(Refunded)",
    );
    check(
        "10   bid ann 500         -> bid_placed
         1000 settle_award ann o1 -> closed to ann for 100 until 173800, settled to o1
         1001 refund o1           -> no: order_unknown",
    );
}

#[test]
fn an_entry_that_an_order_bought_lends_its_id_to_no_other() {
    check(
        "100  register e1 ann  -> kept until 700
         101  order o1 e1      -> o1 for 500
         102  pay o1 p1        -> p1 asks 500 until 702
         103  captured p1 500  -> p1 has 500, e1 bought by o1
         104  register e1 bob  -> no: id_taken
         200  remove e1        -> e1 cancelled 500, p1 owes 500 (returned 1)
         3801 register e1 bob  -> no: id_taken
         3802 register e2 bob  -> kept until 4402",
    );
}

/// Fixed seeds: what is tried does not change from run to run, so that it can be said what was tried.
#[test]
fn in_every_history_of_awards_and_places_the_money_adds_up() {
    let mut told = std::collections::BTreeMap::new();
    for seed in 0..60 {
        Keeper::default().wander(seed, 80, &mut told);
    }
    for wished in ["settled", "bought", "owes", "lapsed", "passed", "declined", "paid"] {
        assert!(told.get(wished).is_some_and(|times| *times > 5), "{wished} in {told:?}");
    }
}

//! The rules of registrations, as tables, and random histories. Every table also runs on copies made from the facts
//! and from the image. `<seconds> <verb> <words> -> <answer>`; entries are e1, e2 …, orders o1, o2 ….
//! `ONSALE_SEED=<number>` repeats the random run.

#[path = "support/dice.rs"]
mod dice;
#[path = "registration/text_registration.rs"]
mod text_registration;

use onsale_domain::registration::RegistrationFact;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use text_registration::{TextRegistration, check, check_paid};

#[test]
fn a_place_while_there_is_room_then_the_line() {
    check(
        "
        99.999 register e1 ann -> registration_not_open
        100 register e1 ann    -> open, e1 registered
        100 register e1 bob    -> id_taken
        100 register e2 bob    -> e2 registered
        100 register e3 cem    -> e3 waits behind 0
        100 register e4 dan    -> e4 waits behind 1
        100 register e9 cem    -> e3 of cem waits behind 0
        100 register e9 ann    -> e1 of ann confirmed
        100 who                -> e1 confirmed, e2 confirmed, e3 waits behind 0, e4 waits behind 1
    ",
    );
}

#[test]
fn a_cancellation_promotes_in_the_same_step_and_the_canceller_rejoins_last() {
    check(
        "
        100 register e1 ann    -> open, e1 registered
        100 register e2 bob    -> e2 registered
        100 register e3 cem    -> e3 waits behind 0
        100 register e4 dan    -> e4 waits behind 1
        101 drop e1 bob        -> not_yours
        101 drop e1 ann        -> e1 of ann cancelled, e3 of cem promoted
        101 drop e1 ann        -> released
        101 register e1 ann    -> id_taken
        101 register e5 ann    -> e5 waits behind 1
        101 drop e4 dan        -> e4 of dan cancelled
        101 who                -> e2 confirmed, e3 confirmed, e5 waits behind 0
        101 remove e2          -> e2 of bob cancelled!, e5 of ann promoted
        3701 drop e1 ann       -> entry_unknown
    ",
    );
}

#[test]
fn raising_the_capacity_promotes_as_many_and_nobody_loses_a_place() {
    check(
        "
        100 register e1 ann    -> open, e1 registered
        100 register e2 bob    -> e2 registered
        100 register e3 cem    -> e3 waits behind 0
        100 register e4 dan    -> e4 waits behind 1
        100 register e5 eve    -> e5 waits behind 2
        100 capacity 4         -> capacity 4, e3 of cem promoted, e4 of dan promoted
        100 capacity 4         -> unchanged
        100 capacity 3         -> not_enough_stock 4/3
        100 capacity 0         -> invalid capacity
        100 drop e4 dan        -> e4 of dan cancelled, e5 of eve promoted
        100 drop e5 eve        -> e5 of eve cancelled
        100 capacity 3         -> capacity 3
        100 register e6 fay    -> e6 waits behind 0
    ",
    );
}

#[test]
fn from_the_cut_off_on_nobody_registers_or_is_promoted() {
    check(
        "
        100 register e1 ann         -> open, e1 registered
        100 register e2 bob         -> e2 registered
        100 register e3 cem         -> e3 waits behind 0
        213599.999 register e4 dan  -> e4 waits behind 1
        213600 register e5 eve      -> closed, registration_closed
        213600 register e9 ann      -> e1 of ann confirmed
        213600 capacity 9           -> registration_closed
        213600 drop e1 ann          -> e1 of ann cancelled
        213600 who                  -> e2 confirmed, e3 waits behind 0, e4 waits behind 1
        300000 drop e2 bob          -> started, registration_closed
        300000 remove e2            -> e2 of bob cancelled!
        300000 cancel_all           -> registration_closed
    ",
    );
}

#[test]
fn a_paid_place_is_kept_until_it_is_paid() {
    check_paid(
        "
        100 register e1 ann             -> open, e1 kept until 700 for 500
        100 confirm e1 bob o1           -> not_yours
        100 confirm e1 ann o1           -> payment_required
        100 confirm e9 ann o1           -> entry_unknown
        100 register e2 bob             -> e2 kept until 700 for 500
        100 register e3 cem             -> e3 waits behind 0
        100 confirm e3 cem o3 settled   -> not_offered
        699 confirm e1 ann o1 settled   -> e1 paid by o1
        699 confirm e1 ann o1 settled   -> e1 of ann paid by o1
        699 confirm e1 ann o2 settled   -> entry_confirmed
        699 confirm e2 bob o1 settled   -> id_taken
        700 confirm e2 bob o2 settled   -> e2 of bob lapsed, e3 of cem offered until 87100 for 500, expired
        87099 register e4 bob           -> e4 waits behind 0
        87100 confirm e3 cem o3 settled -> e3 of cem lapsed, e4 of bob offered until 173500 for 500, expired
        87100 price 900                 -> changed
        87101 confirm e4 bob o4 settled -> e4 paid by o4
        87101 drop e1 ann               -> e1 of ann cancelled and 500 paid back
        87101 register e5 ann           -> e5 kept until 87701 for 900
    ",
    );
}

#[test]
fn an_offer_never_outlasts_the_start_and_a_late_canceller_gets_nothing_back() {
    check_paid(
        "
        100 register e1 ann              -> open, e1 kept until 700 for 500
        100 register e2 bob              -> e2 kept until 700 for 500
        101 confirm e1 ann o1 settled    -> e1 paid by o1
        101 confirm e2 bob o2 settled    -> e2 paid by o2
        102 register e3 cem              -> e3 waits behind 0
        213599 drop e2 bob               -> e2 of bob cancelled and 500 paid back, e3 of cem offered until 299999 for 500
        299998 confirm e3 cem o3 settled -> closed, e3 paid by o3
        299998 drop e3 cem               -> e3 of cem cancelled
        299998 remove e1                 -> e1 of ann cancelled! and 500 paid back
    ",
    );
}

#[test]
fn an_offer_ends_with_the_start_if_that_comes_before_a_day_is_over() {
    check_paid(
        "
        100 register e1 ann              -> open, e1 kept until 700 for 500
        100 register e2 bob              -> e2 kept until 700 for 500
        100 confirm e1 ann o1 settled    -> e1 paid by o1
        100 confirm e2 bob o2 settled    -> e2 paid by o2
        100 register e3 cem              -> e3 waits behind 0
        100 cutoff 0                     -> changed
        290000 drop e1 ann               -> e1 of ann cancelled and 500 paid back, e3 of cem offered until 300000 for 500
        299990 drop e2 bob               -> e2 of bob cancelled and 500 paid back
        299990 register e4 dan           -> e4 kept until 300000 for 500
        300000 confirm e4 dan o4 settled -> closed, started, e4 of dan lapsed, expired
    ",
    );
}

#[test]
fn who_registers_makes_due_offers_lapse_and_comes_after_those_who_wait() {
    check_paid("
        100 register e1 ann   -> open, e1 kept until 700 for 500
        101 register e2 bob   -> e2 kept until 701 for 500
        102 register e3 cem   -> e3 waits behind 0
        701 register e4 dan   -> e1 of ann lapsed, e3 of cem offered until 87101 for 500, e2 of bob lapsed, e4 kept until 1301 for 500
        701 who               -> e3 offered until 87101 for 500, e4 offered until 1301 for 500
        87101 sweep           -> e4 of dan lapsed, e3 of cem lapsed
        87101 sweep           -> unchanged
    ");
}

#[test]
fn a_cancelled_registration_is_taken_back_in_pieces() {
    check_paid(
        "
        100 register e1 ann            -> open, e1 kept until 700 for 500
        100 confirm e1 ann o1 settled  -> e1 paid by o1
        100 register e2 bob            -> e2 kept until 700 for 500
        100 register e3 cem            -> e3 waits behind 0
        101 cancel_all                 -> cancelled!
        101 register e4 dan            -> registration_cancelled
        101 confirm e2 bob o2 settled  -> registration_cancelled
        101 drop e1 ann                -> registration_cancelled
        101 sweep 2                    -> e1 of ann cancelled! and 500 paid back, e2 of bob cancelled!
        101 sweep                      -> e3 of cem cancelled!
        101 sweep                      -> unchanged
        101 who                        -> 
    ",
    );
}

#[test]
fn staff_changes_hours_only_where_nobody_is_hurt() {
    check_paid(
        "
        50  opens 60         -> changed
        60  register e1 ann  -> open, e1 kept until 660 for 500
        60  opens 61         -> status_conflict
        60  starts 86460     -> invalid starts_at
        60  starts 86461     -> changed
        60  close            -> closed!
        60  close            -> unchanged
        60  register e2 bob  -> registration_closed
        60  starts 99999     -> registration_closed
        61  confirm e1 ann o1 settled -> e1 paid by o1
    ",
    );
}

#[test]
fn a_big_raise_is_served_in_steps_and_nobody_overtakes_meanwhile() {
    let mut spoken = TextRegistration::new(0);
    for n in 0..202 {
        spoken.say(&format!("100 register e{n} b{n}"));
    }
    let told = spoken.say("100 capacity 190");
    assert_eq!(told.matches("promoted").count(), 64);
    assert_eq!(
        spoken.say("100 register e900 late").split(',').count(),
        65,
        "the line moves on with every step"
    );
    assert_eq!(spoken.registration.next_due(), Some(i64::MIN));
    assert_eq!(spoken.say("100 sweep").matches("promoted").count(), 60);
    assert_eq!(spoken.say("100 sweep"), "unchanged");
    assert_eq!(spoken.registration.view().waiting, 202 + 1 - 190);
}

#[test]
fn every_history_of_a_registration_adds_up() {
    let seed = dice::seed();
    let config = Config { cases: 600, failure_persistence: None, ..Config::default() };
    let asks = proptest::collection::vec(any::<[u8; 5]>(), 1..100);
    let kinds = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let played = TestRunner::new_with_rng(config, dice::rng(seed))
        .run(&asks, |asks| play(&asks, &mut kinds.borrow_mut()).map_err(TestCaseError::fail));
    if let Err(error) = played {
        panic!("ONSALE_SEED={seed}\n{error}");
    }
    let kinds = kinds.borrow();
    let missing: Vec<_> = RegistrationFact::KINDS[1..].iter().filter(|kind| !kinds.contains(*kind)).collect();
    dice::all_happened(seed, &missing);
}

fn play(asks: &[[u8; 5]], kinds: &mut std::collections::BTreeSet<&'static str>) -> Result<(), String> {
    let mut spoken = TextRegistration::new(if asks[0][0].is_multiple_of(2) { 500 } else { 0 });
    let (mut now, mut entries) = (90_000, 0);
    let mut copies: Vec<TextRegistration> = Vec::new();
    for (n, [verb, a, b, c, wait]) in asks.iter().enumerate() {
        if n == asks.len() / 2 {
            copies = spoken.copies().into();
        }
        now += match wait {
            0..=150 => 0,
            151..=230 => i64::from(*wait) * 100,
            231..=245 => 650_000,
            246..=253 => 43_200_000,
            254 | 255 => -5_000,
        };
        let buyer = ["ann", "bob", "cem", "dan", "eve", "fay"][usize::from(*a) % 6];
        let old = entries - i64::from(*b % 8).min(entries);
        let asked = match verb % 16 {
            0..=5 => {
                entries += 1;
                format!("register e{entries} {buyer}")
            }
            6..=8 => format!("drop e{old} {buyer}"),
            9 => format!("remove e{old}"),
            10 | 11 => {
                format!("confirm e{old} {buyer} o{} {}", c % 16, if *c < 200 { "settled" } else { "" })
            }
            12 => format!("capacity {}", 1 + c % 5),
            13 if *c < 40 => "close".into(),
            13 if *c < 60 => "cancel_all".into(),
            13 => format!("price {}", u32::from(c % 2) * 300),
            _ => "sweep".into(),
        };
        let asked = format!("{}.{} {asked}", now / 1_000, now % 1_000);
        let told = spoken.say(&asked);
        for copy in &mut copies {
            let other = copy.say(&asked);
            if other != told {
                return Err(format!("step {n}: {asked} -> {told}, but a copy said {other}"));
            }
        }
    }
    kinds.extend(spoken.kinds());
    match spoken.copies().iter().chain(&copies).all(|copy| copy.picture() == spoken.picture()) {
        true => Ok(()),
        false => Err("a copy is not the same in the end".into()),
    }
}

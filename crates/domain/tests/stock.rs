//! The rules of sales, as tables. Every table also runs on copies made from the facts and from the image.

#[path = "stock/text_sale.rs"]
mod text_sale;

use onsale_domain::stock::Sale;
use text_sale::{TextSale, check, create};

#[test]
fn a_sale_begins_and_ends_at_its_instant() {
    check(
        "
        99.999 checkout c1 ann 1A -> sale_not_started
        100    checkout c1 ann 1A -> open, c1 1A@500 until 700
        999.999 checkout c2 bob 1A -> c2 1A@500 until 1599
        1000   checkout c3 cem 1A -> ended, sale_closed
        1000   close              -> unchanged
    ",
    );
}

#[test]
fn lines_are_summed_per_sku_and_all_or_nothing() {
    check(
        "
        100 checkout c1 ann 1A 1B 1A -> open, c1 2A@500 1B@0 until 700
        100 levels                   -> A 1+2+0=3, B 1+1+0=2
        100 checkout c2 bob 1A 2B    -> not_enough_stock B:not_enough_stock
        100 checkout c2 bob 2B 1A 1A -> not_enough_stock B:not_enough_stock A:not_enough_stock
        100 levels                   -> A 1+2+0=3, B 1+1+0=2
        100 checkout c2 bob 1B 1A    -> c2 1B@0 1A@500 until 700
        100 levels                   -> A 0+3+0=3, B 0+2+0=2
    ",
    );
}

#[test]
fn sold_out_for_now_and_for_good_differ() {
    check(
        "
        100 checkout c1 ann 3A          -> open, c1 3A@500 until 700
        100 checkout c2 bob 2B          -> c2 2B@0 until 700
        100 purchase c2 bob o2          -> c2 bought o2
        101 checkout c3 cem 1A          -> sold_out_for_now A:sold_out_for_now
        101 checkout c3 cem 1B          -> sold_out B:sold_out
        101 checkout c3 cem 1A 1B       -> sold_out A:sold_out_for_now B:sold_out
        101 checkout c3 cem 4A          -> sold_out_for_now A:sold_out_for_now
        102 cancel c1 ann               -> c1 cancelled
        102 checkout c3 cem 1A          -> c3 1A@500 until 702
    ",
    );
}

#[test]
fn the_limit_sums_skus_and_counts_reserved_and_bought() {
    check(
        "
        100 checkout c1 ann 2A    -> open, c1 2A@500 until 700
        100 checkout c2 ann 2B    -> c2 2B@0 until 700
        100 checkout c3 ann 1A    -> buyer_limit 4/4
        100 purchase c2 ann o2    -> c2 bought o2
        100 checkout c3 ann 1A    -> buyer_limit 4/4
        100 cancel c1 ann         -> c1 cancelled
        100 checkout c3 ann 3A    -> buyer_limit 2/4
        100 checkout c3 ann 2A    -> c3 2A@500 until 700
        100 refund o2 1B restock  -> o2 refunded 1B 0
        100 checkout c4 ann 1A    -> c4 1A@500 until 700
        700 checkout c5 ann 1A 1B -> c3 expired, c4 expired, c5 1A@500 1B@0 until 1300
        700 limit 2               -> changed
        700 checkout c6 ann 1B    -> sold_out_for_now B:sold_out_for_now
        700 checkout c6 ann 1A    -> buyer_limit 3/2
    ",
    );
}

#[test]
fn the_order_of_a_checkouts_refusals() {
    check(
        "
        99  checkout c1 ann 0A            -> invalid lines[0].count
        99  checkout c1 ann 1A for 29     -> invalid checkout_ms
        99  checkout c1 ann 1A for 3601   -> invalid checkout_ms
        99  checkout c1 ann               -> invalid lines
        99  checkout c1 ann 1Z            -> sale_not_started
        100 checkout c1 ann 1A for 30     -> open, c1 1A@500 until 130
        100 checkout c1 ann 4A 1Z         -> sku_unknown Z:sku_unknown
        100 checkout c1 ann 4A            -> id_taken
        100 price A 1000000000000         -> A costs 1000000000000
        100 checkout c2 ann 9A            -> invalid lines
        100 price A 500                   -> A costs 500
        100 checkout c2 ann 9A            -> not_enough_stock A:not_enough_stock
        100 add 9A                        -> +9A
        100 checkout c2 ann 4A            -> buyer_limit 1/4
        100 cancel_sale                   -> cancelled!
        100 checkout c2 ann 9A            -> sale_cancelled
    ",
    );
}

#[test]
fn a_code_is_used_exactly_once_and_only_by_its_owner() {
    check(
        "
        100 checkout c1 ann 1B      -> open, c1 1B@0 until 700
        101 purchase c1 bob o1      -> not_yours
        101 purchase c1 ann o1      -> c1 bought o1
        102 purchase c1 ann o9      -> again o1 1B@0
        102 purchase c1 bob o9      -> not_yours
        102 cancel c1 ann           -> checkout_purchased
        9999 purchase c1 ann o9     -> ended, again o1 1B@0
        9999 levels                 -> A 3+0+0=3, B 1+0+1=2
        9999 purchase c7 ann o9     -> checkout_unknown
    ",
    );
}

#[test]
fn a_code_is_over_at_its_deadline_and_says_why_for_an_hour() {
    check(
        "
        100 checkout c1 ann 2B for 30  -> open, c1 2B@0 until 130
        100 checkout c2 bob 1A         -> c2 1A@500 until 700
        129.999 checkout c3 cem 1B     -> sold_out_for_now B:sold_out_for_now
        130 checkout c3 cem 1B         -> c1 expired, c3 1B@0 until 730
        130 purchase c1 ann o1         -> expired
        130 cancel c1 ann              -> expired
        131 cancel c2 bob              -> c2 cancelled
        131 cancel c2 bob              -> released
        131 purchase c2 bob o1         -> released
        730 purchase c3 cem o3         -> c3 expired, expired
        3729.999 purchase c1 ann o1    -> ended, expired
        3730 purchase c1 ann o1        -> checkout_unknown
    ",
    );
}

#[test]
fn a_code_outlives_its_sale_and_what_returns_then_is_not_sold() {
    check(
        "
        999 checkout c1 ann 1B    -> open, c1 1B@0 until 1599
        999 checkout c2 bob 1B    -> c2 1B@0 until 1599
        1000 sweep                -> ended
        1598 purchase c1 ann o1   -> c1 bought o1
        1599 purchase c2 bob o2   -> c2 expired, expired
        1599 levels               -> A 3+0+0=3, B 1+0+1=2
        1599 checkout c3 cem 1B   -> sale_closed
        1599 add 1B               -> sale_closed
    ",
    );
}

#[test]
fn only_nothing_to_pay_or_somebody_who_may_say_so_buys_directly() {
    check(
        "
        100 checkout c1 ann 1A 1B       -> open, c1 1A@500 1B@0 until 700
        100 purchase c1 ann o1          -> payment_required
        100 purchase c1 ann o1 settled  -> c1 bought o1
        100 checkout c2 bob 1B          -> c2 1B@0 until 700
        100 purchase c2 bob o1          -> id_taken
        100 purchase c2 bob o2          -> c2 bought o2
    ",
    );
}

#[test]
fn an_order_takes_the_code_and_pins_it_a_quarter_of_an_hour_at_most() {
    check(
        "
        100 checkout c1 ann 1A                  -> open, c1 1A@500 until 700
        110 order c1 bob o1 until 800           -> not_yours
        110 order c1 ann o1 until 800           -> c1 ordered until 800
        110 order c1 ann o1 until 800           -> unchanged
        110 order c1 ann o2 until 800           -> checkout_ordered
        110 cancel c1 ann                       -> checkout_ordered
        110 purchase c1 ann o1                  -> checkout_ordered
        110 purchase c1 ann o2 settled          -> checkout_ordered
        700 return c1 o2                        -> order_unknown
        790 return c1 o1                        -> c1 returned until 850
        790 order c1 ann o2 until 5000          -> c1 ordered until 1000
        960 return c1 o2                        -> c1 returned until 1000
        960 order c1 ann o3 until 961           -> c1 ordered until 1000
        999 purchase c1 ann o3 settled          -> c1 bought o3
        999 checkout c2 bob 1A for 3600         -> c2 1A@500 until 4599
        999 order c2 bob o4 until 1001          -> c2 ordered until 4599
        4599 purchase c2 bob o4 settled         -> ended, c2 expired, expired
    ",
    );
}

#[test]
fn late_money_takes_back_all_lines_or_none() {
    check(
        "
        100 checkout c1 ann 2A 1B for 30      -> open, c1 2A@500 1B@0 until 130
        129 takeback c1 ann o1 2A 1B          -> id_taken
        130 checkout c2 bob 2A                -> c1 expired, c2 2A@500 until 730
        130 takeback c1 ann o1 2A 1B          -> not_enough_stock A:not_enough_stock
        130 levels                            -> A 1+2+0=3, B 2+0+0=2
        130 limit 1                           -> changed
        1000 takeback c1 ann o1 2A 1B         -> ended, c2 expired, o1 took back 2A@500 1B@500
        1000 takeback c1 ann o1 2A 1B         -> again o1 2A@500 1B@500
        1000 takeback c1 ann o2 2A 1B         -> checkout_purchased
        1000 purchase c1 ann o3               -> again o1 2A@500 1B@500
        1000 levels                           -> A 1+0+2=3, B 1+0+1=2
        1000 cancel_sale                      -> cancelled!
        1000 takeback c2 bob o5 1A            -> sale_cancelled
        1000 takeback c2 bob o5 1A 1A         -> invalid lines[1]
    ",
    );
}

#[test]
fn a_refund_returns_units_or_writes_them_off() {
    check(
        "
        100 checkout c1 ann 3A 1B             -> open, c1 3A@500 1B@0 until 700
        100 purchase c1 ann o1 settled        -> c1 bought o1
        100 refund o9 restock                 -> order_unknown
        100 refund o1 4A restock              -> not_refundable A:not_refundable
        100 refund o1 1A 2B restock           -> not_refundable B:not_refundable
        100 refund o1 1A 1A restock           -> invalid lines[1]
        100 refund o1 1A restock              -> o1 refunded 1A 500
        100 levels                            -> A 1+0+2=3, B 1+0+1=2
        100 refund o1 1A writeoff             -> o1 refunded 1A 500 written off
        100 levels                            -> A 1+0+1=2, B 1+0+1=2
        100 refund o1 2A restock              -> not_refundable A:not_refundable
        100 refund o1 restock                 -> o1 refunded 1A 1B 500
        100 refund o1 restock                 -> not_refundable
        100 levels                            -> A 2+0+0=2, B 2+0+0=2
        100 ask code c1                       -> o1 of ann for 1500
        100 purchase c1 ann o7                -> again o1 3A@500 1B@0
    ",
    );
}

#[test]
fn a_cancelled_sale_is_taken_back_in_pieces() {
    check(
        "
        100 checkout c1 ann 1B           -> open, c1 1B@0 until 700
        100 purchase c1 ann o1           -> c1 bought o1
        100 checkout c2 bob 1A           -> c2 1A@500 until 700
        100 checkout c3 bob 1A for 60    -> c3 1A@500 until 160
        101 cancel_sale                  -> cancelled!
        101 purchase c2 bob o2 settled   -> sale_cancelled
        101 order c2 bob o2 until 900    -> sale_cancelled
        101 purchase c1 ann o2           -> again o1 1B@0
        101 sweep 1                      -> c3 cancelled!
        101 cancel c2 bob                -> c2 cancelled
        101 sweep                        -> o1 refunded 1B 0
        101 sweep                        -> unchanged
        101 levels                       -> A 3+0+0=3, B 2+0+0=2
        101 cancel_sale                  -> unchanged
        101 close                        -> sale_cancelled
        101 price A 1                    -> sale_cancelled
    ",
    );
}

#[test]
fn staff_changes_stock_prices_and_hours_while_it_is_not_over() {
    check(
        "
        50  sku A 1 100            -> invalid skus[0].id
        50  sku C 1 100            -> added C
        50  starts 60              -> changed
        60  checkout c1 ann 1A 1C  -> open, c1 1A@500 1C@100 until 660
        60  starts 61              -> status_conflict
        60  price A 400            -> A costs 400
        60  price A 400            -> unchanged
        60  price Z 400            -> sku_unknown Z:sku_unknown
        60  price A -1             -> invalid price_minor
        60  checkout c2 bob 1A     -> c2 1A@400 until 660
        60  withdraw 2A            -> not_enough_stock A:not_enough_stock
        60  withdraw 1A            -> -1A
        60  levels                 -> A 0+2+0=2, B 2+0+0=2, C 0+1+0=1
        60  add 3A                 -> +3A
        60  add 0A                 -> invalid count
        60  add 10000000A          -> invalid count
        60  ends 60                -> invalid ends_at
        60  ends 200               -> changed
        200 checkout c3 cem 1A     -> ended, sale_closed
        200 ends 300               -> sale_closed
        200 withdraw 1A            -> sale_closed
        200 purchase c1 ann o1 settled -> c1 bought o1
        200 create                 -> listing_exists
    ",
    );
}

#[test]
fn staff_ends_a_sale_early_and_for_good() {
    check(
        "
        50  close                  -> ended!
        100 checkout c1 ann 1A     -> sale_closed
        100 sweep                  -> unchanged
    ",
    );
}

#[test]
fn due_codes_make_room_in_the_order_of_the_sweep() {
    check(
        "
        100 checkout c1 ann 1A for 60  -> open, c1 1A@500 until 160
        100 checkout c2 bob 2B for 50  -> c2 2B@0 until 150
        100 checkout c3 cem 2A for 40  -> c3 2A@500 until 140
        100 checkout c4 dan 1A         -> sold_out_for_now A:sold_out_for_now
        170 checkout c4 dan 2A         -> c3 expired, c4 2A@500 until 770
        170 checkout c5 eve 1A         -> c2 expired, c1 expired, c5 1A@500 until 770
        170 sweep                      -> unchanged
    ",
    );
}

#[test]
fn refused_commands_still_expire_what_they_touch_but_senseless_ones_do_not() {
    check(
        "
        100 checkout c1 ann 1A for 30  -> open, c1 1A@500 until 130
        130 checkout c2 ann            -> invalid lines
        130 levels                     -> A 2+1+0=3, B 2+0+0=2
        130 ask code c1                -> expired
        130 ask codes ann              -> 
        130 purchase c9 ann o1         -> c1 expired, checkout_unknown
        130 levels                     -> A 3+0+0=3, B 2+0+0=2
    ",
    );
}

#[test]
fn a_buyer_sees_codes_in_order_and_the_last_purchase_first() {
    check(
        "
        100 checkout c1 ann 1B         -> open, c1 1B@0 until 700
        100 checkout c2 ann 1A for 60  -> c2 1A@500 until 160
        100 checkout c3 ann 1A         -> c3 1A@500 until 700
        100 ask codes ann              -> c1 c2 c3
        100 ask code c2                -> ann 1A@500 until 160
        160 ask codes ann              -> c1 c3
        160 purchase c1 ann o1         -> c2 expired, c1 bought o1
        160 purchase c3 ann o3 settled -> c3 bought o3
        160 ask purchases ann          -> o3 of ann for 500, o1 of ann for 0
        160 ask order o1               -> o1 of ann for 0
        160 ask purchases bob          -> 
        160 ask code c9                -> nothing
    ",
    );
}

#[test]
fn the_sweep_goes_by_deadline_then_by_age_at_most_64_at_a_time() {
    let mut create = create();
    create.skus[0].stock = 1_000;
    let mut spoken = TextSale::new(&create, 100_000);
    for n in 0..200u64 {
        let command = onsale_domain::stock::SaleCommand::Checkout(onsale_domain::stock::command::Checkout {
            checkout: onsale_domain::CheckoutId(n),
            buyer: onsale_domain::BuyerId::parse(&format!("b{n}")).unwrap(),
            lines: vec![onsale_domain::stock::fact::SkuCount { sku: 0, count: 1 }],
            checkout_ms: Some(30_000 + (n as i64 % 2) * 1_000),
        });
        spoken.run(Some(&command), 0, 100_000).1.unwrap();
    }
    assert_eq!(spoken.sale.next_due(), Some(130_000));
    let mut order = Vec::new();
    for expected in [64, 64, 64, 8, 0] {
        let (facts, _) = spoken.run(None, 9_999, 131_000);
        assert_eq!(facts.len(), expected);
        order.extend(facts.iter().map(|fact| {
            let onsale_domain::stock::SaleFact::CheckoutExpired { checkout } = fact else {
                panic!("{fact:?}")
            };
            checkout.0
        }));
    }
    let expected: Vec<u64> = (0..200).filter(|n| n % 2 == 0).chain((0..200).filter(|n| n % 2 == 1)).collect();
    assert_eq!(order, expected);
    assert_eq!(spoken.sale.next_due(), Some(1_000_000));
}

#[test]
fn a_sale_is_created_only_from_what_makes_sense() {
    type Spoil = fn(&mut onsale_domain::stock::command::CreateSale);
    let cases: [(&str, Spoil); 14] = [
        ("name", |create| create.details.name.clear()),
        ("description", |create| create.details.description = "x".repeat(10_001)),
        ("starts_at", |create| create.details.starts_at = -1),
        ("ends_at", |create| create.details.ends_at = create.details.starts_at),
        ("ends_at", |create| create.details.ends_at = 1_000_000_000_000_000),
        ("rules.buyer_limit", |create| create.details.rules.buyer_limit = 0),
        ("rules.buyer_limit", |create| create.details.rules.buyer_limit = 101),
        ("rules.checkout_ms", |create| create.details.rules.checkout_ms = 29_999),
        ("skus", |create| create.skus.clear()),
        ("skus[1].id", |create| create.skus[1].id = "A".into()),
        ("skus[0].id", |create| create.skus[0].id = "a\n".into()),
        ("skus[0].price_minor", |create| create.skus[0].price_minor = -1),
        ("skus[0].price_minor", |create| create.skus[0].price_minor = 1_000_000_000_001),
        ("skus[1].stock", |create| create.skus[1].stock = 10_000_001),
    ];
    for (field, spoil) in cases {
        let mut create = create();
        spoil(&mut create);
        let refusal = Sale::create(&create, 0).expect_err(field);
        assert!(
            matches!(&refusal.detail, onsale_domain::refusal::Detail::Field { field: named, .. } if named.to_string() == field),
            "{field}: {refusal:?}"
        );
    }
    assert!(Sale::create(&create(), 999_999).is_ok());
    assert!(Sale::create(&create(), 1_000_000).is_err());
}

//! The tables of orders, played on two listings and on their copies from facts and images.

#[path = "order/house.rs"]
#[expect(clippy::wildcard_enum_match_arm, reason = "a table tells only what it is about")]
mod house;
#[path = "order/logged.rs"]
mod logged;

use logged::TwoLogs;

#[test]
fn every_table_of_orders_is_answered_as_written() {
    house::play_all(|| Box::new(TwoLogs::default()));
}

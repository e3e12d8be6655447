//! The tables of orders, played on two listings and on their copies from facts and images.

#[path = "order/logged.rs"]
mod logged;

use logged::TwoLogs;
use onsale_tables::order;

#[test]
fn every_table_of_orders_is_answered_as_written() {
    order::play_all(|| Box::new(TwoLogs::default()));
}

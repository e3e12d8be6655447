//! Every statement of this room is understood by both databases.

use std::path::Path;

use crate::home::{Home, on_both};

on_both! {
    every_statement_is_understood,
}

async fn every_statement_is_understood(home: Home) {
    let sql = home.open().await;
    let prepared = sql.prepare_all(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/sql"))).await;
    assert!(prepared.expect("all of them") >= 29);
}

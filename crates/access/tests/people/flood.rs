//! Many at once.

use onsale_access::accounts::{Failure, Refusal};
use onsale_access::passwords::{PasswordCost, PasswordPool};
use onsale_access::sessions::Device;

use crate::shop::*;

on_both! {
    a_flood_of_sign_ins_fills_the_queue_and_is_answered_busy_without_a_trace,
}

async fn a_flood_of_sign_ins_fills_the_queue_and_is_answered_busy_without_a_trace(shop: Shop) {
    shop.account(ANN, T0).await;
    let passwords = start(PasswordCost::default(), PasswordPool { threads: 1, queue: 3 });
    let small = accounts(&shop.sql, &passwords);
    let flood = (0..60).map(|number| {
        let small = small.clone();
        tokio::spawn(async move {
            let email = format!("person{number}@example.org");
            small.sign_in(&email, "wrong but long", from(&Device::default()), &at(T0)).await.map(drop)
        })
    });
    let (mut busy, mut wrong) = (0, 0);
    for one in flood.collect::<Vec<_>>() {
        match one.await.expect("it ends") {
            Err(Failure::Refused(Refusal::Busy)) => busy += 1,
            Err(Failure::Refused(Refusal::CredentialsWrong)) => wrong += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(wrong >= 4 && busy > 0 && wrong + busy == 60, "{wrong} {busy}");
    assert_eq!(passwords.hashes(), wrong, "who was busy caused no work");
    assert_eq!(shop.audited("sign_in_failed", "").await, wrong as i64, "and left no trace");
    let quiet = small.sign_in(ANN, PASSWORD, from(&Device::default()), &at(T0)).await;
    assert!(quiet.is_ok(), "when the flood is over, there is room");
}
